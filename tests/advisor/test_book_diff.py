"""What a price update changed."""

from datetime import UTC, datetime
from decimal import Decimal

from advisor.book_diff import compare, rates_of
from pricing.cards import PriceCard
from pricing.meters import Meter
from pricing.rules import RatePeriod

CUT = datetime(2026, 6, 1, tzinfo=UTC)
NOW = datetime(2026, 11, 1, tzinfo=UTC)


def card(model: str, before: str, after: str) -> PriceCard:
    return PriceCard(
        provider="acme",
        model=model,
        periods=(
            RatePeriod(valid_until=CUT, rates={Meter.OUTPUT: Decimal(before)}),
            RatePeriod(valid_from=CUT, rates={Meter.OUTPUT: Decimal(after)}),
        ),
        source="list",
    )


def test_equal_books_have_no_change() -> None:
    assert compare(rates_of([card("a", "1", "2")]), rates_of([card("a", "1.0", "2")]), NOW) == []


def test_a_change_of_the_past_is_told_from_one_of_the_present() -> None:
    old, new = rates_of([card("a", "1", "2")]), rates_of([card("a", "3", "4")])
    found = compare(old, new, NOW)
    assert [(one.old_usd, one.new_usd, one.past) for one in found] == [
        (Decimal(2), Decimal(4), False),
        (Decimal(1), Decimal(3), True),
    ]
    assert found[1].what == "output (base, open to 2026-06-01 00:00Z)"


def test_models_that_came_or_went_are_named() -> None:
    found = compare(rates_of([card("gone", "1", "2")]), rates_of([card("new", "1", "2")]), NOW)
    assert {(one.model, one.old_usd is None, one.new_usd is None) for one in found} == {
        ("gone", False, True),
        ("new", True, False),
    }
