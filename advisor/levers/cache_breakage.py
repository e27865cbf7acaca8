"""Caches that break: soon after a prompt was cached, the next one of its conversation reads nothing, or little, of it.

Something near the beginning of the prompt has changed between the two. Only what the log itself shows as read and written
tells: what a cache that is not in use yet would miss is said with the advice to use one. A cache that works without asking is
in use: where requests come soon after one another and it still reads nothing, prompts differ early, and how much of them
could be alike is only a bound.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from advisor import numbers
from advisor.cache_changes import READ, UNCACHED, WRITES, Model, cache_change, logged_models, reading
from advisor.cells import rows_of
from advisor.cube_changes import tokens_in
from advisor.evidence import Breaks, CacheShares, Cell, Evidence
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk
from pricing.cache_rules import rule_for
from pricing.meters import Phase
from workloads.cache_breaks import ALIVE_SECONDS

NAME: Final = "cache_breakage"
_NOTHING: Final = 0.01
_MOST: Final = 0.5
_HOW: Final = (
    "Compare two prompts that came soon after one another: the first letter that differs ends what can be read.",
    "Move dates, ids, retrieved text and lists in changing order behind what stays; fix the order of tools.",
    "Append to a conversation; to edit or drop an early turn costs all that comes after it.",
    "Keep model, tools and settings of a conversation the same: another one is another cache.",
)
_Parts = Mapping[Cell, Mapping[Level, Fraction]]
"""Part of what is paid in full or written that would be read, by cell."""


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each workload whose conversations lose what they have in the cache."""
    for name in evidence.workloads:
        found = {cell: one for cell, one in evidence.breaks.items() if cell[0] == name}
        parts = {cell: part for cell, one in found.items() if (part := _parts(evidence, cell, one))}
        if not parts:
            yield from _unused(evidence, name)
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
            how=_HOW,
        )


def _unused(evidence: Evidence, name: str) -> Iterator[Proposal]:
    """Yield a proposal where caches that need no asking read nothing, although requests come within their lifetime."""
    workload = evidence.workloads[name]
    ratio = workload.cache_read_ratio
    if ratio is None or ratio > _NOTHING or workload.cache_coverage < _MOST:
        return
    chosen: dict[Model, CacheShares] = {}
    soon = seen = 0
    for provider, model in logged_models(evidence, name):
        cell = (name, provider, model)
        pauses, rule = evidence.pauses.get(cell), rule_for(provider, model, evidence.as_of) if model else None
        if pauses is None or rule is None or rule.placement == "explicit":
            continue
        close = pauses.requests - 1 - pauses.longer_than[ALIVE_SECONDS]
        bounds = [
            one for one in evidence.caches.get(cell, ()) if one.measured is None and not one.is_modelled
        ]
        if close >= pauses.requests * _MOST and bounds:
            chosen[provider, model] = bounds[0]
            soon, seen = soon + close, seen + pauses.requests
    if not chosen:
        return
    yield Proposal(
        lever=NAME,
        workload=name,
        title="Find out why nothing is read from a cache that works by itself",
        phase=Phase.PREFILL,
        change=cache_change(name, chosen),
        confidence=Confidence.ASSUMED,
        effort=Effort.MEDIUM,
        risk=Risk.NONE,
        evidence=(
            Fact(label="Requests within 5 minutes of the one before", value=numbers.share(soon / seen)),
            Fact(label="Read from a cache", value=numbers.share(ratio)),
            Fact(label="Known by", value=next(iter(chosen.values())).basis),
        ),
        assumptions=(
            "High: all prompts could begin with the same text, as long as the shortest. Low and expected: nothing.",
        ),
        how=_HOW,
    )


def _parts(evidence: Evidence, cell: Cell, one: Breaks) -> dict[Level, Fraction]:
    rows = rows_of(evidence.cube, cell)
    text = sum(tokens_in(evidence.cube, rows, name) for name in (UNCACHED, *WRITES))
    # Without reads there is no cache in use that could break.
    if not text or not tokens_in(evidence.cube, rows, READ):
        return {}
    return {level: min(Fraction(1), Fraction(lost, text)) for level, lost in one.lost_tokens.items()}


def _parted(one: Breaks) -> str:
    tokens = f"{numbers.tokens(one.parted_tokens)} tokens in the mean"
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
