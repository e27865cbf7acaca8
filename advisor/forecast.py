"""What the bill will be: to the end of the month and for three months after it, with a range, or why that is not said.

The days of the log are continued by ``forecast_fit``. Inside, days are floats; amounts leave here rounded: to the cent from one
on, else to a millionth. What is spent already is exact and is never forecast again.
"""

import calendar
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Final

from advisor.forecast_days import DaySeries
from advisor.forecast_fit import LEAST_DAYS, RANGE_SHARE, Backtest, Fit, continued

MONTHS_AHEAD: Final = 3
_CENT: Final = Decimal("0.01")
_MICRO: Final = Decimal("0.000001")
_MOST: Final = 1e15
"""An amount from which floats no longer hold cents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceStep:
    """An announced change of prices.

    Attributes:
        day: The first day with the new prices.
        ratio: What the usage of the last week costs then, over what it costs before.
        models: Whose prices they are.
    """

    day: date
    ratio: float
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Money of some days: what is spent already, and what it comes to.

    Attributes:
        first: First day.
        last: Last day.
        spent: What the log holds of it.
        low: Lower end of the range of the whole.
        expected: The whole.
        high: Upper end.
    """

    first: date
    last: date
    spent: Decimal
    low: Decimal
    expected: Decimal
    high: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """What a month will have come to by the end of one of its days, with what is spent of it.

    Attributes:
        day: The day.
        low: Lower end of the range.
        expected: What is expected.
        high: Upper end.
    """

    day: date
    low: Decimal
    expected: Decimal
    high: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Forecast:
    """What is expected.

    Attributes:
        month: The month that the first day to come lies in.
        months: Those after it.
        ahead: These together.
        backtest: How wrong it was about days held back.
        trend: Whether it has a trend.
        memory_days: Days that it looks back at most.
        steps: Announced changes of prices that are in it.
        course: How each month adds up, a point a day to come; the last one of a month is what the month comes to.
    """

    month: Span
    months: tuple[Span, ...]
    ahead: Span
    backtest: Backtest
    trend: bool
    memory_days: int
    steps: tuple[PriceStep, ...]
    course: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """A forecast, or why there is none.

    Attributes:
        series: The days that it is made from; None: no day of the log is whole.
        forecast: None where there is none.
        reason: Why there is none; empty where there is one.
        run_rate: The month as if its other days cost as much as the whole days so far did on average: arithmetic and no
            forecast. None without whole days.
        run_rate_spent: What of it is spent.
        run_rate_month: The first day of that month.
    """

    series: DaySeries | None
    forecast: Forecast | None
    reason: str
    run_rate: Decimal | None = None
    run_rate_spent: Decimal = Decimal(0)
    run_rate_month: date | None = None


def outlook(series: DaySeries | None, steps: Sequence[PriceStep] = (), *, obstacle: str = "") -> Outlook:
    """Return what is expected after a series of days.

    Args:
        series: The days; None: the log has no whole day.
        steps: Announced changes of prices; those outside the months ahead are left out.
        obstacle: Why nothing can be said whatever the days are; empty: nothing stands in the way.
    """
    if series is None:
        return Outlook(series=None, forecast=None, reason=obstacle or "the log holds no whole day")
    if obstacle:
        return Outlook(series=series, forecast=None, reason=obstacle)
    rate, spent, month = _run_rate(series)
    days = len(series.amounts)
    reason = ""
    if days < LEAST_DAYS:
        reason = f"{days} whole {'day is' if days == 1 else 'days are'} in the log, {LEAST_DAYS} are needed"
    elif not any(series.amounts):
        reason = "nothing was spent on any whole day"
    elif max(series.amounts) > _MOST:
        reason = "the amounts are too large to be forecast"
    return Outlook(
        series=series,
        forecast=None if reason else _forecast(series, steps),
        reason=reason,
        run_rate=rate,
        run_rate_spent=spent,
        run_rate_month=month,
    )


