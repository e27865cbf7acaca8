"""The days that a forecast is made from: whole ones, without gaps, and what is cut off at both ends."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

import pandas as pd

from advisor.analysis import DaySlice
from pricing.charges import exact_sum
from pricing.units import SECONDS_PER_HOUR

Span = tuple[float, float]
"""Hours of the day of its first and last request."""

_SPANNED: Final = ("day", "price_at", "last_at", "bucketed")
_LEAST_INNER: Final = 5
"""Days between the ends from which it is judged whether an end is whole."""
_SLACK_HOURS: Final = 1.0
_USUAL: Final = 0.9
"""Part of the inner days that an end has to differ from to be called cut off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySeries:
    """Money by day.

    Attributes:
        first: The first whole day.
        amounts: Of the whole days, one after the other; days of which the log holds nothing are 0.
        empty_days: How many those are.
        cut_first: The day before them that the log holds only a part of, and its money; None: there is none.
        cut_last: The day after them that the log, or the moment of the report, cuts off; None: there is none.
    """

    first: date
    amounts: tuple[Decimal, ...]
    empty_days: int = 0
    cut_first: tuple[date, Decimal] | None = None
    cut_last: tuple[date, Decimal] | None = None

    @property
    def next_day(self) -> date:
        """The day after the last whole one: the first that is forecast."""
        return self.first + timedelta(days=len(self.amounts))

    def spent(self, first: date, last: date) -> Decimal:
        """Return the money of the days from ``first`` to ``last``, cut ones included."""
        return exact_sum(amount for _, amount in self.days(first, last))

    def days(self, first: date, last: date) -> Iterator[tuple[date, Decimal]]:
        """Yield the days from ``first`` to ``last`` with their money, cut ones included, ascending."""
        begin = max((first - self.first).days, 0)
        whole = self.amounts[begin : max((last - self.first).days + 1, begin)]
        if self.cut_first is not None and first <= self.cut_first[0] <= last:
            yield self.cut_first
        for place, amount in enumerate(whole, start=begin):
            yield self.first + timedelta(days=place), amount
        if self.cut_last is not None and first <= self.cut_last[0] <= last:
            yield self.cut_last


def spans_of(frame: pd.DataFrame, timezone: str) -> dict[date, Span]:
    """Return from when to when requests were made on each day of a cube; days of buckets are left out."""
    timed = frame.loc[frame["price_at"].notna() & frame["day"].notna(), list(_SPANNED)]
    if timed.empty:
        return {}
    ends = timed.groupby("day").agg(
        first=("price_at", "min"), last=("last_at", "max"), bucketed=("bucketed", "max")
    )
    return {
        pd.Timestamp(str(day)).date(): (
            _hour(first.to_pydatetime(), timezone),
            _hour(last.to_pydatetime(), timezone),
        )
        for day, first, last, bucketed in ends.itertuples(name=None)
        if not bucketed
    }


def _hour(at: datetime, timezone: str) -> float:
    local = at.astimezone(ZoneInfo(timezone))
    return local.hour + (local.minute * 60 + local.second) / SECONDS_PER_HOUR


def series_of(
    days: Sequence[DaySlice], spans: Mapping[date, Span], as_of: datetime, timezone: str
) -> DaySeries | None:
    """Return the days to forecast from; None where no day is whole.

    The last day is cut off when the moment of the report lies in it, or when its last request is an hour or more earlier
    than on nine of ten days between the ends; the first likewise when its first request is later.

    Args:
        days: As the report has them, ascending.
        spans: When requests were made on them.
        as_of: The moment of the report.
        timezone: Whose days they are.
    """
    money = {row.day: row.whole.total for row in days if row.day is not None}
    if not money:
        return None
    first, last = min(money), max(money)
    inner = [span for day, span in spans.items() if first < day < last]
    starts_late = _is_cut(
        [start for start, _ in inner], None if first not in spans else spans[first][0], later=True
    )
    today = as_of.astimezone(ZoneInfo(timezone)).date()
    ends_early = last == today or _is_cut(
        [end for _, end in inner], None if last not in spans else spans[last][1], later=False
    )
    begin = first + timedelta(days=1) if starts_late else first
    end = last - timedelta(days=1) if ends_early else last
    length = (end - begin).days + 1
    if length <= 0:
        return None
    whole = [begin + timedelta(days=place) for place in range(length)]
    return DaySeries(
        first=begin,
        amounts=tuple(money.get(day, Decimal(0)) for day in whole),
        empty_days=sum(day not in money for day in whole),
        cut_first=(first, money[first]) if starts_late else None,
        cut_last=(last, money[last]) if ends_early else None,
    )


def _is_cut(usual: Sequence[float], hour: float | None, *, later: bool) -> bool:
    if hour is None or len(usual) < _LEAST_INNER:
        return False
    sign = 1 if later else -1
    ordered = sorted(sign * one for one in usual)
    edge = ordered[min(int(len(ordered) * _USUAL), len(ordered) - 1)]
    return sign * hour > edge + _SLACK_HOURS
