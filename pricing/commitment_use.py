"""What commitments made of a log's usage: effective cost by calendar month, exact but for the parts of a month."""

from calendar import monthrange
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_EVEN, Context, Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

from pricing.commitments import SPEND, Commitment
from pricing.discounts import Usage, usage_of
from pricing.frame import PricedCube
from pricing.meters import Meter
from pricing.rules import EXACT
from pricing.units import SECONDS_PER_HOUR, SECONDS_PER_MINUTE

MICRO_USD: Final = Decimal("0.000001")
"""A part of a month's amount is rounded to this: a thirty-first of a price need not end."""

_WIDE: Final = Context(prec=120)
_Array = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitmentUse:
    """What a commitment cost in one month of the log, and what was made of it. USD.

    Attributes:
        commitment: Which one.
        month: Its first day.
        first: First day of the month that counts: valid, and within the log.
        last: Last day that counts.
        committed_usd: What is owed for these days.
        contracted_usd: Contracted cost of the usage that it covers.
        effective_usd: What that usage costs with it: the amount, and for a committed spend what went beyond.
        unused_usd: Paid and not used; None when not known.
        utilisation_ratio: Used part of what is held; None when not known.
        tokens: Tokens that it covered.
    """

    commitment: Commitment
    month: date
    first: date
    last: date
    committed_usd: Decimal
    contracted_usd: Decimal
    effective_usd: Decimal
    unused_usd: Decimal | None
    utilisation_ratio: float | None
    tokens: int

    @property
    def difference_usd(self) -> Decimal:
        """Effective minus contracted cost of the covered usage."""
        return self.effective_usd - self.contracted_usd

    @property
    def days(self) -> int:
        """How many days of the month count."""
        return (self.last - self.first).days + 1

    @property
    def is_partial(self) -> bool:
        """Whether only a part of the month counts."""
        return self.days < _month_days(self.month)


def use_of(priced: PricedCube, rows: Sequence[Commitment], *, timezone: str) -> tuple[CommitmentUse, ...]:
    """What each commitment cost in every month of the log.

    Args:
        priced: The cube at contracted costs, in USD, with ``day`` in ``timezone``. Cells without a day are under no
            commitment.
        rows: The commitments, in any order.
        timezone: Whose calendar months and hours count.

    Returns:
        By name and month, only for the days from the first to the last of the log on which a commitment is valid.
    """
    frame = priced.frame
    if not rows or frame.empty or frame["day"].isna().all():
        return ()
    day = pd.to_datetime(frame["day"]).to_numpy("datetime64[D]")
    known = ~np.isnat(day)
    span = (_date(day[known].min()), _date(day[known].max()))
    held = _Held.of(priced)
    found: list[CommitmentUse] = []
    free = known.copy()
    token_free = known.copy()
    for row in sorted(rows, key=lambda one: (one.covers == SPEND, one.name, one.valid_from or date.min)):
        member = held.members(row)
        for month, first, last in _months(row, span):
            inside = member & (day >= np.datetime64(first)) & (day <= np.datetime64(last))
            tokens = int(held.tokens[inside & token_free].sum())
            cost = held.token_cost[inside & token_free].sum()
            if row.covers == SPEND:
                cost = cost + held.fee_cost[inside & free].sum()
                free &= ~inside
            token_free &= ~inside
            found.append(_use(row, (month, first, last), priced.to_usd(int(cost)), tokens, timezone))
    return tuple(sorted(found, key=lambda use: (use.commitment.name, use.month, use.first)))


def _use(
    row: Commitment, days: tuple[date, date, date], contracted_usd: Decimal, tokens: int, timezone: str
) -> CommitmentUse:
    month, first, last = days
    hours = _hours(first, last, timezone)
    committed = _committed(row, days, hours)
    if row.covers == SPEND:
        drawn = min(committed, contracted_usd)
        effective = EXACT.add(committed, EXACT.subtract(contracted_usd, drawn))
        ratio = float(drawn / committed) if committed else None
        unused: Decimal | None = EXACT.subtract(committed, drawn)
    else:
        effective = committed
        ratio = _utilisation(row, tokens, hours)
        idle = None if ratio is None else max(Decimal(0), 1 - Decimal(repr(ratio)))
        unused = None if idle is None else _rounded(_WIDE.multiply(committed, idle))
    return CommitmentUse(
        commitment=row,
        month=month,
        first=first,
        last=last,
        committed_usd=committed,
        contracted_usd=contracted_usd,
        effective_usd=effective,
        unused_usd=unused,
        utilisation_ratio=ratio,
        tokens=tokens,
    )