def month_bounds(day: date) -> tuple[date, date]:
    """Return the first and the last day of a day's month.

    >>> month_bounds(date(2028, 2, 10))
    (datetime.date(2028, 2, 1), datetime.date(2028, 2, 29))
    """
    return day.replace(day=1), day.replace(day=calendar.monthrange(day.year, day.month)[1])


def _run_rate(series: DaySeries) -> tuple[Decimal, Decimal, date]:
    first, last = month_bounds(series.next_day)
    each = sum(series.amounts, Decimal(0)) / len(series.amounts)
    to_come = (last - series.next_day).days + 1
    spent = series.spent(first, last)
    done = spent - (series.cut_last[1] if series.cut_last and series.cut_last[0] >= first else 0)
    return _money(float(done + each * to_come)), spent, first


def _forecast(series: DaySeries, steps: Sequence[PriceStep]) -> Forecast:
    begin = series.next_day
    month = month_bounds(begin)
    after: list[tuple[date, date]] = []
    for _ in range(MONTHS_AHEAD):
        after.append(month_bounds((after[-1] if after else month)[1] + timedelta(days=1)))
    horizon = (after[-1][1] - begin).days + 1
    fit = continued([float(amount) for amount in series.amounts], series.first.weekday(), horizon)
    used = tuple(step for step in steps if begin <= step.day <= after[-1][1] and step.ratio != 1)
    days = [
        float(value) * _ratio(used, begin + timedelta(days=place)) for place, value in enumerate(fit.days)
    ]
    if series.cut_last is not None:
        # A day that is not over costs what is spent of it at least.
        days[0] = max(days[0], float(series.cut_last[1]))
    return Forecast(
        month=_span(series, fit, days, month),
        months=tuple(_span(series, fit, days, one) for one in after),
        ahead=_span(series, fit, days, (after[0][0], after[-1][1])),
        backtest=fit.backtest,
        trend=fit.model.trend,
        memory_days=min(fit.model.memory_days, len(series.amounts)),
        steps=used,
        course=tuple(point for one in (month, *after) for point in _course(series, fit, days, one)),
    )


def _ratio(steps: Sequence[PriceStep], day: date) -> float:
    past = [step for step in steps if step.day <= day]
    return max(past, key=lambda step: step.day).ratio if past else 1.0


def _course(series: DaySeries, fit: Fit, days: Sequence[float], bounds: tuple[date, date]) -> Iterator[Point]:
    first, last = bounds
    day = max(first, series.next_day)
    while day <= last:
        until = _span(series, fit, days, (first, day))
        yield Point(day=day, low=until.low, expected=until.expected, high=until.high)
        day += timedelta(days=1)


def _span(series: DaySeries, fit: Fit, days: Sequence[float], bounds: tuple[date, date]) -> Span:
    first, last = bounds
    begin = series.next_day
    start, end = max((first - begin).days, 0), (last - begin).days + 1
    rest = sum(days[start:end])
    half = fit.half_range(end)
    spent = series.spent(first, last)
    done = spent
    least = 0.0
    if series.cut_last is not None and first <= series.cut_last[0] <= last:
        done -= series.cut_last[1]  # it is among the days to come
        least = float(series.cut_last[1])
    low = max(rest * (1 - half), least)
    return Span(
        first=first,
        last=last,
        spent=spent,
        low=done + _money(low),
        expected=done + _money(rest),
        high=done + _money(rest * (1 + half)),
    )


def _money(amount: float) -> Decimal:
    """Return an estimate rounded: to the cent, below one to a millionth."""
    step = _CENT if abs(amount) >= 1 else _MICRO
    return Decimal(repr(amount)).quantize(step, ROUND_HALF_EVEN)


def method_of(outlook: Outlook) -> str:
    """Return how a forecast was made, in words; empty where there is none."""
    series, made = outlook.series, outlook.forecast
    if series is None or made is None:
        return ""
    trend = "a damped median trend" if made.trend else "no trend"
    return (
        f"median level with {trend}, times a profile of weekdays, from the last {made.memory_days} of "
        f"{len(series.amounts)} whole days; the {RANGE_SHARE:.0%} range is from the errors of forecasts made on earlier "
        "days and widens with the horizon"
    )
