"""Resolving a card: fallbacks, precedence of the rules, and what a sheet says about itself."""

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from pricing.cards import PriceCard
from pricing.errors import NoPriceAtTimeError
from pricing.meters import Meter
from pricing.rules import ClockWindow, ContextTier, RatePeriod, ServiceTier, minute_of_week

AT = datetime(2026, 11, 2, 12, tzinfo=UTC)  # a Monday
PLAIN = {Meter.INPUT_UNCACHED: Decimal(4), Meter.OUTPUT: Decimal(20)}


def card(*periods: RatePeriod, provider: str | None = None) -> PriceCard:
    return PriceCard(
        provider=provider, model="demo", periods=periods, source="test", retrieved=date(2026, 11, 1)
    )


@pytest.mark.parametrize(
    ("stated", "meter", "expected", "used"),
    [
        ({}, Meter.CACHE_READ, 4, Meter.INPUT_UNCACHED),
        ({}, Meter.CACHE_WRITE_5M, 4, Meter.INPUT_UNCACHED),
        ({Meter.CACHE_WRITE_5M: 5}, Meter.CACHE_WRITE_5M, 5, None),
        ({Meter.CACHE_WRITE_5M: 5}, Meter.CACHE_WRITE_30M, 5, Meter.CACHE_WRITE_5M),
        ({Meter.CACHE_WRITE_5M: 5}, Meter.CACHE_WRITE_1H, 5, Meter.CACHE_WRITE_5M),
        ({Meter.CACHE_WRITE_5M: 5}, Meter.CACHE_WRITE_12H, 5, Meter.CACHE_WRITE_5M),
        ({Meter.CACHE_WRITE_1H: 8}, Meter.CACHE_WRITE_5M, 4, Meter.INPUT_UNCACHED),
        ({}, Meter.AUDIO_INPUT, 4, Meter.INPUT_UNCACHED),
        ({Meter.CACHE_READ: 1}, Meter.AUDIO_CACHE_READ, 1, Meter.CACHE_READ),
        ({Meter.AUDIO_INPUT: 9}, Meter.AUDIO_CACHE_READ, 9, Meter.AUDIO_INPUT),
        ({}, Meter.AUDIO_CACHE_READ, 4, Meter.INPUT_UNCACHED),
        ({}, Meter.IMAGE_INPUT, 4, Meter.INPUT_UNCACHED),
        ({}, Meter.AUDIO_OUTPUT, 20, Meter.OUTPUT),
        ({}, Meter.IMAGE_OUTPUT, 20, Meter.OUTPUT),
        ({Meter.IMAGE_OUTPUT: 0}, Meter.IMAGE_OUTPUT, 0, None),  # 0 is a price
    ],
)
def test_a_meter_without_a_rate_gets_its_relatives(
    stated: dict[Meter, int], meter: Meter, expected: int, used: Meter | None
) -> None:
    rates = {**PLAIN, **{key: Decimal(value) for key, value in stated.items()}}
    sheet = card(RatePeriod(rates=rates)).resolve(AT, 1, None)
    assert sheet.rates[meter] == expected
    assert sheet.fallbacks.get(meter) == used
    assert sheet.rule_for(meter) == (
        "base" if used is None else f"base; no rate for {meter}, {used} rate used"
    )


def test_fees_have_no_fallback() -> None:
    sheet = card(RatePeriod(rates=PLAIN)).resolve(AT, 1, None)
    assert Meter.WEB_SEARCH_CALLS not in sheet.rates
    assert Meter.CACHE_STORAGE_TOKEN_HOURS not in sheet.rates


def test_own_rates_of_a_service_tier_win_over_a_context_tier() -> None:
    period = RatePeriod(
        rates=PLAIN,
        context_tiers=(ContextTier(above=10, rates={meter: rate * 2 for meter, rate in PLAIN.items()}),),
        service_tiers=(
            ServiceTier(
                name="priority",
                rates={Meter.INPUT_UNCACHED: Decimal(7)},
                context_tiers=(ContextTier(above=50, rates={Meter.INPUT_UNCACHED: Decimal(9)}),),
            ),
        ),
    )
    sheets = [card(period).resolve(AT, tokens, "priority") for tokens in (10, 11, 51)]
    assert [one.rates[Meter.INPUT_UNCACHED] for one in sheets] == [7, 7, 9]
    assert [one.rates[Meter.OUTPUT] for one in sheets] == [20, 40, 40]
    assert [one.rule for one in sheets] == [
        "priority rates",
        "context > 10; priority rates",
        "context > 50; priority rates",
    ]


def test_the_highest_context_tier_that_is_reached_counts() -> None:
    steps = tuple(ContextTier(above=above, rates={Meter.OUTPUT: Decimal(above)}) for above in (200, 100))
    one = card(RatePeriod(rates=PLAIN, context_tiers=steps))
    assert [one.resolve(AT, size, None).rates[Meter.OUTPUT] for size in (100, 101, 200, 201)] == [
        20,
        100,
        100,
        200,
    ]


