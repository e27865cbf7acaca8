"""Days that break their own pattern, of all usage and of single workloads, with what drove them.

A day is held against the median of its weekday, on the trend of the log (see ``forecast_fit``). Its score is the distance in
robust standard deviations (1.4826 times the median distance of all days, five percent of what is expected at least). A day
counts from a score of 4 on, and only where it is off by half a percent of the log's cost at least.
What drove it is told by the bridge from the middlemost day of the same weekday.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from advisor.forecast_days import DaySeries
from advisor.forecast_fit import trend_of
from advisor.variance import Bridges, bridges
from advisor.variance_terms import FACTORS, Driver
from pricing.frame import PricedCube

Array = npt.NDArray[np.float64]

LEAST_DAYS: Final = 21
"""Whole days under which nothing is called unusual: three of each weekday."""
LEAST_SCORE: Final = 4.0
LEAST_SHARE: Final = 0.005
"""Part of the log's cost that a day has to be off by."""
MOST: Final = 8

_WEEK: Final = 7
_TO_DEVIATIONS: Final = 1.4826
_LEAST_SPREAD: Final = 0.05
_MOST_WORKLOADS: Final = 30
_CENT: Final = Decimal("0.01")
_MICRO: Final = Decimal("0.000001")


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomaly:
    """A day that breaks its pattern.

    Attributes:
        day: Which.
        workload: Of which workload; None: of all usage.
        cost: What it cost.
        expected: What days like it cost; an estimate.
        score: Distance in robust standard deviations; negative below what is expected.
        driver: What most of the difference is; None where the day that it is held against costs the same.
        leading: The workload that moved most, of a day of all usage.
        reference: The day that drivers are told against.
    """

    day: date
    workload: str | None
    cost: Decimal
    expected: Decimal
    score: float
    driver: Driver | None
    leading: str | None
    reference: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Anomalies:
    """What is unusual, most money first, or why that is not said.

    Attributes:
        found: The days.
        more: How many others there are.
        reason: Why nothing can be said; empty where it can.
        least: Money that a day has to be off by.
    """

    found: tuple[Anomaly, ...] = ()
    more: int = 0
    reason: str = ""
    least: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class _Odd:
    """A day of a series, by places."""

    row: int
    place: int
    expected: float
    score: float
    reference: int


def anomalies(priced: PricedCube, series: DaySeries | None, *, obstacle: str = "") -> Anomalies:
    """Return the unusual days of a log.

    Args:
        priced: Its cube.
        series: Its whole days.
        obstacle: Why nothing can be said whatever the days are; empty: nothing stands in the way.
    """
    days = 0 if series is None else len(series.amounts)
    if obstacle or series is None or days < LEAST_DAYS:
        return Anomalies(reason=obstacle or f"{days} whole days are in the log, {LEAST_DAYS} are needed")
    frame = priced.frame
    names, table = _by_workload(priced, series)
    money = table.sum(axis=0)
    least = float(money.sum()) * LEAST_SHARE
    rows = np.vstack([money, table])
    odd = [one for row, values in enumerate(rows) for one in _odd_days(row, values, series.first, least)]
    odd.sort(key=lambda one: (-abs(rows[one.row, one.place] - one.expected), one.place, one.row))
    kept = [one for one in odd if not (one.row and len(names) == 1)]
    day_column = pd.to_datetime(frame["day"])
    workloads = frame["workload"].astype(str).to_numpy()

    def told(one: _Odd) -> Anomaly:
        return _told(one, priced, series.first, names, (day_column, workloads))

    return Anomalies(
        found=tuple(told(one) for one in kept[:MOST]),
        more=max(len(kept) - MOST, 0),
        least=_rounded(least),
    )


def _by_workload(priced: PricedCube, series: DaySeries) -> tuple[list[str], Array]:
    """Return the dearest workloads and their money by day; the others are the last row, which is nobody's."""
    frame = priced.frame
    days = (pd.to_datetime(frame["day"]) - pd.Timestamp(series.first)).dt.days.to_numpy(dtype=float)
    inside = (days >= 0) & (days < len(series.amounts))
    costs = np.zeros(len(frame))
    for name in frame.columns:
        if name.startswith("cost_"):
            costs += frame[name].to_numpy(dtype=float)
    costs *= 10.0**-priced.exponent
    codes, names = pd.factorize(frame["workload"].astype(str))
    table = np.zeros((len(names), len(series.amounts)))
    np.add.at(table, (codes[inside], days[inside].astype(int)), costs[inside])
    order = np.argsort(-table.sum(axis=1), kind="stable")
    top, rest = order[:_MOST_WORKLOADS], order[_MOST_WORKLOADS:]
    return [str(names[place]) for place in top], np.vstack([table[top], table[rest].sum(axis=0)])


def _odd_days(row: int, values: Array, first: date, least: float) -> Iterator[_Odd]:
    if np.abs(values).sum() <= least:
        return
    weekdays = (np.arange(len(values)) + first.weekday()) % _WEEK
    expected = trend_of(values, weekdays)
    usual = float(np.median(expected[expected > 0])) if (expected > 0).any() else 0.0
    base = np.maximum(expected, usual * _LEAST_SPREAD)
    if usual <= 0:
        return
    off = (values - expected) / base
    spread = max(_TO_DEVIATIONS * float(np.median(np.abs(off))), _LEAST_SPREAD)
    for place in np.flatnonzero((np.abs(off) / spread >= LEAST_SCORE) & (np.abs(values - expected) >= least)):
        alike = [
            other for other in range(len(values)) if other != place and weekdays[other] == weekdays[place]
        ]
        middle = sorted(alike, key=lambda other: (values[other], other))[len(alike) // 2]
        yield _Odd(
            row=row,
            place=int(place),
            expected=float(expected[place]),
            score=float(off[place] / spread),
            reference=middle,
        )


def _told(one: _Odd, priced: PricedCube, first: date, names: list[str], columns: tuple[Any, Any]) -> Anomaly:
    day, reference = (first + timedelta(days=place) for place in (one.place, one.reference))
    days, workloads = columns
    name = names[one.row - 1] if 0 < one.row <= len(names) else None
    own = np.ones(len(workloads), dtype=bool) if name is None else workloads == name
    sides = [((days == pd.Timestamp(at)).to_numpy() & own) for at in (reference, day)]
    moved = bridges(priced, *sides)
    return Anomaly(
        day=day,
        workload=name,
        cost=moved.whole.after,
        expected=_rounded(one.expected),
        score=one.score,
        driver=_driver(moved, up=one.score > 0),
        leading=_leading(moved, up=one.score > 0) if name is None else None,
        reference=reference,
    )


def _driver(moved: Bridges, *, up: bool) -> Driver | None:
    sign = 1 if up else -1
    terms = {driver: amount * sign for driver, amount in moved.whole.terms.items()}
    best = max((*FACTORS, Driver.NEW, Driver.ENDED), key=lambda driver: terms[driver])
    return best if terms[best] > 0 else None


def _leading(moved: Bridges, *, up: bool) -> str | None:
    sign = 1 if up else -1
    best = max(moved.workloads, key=lambda part: part.change * sign, default=None)
    return best.name if best is not None and best.change * sign > 0 else None


def _rounded(amount: float) -> Decimal:
    return Decimal(repr(float(amount))).quantize(_CENT if abs(amount) >= 1 else _MICRO)
