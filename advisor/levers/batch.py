"""Batch jobs: what can wait is sold at a discount on every token, in both phases."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from advisor.cube_changes import at_tier, moved
from advisor.evidence import Evidence
from advisor.numbers import share
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk, unchanged
from advisor.snippets import snippet_for
from advisor.tiers import DIVIDED_SHARE, Model, share_at, sold, sold_after_moves, standard_rows
from pricing.meters import Meter, Phase

NAME: Final = "batch"
_SHARES: Final = {Level.LOW: Fraction(1, 4), Level.EXPECTED: Fraction(1, 2), Level.HIGH: Fraction(1)}
"""Part of a workload that is taken to be able to wait: the log does not tell."""
_FEES: Final = tuple(str(meter) for meter in Meter if meter.phase is Phase.FEE)
"""They cost as much in a batch job."""
_MOSTLY: Final = 0.5
_TITLE: Final = "Send what can wait as batch jobs"


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each workload whose models are sold as batch jobs, and that nobody is seen to wait for."""
    for name, workload in evidence.workloads.items():
        part = evidence.cube[evidence.cube["workload"] == name]
        models = sold(evidence, part, NAME)
        signals = evidence.signals.get(name)
        streamed = (
            None
            if signals is None or signals.streamed is None
            else signals.streamed / max(signals.requests, 1)
        )
        why = _why_not(models, streamed, share_at(part, name, NAME))
        if why:
            yield _not_for(name, why)
            continue
        off = ", ".join(
            f"{model} {share(factor)} off" for (_, model), factor in sorted(models.items(), key=str)
        )
        yield Proposal(
            lever=NAME,
            workload=name,
            title=_TITLE,
            phase=None,
            change=_change(name, set(models) | sold_after_moves(evidence, name, NAME)),
            confidence=Confidence.ASSUMED,
            effort=Effort.MEDIUM,
            risk=Risk.NONE,
            evidence=(
                Fact(label="Requests", value=f"{workload.whole.requests:,}"),
                Fact(label="Batch discount", value=off),
            ),
            assumptions=(
                "Part of the requests that can wait up to a day: low 25 %, expected 50 %, high all. The log does not tell.",
                "Cache hits in batch jobs are best effort; they are taken as logged.",
            ),
            how=(
                "Collect requests that nobody waits for (evaluations, backfills, summaries overnight) into batch jobs.",
                "Where minutes are fine and a day is not, ask for the flex tier instead, where it is sold at the same discount.",
                "Keep what a person waits for on the normal endpoint.",
            ),
            snippet=snippet_for(evidence, NAME, name),
        )


def _why_not(models: Mapping[Model, Decimal], streamed: float | None, batched: float) -> str:
    """Return why nothing more is sent as batch jobs; empty where it may be."""
    if not models:
        return "no batch price is known"
    if streamed is not None and streamed > _MOSTLY:
        return f"{share(streamed)} of the requests are streamed: somebody waits"
    if batched >= DIVIDED_SHARE:
        return f"{share(batched)} of the requests are batch jobs already"
    return ""


def _not_for(name: str, why: str) -> Proposal:
    return Proposal(
        lever=NAME,
        workload=name,
        title=_TITLE,
        phase=None,
        change=unchanged,
        confidence=Confidence.MODELLED,
        effort=Effort.MEDIUM,
        risk=Risk.NONE,
        doubt=why,
    )


def _change(name: str, models: set[Model]) -> Change:
    def change(cube: Any, level: Level) -> Any:
        mine = standard_rows(cube, name, models)
        return moved(cube, mine, _SHARES[level], lambda leaving: at_tier(leaving, NAME), _FEES)

    return change
