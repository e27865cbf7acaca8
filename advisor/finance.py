"""Finance's questions about a log: what will it be. Answered from the cube and the days, never from rows of the log."""

from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from advisor.analysis import Analysis
from advisor.forecast import Outlook, PriceStep, outlook
from advisor.forecast_days import DaySeries, series_of, spans_of
from advisor.forecast_fit import LEAST_DAYS
from advisor.forecast_prices import announced
from advisor.options import AnalyseOptions
from pricing.book import PriceBook
from pricing.frame import PricedCube

_MOST_AHEAD: Final = timedelta(days=124)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finance:
    """What finance asks.

    Attributes:
        outlook: The forecast, or why there is none.
    """

    outlook: Outlook


def with_finance(
    analysis: Analysis, priced: PricedCube, listed: PricedCube, book: PriceBook, options: AnalyseOptions
) -> Analysis:
    """Return an analysis with the answers to finance's questions.

    Args:
        analysis: What is known of the log.
        priced: Its cube in the currency of the report.
        listed: Its cube at list prices in USD.
        book: Prices.
        options: The moment of the report, and whose days count.
    """
    zone = options.period.timezone
    series = series_of(analysis.by_day, spans_of(priced.frame, zone), options.as_of, zone)
    steps: tuple[PriceStep, ...] = ()
    if series is not None and len(series.amounts) >= LEAST_DAYS:
        end = _midnight(series, zone)
        steps = announced(listed, book, end, end + _MOST_AHEAD, zone)
    return replace(analysis, finance=Finance(outlook=outlook(series, steps, obstacle=_obstacle(analysis))))


def _midnight(series: DaySeries, zone: str) -> datetime:
    return datetime.combine(series.next_day, time(), ZoneInfo(zone))


def _obstacle(analysis: Analysis) -> str:
    if analysis.data.records and not analysis.whole.is_priced:
        return "nothing could be priced"
    if any(row.whole.in_usd is not None for row in analysis.by_day):
        return "some days have no exchange rate, so their money cannot be added to that of the others"
    return ""
