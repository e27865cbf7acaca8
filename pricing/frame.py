"""Price a whole cube at once, exactly: the same money as ``pricing.charges``, for a million rows a second or so.

Rows are grouped by the card they fall under and bucketed by its breakpoints, clock edges, context thresholds and
service tiers; one rate sheet is resolved per bucket. All rates are then scaled to integers of one power of ten, so
the arithmetic is that of Python integers and nothing is rounded.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pandas as pd

from pricing.arrays import INT64_MAX, codes, integers, take
from pricing.book import PriceBook
from pricing.cards import RateSheet
from pricing.charges import MTOK_DIGITS, Unpriced, UnpricedCode, missing_rate, sheet_or_reason
from pricing.meters import Meter
from pricing.rules import EXACT, minute_of_week
from pricing.units import MICROSECONDS_PER_SECOND, MINUTES_PER_WEEK, SECONDS_PER_MINUTE

NO_MODEL: Final = "no model in the log"

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_MINUTE: Final = minute_of_week(_EPOCH)
_US_PER_MINUTE: Final = SECONDS_PER_MINUTE * MICROSECONDS_PER_SECOND

_Array = Any
"""numpy arrays; their element types are stated in comments, for the checkers cannot follow them."""
_Name = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PricedCube:
    """A cube with its cost.

    Attributes:
        frame: The input columns, and ``provider_resolved``, ``model_resolved``, ``sheet`` (index into ``sheets``, -1
            when unpriced), ``unpriced_reason`` (text or None), and ``cost_<meter>`` for every meter column: Python
            ints in units of ``10**-exponent`` USD, 0 where nothing was reported or the row is unpriced.
        sheets: The rate sheets in use.
        unpriced: Every distinct reason for which rows have no price.
        exponent: Decimal places of the costs.
    """

    frame: pd.DataFrame
    sheets: tuple[RateSheet, ...]
    unpriced: tuple[Unpriced, ...]
    exponent: int

    def to_usd(self, cost: int) -> Decimal:
        """A cost, or a sum of costs, in USD: exact."""
        return _to_usd(cost, self.exponent)


def price_cube(cube: pd.DataFrame, book: PriceBook, *, as_of: datetime) -> PricedCube:
    """Price every row of a cube.

    Args:
        cube: Columns ``provider``, ``model``, ``service_tier`` and, where known, ``region`` (text or null), ``price_at`` (datetime64, UTC; null
            means ``as_of``), ``context_tokens`` (integers; null for a bucket of many requests), and any meters by
            their names (integers of any size; null when not reported).
        book: The prices.
        as_of: Instant for rows without ``price_at``, with a time zone.

    Returns:
        The cube with its costs. A row with a count for a meter without a rate is unpriced as a whole.

    Raises:
        ValueError: A count is not a whole number, or ``as_of`` has no time zone.
    """
    counts, rows, outcome, exponent = _priced(cube, book, as_of)
    columns = {
        "provider_resolved": take([sheet.provider for sheet in outcome.sheets], outcome.sheet, rows.provider),
        "model_resolved": take([sheet.model for sheet in outcome.sheets], outcome.sheet, rows.model),
        "unpriced_reason": take([reason.reason for reason in outcome.reasons], outcome.reason, None),
        **{f"cost_{meter}": _costs(values, meter, outcome, exponent) for meter, values in counts.items()},
    }
    # Said to be objects, or pandas would turn None into NaN.
    objects = {name: pd.Series(values, index=cube.index, dtype=object) for name, values in columns.items()}
    frame = cube.assign(sheet=outcome.sheet, **objects)
    return PricedCube(
        frame=frame, sheets=tuple(outcome.sheets), unpriced=tuple(outcome.reasons), exponent=exponent
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RowCosts:
    """What each row of a cube costs.

    Attributes:
        costs: Python ints in units of ``10**-exponent`` USD, over all meters; 0 for an unpriced row.
        known: Whether each row has a price.
        exponent: Decimal places of the costs.
    """

    costs: _Array
    known: _Array
    exponent: int

    def to_usd(self, cost: int) -> Decimal:
        """A cost, or a sum of costs, in USD: exact."""
        return _to_usd(cost, self.exponent)


def row_costs(cube: pd.DataFrame, book: PriceBook, *, as_of: datetime) -> RowCosts:
    """Price every row of a cube, and say no more than what it costs: see ``price_cube``."""
    counts, _, outcome, exponent = _priced(cube, book, as_of)
    costs = np.zeros(len(cube), dtype=object)
    for meter, values in counts.items():
        costs = costs + _costs(values, meter, outcome, exponent)
    return RowCosts(costs=costs, known=outcome.sheet >= 0, exponent=exponent)


def _to_usd(cost: int, exponent: int) -> Decimal:
    return EXACT.scaleb(cost, -exponent)


def _priced(
    cube: pd.DataFrame, book: PriceBook, as_of: datetime
) -> "tuple[dict[Meter, _Array], _Rows, _Outcome, int]":
    """The counts of a cube, its rows, what each falls under, and the decimal places that costs need."""
    counts = {meter: integers(cube[meter.value]) for meter in Meter if meter.value in cube.columns}
    rows = _Rows.of(cube, as_of)
    outcome = _Outcome(sheet=np.full(len(cube), -1), reason=np.full(len(cube), -1))
    for name, members in rows.by_name():
        _resolve(book, rows, name, members, outcome)
    _reject_missing_rates(outcome, counts)
    exponent = max(
        (_exponent(sheet, meter) for sheet in outcome.sheets for meter in counts), default=MTOK_DIGITS
    )
    return counts, rows, outcome, exponent


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    """The columns that decide a rate, as arrays of one length."""

    provider: _Array  # object: text or None
    model: _Array  # object: text or None
    name: _Array  # code of the distinct (provider, model)
    tier: _Array  # index into tier_names, -1 for none
    tier_names: list[str]
    region: _Array  # index into region_names, -1 for none
    region_names: list[str]
    instant: _Array  # int64 microseconds since 1970, UTC
    context: _Array  # integers, 0 where unknown
    context_unknown: _Array

    @classmethod
    def of(cls, cube: pd.DataFrame, as_of: datetime) -> "_Rows":
        if as_of.tzinfo is None:
            raise ValueError(f"as_of needs a time zone, got {as_of.isoformat()}")
        providers, provider_names = codes(cube["provider"])
        models, model_names = codes(cube["model"])
        tiers, tier_names = codes(cube["service_tier"])
        places: pd.Series = cube["region"] if "region" in cube.columns else pd.Series(None, index=cube.index)
        regions, region_names = codes(places)
        at = pd.to_datetime(cube["price_at"], utc=True).fillna(pd.Timestamp(as_of).tz_convert("UTC"))
        return cls(
            provider=take(provider_names, providers, None),
            model=take(model_names, models, None),
            name=providers * (len(model_names) + 1) + models,
            tier=tiers,
            tier_names=tier_names,
            region=regions,
            region_names=region_names,
            instant=at.to_numpy("datetime64[us]").astype(np.int64),
            context=integers(cube["context_tokens"]),
            context_unknown=cube["context_tokens"].isna().to_numpy(),
        )

    def by_name(self) -> Iterator[tuple[_Name, _Array]]:
        """Row numbers of each (provider, model)."""
        order = np.argsort(self.name, kind="stable")
        cuts = np.flatnonzero(np.diff(self.name[order])) + 1
        for members in np.split(order, cuts):
            if len(members):
                yield (self.provider[members[0]], self.model[members[0]]), members


@dataclass(slots=True, kw_only=True)
class _Outcome:
    """Per row an index into the sheets or into the reasons, -1 for neither."""

    sheet: _Array
    reason: _Array
    sheets: list[RateSheet] = field(default_factory=list[RateSheet])
    names: list[_Name] = field(default_factory=list[_Name])  # whose sheet it is, in the words of the log
    reasons: dict[Unpriced, int] = field(default_factory=dict[Unpriced, int])

    def fail(self, members: _Array, reason: Unpriced) -> None:
        self.sheet[members] = -1
        self.reason[members] = self.reasons.setdefault(reason, len(self.reasons))

    def price(self, members: _Array, sheet: RateSheet, name: _Name) -> None:
        self.sheet[members] = len(self.sheets)
        self.sheets.append(sheet)
        self.names.append(name)


def _resolve(book: PriceBook, rows: _Rows, name: _Name, members: _Array, outcome: _Outcome) -> None:
    """One rate sheet for each bucket of a model's rows in which all rates are constant."""
    provider, model = name
    if model is None:
        outcome.fail(
            members, Unpriced(provider=provider, model=None, reason=NO_MODEL, code=UnpricedCode.NO_MODEL)
        )
        return
    keys = book.rate_keys([(provider, model)])
    at, context, known = rows.instant[members], rows.context[members], ~rows.context_unknown[members]
    minute = (at // _US_PER_MINUTE + _EPOCH_MINUTE) % MINUTES_PER_WEEK
    starts = [(one - _EPOCH) // timedelta(microseconds=1) for one in keys.breakpoints]
    parts = (
        (np.searchsorted(np.array(starts, dtype=np.int64), at, side="right"), len(starts) + 1),
        (
            np.searchsorted(np.array(keys.clock_edges, dtype=np.int64), minute, side="right"),
            len(keys.clock_edges) + 1,
        ),
        (
            np.where(known, 1 + np.searchsorted(keys.context_thresholds, context), 0),
            len(keys.context_thresholds) + 2,
        ),
        (rows.tier[members] + 1, len(rows.tier_names) + 1),
        (rows.region[members] + 1, len(rows.region_names) + 1),
    )
    code = np.zeros(len(members), dtype=np.int64)
    for part, size in parts:
        code = code * size + part
    _, first, bucket = np.unique(code, return_index=True, return_inverse=True)
    order = np.argsort(bucket, kind="stable")
    for index, inside in enumerate(np.split(members[order], np.cumsum(np.bincount(bucket))[:-1])):
        row = members[first[index]]
        sheet = sheet_or_reason(
            book,
            provider,
            model,
            at=_EPOCH + timedelta(microseconds=int(rows.instant[row])),
            context_tokens=None if rows.context_unknown[row] else int(rows.context[row]),
            service_tier=None if rows.tier[row] < 0 else rows.tier_names[rows.tier[row]],
            region=None if rows.region[row] < 0 else rows.region_names[rows.region[row]],
        )
        if isinstance(sheet, Unpriced):
            outcome.fail(inside, sheet)
        else:
            outcome.price(inside, sheet, name)


def _reject_missing_rates(outcome: _Outcome, counts: Mapping[Meter, _Array]) -> None:
    for meter, values in counts.items():
        lacking = np.array([meter not in sheet.rates for sheet in outcome.sheets] + [False])
        rejected = np.flatnonzero(lacking[outcome.sheet] & (values != 0))
        for index in np.unique(outcome.sheet[rejected]):
            provider, model = outcome.names[index]
            reason = missing_rate(outcome.sheets[index], meter)
            unpriced = Unpriced(
                provider=provider, model=model, reason=reason, code=UnpricedCode.UNPRICED_METER
            )
            outcome.fail(rejected[outcome.sheet[rejected] == index], unpriced)
            rejected = rejected[outcome.sheet[rejected] != -1]


def _costs(values: _Array, meter: Meter, outcome: _Outcome, exponent: int) -> _Array:
    """Python ints in units of 10**-exponent USD."""
    rates = [_scaled(sheet, meter, exponent) for sheet in outcome.sheets] + [0]
    largest = max(rates) * int(max(values.max(), -values.min())) if len(values) else 0
    fits = values.dtype != object and largest <= INT64_MAX and max(rates) <= INT64_MAX
    # Machine integers while nothing can overflow, several times faster; else Python's, of any size.
    kind = np.int64 if fits else object
    return (values.astype(kind) * np.array(rates, dtype=kind)[outcome.sheet]).astype(object)


def _exponent(sheet: RateSheet, meter: Meter) -> int:
    rate = sheet.rates.get(meter)
    decimals = 0 if rate is None else max(0, -int(rate.as_tuple().exponent))
    return decimals + (MTOK_DIGITS if meter.per_million else 0)


def _scaled(sheet: RateSheet, meter: Meter, exponent: int) -> int:
    shift = exponent - (MTOK_DIGITS if meter.per_million else 0)
    return int(EXACT.scaleb(sheet.rates.get(meter, Decimal(0)), shift))
