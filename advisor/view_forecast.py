"""The forecast as it is shown: rounded by size and marked as what it is, the exact value beside it."""

from datetime import date
from decimal import Decimal

from advisor import numbers
from advisor.analysis import Analysis
from advisor.forecast import Forecast, Outlook, Span, method_of
from advisor.forecast_fit import RANGE_SHARE
from advisor.forecast_words import outlook_notes
from advisor.view_course import course_part
from advisor.view_finance_model import ForecastPart
from advisor.view_model import Cell, Table, TableColumn
from advisor.wording import plural

_RANGE = numbers.share(RANGE_SHARE)


def forecast_part(analysis: Analysis, outlook: Outlook) -> ForecastPart:
    """Return the forecast, or why there is none."""
    made = outlook.forecast
    return ForecastPart(
        line=forecast_line(outlook),
        table=None if made is None else _table(made),
        method=_method(outlook),
        notes=tuple(outlook_notes(analysis)),
        chart=course_part(outlook, () if analysis.finance is None else analysis.finance.checks),
    )


def forecast_line(outlook: Outlook) -> str:
    """Return the forecast in one sentence; the run rate, called that, where there is none."""
    made = outlook.forecast
    if made is not None:
        month, ahead = made.month, made.ahead
        return (
            f"Forecast: {_month(month.first)} ends at about {_range(month)}; "
            f"{_month(ahead.first)} to {_month(ahead.last)} about {_range(ahead)} (three months, {_RANGE} range)."
        )
    line = f"No forecast: {outlook.reason}."
    if outlook.run_rate is None or outlook.run_rate_month is None or outlook.series is None:
        return line
    days = plural(len(outlook.series.amounts), "whole day")
    return (
        f"{line} At the daily mean of {days}, {_month(outlook.run_rate_month)} would come to "
        f"{numbers.money_about(outlook.run_rate)} (run rate, not a forecast)."
    )


def _month(day: date) -> str:
    return f"{numbers.MONTHS[day.month - 1]} {day.year}"


def _range(span: Span) -> str:
    low, high = _about(span.low), _about(span.high)
    return f"{_about(span.expected)} ({low} to {high})"


def _about(amount: Decimal) -> str:
    return numbers.money_about(amount)


def _method(outlook: Outlook) -> str:
    if outlook.forecast is None:
        return ""
    tried = outlook.forecast.backtest
    return (
        f"Method: {method_of(outlook)}. Tried on {plural(tried.origins, 'earlier day')} of this log, the next "
        f"{plural(tried.horizon_days, 'day')} came {numbers.share(tried.error_ratio)} off on average."
    )


def _table(made: Forecast) -> Table:
    rows = (
        (f"{_month(made.month.first)} (month end)", made.month),
        *((_month(one.first), one) for one in made.months),
        (f"{_month(made.ahead.first)} to {_month(made.ahead.last)}", made.ahead),
    )
    return Table(
        slug="forecast",
        caption=f"Forecast by calendar month, with the {_RANGE} range",
        columns=(
            TableColumn(key="month", title="Month"),
            TableColumn(key="spent", title="Spent so far", number=True, hint="What the log holds of it"),
            TableColumn(key="expected", title="Expected", number=True, hint="Spent and forecast together"),
            TableColumn(key="low", title="Low", number=True),
            TableColumn(key="high", title="High", number=True),
        ),
        rows=tuple(
            (
                Cell(text=name, value=span.first.isoformat()),
                Cell(
                    text=numbers.money(span.spent),
                    exact=numbers.money_exact(span.spent),
                    value=f"{span.spent:f}",
                ),
                *(_estimate(amount) for amount in (span.expected, span.low, span.high)),
            )
            for name, span in rows
        ),
        note="Expected, low and high are estimates; the ranges of single months do not add up to that of the three.",
    )


def _estimate(amount: Decimal) -> Cell:
    return Cell(text=_about(amount), exact=f"{numbers.money_exact(amount)} (forecast)", value=f"{amount:f}")
