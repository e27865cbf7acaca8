"""Service tiers that cost less than the standard one: who sells them, and which requests are at the standard one."""

from decimal import Decimal
from typing import Any

import pandas as pd

from advisor.cube_changes import has_word, single_rows
from advisor.evidence import Evidence
from pricing.cards import STANDARD_NAMES
from pricing.errors import PricingError
from pricing.meters import Meter

Model = tuple[str | None, str]
"""Provider and model as logged."""


def sold(evidence: Evidence, part: Any, tier: str) -> dict[Model, Decimal]:
    """Return the discount on output of the models of some rows that have rates of their own at a tier."""
    found: dict[Model, Decimal] = {}
    for provider, model in part[["provider", "model"]].drop_duplicates().itertuples(index=False, name=None):
        if not isinstance(model, str):
            continue
        payee = provider if isinstance(provider, str) else None
        try:
            card = evidence.book.find(payee, model)
            plain = card.resolve(evidence.as_of, None, None)
            cheap = card.resolve(evidence.as_of, None, tier)
        except PricingError:
            continue
        before, after = plain.rates.get(Meter.OUTPUT), cheap.rates.get(Meter.OUTPUT)
        if cheap.service_tier_applied == tier and before and after is not None and after < before:
            found[payee, model] = 1 - after / before
    return found


def standard_rows(cube: Any, workload: str, models: set[Model]) -> Any:
    """Return which rows hold single requests of a workload to some models at the standard tier."""
    mine = single_rows(cube, workload) & _is_standard(cube["service_tier"])
    asked = pd.Series(data=False, index=cube.index)
    for provider, model in models:
        asked |= has_word(cube["provider"], (provider,)) & has_word(cube["model"], (model,))
    return mine & asked


def _is_standard(tiers: pd.Series) -> Any:
    return has_word(tiers.map(str.lower, na_action="ignore"), (None, *STANDARD_NAMES))
