"""Flex: requests that can wait some minutes, at a discount on every token where there are no batch jobs, or dearer ones."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from advisor.cube_changes import at_tier, moved
from advisor.evidence import Evidence
from advisor.numbers import share
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk
from advisor.tiers import DIVIDED_SHARE, Model, share_at, sold, sold_after_moves, standard_rows
from pricing.meters import Meter, Phase

NAME: Final = "flex"
_SHARES: Final = {Level.LOW: Fraction(1, 4), Level.EXPECTED: Fraction(1, 2), Level.HIGH: Fraction(1)}
"""Part of a workload that is taken to be able to wait: the log does not tell."""
_FEES: Final = tuple(str(meter) for meter in Meter if meter.phase is Phase.FEE)
"""They cost as much at any tier."""
_MOSTLY: Final = 0.5


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each workload of models that batch jobs do not make as cheap, and that nobody is seen to wait for."""
    for name in evidence.workloads:
        part = evidence.cube[evidence.cube["workload"] == name]
        models, batch = sold(evidence, part, NAME), sold(evidence, part, "batch")
        better = {model: off for model, off in models.items() if off > batch.get(model, 0)}
        signals = evidence.signals.get(name)
        streamed = 0.0 if signals is None else (signals.streamed or 0) / max(signals.requests, 1)
        if not better or streamed > _MOSTLY or share_at(part, name, NAME) >= DIVIDED_SHARE:
            continue
        off = ", ".join(f"{model} {share(part)} off" for (_, model), part in sorted(better.items(), key=str))
        yield Proposal(
            lever=NAME,
            workload=name,
            title="Send what can wait some minutes at the flex tier",
            phase=None,
            change=_change(name, set(better) | _better_after_moves(evidence, name)),
            confidence=Confidence.ASSUMED,
            effort=Effort.LOW,
            risk=Risk.NONE,
            evidence=(Fact(label="Flex discount", value=off),),
            assumptions=(
                "Part of the requests that can wait: low 25 %, expected 50 %, high all. The log does not tell.",
                "Only models are counted whose batch jobs are not sold, or cost more.",
            ),
            how=(
                "Ask for the tier request by request where nobody waits, with a deadline of several minutes.",
                "Be ready for a refusal when there is no room: wait and ask again, or ask at the standard tier.",
            ),
            snippet='service_tier="flex"',
        )


def _better_after_moves(evidence: Evidence, name: str) -> set[Model]:
    return sold_after_moves(evidence, name, NAME) - sold_after_moves(evidence, name, "batch")


def _change(name: str, models: set[Model]) -> Change:
    def change(cube: Any, level: Level) -> Any:
        mine = standard_rows(cube, name, models)
        return moved(cube, mine, _SHARES[level], lambda leaving: at_tier(leaving, NAME), _FEES)

    return change
