"""Service tiers that cost less than the standard one: who sells them, and which requests are at the standard one."""

from decimal import Decimal
from typing import Any, Final

import pandas as pd

from advisor.cube_changes import has_word, requests_in, single_rows
from advisor.evidence import Evidence
from pricing.cards import STANDARD_NAMES
from pricing.errors import PricingError
from pricing.meters import Meter

Model = tuple[str | None, str]
"""Provider and model as logged."""

DIVIDED_SHARE: Final = 0.45
"""Part of the requests at a cheaper tier from which on a workload is taken to be divided between it and the standard one."""


def sold(evidence: Evidence, part: Any, tier: str) -> dict[Model, Decimal]:
    """Return the discount on output of the models of some rows that have rates of their own at a tier."""
    found: dict[Model, Decimal] = {}
    for provider, model in part[["provider", "model"]].drop_duplicates().itertuples(index=False, name=None):
        payee = provider if isinstance(provider, str) else None
        off = _discount(evidence, payee, model, tier) if isinstance(model, str) else None
        if off is not None:
            found[payee, model] = off
    return found


def sold_after_moves(evidence: Evidence, workload: str, tier: str) -> set[Model]:
    """Return the models that the requests of a workload could go to that have cheaper rates of their own at a tier."""
    routes = [move.route for move in evidence.moves if move.route.workload == workload]
    pairs = [(route.provider, route.target) for route in routes]
    return {pair for pair in pairs if _discount(evidence, *pair, tier) is not None}


def _discount(evidence: Evidence, provider: str | None, model: str, tier: str) -> Decimal | None:
    """Return the discount on output of a tier; None where it is not sold, or is none."""
    try:
        card = evidence.book.find(provider, model)
        plain = card.resolve(evidence.as_of, None, None)
        cheap = card.resolve(evidence.as_of, None, tier)
    except PricingError:
        return None
    before, after = plain.rates.get(Meter.OUTPUT), cheap.rates.get(Meter.OUTPUT)
    if cheap.service_tier_applied != tier or not before or after is None or after >= before:
        return None
    return 1 - after / before


def share_at(cube: Any, workload: str, tier: str) -> float:
    """Return which part of the single requests of a workload is at a tier already, of those there and at the standard one."""
    mine = single_rows(cube, workload)
    there = requests_in(cube, mine & has_word(cube["service_tier"], (tier,), any_case=True))
    standard = requests_in(cube, mine & _is_standard(cube["service_tier"]))
    return there / (there + standard) if there else 0.0


def standard_rows(cube: Any, workload: str, models: set[Model]) -> Any:
    """Return which rows hold single requests of a workload to some models at the standard tier."""
    mine = single_rows(cube, workload) & _is_standard(cube["service_tier"])
    asked = pd.Series(data=False, index=cube.index)
    for provider, model in models:
        asked |= has_word(cube["provider"], (provider,)) & has_word(cube["model"], (model,))
    return mine & asked


def _is_standard(tiers: pd.Series) -> Any:
    return has_word(tiers, (None, *STANDARD_NAMES), any_case=True)
