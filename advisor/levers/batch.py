"""Batch jobs: what can wait is sold at a discount on every token, in both phases."""

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import pandas as pd

from advisor.cube_changes import has_word, moved, single_rows
from advisor.evidence import Evidence
from advisor.numbers import share
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk, unchanged
from pricing.cards import STANDARD_NAMES
from pricing.errors import PricingError
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
        models = _sold(evidence, part)
        signals = evidence.signals.get(name)
        streamed = (
            None
            if signals is None or signals.streamed is None
            else signals.streamed / max(signals.requests, 1)
        )
        if not models or (streamed is not None and streamed > _MOSTLY):
            why = (
                f"{share(streamed)} of the requests are streamed: somebody waits"
                if models
                else "no batch price is known"
            )
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
            change=_change(name, set(models)),
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
                "Keep what a person waits for on the normal endpoint.",
            ),
        )


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


def _sold(evidence: Evidence, part: Any) -> dict[tuple[str | None, str], Decimal]:
    """Return the discount on output of the models of a workload that have batch rates."""
    found: dict[tuple[str | None, str], Decimal] = {}
    for provider, model in part[["provider", "model"]].drop_duplicates().itertuples(index=False, name=None):
        if not isinstance(model, str):
            continue
        payee = provider if isinstance(provider, str) else None
        try:
            card = evidence.book.find(payee, model)
            plain = card.resolve(evidence.as_of, None, None)
            batch = card.resolve(evidence.as_of, None, "batch")
        except PricingError:
            continue
        before, after = plain.rates.get(Meter.OUTPUT), batch.rates.get(Meter.OUTPUT)
        if batch.service_tier_applied == "batch" and before and after is not None and after < before:
            found[payee, model] = 1 - after / before
    return found


def _change(name: str, models: set[tuple[str | None, str]]) -> Change:
    def change(cube: Any, level: Level) -> Any:
        mine = single_rows(cube, name) & _is_standard(cube["service_tier"])
        sold = pd.Series(data=False, index=cube.index)
        for provider, model in models:
            sold |= has_word(cube["provider"], (provider,)) & has_word(cube["model"], (model,))
        mine &= sold
        return moved(cube, mine, _SHARES[level], lambda leaving: leaving.assign(service_tier="batch"), _FEES)

    return change


def _is_standard(tiers: pd.Series) -> Any:
    return has_word(tiers.map(str.lower, na_action="ignore"), (None, *STANDARD_NAMES))
