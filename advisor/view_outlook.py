"""Whether spend goes up or down: the last weeks of a log against as many weeks before them."""

from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Final
from zoneinfo import ZoneInfo

from advisor import numbers
from advisor.analysis import Analysis
from advisor.view_model import Card

_WEEK_DAYS: Final = 7
_MOST_WEEKS: Final = 4
_SLACK_HOURS: Final = 1
_HOURS: Final = 24


def outlook(analysis: Analysis) -> tuple[Card, ...]:
    """Return what is said about the course of spend; nothing where the log is too short for any."""
    before = _against_before(analysis)
    return () if before is None else (before,)


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
