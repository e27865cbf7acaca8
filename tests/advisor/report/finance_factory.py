"""The advised month with answers to finance's questions: a forecast of wandering days, and a budget."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import advice_factory

from advisor.analysis import Analysis
from advisor.budget import Budget, Check, Limit, Verdict
from advisor.finance import Finance, Variance
from advisor.forecast import outlook
from advisor.forecast_days import DaySeries
from advisor.unit_economics import UnitCost

FIRST = date(2026, 8, 20)
PROFILE = (980, 1_040, 1_010, 990, 940, 310, 260)


def series(days: int = 54) -> DaySeries:
    """Weekdays dearer than weekends, growing a little, the last day cut off."""
    amounts = tuple(
        Decimal(PROFILE[(FIRST + timedelta(days=place)).weekday()])
        + Decimal(place * 3)
        + Decimal(place * place % 97)
        for place in range(days)
    )
    return DaySeries(first=FIRST, amounts=amounts, cut_last=(FIRST + timedelta(days=days), Decimal("301.25")))


def financed(budget: str = "31000") -> Analysis:
    """Return the advised month with its finance."""
    made = outlook(series())
    check = Check(
        budget=Budget(name="All usage", limits={Limit.MONTH: Decimal(budget)}),
        limit=Limit.MONTH,
        allowed=Decimal(budget),
        found=None if made.forecast is None else made.forecast.month.expected,
        verdict=Verdict.KEPT,
        basis="forecast",
        unpriced=0,
    )
    unit = UnitCost(
        unit="request",
        count=1_000,
        cost=Decimal(28),
        mean=Decimal("0.028"),
        median=Decimal("0.02"),
        p95=Decimal("0.1"),
        basis="priced requests",
    )
    return replace(
        advice_factory.advised(),
        finance=Finance(
            outlook=made,
            variance=Variance(periods=None, bridges=None, reason="the log has no two weeks of whole days"),
            checks=(check,),
            units=(unit,),
        ),
    )
