"""Finance's questions about a log: what will it be, why did it change. Answered from the cube, never from rows of the log."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

import pandas as pd

from advisor.allocation import Allocation, allocation, by_workload, parse_sharing
from advisor.allocation_plans import PlanUse, SeatPlan, from_agents, plan_use
from advisor.analysis import Analysis
from advisor.anomalies import Anomalies, anomalies
from advisor.budget import Check, checks
from advisor.finance_options import NOTHING
from advisor.forecast import Outlook, PriceStep, outlook
from advisor.forecast_days import DaySeries, series_of, spans_of
from advisor.forecast_fit import LEAST_DAYS
from advisor.forecast_prices import announced
from advisor.options import AnalyseOptions
from advisor.outcomes import outcomes
from advisor.unit_economics import UnitCost, unit_costs
from advisor.unit_scan import Spread
from advisor.variance import Bridges, bridges
from advisor.variance_periods import Periods, comparable
from pricing.book import PriceBook
from pricing.frame import PricedCube

_MOST_AHEAD: Final = timedelta(days=124)


@dataclass(frozen=True, slots=True, kw_only=True)
class Variance:
    """Why it changed between two periods, or why that is not said.

    Attributes:
        periods: Which; None: the log has no two.
        bridges: What the change is made of; None where there is none.
        reason: Why there is none; empty where there is one.
    """

    periods: Periods | None
    bridges: Bridges | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finance:
    """What finance asks.

    Attributes:
        outlook: The forecast, or why there is none.
        variance: What changed.
        checks: What comes of the budgets that were given.
        units: What one unit costs.
        allocations: Who pays: by the labels that were asked for, else by workload.
        plan_use: What usage of coding agents is worth; None: the log has none.
        unusual: Days that break their own pattern.
    """

    outlook: Outlook
    variance: Variance
    checks: tuple[Check, ...] = ()
    units: tuple[UnitCost, ...] = ()
    allocations: tuple[Allocation, ...] = ()
    plan_use: PlanUse | None = None
    unusual: Anomalies = field(default_factory=Anomalies)


def with_finance(
    analysis: Analysis,
    priced: PricedCube,
    listed: PricedCube,
    book: PriceBook,
    options: AnalyseOptions,
    by_label: Callable[[str], PricedCube],
    spread: Callable[[], Mapping[str, Spread]],
) -> Analysis:
    """Return an analysis with the answers to finance's questions.

    Args:
        analysis: What is known of the log.
        priced: Its cube in the currency of the report.
        listed: Its cube at list prices in USD.
        book: Prices.
        options: The moment of the report, whose days count, and what is asked besides.
        by_label: Makes the cube whose workloads are the values of a label, in the currency of the report.
        spread: Looks at single requests, sessions and users.
    """
    asked = options.finance or NOTHING
    zone = options.period.timezone
    series = series_of(analysis.by_day, spans_of(priced.frame, zone), options.as_of, zone)
    steps: tuple[PriceStep, ...] = ()
    if series is not None and len(series.amounts) >= LEAST_DAYS:
        end = _midnight(series, zone)
        steps = announced(listed, book, end, end + _MOST_AHEAD, zone)
    obstacle = _obstacle(analysis)
    budgets = (*options.budgets, *asked.budgets)
    labels = {budget.label for budget in budgets if budget.label is not None}
    cubes: dict[str | None, PricedCube] = {None: priced}
    cubes |= {label: by_label(label) for label in sorted(labels)}
    return replace(
        analysis,
        finance=Finance(
            outlook=outlook(series, steps, obstacle=obstacle),
            variance=_variance(priced, series, obstacle),
            unusual=anomalies(priced, series, obstacle=obstacle or _money_only(priced)),
            checks=checks(budgets, cubes, series, steps),
            units=unit_costs(analysis, spread() if asked.unit_costs else {}, outcomes(priced)),
            allocations=_allocations(analysis, options, by_label),
            plan_use=plan_use(
                by_label("format"), [SeatPlan(name=name, usd_per_month=usd) for name, usd in asked.plans]
            )
            if from_agents(analysis.data.sources)
            else None,
        ),
    )


def _variance(priced: PricedCube, series: DaySeries | None, obstacle: str) -> Variance:
    periods = comparable(series)
    reason = obstacle
    if periods is None:
        reason = "the log has no two weeks of whole days"
    reason = reason or _money_only(priced)
    if reason or periods is None:
        return Variance(periods=periods, bridges=None, reason=reason)
    days = pd.to_datetime(priced.frame["day"])
    sides = [
        ((days >= pd.Timestamp(first)) & (days <= pd.Timestamp(last))).to_numpy()
        for first, last in (periods.before, periods.after)
    ]
    return Variance(periods=periods, bridges=bridges(priced, *sides), reason="")


def _midnight(series: DaySeries, zone: str) -> datetime:
    return datetime.combine(series.next_day, time(), ZoneInfo(zone))


def _money_only(priced: PricedCube) -> str:
    if not priced.frame["charge_only"].any():
        return ""
    return "the log is money without tokens, so what moved it is not known"


def _obstacle(analysis: Analysis) -> str:
    if analysis.data.records and not analysis.whole.is_priced:
        return "nothing could be priced"
    if any(row.whole.in_usd is not None for row in analysis.by_day):
        return "some days have no exchange rate, so their money cannot be added to that of the others"
    return ""


def _allocations(
    analysis: Analysis, options: AnalyseOptions, by_label: Callable[[str], PricedCube]
) -> tuple[Allocation, ...]:
    """Return who pays; nothing where a part of the money could not be converted."""
    asked = options.finance or NOTHING
    if analysis.whole.unconverted_usd or not analysis.whole.is_priced:
        return ()
    sharing = parse_sharing(asked.shared_cost)
    if not asked.showback:
        return (by_workload(analysis.workloads, sharing),)
    return tuple(allocation(key, by_label(key), sharing) for key in asked.showback)
