"""Service tiers that cost more than the standard one."""

from collections.abc import Iterator
from typing import Any, Final

from advisor.evidence import Evidence
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk

NAME: Final = "service_tier"
_DEAR: Final = ("priority", "fast", "ultrafast")


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each workload with requests in a tier that buys speed."""
    tiers = evidence.cube["service_tier"].fillna("").astype(str).str.lower()
    for name in evidence.workloads:
        mine = (evidence.cube["workload"] == name) & tiers.isin(_DEAR)
        if not mine.any():
            continue
        rows = evidence.cube[mine]
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
                Fact(label="Requests in a dear tier", value=f"{int(rows['records'].sum()):,}"),
                Fact(label="Tiers", value=", ".join(sorted(set(tiers[mine])))),
            ),
            assumptions=("Low: half of these requests need the speed. Expected and high: none does.",),
            how=(
                "Ask for the standard tier where nobody waits for the first token; keep the tier for what a person watches.",
            ),
        )


def _change(name: str) -> Change:
    def change(cube: Any, level: Level) -> Any:
        tiers = cube["service_tier"].fillna("").astype(str).str.lower()
        mine = (cube["workload"] == name) & tiers.isin(_DEAR)
        if level is Level.LOW:
            # Every second cell stays: the log does not tell which requests need the speed.
            mine = mine & (mine.cumsum() % 2 == 0)
        out = cube.copy()
        out["service_tier"] = out["service_tier"].astype(object).where(~mine, None)
        return out

    return change
