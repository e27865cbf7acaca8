"""Caches that break: soon after a prompt was cached, the next one of its conversation reads nothing, or little, of it.

Something near the beginning of the prompt has changed between the two. Only what the log itself shows as read and written
tells: what a cache that is not in use yet would miss is said with the advice to use one.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from advisor import numbers
from advisor.cache_changes import READ, UNCACHED, WRITES, reading
from advisor.cells import rows_of
from advisor.cube_changes import tokens_in
from advisor.evidence import Breaks, Cell, Evidence
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk
from pricing.meters import Phase

NAME: Final = "cache_breakage"
_Parts = Mapping[Cell, Mapping[Level, Fraction]]
"""Part of what is paid in full or written that would be read, by cell."""


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each workload whose conversations lose what they have in the cache."""
    for name in evidence.workloads:
        found = {cell: one for cell, one in evidence.breaks.items() if cell[0] == name}
        parts = {cell: part for cell, one in found.items() if (part := _parts(evidence, cell, one))}
        if not parts:
            continue
        turns = sum(found[cell].turns for cell in parts)
        broken = sum(found[cell].broken for cell in parts)
        lost = sum(found[cell].lost_tokens[Level.EXPECTED] for cell in parts)
        worst = max(parts, key=lambda cell: found[cell].broken)
        yield Proposal(
            lever=NAME,
            workload=name,
            title="Find out what breaks the cache within conversations",
            phase=Phase.PREFILL,
            change=_change(parts),
            confidence=Confidence.MODELLED,
            effort=Effort.MEDIUM,
            risk=Risk.NONE,
            evidence=(
                Fact(
                    label="Turns within 5 minutes that read less than half of what was cached",
                    value=f"{numbers.count(broken)} of {numbers.count(turns)}",
                ),
                Fact(label="Paid again", value=f"{numbers.tokens(lost)} tokens"),
                Fact(label=f"Still read by those of {worst[2] or 'no model'}", value=_parted(found[worst])),
            ),
            assumptions=(
                "Within 5 minutes, a prompt that is no shorter than the one before in its session begins with what that one cached.",
                "Low: only where nothing at all was read. Expected: where less than half was. High: all that was not read.",
            ),
            how=(
                "Compare the two prompts of a broken turn: the first letter that differs ends what can be read.",
                "Move dates, ids, retrieved text and lists in changing order behind the conversation; fix the order of tools.",
                "Append to a conversation; to edit or drop an early turn costs all that comes after it.",
                "Keep model, tools and settings of a conversation the same: another one is another cache.",
            ),
        )


def _parts(evidence: Evidence, cell: Cell, one: Breaks) -> dict[Level, Fraction]:
    rows = rows_of(evidence.cube, cell)
    text = sum(tokens_in(evidence.cube, rows, name) for name in (UNCACHED, *WRITES))
    # Without reads there is no cache in use that could break.
    if not text or not tokens_in(evidence.cube, rows, READ):
        return {}
    return {level: min(Fraction(1), Fraction(lost, text)) for level, lost in one.lost_tokens.items()}


def _parted(one: Breaks) -> str:
    tokens = f"{numbers.tokens(one.parted_tokens)} tokens in the median"
    if one.block_tokens is None:
        return tokens
    return f"{tokens}: block {one.parted_tokens // one.block_tokens + 1} is the first that differs"


def _change(parts: _Parts) -> Change:
    def change(cube: Any, level: Level) -> Any:
        for cell, by_level in parts.items():
            rows = rows_of(cube, cell)
            # A step before may have given the cache up.
            if tokens_in(cube, rows, READ):
                cube = reading(cube, rows, by_level[level])
        return cube

    return change
