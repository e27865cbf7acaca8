"""Budgets: limits of what some usage may cost, and whether a log keeps them.

A verdict is ``kept``, ``broken`` or ``unknown``. What has no price can break a limit but never keep one: where some usage of a
budget is unpriced and the rest is within the limit, the verdict is unknown.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from advisor import slices as cut
from advisor.forecast import Outlook, PriceStep, month_bounds, outlook
from advisor.forecast_days import DaySeries
from advisor.variance_periods import comparable
from pricing.charges import exact_sum
from pricing.frame import PricedCube

ZERO: Final = Decimal(0)
_LEAST_RATE_DAYS: Final = 7
_COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "provider": ("provider", "provider_resolved"),
    "model": ("model", "model_resolved"),
}
"""Where a name of a scope may stand; every other key is the grouping of its cube."""


class Verdict(StrEnum):
    """What came of a limit."""

    KEPT = "kept"
    BROKEN = "broken"
    UNKNOWN = "unknown"


class Limit(StrEnum):
    """What is limited."""

    MONTH = "monthly_cost"
    REQUEST = "cost_per_request"
    CHANGE = "change_percent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Limits of some usage.

    Attributes:
        name: What it is called.
        scope: Key (``provider``, ``model``, ``workload``, ``team`` ...) -> names, any of which counts; empty: all usage.
        limits: At most this much, in the report's currency; of a change, in percent.
    """

    name: str
    scope: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    limits: Mapping[Limit, Decimal] = field(default_factory=dict[Limit, Decimal])

    @property
    def label(self) -> str | None:
        """The label that its usage is told apart by; None: the cube of the run has what it takes."""
        return next((key for key in self.scope if key not in (*_COLUMNS, "workload")), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A limit and what the log has to say to it.

    Attributes:
        budget: Whose limit.
        limit: Which.
        allowed: How much.
        found: How much there is: so far, or to be expected; None: it is not known.
        verdict: What comes of it.
        basis: What ``found`` is, in words.
        unpriced: Requests of the budget without a price.
    """

    budget: Budget
    limit: Limit
    allowed: Decimal
    found: Decimal | None
    verdict: Verdict
    basis: str
    unpriced: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """The usage that a budget is about.

    Attributes:
        by_day: Money by day; None: records without a time.
        requests: With a price.
        uncounted: Whether some priced usage does not say how many requests it is.
        unpriced: Requests (records, where they are not counted) without a price.
        records: All.
    """

    by_day: Mapping[date | None, Decimal]
    requests: int
    uncounted: bool
    unpriced: int
    records: int

    @property
    def total(self) -> Decimal:
        """All of the money."""
        return exact_sum(self.by_day.values())


def checks(
    budgets: Sequence[Budget],
    cubes: Mapping[str | None, PricedCube],
    whole: DaySeries | None,
    steps: Sequence[PriceStep] = (),
) -> tuple[Check, ...]:
    """Return what comes of every limit, in the order of the budgets.

    Args:
        budgets: What is limited.
        cubes: By label; under None the cube whose workloads are those of the report.
        whole: The days of the log.
        steps: Announced changes of prices; they are applied to budgets of all usage.
    """
    return tuple(
        check
        for budget in budgets
        for check in _checks(
            budget, scope_of(budget, cubes[budget.label]), whole, () if budget.scope else steps
        )
    )


def accepted(found: Sequence[Check]) -> tuple[Check, ...]:
    """Return checks with usage that has no price taken to be within the limits."""
    return tuple(
        replace(check, verdict=Verdict.KEPT)
        if check.verdict is Verdict.UNKNOWN and check.found is not None
        else check
        for check in found
    )


def scope_of(budget: Budget, priced: PricedCube) -> Scope:
    """Return the usage of a budget."""
    frame = priced.frame
    mask: npt.NDArray[Any] = np.ones(len(frame), dtype=bool)
    for key, names in budget.scope.items():
        columns = _COLUMNS.get(key, ("workload",))
        mask &= np.logical_or.reduce([frame[name].isin(list(names)).to_numpy() for name in columns])
    part = replace(priced, frame=frame[mask])
    lost = part.frame[part.frame["sheet"] == cut.UNPRICED]
    known = part.frame[part.frame["sheet"] != cut.UNPRICED]
    counted = lost["requests"].fillna(lost["records"])
    return Scope(
        by_day={_day(key): one.total for key, one in cut.slices(part, ["day"]).items()},
        requests=int(known["requests"].fillna(0).sum()),
        uncounted=bool(known["requests"].isna().any()),
        unpriced=int(counted.sum()) if len(lost) else 0,
        records=int(part.frame["records"].sum()) if len(part.frame) else 0,
    )


def _day(key: Any) -> date | None:
    return None if key is None or pd.isna(key) else pd.Timestamp(key).date()


def _checks(
    budget: Budget, scope: Scope, whole: DaySeries | None, steps: Sequence[PriceStep]
) -> Iterator[Check]:
    measures = {Limit.MONTH: _of_month, Limit.REQUEST: _of_request, Limit.CHANGE: _of_change}
    for limit, allowed in budget.limits.items():
        found, basis = (
            _of_month(scope, whole, steps) if limit is Limit.MONTH else measures[limit](scope, whole, ())
        )
        yield Check(
            budget=budget,
            limit=limit,
            allowed=allowed,
            found=found,
            verdict=_verdict(found, allowed, scope.unpriced),
            basis=basis if scope.records else f"nothing of it is in this log; {basis}",
            unpriced=scope.unpriced,
        )


def _verdict(found: Decimal | None, allowed: Decimal, unpriced: int) -> Verdict:
    if found is not None and found > allowed:
        return Verdict.BROKEN
    return Verdict.UNKNOWN if found is None or unpriced else Verdict.KEPT


def series_in(scope: Scope, whole: DaySeries) -> DaySeries:
    """Return the days of a scope between the ends of the log; it begins with the first day that has any of it."""
    dated = [day for day in scope.by_day if day is not None]
    first = min(max(whole.first, min(dated, default=whole.first)), whole.next_day - timedelta(days=1))
    length = (whole.next_day - first).days
    ends = [
        None if end is None else (end[0], scope.by_day.get(end[0], ZERO))
        for end in (whole.cut_first, whole.cut_last)
    ]
    days = [first + timedelta(days=place) for place in range(length)]
    return DaySeries(
        first=first,
        amounts=tuple(scope.by_day.get(day, ZERO) for day in days),
        empty_days=sum(day not in scope.by_day for day in days),
        cut_first=ends[0],
        cut_last=ends[1],
    )


def _of_month(
    scope: Scope, whole: DaySeries | None, steps: Sequence[PriceStep]
) -> tuple[Decimal | None, str]:
    """Return the dearest calendar month: one of the log, or the one in progress at its end."""
    if whole is None:
        return (scope.total, "the whole log; it has no times, so how much a month is is not known")
    months: dict[date, list[Decimal]] = {}
    for day, amount in scope.by_day.items():
        if day is not None:
            months.setdefault(day.replace(day=1), []).append(amount)
    spent = {month: exact_sum(amounts) for month, amounts in months.items()}
    current = month_bounds(whole.next_day)[0]
    found = {month: (amount, f"{month:%Y-%m}, as logged") for month, amount in spent.items()}
    found[current] = _in_progress(outlook(series_in(scope, whole), steps), current, spent.get(current, ZERO))
    month = max(found, key=lambda one: (found[one][0], one))
    amount, basis = found[month]
    undated = scope.by_day.get(None)
    return amount, f"{basis}; records without a time are in no month" if undated else basis


def _in_progress(seen: Outlook, month: date, spent: Decimal) -> tuple[Decimal, str]:
    name = f"{month:%Y-%m}"
    if seen.forecast is not None:
        span = seen.forecast.month
        return (
            span.expected,
            f"{name}, forecast to its end (80 % range {_plain(span.low)} to {_plain(span.high)})",
        )
    days = 0 if seen.series is None else len(seen.series.amounts)
    if seen.run_rate is not None and days >= _LEAST_RATE_DAYS:
        return seen.run_rate, f"{name}, at the daily mean of {days} whole days (run rate; {seen.reason})"
    return spent, f"{name}, spent so far (no forecast: {seen.reason})"


def _plain(amount: Decimal) -> str:
    return f"{amount:,.2f}" if abs(amount) >= 1 else f"{amount:.6f}"


def _of_request(
    scope: Scope, _whole: DaySeries | None, _steps: Sequence[PriceStep]
) -> tuple[Decimal | None, str]:
    if scope.uncounted:
        return None, "the log does not count all requests"
    if not scope.requests:
        return (None, "no request has a price") if scope.unpriced else (ZERO, "no requests")
    return scope.total / scope.requests, f"mean of {scope.requests:,} priced requests"


def _of_change(
    scope: Scope, whole: DaySeries | None, _steps: Sequence[PriceStep]
) -> tuple[Decimal | None, str]:
    periods = comparable(whole)
    if periods is None:
        return None, "the log has no two weeks of whole days to compare"

    def cost(first: date, last: date) -> Decimal:
        return exact_sum(amount for day, amount in scope.by_day.items() if day and first <= day <= last)

    before, after = cost(*periods.before), cost(*periods.after)
    if not before:
        return (None if after else ZERO), f"nothing was spent in the period before; {periods.rule}"
    return (after - before) / before * 100, periods.rule
