"""Negotiated discounts: list cost in, contracted cost out, exactly. The most specific row counts, and only that one.

Discounts come last, after every rule of the published price, and never stack: of all rows that fit some usage the one
that names the api key wins, then the one that names the model, then the provider, then the meter.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from itertools import combinations
from typing import Any, Final

import numpy as np
import pandas as pd

from pricing.errors import PriceFileError
from pricing.frame import PricedCube
from pricing.meters import Meter
from pricing.names import candidates, provider_id
from pricing.rules import EXACT, is_active

LIST_COST: Final = "list_cost"
"""Column of a contracted cube: the cost of a cell before discounts."""
API_KEY: Final = "api_key"

_ONE: Final = Decimal(1)
_Array = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Discount:
    """One negotiated multiplier and the usage that it is for; what is None fits everything.

    Attributes:
        multiplier: Contracted cost / list cost; 0.80 is 20 % off, above 1 is a surcharge.
        where: File and row, for people: ``deal.yaml: discounts.0``.
        provider: Who is paid.
        model: By any exact name that the price book would take for it.
        api_key: As the log has it.
        meter: One kind of token or fee.
        valid_from: First instant (UTC), None for ever.
        valid_until: First instant (UTC) after it, None for ever.
    """

    multiplier: Decimal
    where: str
    provider: str | None = None
    model: str | None = None
    api_key: str | None = None
    meter: Meter | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None

    @property
    def specificity(self) -> tuple[bool, bool, bool, bool]:
        """Which of api key, model, provider and meter it names; the greater tuple wins."""
        named = (self.api_key, self.model, self.provider, self.meter)
        key, model, provider, meter = (part is not None for part in named)
        return key, model, provider, meter

    @property
    def scope(self) -> str:
        """What it is for, in words: ``api key hash-a, output``."""
        parts = (
            ("api key", self.api_key),
            ("model", self.model),
            ("provider", self.provider),
            ("meter", self.meter),
        )
        return ", ".join(f"{word} {name}" for word, name in parts if name is not None) or "everything"

    def covers(self, usage: "Usage", meter: Meter) -> bool:
        """Whether it is for a meter of some usage."""
        return (
            (self.api_key is None or self.api_key == usage.api_key)
            and (self.model is None or self.model.strip().lower() in usage.models)
            and (self.provider is None or provider_id(self.provider) == usage.provider)
            and (self.meter is None or self.meter is meter)
            and is_active(self.valid_from, self.valid_until, usage.at)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """What decides which discount counts."""

    provider: str | None
    """genai-prices id of who is paid."""
    models: frozenset[str]
    """Every exact name of the model, lower case."""
    api_key: str | None
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AppliedDiscount:
    """What one row of the user's did: list and contracted cost of the usage that it was applied to, in USD."""

    discount: Discount
    list_usd: Decimal
    contracted_usd: Decimal


def check_overlaps(rows: Sequence[Discount]) -> None:
    """Refuse rows of which two would fit the same usage equally well.

    Raises:
        PriceFileError: Naming both rows.
    """
    for one, other in combinations(rows, 2):
        if _identity(one) == _identity(other) and _overlap(one, other):
            raise PriceFileError(
                f"{one.where} and {other.where}: both are for {one.scope} at the same time; "
                "discounts never stack, so keep one or give them dates that do not overlap"
            )


def _identity(row: Discount) -> tuple[object, ...]:
    model = None if row.model is None else row.model.strip().lower()
    return row.api_key, model, provider_id(row.provider), row.meter


def _overlap(one: Discount, other: Discount) -> bool:
    return _starts_before_end(one, other) and _starts_before_end(other, one)


def _starts_before_end(one: Discount, other: Discount) -> bool:
    return one.valid_from is None or other.valid_until is None or one.valid_from < other.valid_until


def breakpoints(rows: Sequence[Discount]) -> tuple[datetime, ...]:
    """The instants at which a discount starts or ends, ascending: cells of a cube must not cross them."""
    return tuple(sorted({at for row in rows for at in (row.valid_from, row.valid_until) if at is not None}))


