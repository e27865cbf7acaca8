"""Which two periods of a log are compared: as long as each other, of whole days, with the same weekdays where they can."""

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final

from advisor import numbers
from advisor.forecast import month_bounds
from advisor.forecast_days import DaySeries
from advisor.wording import plural

_WEEK: Final = 7
_MOST_DAYS: Final = 28
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Periods:
    """Two periods, first and last day each.

    Attributes:
        before: The earlier one.
        after: The later one.
        rule: How they were chosen, in words.
    """

    before: tuple[date, date]
    after: tuple[date, date]
    rule: str


def length(period: tuple[date, date]) -> int:
    """Return the days of a period."""
    return (period[1] - period[0]).days + 1


def comparable(series: DaySeries | None) -> Periods | None:
    """Return the periods to compare; None where the log has no two.

    This month against the same days of the month before, where the log has both from their first day on and a week of
    this one; else the last whole weeks, four at most, against as many before them.
    """
    if series is None:
        return None
    last = series.next_day - _DAY
    return _months(series.first, last) or _weeks(series.first, last)


def _months(first: date, last: date) -> Periods | None:
    begin, end = month_bounds(last)
    earlier_begin, earlier_end = month_bounds(begin - _DAY)
    days = (last - begin).days + 1
    if first > earlier_begin or days < _WEEK:
        return None
    if last == end:
        return Periods(
            before=(earlier_begin, earlier_end),
            after=(begin, end),
            rule=f"{_month(begin)} against {_month(earlier_begin)}",
        )
    until = min(earlier_begin + timedelta(days=days - 1), earlier_end)
    return Periods(
        before=(earlier_begin, until),
        after=(begin, last),
        rule=f"{_month(begin)} to day {last.day} against the same days of {_month(earlier_begin)}",
    )


def _weeks(first: date, last: date) -> Periods | None:
    days = min(((last - first).days + 1) // 2 // _WEEK * _WEEK, _MOST_DAYS)
    if not days:
        return None
    begin = last - timedelta(days=days - 1)
    return Periods(
        before=(begin - timedelta(days=days), begin - _DAY),
        after=(begin, last),
        rule=f"the last {plural(days, 'whole day')} against the {days} before",
    )


def _month(day: date) -> str:
    return f"{numbers.MONTHS[day.month - 1]} {day.year}"
