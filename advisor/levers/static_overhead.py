"""Static overhead: instructions, tools and examples that every prompt of a workload carries. It acts on prefill."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from advisor import numbers
from advisor.cube_changes import (
    FEW_REQUESTS,
    Cut,
    cut_by,
    requests_in,
    scaled,
    single_rows,
    tokens_in,
)
from advisor.evidence import Evidence
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk
from pricing.meters import INPUT_METERS, Meter, Phase

NAME: Final = "static_overhead"
_UNCACHED: Final = str(Meter.INPUT_UNCACHED)
_REMOVABLE: Final = {Level.LOW: Fraction(0), Level.EXPECTED: Fraction(0), Level.HIGH: Fraction(1, 4)}
"""Part of the overhead that can go: the log does not tell."""
_NOTABLE_TOKENS: Final = 1_000
_NOTABLE_SHARE: Final = 0.5
"""Part of the mean prompt that the shortest ones must have: else what they share is not what is paid for."""


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each workload whose shortest prompts are long, and about as long as the others."""
    for name, workload in evidence.workloads.items():
        shortest, sizes = evidence.shortest.get(name, 0), workload.input_tokens
        rows = single_rows(evidence.cube, name)
        requests = requests_in(evidence.cube, rows)
        if sizes is None or shortest < _NOTABLE_TOKENS or shortest < _NOTABLE_SHARE * sizes.mean:
            continue
        paid = _paid_in_full(evidence.cube, rows, shortest * requests)
        if paid and requests >= FEW_REQUESTS:
            yield _proposal(evidence, name, rows, shortest, paid)


def _paid_in_full(cube: Any, rows: Any, overhead: int) -> int:
    """Return how much of the overhead is not read from a cache, nor written to one: what is cached is of it first."""
    cached = sum(
        tokens_in(cube, rows, str(meter)) for meter in INPUT_METERS if meter is not Meter.INPUT_UNCACHED
    )
    return max(0, min(overhead - cached, tokens_in(cube, rows, _UNCACHED)))


def _proposal(evidence: Evidence, name: str, rows: Any, shortest: int, paid: int) -> Proposal:
    uncached = tokens_in(evidence.cube, rows, _UNCACHED)
    cuts = {
        level: cut_by(evidence.cube, rows, _UNCACHED, part * Fraction(paid, uncached))
        for level, part in _REMOVABLE.items()
    }
    return Proposal(
        lever=NAME,
        workload=name,
        title="Shorten what every prompt carries",
        phase=Phase.PREFILL,
        change=_change(name, cuts),
        confidence=Confidence.ASSUMED,
        effort=Effort.MEDIUM,
        risk=Risk.EVALUATE,
        evidence=(
            Fact(label="Tokens that nearly every prompt has at least", value=numbers.tokens(shortest)),
            Fact(
                label="Of all prompt text, and paid in full",
                value=f"{numbers.tokens(paid)} tokens, {numbers.share(paid / uncached)} of what is not cached",
            ),
        ),
        assumptions=(
            "High: prompts share all that the shortest have, and a quarter of it can go. Low and expected: nothing is known.",
            "What is read from a cache today is taken to be of it.",
        ),
        how=(
            "Print one whole prompt and strike out: tools that this kind of request never calls, examples, rules said twice.",
            "Offer only the tools that a request may need; describe each in a line.",
            "What must stay goes first and unchanged, so that a cache can read it: that saves more than shortening it.",
            "Evaluate before and after on the same requests.",
        ),
    )


def _change(name: str, cuts: Mapping[Level, Cut]) -> Change:
    def change(cube: Any, level: Level) -> Any:
        rows = single_rows(cube, name)
        return scaled(cube, rows, (_UNCACHED,), cuts[level].ratio(cube, rows, _UNCACHED))

    return change