def contracted(
    priced: PricedCube, rows: Sequence[Discount], *, as_of: datetime
) -> tuple[PricedCube, tuple[AppliedDiscount, ...]]:
    """Apply discounts to a priced cube.

    Args:
        priced: Costs at list prices, in cells that do not cross a discount's dates; a column ``api_key`` where rows
            name one.
        rows: The discounts, in any order.
        as_of: Instant of cells without a time.

    Returns:
        The cube with contracted costs in ``cost_<meter>`` and the list cost of each cell in ``list_cost``, and what
        each row did, in the order of the rows. Without rows the cube is returned as it is.

    Raises:
        PriceFileError: Two rows name one model by different names and fit equally well.
    """
    if not rows or priced.frame.empty:
        return priced, tuple(_nothing(row) for row in rows)
    frame = priced.frame
    digits = max(_decimals(row.multiplier) for row in rows)
    code, usages = _usages(frame, as_of)
    columns: dict[str, _Array] = {}
    list_cost: _Array = np.zeros(len(frame), dtype=object)
    sums = {row.where: [0, 0] for row in rows}
    for meter in (meter for meter in Meter if f"cost_{meter}" in frame.columns):
        chosen = [_best(rows, usage, meter) for usage in usages]
        factors = [int(EXACT.scaleb(row.multiplier if row else _ONE, digits)) for row in chosen]
        cost = frame[f"cost_{meter}"].to_numpy(dtype=object)
        net = cost * np.array(factors, dtype=object)[code]
        scaled = cost * 10**digits
        columns[f"cost_{meter}"], list_cost = net, list_cost + scaled
        for index, row in enumerate(chosen):
            if row is not None:
                inside = code == index
                sums[row.where][0] += scaled[inside].sum()
                sums[row.where][1] += net[inside].sum()
    columns[LIST_COST] = list_cost
    objects = {name: pd.Series(values, index=frame.index, dtype=object) for name, values in columns.items()}
    made = replace(priced, frame=frame.assign(**objects), exponent=priced.exponent + digits)
    applied = (
        AppliedDiscount(
            discount=row,
            list_usd=made.to_usd(int(sums[row.where][0])),
            contracted_usd=made.to_usd(int(sums[row.where][1])),
        )
        for row in rows
    )
    return made, tuple(applied)


def _nothing(row: Discount) -> AppliedDiscount:
    return AppliedDiscount(discount=row, list_usd=Decimal(0), contracted_usd=Decimal(0))


def _best(rows: Sequence[Discount], usage: Usage, meter: Meter) -> Discount | None:
    fitting = [row for row in rows if row.covers(usage, meter)]
    best = max((row.specificity for row in fitting), default=None)
    winners = [row for row in fitting if row.specificity == best]
    if len(winners) > 1:
        one, other = winners[:2]
        raise PriceFileError(
            f"{one.where} and {other.where}: both fit {one.scope} by different names of one model; keep one"
        )
    return winners[0] if winners else None


def _usages(frame: pd.DataFrame, as_of: datetime) -> tuple[_Array, list[Usage]]:
    """Row -> its kind of usage, and the kinds: rows of one kind have the same discounts."""
    names = ["provider", "provider_resolved", "model", "model_resolved"]
    keys = frame[names].astype(object)
    keys[API_KEY] = frame[API_KEY] if API_KEY in frame.columns else None
    at = pd.to_datetime(frame["price_at"], utc=True).fillna(pd.Timestamp(as_of).tz_convert("UTC"))
    # Cells never cross a discount's dates, so one instant stands for all of a day's cells with the same epoch.
    keys["epoch"] = frame.get("cell_epoch", at)
    code = keys.groupby(list(keys.columns), dropna=False, sort=False).ngroup().to_numpy()
    _, first = np.unique(code, return_index=True)
    return code, [usage_of(keys.iloc[row], at.iloc[row].to_pydatetime()) for row in first]


def usage_of(row: Any, at: datetime) -> Usage:
    """Who was paid for what in a cell: the provider that the log names, else the one whose price was used.

    Args:
        row: The cell's ``provider``, ``provider_resolved``, ``model``, ``model_resolved`` and, if any, ``api_key``.
        at: An instant of it.
    """
    texts = {name: value if isinstance(value, str) else None for name, value in row.items()}
    return Usage(
        provider=provider_id(texts["provider"]) or provider_id(texts["provider_resolved"]),
        models=frozenset(_names(texts["model"], texts["model_resolved"])),
        api_key=texts.get(API_KEY),
        at=at,
    )


def _names(logged: str | None, resolved: str | None) -> Iterator[str]:
    if logged is not None:
        yield from candidates(logged)
    if resolved is not None:
        yield resolved.strip().lower()


def _decimals(number: Decimal) -> int:
    return max(0, -int(number.as_tuple().exponent))
