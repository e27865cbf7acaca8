"""What is said beside a forecast: the days it is made from, what was left out, what it does not know."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

from advisor import numbers
from advisor.analysis import Analysis
from advisor.forecast import Forecast, PriceStep
from advisor.forecast_days import DaySeries
from advisor.wording import clean, plural

_STALE_DAYS: Final = 2
_NAMED: Final = 3
_SEASONS_DAYS: Final = 365


def outlook_notes(analysis: Analysis) -> Iterator[str]:
    """Yield what a reader of the forecast must know, a sentence each."""
    outlook = None if analysis.finance is None else analysis.finance.outlook
    if outlook is None or outlook.series is None:
        return
    series = outlook.series
    yield from _ends(series)
    today = analysis.provenance.as_of.astimezone(ZoneInfo(analysis.data.timezone)).date()
    stale = (today - series.next_day).days
    if stale >= _STALE_DAYS:
        last = numbers.day(series.next_day - timedelta(days=1))
        yield f"The log ends on {last}, {plural(stale, 'day')} before this report: months are counted from there."
    if analysis.whole.is_priced and (not analysis.cost.complete or analysis.cost.coverage < 1):
        yield "Only what has a price is in it: the bill will be more."
    if analysis.cost.commitments:
        yield "It is contracted cost: what is owed for commitments is not in it."
    if outlook.forecast is not None:
        yield from _of_forecast(series, outlook.forecast)


def _ends(series: DaySeries) -> Iterator[str]:
    for end, what in ((series.cut_first, "begins within"), (series.cut_last, "is cut off within")):
        if end is not None:
            yield f"The log {what} {numbers.day(end[0])}: that day is spent money, and nothing is forecast from it."
    if series.empty_days:
        yield f"The log holds nothing for {plural(series.empty_days, 'day')} in between; they count as days without spend."
    if series.first.day != 1 and (series.first.year, series.first.month) == (
        series.next_day.year,
        series.next_day.month,
    ):
        yield f"The log holds nothing from before {numbers.day(series.first)}: the month is what it holds and what is to come."


def _of_forecast(series: DaySeries, made: Forecast) -> Iterator[str]:
    for step in made.steps:
        yield f"From {numbers.day(step.day)} on, announced prices make it {_percent(step)} ({_models(step)})."
    if len(series.amounts) < _SEASONS_DAYS:
        yield "Under a year of days: seasons and holidays are not known to it."


def _percent(step: PriceStep) -> str:
    change = step.ratio - 1
    return f"{numbers.share(abs(change))} {'dearer' if change > 0 else 'cheaper'}"


def _models(step: PriceStep) -> str:
    more = len(step.models) - _NAMED
    named = ", ".join(clean(name) for name in step.models[:_NAMED])
    return f"{named} and {plural(more, 'more model')}" if more > 0 else named
