"""Waste: tokens of requests that failed, and prompts that are sent twice because the answer was cut off at its limit."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Final

from advisor import numbers
from advisor.cube_changes import requests_in, single_rows
from advisor.evidence import Cell, Ended, Evidence
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk
from advisor.removals import removal
from advisor.snippets import snippet_for
from pricing.meters import INPUT_METERS, OUTPUT_METERS, TOKEN_METERS, Meter, Phase

NAME: Final = "waste"
_AVOIDED: Final = {Level.LOW: Fraction(1, 4), Level.EXPECTED: Fraction(1, 2), Level.HIGH: Fraction(1)}
"""Part of the failures that can be avoided: the log does not tell."""
_ASKED_AGAIN: Final = {Level.LOW: Fraction(0), Level.EXPECTED: Fraction(0), Level.HIGH: Fraction(1)}
"""Part of the cut-off requests that were asked again: the log does not tell."""
_MEANT_TOKENS: Final = 20
"""Tokens of an answer up to which a limit that is reached is meant: a class, a yes or no."""


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield up to two proposals for each workload: for what failed, and for what was cut off."""
    for name in evidence.workloads:
        failed = {cell: one for cell, one in evidence.failed.items() if cell[0] == name and one.tokens}
        if any(count for one in failed.values() for count in one.tokens.values()):
            yield _failures(evidence, name, failed)
        cut_off = {
            cell: one for cell, one in evidence.cut_off.items() if cell[0] == name and not _is_meant(one)
        }
        if any(one.tokens.get(meter) for one in cut_off.values() for meter in INPUT_METERS):
            yield _cut_off(evidence, name, cut_off)


def _is_meant(ended: Ended) -> bool:
    written = sum(ended.tokens.get(meter, 0) for meter in OUTPUT_METERS)
    return written <= _MEANT_TOKENS * ended.requests


def _failures(evidence: Evidence, name: str, failed: Mapping[Cell, Ended]) -> Proposal:
    return Proposal(
        lever=NAME,
        workload=name,
        title="Stop paying for requests that fail",
        phase=None,
        change=_change(evidence, failed, _AVOIDED, TOKEN_METERS),
        confidence=Confidence.ASSUMED,
        effort=Effort.MEDIUM,
        risk=Risk.NONE,
        evidence=tuple(_facts(evidence, name, failed, "Requests that failed and used tokens")),
        assumptions=(
            "Part of the failures that can be avoided: low a quarter, expected half, high all. The log does not tell.",
            "The provider charges what the log counts for them: many failures are free, so compare with the bill first.",
            "Requests that failed cost what their tokens cost in the mean of their model.",
        ),
        how=(
            "Look at the commonest status first; wrong requests (400) fail again however often they are sent.",
            "Wait longer after each failure and stop after a few; never retry from two layers at once.",
            "Give a deadline that long answers can meet, or stream them: what is written when a caller gives up is paid for.",
        ),
        snippet=snippet_for(evidence, NAME, name),
    )


def _cut_off(evidence: Evidence, name: str, cut_off: Mapping[Cell, Ended]) -> Proposal:
    return Proposal(
        lever=NAME,
        workload=name,
        title="Ask once: room for answers that are cut off",
        phase=Phase.PREFILL,
        change=_change(evidence, cut_off, _ASKED_AGAIN, INPUT_METERS),
        confidence=Confidence.ASSUMED,
        effort=Effort.LOW,
        risk=Risk.NONE,
        evidence=tuple(_facts(evidence, name, cut_off, "Answers cut off at their limit")),
        assumptions=(
            "High: each was asked again with its whole prompt. Low and expected: the log does not tell, so nothing.",
            "Only prompts are counted: how long answers are is another matter.",
            f"Answers of up to {_MEANT_TOKENS} tokens in the mean are taken to be cut off on purpose.",
        ),
        how=(
            "Find out what callers do with a cut-off answer: ask again, go on from it, or show it.",
            "Raise the limit where answers are needed whole; say in the prompt how long they are to be.",
            "Go on from what was written instead of asking anew, with the prompt in a cache.",
        ),
    )


def _facts(evidence: Evidence, name: str, ended: Mapping[Cell, Ended], label: str) -> Iterator[Fact]:
    requests = sum(one.requests for one in ended.values())
    whole = requests_in(evidence.cube, single_rows(evidence.cube, name))
    part = f" ({numbers.share(min(1.0, requests / whole))})" if whole else ""
    yield Fact(label=label, value=f"{numbers.count(requests)}{part}")
    for phase, word in ((Phase.PREFILL, "prompts"), (Phase.DECODE, "answers")):
        tokens = sum(
            count for one in ended.values() for meter, count in one.tokens.items() if meter.phase is phase
        )
        yield Fact(label=f"Tokens of their {word}", value=numbers.tokens(tokens))
    yield Fact(label="Models", value=", ".join(sorted({str(model) for _, _, model in ended})))


def _change(
    evidence: Evidence,
    ended: Mapping[Cell, Ended],
    parts: Mapping[Level, Fraction],
    meters: tuple[Meter, ...],
) -> Change:
    counts = {
        level: {
            cell: {meter: part * one.tokens.get(meter, 0) for meter in meters} for cell, one in ended.items()
        }
        for level, part in parts.items()
    }
    return removal(evidence.cube, counts)