def _committed(row: Commitment, days: tuple[date, date, date], hours: Decimal) -> Decimal:
    month, first, last = days
    if row.usd_per_hour is not None:
        return _rounded(EXACT.multiply(EXACT.multiply(row.usd_per_hour, row.units), hours))
    whole = EXACT.multiply(row.usd_per_month or Decimal(0), row.units)
    part = (last - first).days + 1
    if part == _month_days(month):
        return whole
    return _rounded(_WIDE.divide(EXACT.multiply(whole, Decimal(part)), Decimal(_month_days(month))))


def _rounded(usd: Decimal) -> Decimal:
    return usd.quantize(MICRO_USD, ROUND_HALF_EVEN, _WIDE)


def _utilisation(row: Commitment, tokens: int, hours: Decimal) -> float | None:
    if not row.included_tokens_per_minute or not row.units:
        return None
    minutes = hours * SECONDS_PER_HOUR / SECONDS_PER_MINUTE
    return float(tokens / (row.included_tokens_per_minute * row.units * minutes))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Held:
    """The columns of a cube that commitments look at, as arrays of one length."""

    code: _Array
    usages: list[Usage]
    tokens: _Array
    token_cost: _Array
    fee_cost: _Array

    @classmethod
    def of(cls, priced: PricedCube) -> "_Held":
        frame = priced.frame
        names = frame[["provider", "provider_resolved", "model", "model_resolved"]].astype(object)
        code = names.groupby(list(names.columns), dropna=False, sort=False).ngroup().to_numpy()
        _, first = np.unique(code, return_index=True)
        sums = [np.zeros(len(frame), dtype=object) for _ in range(3)]
        for meter in (meter for meter in Meter if meter.value in frame.columns):
            cost = frame.get(f"cost_{meter}")
            paid = 0 if cost is None else cost.to_numpy(dtype=object)
            if meter.is_tokens:
                sums[0] = sums[0] + frame[meter.value].fillna(0).to_numpy(dtype=object)
                sums[1] = sums[1] + paid
            else:
                sums[2] = sums[2] + paid
        anytime = datetime.min.replace(tzinfo=UTC)
        return cls(
            code=code,
            usages=[usage_of(names.iloc[row], anytime) for row in first],
            tokens=sums[0],
            token_cost=sums[1],
            fee_cost=sums[2],
        )

    def members(self, row: Commitment) -> _Array:
        return np.array([row.is_for(usage) for usage in self.usages], dtype=bool)[self.code]


def _months(row: Commitment, span: tuple[date, date]) -> Iterator[tuple[date, date, date]]:
    """The first day of each month, and the first and last day of it that count."""
    start = max(span[0], row.valid_from or span[0])
    end = min(span[1], row.valid_until - timedelta(days=1) if row.valid_until else span[1])
    while start <= end:
        month = start.replace(day=1)
        last = min(end, month + timedelta(days=_month_days(month) - 1))
        yield month, start, last
        start = last + timedelta(days=1)


def _month_days(month: date) -> int:
    return monthrange(month.year, month.month)[1]


def _hours(first: date, last: date, timezone: str) -> Decimal:
    """Hours of whole calendar days in a zone: 23 or 25 on the days when its clocks change."""
    zone = ZoneInfo(timezone)
    start, end = (
        datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
        for day in (first, last + timedelta(days=1))
    )
    return Decimal(int((end - start).total_seconds())) / SECONDS_PER_HOUR


def _date(day: Any) -> date:
    return pd.Timestamp(day).date()
