"""History: in long sessions each prompt carries all turns before it, so that the last ones are the dearest. It acts on prefill.

Only old text that is paid in full is counted: what a cache reads is cheap, and cutting it makes the next request miss. So a
cache of these conversations comes first, and where one is planned there is nothing left to do here.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final

from advisor import numbers
from advisor.evidence import Cell, Evidence, History
from advisor.recommendation import Confidence, Effort, Fact, Level, Proposal, Risk
from advisor.removals import removal
from advisor.snippets import snippet_for
from pricing.meters import Meter, Phase

NAME: Final = "history_growth"
_GROWN_SHARE: Final = 0.8
"""Part of the turns that must have room for the one before: else a session is no conversation."""
_LEAST_GROWTH: Final = 1.5
"""Times the prompt of the fifth turn that those after the tenth must have in the mean."""
_STAYS: Final = {Level.LOW: Fraction(1, 4), Level.EXPECTED: Fraction(1, 4), Level.HIGH: Fraction(0)}
"""Part of what goes that stays as a summary."""


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each workload with long conversations whose later prompts are paid for again in full."""
    for name in evidence.workloads:
        found = {cell: one for cell, one in evidence.histories.items() if cell[0] == name and _grows(one)}
        if any(one.above[Level.HIGH] for one in found.values()):
            yield _proposal(evidence, name, found)


def _grows(one: History) -> bool:
    """Whether sessions are conversations, and much longer at their end than at their beginning."""
    return one.grown >= _GROWN_SHARE * one.turns and one.later_mean >= _LEAST_GROWTH * one.early_mean > 0


def _proposal(evidence: Evidence, name: str, found: Mapping[Cell, History]) -> Proposal:
    counts = {
        level: {
            cell: {Meter.INPUT_UNCACHED: (1 - _STAYS[level]) * one.above[level]}
            for cell, one in found.items()
        }
        for level in Level
    }
    return Proposal(
        lever=NAME,
        workload=name,
        title="Keep the history of long conversations short",
        phase=Phase.PREFILL,
        change=removal(evidence.cube, counts),
        confidence=Confidence.MODELLED,
        effort=Effort.MEDIUM,
        risk=Risk.EVALUATE,
        evidence=tuple(_facts(found)),
        assumptions=(
            "A prompt with room for the one before it in its session and its answer begins with both: that is its history.",
            (
                "Expected: prompts stay as large as at the 10th turn, low: as at the 20th, high: as at the 5th. A quarter of what "
                "goes stays as a summary; high: nothing."
            ),
            (
                "Only history that is paid in full is counted. Where prompts can be cached that saves more and changes no answer: "
                "the plan caches first, and takes this step only for what a cache does not read."
            ),
            "What writing a summary costs is not counted: it is short, and written once in several turns.",
        ),
        how=(
            "Cache the conversation first, so that each turn pays only for what is new.",
            "When a conversation passes a size, replace its oldest turns by a summary, once, and go on from there.",
            "Drop results of tools and retrieved text that later turns do not need: keep what was concluded from them.",
            "Begin a new conversation with a new task; evaluate on the longest ones.",
        ),
        snippet=snippet_for(evidence, NAME, name),
    )


def _facts(found: Mapping[Cell, History]) -> Iterator[Fact]:
    turns = sum(one.later for one in found.values())
    worst = max(found.values(), key=lambda one: one.above[Level.HIGH])
    yield Fact(label="Requests after the 10th turn of their session", value=numbers.count(turns))
    yield Fact(
        label="Mean prompt at the 5th turn / after the 10th",
        value=f"{numbers.tokens(round(worst.early_mean))} / {numbers.tokens(round(worst.later_mean))}",
    )
    yield Fact(
        label="History above the prompt of the 10th turn, paid in full",
        value=f"{numbers.tokens(sum(one.above[Level.EXPECTED] for one in found.values()))} tokens",
    )
    cached = sum(one.cached_tokens for one in found.values())
    yield Fact(
        label="The same, read from a cache or written to one", value=f"{numbers.tokens(cached)} tokens"
    )
