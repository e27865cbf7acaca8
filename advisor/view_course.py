"""The chart of the forecast: how the months add up, day by day, with what is expected and its range."""

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.budget import Check, Limit
from advisor.course import Level, Month, Tip, course
from advisor.forecast import Forecast, Outlook, Span, month_bounds
from advisor.forecast_days import DaySeries
from advisor.forecast_fit import RANGE_SHARE
from advisor.view_finance_model import CoursePart
from advisor.view_model import Cell, Table, TableColumn

_WIDE: Final = (980.0, 300.0)
_NARROW: Final = (342.0, 240.0)
_RANGE: Final = numbers.share(RANGE_SHARE)
_DAY: Final = timedelta(days=1)
_SUNDAY: Final = 6


def course_part(outlook: Outlook, checks: Sequence[Check]) -> CoursePart | None:
    """Return the chart; None where there is no forecast."""
    made, series = outlook.forecast, outlook.series
    if made is None or series is None or not made.course:
        return None
    months = list(_months(made, series))
    limit = _budget(checks)
    by_day = [Tip(first=level.day, last=level.day, text=_day_tip(level, series)) for level in _levels(months)]
    by_month = [Tip(first=one.first, last=one.last, text=_month_tip(one)) for one in months if _ends(one)]
    wide = course(months, by_day, _WIDE, limit)
    return CoursePart(
        description=_described(months, made),
        wide=wide,
        narrow=course(months, by_month, _NARROW, limit),
        range_name=f"{_RANGE} range",
        limit="" if limit is None or wide.limit is None else f"Budget of {_short(limit)} a month",
        table=_table(months),
    )


def _months(made: Forecast, series: DaySeries) -> Iterator[Month]:
    """Yield the month before, where the log holds some of it, the one in progress, and those to come."""
    before = month_bounds(made.month.first - _DAY)
    held = [day for day, _ in series.days(*before)]
    if held:
        yield _month((held[0], before[1]), made, series)
    first = next((day for day, _ in series.days(made.month.first, made.month.last)), made.month.first)
    # What the log begins within is drawn from there on.
    yield _month((made.month.first if held else first, made.month.last), made, series)
    for one in made.months:
        yield _month((one.first, one.last), made, series)


def _month(bounds: tuple[date, date], made: Forecast, series: DaySeries) -> Month:
    first, last = bounds
    total, spent = Decimal(0), list[Level]()
    for day, amount in series.days(first, min(last, series.next_day - _DAY)):
        total += amount
        spent.append(Level(day=day, low=total, expected=total, high=total))
    ahead = tuple(
        Level(day=one.day, low=one.low, expected=one.expected, high=one.high)
        for one in made.course
        if first <= one.day <= last
    )
    end = ahead[-1].expected if ahead else total
    return Month(
        first=first, last=last, spent=tuple(spent), ahead=ahead, label=f"{'≈ ' if ahead else ''}{_short(end)}"
    )


def _short(amount: Decimal) -> str:
    return numbers.money_short(amount)


def _levels(months: Sequence[Month]) -> list[Level]:
    return [level for month in months for level in (*month.spent, *month.ahead)]


def _ends(month: Month) -> bool:
    return bool(month.spent or month.ahead)


def _day_tip(level: Level, series: DaySeries) -> str:
    day = numbers.day(level.day)
    if level.day < series.next_day:
        own = series.spent(level.day, level.day)
        return f"{day}: {numbers.money(own)}\nMonth so far: {numbers.money(level.expected)}"
    return f"By {day}: about {numbers.money_about(level.expected)}\n{_ranged(level.low, level.high)}"


def _month_tip(month: Month) -> str:
    name = f"{numbers.MONTHS[month.last.month - 1]} {month.last.year}"
    if not month.ahead:
        return f"{name}: {numbers.money(month.spent[-1].expected)}"
    end = month.ahead[-1]
    return f"{name}: about {numbers.money_about(end.expected)}\n{_ranged(end.low, end.high)}"


def _ranged(low: Decimal, high: Decimal) -> str:
    return f"{_RANGE} range: {numbers.money_about(low)} to {numbers.money_about(high)}"


def _budget(checks: Sequence[Check]) -> Decimal | None:
    """Return the tightest budget a month of all usage."""
    return min(
        (one.allowed for one in checks if one.limit is Limit.MONTH and not one.budget.scope), default=None
    )


def _described(months: Sequence[Month], made: Forecast) -> str:
    def said(span: Span) -> str:
        name = f"{numbers.MONTHS[span.first.month - 1]} {span.first.year}"
        return f"{name} about {_short(span.expected)} ({_short(span.low)} to {_short(span.high)})"

    done = "".join(
        f"{numbers.MONTHS[one.last.month - 1]} {one.last.year} came to {_short(one.spent[-1].expected)}; "
        for one in months
        if not one.ahead and one.spent
    )
    return f"Each month's spend from nothing up: {done}expected are {', '.join(map(said, (made.month, *made.months)))}."


def _table(months: Sequence[Month]) -> Table:
    ends = {(one.spent + one.ahead)[-1].day for one in months if _ends(one)}
    rows = [level for level in _levels(months) if level.day.weekday() == _SUNDAY or level.day in ends]
    last_spent = max((level.day for one in months for level in one.spent), default=None)
    return Table(
        slug="course",
        caption="What each month comes to by the end of a day: Sundays and the last days of months",
        columns=(
            TableColumn(key="day", title="By the end of"),
            TableColumn(key="amount", title="Month so far", number=True),
            TableColumn(key="low", title="Low", number=True),
            TableColumn(key="high", title="High", number=True),
            TableColumn(key="basis", title="Basis", quiet=True),
        ),
        rows=tuple(_row(one, spent=last_spent is not None and one.day <= last_spent) for one in rows),
    )


def _row(level: Level, *, spent: bool) -> tuple[Cell, ...]:
    day = Cell(text=numbers.day(level.day), value=level.day.isoformat())
    if spent:
        return (
            day,
            _exact(level.expected),
            Cell(text="", value=""),
            Cell(text="", value=""),
            Cell(text="spent"),
        )
    return (day, *(_about(one) for one in (level.expected, level.low, level.high)), Cell(text="forecast"))


def _exact(amount: Decimal) -> Cell:
    return Cell(text=numbers.money(amount), exact=numbers.money_exact(amount), value=f"{amount:f}")


def _about(amount: Decimal) -> Cell:
    return Cell(
        text=numbers.money_about(amount),
        exact=f"{numbers.money_exact(amount)} (forecast)",
        value=f"{amount:f}",
    )
