"""Money in another currency, at the rate of each day of usage; what has no rate stays in USD and is said to.

A rate is how much of the currency one US dollar buys; a day's own rate comes before its month's.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pandas as pd

from pricing.discounts import LIST_COST
from pricing.frame import PricedCube
from pricing.rules import EXACT

USD: Final = "USD"
UNCONVERTED_USD: Final = "unconverted_usd"
"""Column of a converted cube: the contracted cost of a cell whose day has no rate, else None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FxRates:
    """Rates of one currency.

    Attributes:
        currency: ISO 4217 code.
        rates: ``2026-10`` or ``2026-10-05`` -> currency per USD.
        source: Name of the file.
    """

    currency: str
    rates: Mapping[str, Decimal]
    source: str

    def key(self, day: date) -> str | None:
        """Which rate counts on a day: its own, else its month's; None without either."""
        return next((key for key in (day.isoformat(), day.strftime("%Y-%m")) if key in self.rates), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversion:
    """What a conversion did.

    Attributes:
        currency: Of the amounts; USD when no day of the log has a rate.
        source: Name of the file with the rates.
        rates: Rates that were used, currency per USD, by day or month.
        unconverted: Month -> contracted cost in USD of usage without a rate, ascending.
    """

    currency: str
    source: str
    rates: Mapping[str, Decimal]
    unconverted: Mapping[str, Decimal]


def mean_rate(fx: FxRates, first: date, last: date) -> Decimal | None:
    """The mean of the rates of some days, for an amount that is owed for all of them; None when a day has none."""
    keys = [fx.key(first + timedelta(days=offset)) for offset in range((last - first).days + 1)]
    rates = [fx.rates[key] for key in keys if key is not None]
    return sum(rates, Decimal(0)) / len(rates) if len(rates) == len(keys) else None


def converted(priced: PricedCube, fx: FxRates, *, untimed: date) -> tuple[PricedCube, Conversion]:
    """Convert a priced cube, cell by cell, before anything is added up.

    Args:
        priced: Costs in USD, with ``day``, and money that the log states in ``recorded_cost_usd``.
        fx: The rates.
        untimed: Day whose rate counts for cells without a day.

    Returns:
        The cube in the currency, and what was done. A cell without a rate costs 0 there; its cost in USD stands in
        ``unconverted_usd``. When no cell has a rate, the cube is returned as it is.
    """
    frame = priced.frame
    days = pd.to_datetime(frame["day"]).fillna(pd.Timestamp(untimed))
    code, distinct = pd.factorize(days)
    dates = [pd.Timestamp(one).date() for one in distinct]
    keys = [fx.key(one) for one in dates]
    used = {key: fx.rates[key] for key in sorted({key for key in keys if key is not None})}
    lost: Any = np.array([key is None for key in keys], dtype=bool)[code]
    usd = _cell_usd(priced, lost)
    unconverted = _by_month(usd, days)
    if not used:
        return priced, Conversion(currency=USD, source=fx.source, rates={}, unconverted=unconverted)
    digits = max(max(0, -int(rate.as_tuple().exponent)) for rate in used.values())
    factors = [0 if key is None else int(EXACT.scaleb(used[key], digits)) for key in keys]
    factor: Any = np.array(factors, dtype=object)[code]
    costs = [name for name in frame.columns if name.startswith("cost_") or name == LIST_COST]
    columns = {name: frame[name].to_numpy(dtype=object) * factor for name in costs}
    recorded = [
        None if gone or pd.isna(value) else EXACT.multiply(Decimal(str(value)), used[keys[index] or ""])
        for value, gone, index in zip(frame["recorded_cost_usd"], lost, code, strict=True)
    ]
    columns["recorded_cost_usd"] = _objects(recorded)
    columns[UNCONVERTED_USD] = _objects(usd)
    objects = {name: pd.Series(values, index=frame.index, dtype=object) for name, values in columns.items()}
    made = replace(priced, frame=frame.assign(**objects), exponent=priced.exponent + digits)
    return made, Conversion(currency=fx.currency, source=fx.source, rates=used, unconverted=unconverted)


def _cell_usd(priced: PricedCube, wanted: Any) -> list[Decimal | None]:
    """What the wanted cells cost in USD, computed, or stated by a cost export; None for the others."""
    frame = priced.frame
    costs = [frame[name].to_numpy(dtype=object) for name in frame.columns if name.startswith("cost_")]
    whole: Any = sum(costs, np.zeros(len(frame), dtype=object))
    found: list[Decimal | None] = [None] * len(frame)
    for row in np.flatnonzero(wanted):
        stated = frame["recorded_cost_usd"].iloc[row] if frame["charge_only"].iloc[row] else None
        found[row] = priced.to_usd(int(whole[row])) if pd.isna(stated) else Decimal(str(stated))
    return found


def _by_month(amounts: list[Decimal | None], days: pd.Series) -> dict[str, Decimal]:
    sums: dict[str, Decimal] = {}
    for day, usd in zip(days, amounts, strict=True):
        if usd is not None:
            month = day.strftime("%Y-%m")
            sums[month] = EXACT.add(sums.get(month, Decimal(0)), usd)
    return dict(sorted(sums.items()))


def _objects(values: list[Any]) -> Any:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
