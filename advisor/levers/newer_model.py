"""A newer model: the newest one of the same size and maker, where the same text costs less on it. Both phases follow."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from advisor.evidence import Evidence
from advisor.move_words import move_assumptions, move_facts
from advisor.recommendation import Confidence, Effort, Level, Proposal, Risk
from advisor.rerouting import Move, rerouted

NAME: Final = "newer_model"
_SHARES: Final = {Level.LOW: Fraction(1, 2), Level.EXPECTED: Fraction(1), Level.HIGH: Fraction(1)}
"""Part of the requests that the newer model answers as well: the log does not tell."""


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each move to a newer model that saves."""
    for move in evidence.moves:
        if move.newer:
            yield _proposal(evidence, move)


def _proposal(evidence: Evidence, move: Move) -> Proposal:
    route, target = move.route, move.route.target
    return Proposal(
        lever=NAME,
        workload=route.workload,
        title=f"Move on from {route.source} to {target}",
        phase=None,
        change=rerouted(move, evidence.book, evidence.as_of, _SHARES),
        confidence=Confidence.ASSUMED,
        effort=Effort.LOW,
        risk=Risk.EVALUATE,
        evidence=tuple(move_facts(move)),
        assumptions=(
            "Expected and high: the newer model answers all requests as well; low: a half. The log does not tell.",
            *move_assumptions(move),
        ),
        how=(
            f"Read the maker's notes on moving to {target}: parameters that are gone, defaults that changed.",
            "Take a hundred requests with answers that you know to be good, run them on both, and compare.",
            "Count tokens on both: the same text may have more of them, and it may reason longer.",
            "Let a small part of the traffic go first, then the rest.",
        ),
        snippet=f'model = "{target}"',
    )