def test_a_window_replaces_the_rates_as_a_whole() -> None:
    window = ClockWindow(name="night", minutes=((0, 60),), rates={Meter.INPUT_UNCACHED: Decimal(1)})
    one = card(RatePeriod(rates={**PLAIN, Meter.CACHE_READ: Decimal(3)}, windows=(window,)))
    sheet = one.resolve(AT.replace(hour=0, minute=59), 1, None)
    assert sheet.rates[Meter.CACHE_READ] == 1  # from the window's input, not from the day's cache read
    assert Meter.OUTPUT not in sheet.rates
    assert sheet.rule == "night rates"
    assert one.resolve(AT.replace(hour=1, minute=0), 1, None).rule == "base"


def test_the_first_of_two_windows_counts() -> None:
    windows = tuple(
        ClockWindow(name=f"x{factor}", minutes=((0, 10_080),), multiplier=Decimal(factor))
        for factor in (2, 3)
    )
    sheet = card(RatePeriod(rates=PLAIN, windows=windows)).resolve(AT, 1, None)
    assert sheet.rates[Meter.OUTPUT] == 40


@pytest.mark.parametrize(
    ("provider", "applied"),
    [("openai", "priority"), (None, "priority"), ("anthropic", "standard")],
)
def test_fast_is_priority_on_openai_only(provider: str | None, applied: str) -> None:
    period = RatePeriod(rates=PLAIN, service_tiers=(ServiceTier(name="priority", multiplier=Decimal(2)),))
    sheet = card(period, provider=provider).resolve(AT, 1, "fast")
    assert sheet.service_tier_applied == applied
    assert bool(sheet.warnings) == (applied == "standard")


def test_a_card_with_its_own_fast_tier_keeps_it() -> None:
    tiers = tuple(ServiceTier(name=name, multiplier=Decimal(2)) for name in ("priority", "fast"))
    sheet = card(RatePeriod(rates=PLAIN, service_tiers=tiers), provider="openai").resolve(AT, 1, "fast")
    assert sheet.service_tier_applied == "fast"


def test_a_bucket_says_that_its_context_is_not_known() -> None:
    steps = (ContextTier(above=200_000, rates={Meter.OUTPUT: Decimal(40)}),)
    sheet = card(RatePeriod(rates=PLAIN, context_tiers=steps)).resolve(AT, None, None)
    assert sheet.rates[Meter.OUTPUT] == 20
    assert sheet.warnings == (
        "request sizes unknown, so the price above 200,000 prompt tokens was not applied",
    )


def test_a_sheet_is_valid_where_all_its_rules_are() -> None:
    tier = ServiceTier(name="batch", multiplier=Decimal("0.5"), valid_from=AT)
    period = RatePeriod(
        rates=PLAIN, valid_from=AT - timedelta(1), valid_until=AT + timedelta(1), service_tiers=(tier,)
    )
    sheet = card(period).resolve(AT, 1, "batch")
    assert (sheet.valid_from, sheet.valid_until) == (AT, AT + timedelta(1))
    assert (sheet.source, sheet.retrieved) == ("test", date(2026, 11, 1))


def test_instants_without_a_price_or_a_zone() -> None:
    one = card(RatePeriod(rates=PLAIN, valid_from=AT))
    with pytest.raises(NoPriceAtTimeError, match="no price at 2026-11-02T11:59:59"):
        one.resolve(AT - timedelta(seconds=1), 1, None)
    with pytest.raises(NoPriceAtTimeError, match="no price in the book"):
        card().resolve(AT, 1, None)
    with pytest.raises(ValueError, match="needs a time zone"):
        one.resolve(AT.replace(tzinfo=None), 1, None)


def test_minutes_of_the_week_are_utc() -> None:
    assert minute_of_week(datetime(2026, 11, 2, tzinfo=UTC)) == 0
    assert minute_of_week(datetime(2026, 11, 2, 1, tzinfo=timezone(timedelta(hours=2)))) == 10_080 - 60


def test_rows_leave_out_a_service_tier_of_another_time() -> None:
    tier = ServiceTier(name="batch", rates=PLAIN, valid_from=AT)
    before = RatePeriod(rates=PLAIN, valid_until=AT, service_tiers=(tier,))
    after = RatePeriod(rates=PLAIN, valid_from=AT, service_tiers=(tier,))
    rows = [row for row in card(before, after).rows() if row.meter is Meter.OUTPUT]
    assert [(row.rule, row.valid_from, row.valid_until) for row in rows] == [
        ("base", None, AT),
        ("base", AT, None),
        ("batch rates", AT, None),
    ]
