"""The course of spend: whole weeks against whole weeks, whole days only."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from types import SimpleNamespace

import report_factory

from advisor.analysis import Analysis, DaySlice
from advisor.budget import Budget, Check, Limit, Verdict
from advisor.forecast import Span
from advisor.view_outlook import outlook
from pricing.meters import Meter


def course(*amounts: str, start_hour: int = 0, end_hour: int = 23) -> Analysis:
    """An analysis with one amount a day from 1 October on."""
    base = report_factory.demo()
    first = date(2026, 10, 1)
    days = tuple(
        DaySlice(
            day=first + timedelta(days=place),
            whole=replace(base.by_day[0].whole, cost={Meter.OUTPUT: Decimal(amount)}),
            by_model={},
        )
        for place, amount in enumerate(amounts)
    )
    last = first + timedelta(days=len(amounts) - 1)
    return replace(
        base,
        by_day=days,
        data=replace(
            base.data,
            first_request=datetime(2026, 10, 1, start_hour, 30, tzinfo=UTC),
            last_request=datetime(last.year, last.month, last.day, end_hour, 30, tzinfo=UTC),
        ),
    )


def test_two_weeks_are_one_against_one() -> None:
    (card,) = outlook(course(*["10"] * 7, *["12.5"] * 7))
    assert (card.label, card.value) == ("Last 7 days against the 7 before", "+25 %")
    assert card.exact == "8\N{EN DASH}14 Oct 2026: $87.50; 1\N{EN DASH}7 Oct 2026: $70.00"


def test_a_fall_has_a_true_minus_sign() -> None:
    (card,) = outlook(course(*["10"] * 14, *["5"] * 14))
    assert (card.label, card.value) == ("Last 14 days against the 14 before", "\N{MINUS SIGN}50 %")


def test_cut_days_count_on_neither_side() -> None:
    assert outlook(course(*["10"] * 7, *["12.5"] * 7, end_hour=11)) == ()
    (card,) = outlook(course("1", *["10"] * 7, *["12.5"] * 7, start_hour=9))
    assert card.value == "+25 %"


def test_a_short_log_or_one_without_prior_spend_says_nothing() -> None:
    assert outlook(course(*["10"] * 13)) == ()
    assert outlook(course(*["0"] * 7, *["12.5"] * 7)) == ()
    assert outlook(replace(report_factory.demo(), by_day=())) == ()


def test_the_budget_that_is_used_up_most_is_shown() -> None:
    def check(name: str, found: str | None, verdict: Verdict) -> Check:
        return Check(
            budget=Budget(name=name),
            limit=Limit.MONTH,
            allowed=Decimal(100),
            found=None if found is None else Decimal(found),
            verdict=verdict,
            basis="October so far",
            unpriced=0,
        )

    finance = SimpleNamespace(
        outlook=SimpleNamespace(forecast=None),
        checks=(
            check("search", "40", Verdict.KEPT),
            check("chat", "125.5", Verdict.BROKEN),
            check("new", None, Verdict.UNKNOWN),
        ),
    )
    (card,) = outlook(replace(report_factory.demo(), by_day=(), finance=finance))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert (card.label, card.value) == ("Budget chat", "126 % used")
    assert card.note == "$126 of $100: broken"
    assert card.exact == "$125.50 of $100.00, October so far"


def test_the_forecast_names_its_month_and_range() -> None:
    month = Span(
        first=date(2026, 11, 1),
        last=date(2026, 11, 30),
        spent=Decimal(10),
        low=Decimal(900),
        expected=Decimal(1000),
        high=Decimal(1200),
    )
    finance = SimpleNamespace(outlook=SimpleNamespace(forecast=SimpleNamespace(month=month)), checks=())
    (card,) = outlook(replace(report_factory.demo(), by_day=(), finance=finance))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    assert (card.label, card.value) == ("Forecast for Nov 2026", "$1,000")
    assert card.note == "$900 to $1.2k (80 % range)"
