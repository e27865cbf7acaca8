"""The course of spend: the last weeks of a log against as many weeks before them, what is expected, and budgets."""

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from advisor import numbers
from advisor.analysis import Analysis
from advisor.budget import Limit, Verdict
from advisor.forecast_fit import RANGE_SHARE
from advisor.view_model import Card
from advisor.wording import clean

_WEEK_DAYS: Final = 7
_MOST_WEEKS: Final = 4
_SLACK_HOURS: Final = 1
_HOURS: Final = 24
_VERDICTS: Final = {
    Verdict.KEPT: "kept",
    Verdict.BROKEN: "broken",
    Verdict.UNKNOWN: "cannot be told",
}


def outlook(analysis: Analysis) -> tuple[Card, ...]:
    """Return what is said about the course of spend; nothing where the log is too short for any."""
    cards = (_against_before(analysis), _expected(analysis), _budget(analysis))
    return tuple(card for card in cards if card is not None)


def _expected(analysis: Analysis) -> Card | None:
    """The month that the first day to come lies in."""
    made = None if analysis.finance is None else analysis.finance.outlook.forecast
    if made is None:
        return None
    low, high = numbers.money_short(made.month.low), numbers.money_short(made.month.high)
    return Card(
        label=f"Forecast for {numbers.MONTHS[made.month.first.month - 1]} {made.month.first.year}",
        value=numbers.money_about(made.month.expected),
        note=f"{low} to {high} ({numbers.share(RANGE_SHARE)} range)",
        exact=f"{numbers.money_exact(made.month.expected)}, of which {numbers.money_exact(made.month.spent)} is spent",
    )


def _budget(analysis: Analysis) -> Card | None:
    """The monthly budget that is used up most."""
    found = () if analysis.finance is None else analysis.finance.checks
    known = [
        (one, one.found / one.allowed)
        for one in found
        if one.limit is Limit.MONTH and one.found is not None and one.allowed > 0
    ]
    if not known:
        return None
    check, used = max(known, key=lambda pair: pair[1])
    amounts = f"{numbers.money_short(check.found or Decimal(0))} of {numbers.money_short(check.allowed)}"
    return Card(
        label=f"Budget {clean(check.budget.name)}",
        value=f"{numbers.share(used)} used",
        note=f"{amounts}: {_VERDICTS[check.verdict]}",
        exact=f"{numbers.money_exact(check.found or Decimal(0))} of {numbers.money_exact(check.allowed)}, {check.basis}",
    )


def _against_before(analysis: Analysis) -> Card | None:
    """Whole weeks only, so that weekends weigh the same on both sides; at most four, at least one a side."""
    money = _whole_days(analysis)
    if not money:
        return None
    last, length = max(money), (max(money) - min(money)).days + 1
    days = min(length // 2 // _WEEK_DAYS, _MOST_WEEKS) * _WEEK_DAYS
    if not days:
        return None
    middle, first = last - timedelta(days=days - 1), last - timedelta(days=2 * days - 1)
    now = sum((amount for day, amount in money.items() if day >= middle), Decimal(0))
    then = sum((amount for day, amount in money.items() if first <= day < middle), Decimal(0))
    if then <= 0:
        return None
    spans = (
        f"{numbers.day_range(middle, last)}: {numbers.money_exact(now)}; "
        f"{numbers.day_range(first, middle - timedelta(days=1))}: {numbers.money_exact(then)}"
    )
    return Card(
        label=f"Last {days} days against the {days} before",
        value=signed_share((now - then) / then),
        note=f"{numbers.money_short(now)} after {numbers.money_short(then)}",
        exact=spans,
    )


def signed_share(part: Decimal) -> str:
    """Return a change as a percentage with its sign."""
    text = numbers.share(part).replace("-", "\N{MINUS SIGN}")
    return f"+{text}" if part > 0 else text


def _whole_days(analysis: Analysis) -> Mapping[date, Decimal]:
    """Return money by day without a first or last day that the log holds only a part of, or whose money is in USD."""
    data = analysis.data
    rows = {row.day: row.whole for row in analysis.by_day if row.day is not None}
    if any(whole.in_usd is not None or not whole.is_priced for whole in rows.values()):
        return {}
    money = {day: whole.total for day, whole in rows.items()}
    if data.first_request is None or data.last_request is None or not money:
        return money
    zone = ZoneInfo(data.timezone)
    first, last = data.first_request.astimezone(zone), data.last_request.astimezone(zone)
    cut = {
        *([first.date()] if first.hour >= _SLACK_HOURS else []),
        *([last.date()] if last.hour < _HOURS - _SLACK_HOURS else []),
    }
    return {day: amount for day, amount in money.items() if day not in cut}
