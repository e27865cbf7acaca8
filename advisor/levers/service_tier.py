"""Service tiers that cost more than the standard one."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from advisor import numbers
from advisor.cube_changes import at_tier, has_word, moved, requests_in
from advisor.evidence import Evidence
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk
from advisor.snippets import snippet_for

NAME: Final = "service_tier"
_DEAR: Final = ("priority", "fast", "ultrafast")
_SHARES: Final = {Level.LOW: Fraction(1, 2), Level.EXPECTED: Fraction(1), Level.HIGH: Fraction(1)}
"""Part of these requests that does not need the speed."""


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each workload with requests in a tier that buys speed."""
    for name in evidence.workloads:
        mine = _dear_rows(evidence.cube, name)
        if not mine.any():
            continue
        tiers = sorted(set(evidence.cube["service_tier"][mine].str.lower()))
        yield Proposal(
            lever=NAME,
            workload=name,
            title="Leave the priority tier",
            phase=None,
            change=_change(name),
            confidence=Confidence.MODELLED,
            effort=Effort.LOW,
            risk=Risk.NONE,
            evidence=(
                Fact(label="Requests in a dear tier", value=numbers.count(requests_in(evidence.cube, mine))),
                Fact(label="Tiers", value=", ".join(tiers)),
            ),
            assumptions=("Low: half of these requests need the speed. Expected and high: none does.",),
            how=(
                "Ask for the standard tier where nobody waits for the first token; keep the tier for what a person watches.",
            ),
            snippet=snippet_for(evidence, NAME, name),
        )


def _change(name: str) -> Change:
    def change(cube: Any, level: Level) -> Any:
        mine = _dear_rows(cube, name)
        return moved(cube, mine, _SHARES[level], lambda leaving: at_tier(leaving, None))

    return change


def _dear_rows(cube: Any, name: str) -> Any:
    return has_word(cube["workload"], (name,)) & has_word(cube["service_tier"], _DEAR, any_case=True)
