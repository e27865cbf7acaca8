"""A smaller model: part of the traffic on a cheaper one of the same provider's line-up. Decode follows a model's size most."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from advisor.evidence import Evidence
from advisor.move_words import move_assumptions, move_facts
from advisor.recommendation import Confidence, Effort, Level, Proposal, Risk
from advisor.rerouting import Move, rerouted

NAME: Final = "smaller_model"
_SHARES: Final = {Level.LOW: Fraction(1, 5), Level.EXPECTED: Fraction(1, 2), Level.HIGH: Fraction(1)}
"""Part of the requests that the smaller model is good enough for: the log does not tell."""


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each move to a smaller model that saves."""
    for move in evidence.moves:
        if not move.newer:
            yield _proposal(evidence, move)


def _proposal(evidence: Evidence, move: Move) -> Proposal:
    route, target = move.route, move.route.target
    return Proposal(
        lever=NAME,
        workload=route.workload,
        title=f"Send what is easy to {target} instead of {route.source}",
        phase=None,
        change=rerouted(move, evidence.book, evidence.as_of, _SHARES),
        confidence=Confidence.ASSUMED,
        effort=Effort.MEDIUM,
        risk=Risk.EVALUATE,
        evidence=tuple(move_facts(move)),
        assumptions=tuple(_assumptions(move)),
        how=(
            f"Take a hundred requests of this workload with answers that you know to be good; run them on {target}.",
            "Compare what matters to you: right answers, format, tool calls, refusals, length, and time to the first token.",
            "Route by what a request looks like (kind, prompt size, tools), and send failures of a check to the larger model.",
            "Count tokens on both: another model may write or reason longer.",
        ),
        snippet=f'model = "{target}" if is_easy(request) else "{route.source}"',
    )


def _assumptions(move: Move) -> Iterator[str]:
    yield (
        "Half of the requests are easy enough for the smaller model; low a fifth, high all. The log does not tell, and no "
        "quality is promised."
    )
    yield from move_assumptions(move)
