"""Worked dollars, and everything that leaves a usage without a price."""

from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from pricing.book import load_book
from pricing.charges import Charge, Unpriced, UnpricedCode, charge
from pricing.meters import Meter, TokenUsage

BOOK = load_book([Path(__file__).parent / "data" / "prices.json"])
AT = datetime(2026, 11, 2, 12, tzinfo=UTC)
M = Meter


def usage(**counts: int) -> TokenUsage:
    return TokenUsage(counts={Meter(name): count for name, count in counts.items()})


def priced(model: str, counts: TokenUsage, at: datetime = AT, tier: str | None = None) -> Charge:
    found = charge(counts, BOOK, provider=None, model=model, at=at, service_tier=tier)
    assert isinstance(found, Charge), found
    return found


def unpriced(model: str, counts: TokenUsage, at: datetime = AT) -> Unpriced:
    found = charge(counts, BOOK, provider="p", model=model, at=at)
    assert isinstance(found, Unpriced), found
    return found


@pytest.mark.parametrize(
    ("model", "counts", "tier", "expected"),
    [
        # 1,000 x $5 + 200 x $25 = $5,000 + $5,000 per million
        ("demo-opus", usage(input_uncached=1_000, output=200), None, "0.01"),
        # 10 x 3 + 90,000 x 0.30 + 5,000 x 3.75 + 300 x 15 = 30 + 27,000 + 18,750 + 4,500 = 50,280 per million
        (
            "demo-sonnet",
            usage(input_uncached=10, cache_read=90_000, cache_write_5m=5_000, output=300),
            None,
            "0.05028",
        ),
        # the same at half price
        (
            "demo-sonnet",
            usage(input_uncached=10, cache_read=90_000, cache_write_5m=5_000, output=300),
            "batch",
            "0.02514",
        ),
        # 1,000 x 10 written for an hour: 2 x input
        ("demo-opus", usage(cache_write_1h=1_000), None, "0.01"),
        # 150,000 + 50,000 + 1 = 200,001 tokens, so 150,000 x 6 + 50,001 x 0.60 + 100 x 22.5 = 932,250.6 per million
        (
            "demo-sonnet-lc",
            usage(input_uncached=150_000, cache_read=50_001, output=100),
            None,
            "0.9322506",
        ),
        # one token less stays below: 150,000 x 3 + 50,000 x 0.30 + 100 x 15 = 466,500 per million
        ("demo-sonnet-lc", usage(input_uncached=150_000, cache_read=50_000, output=100), None, "0.4665"),
        # audio 1,000 x 1.00, pictures 1,290 x 30, text 20 x 0.30: 1,000 + 38,700 + 6 per million
        ("demo-flash", usage(input_uncached=20, audio_input=1_000, image_output=1_290), None, "0.039706"),
        # 3 searches at $0.01 and 2 million token-hours of storage at $4.50
        ("demo-pro", usage(web_search_calls=3, cache_storage_token_hours=2_000_000), None, "9.03"),
        # 1 token at $0.075 per million
        ("demo-4o-mini", usage(cache_read=1), None, "0.000000075"),
        ("local-llama", usage(input_uncached=10**9), None, "0"),
    ],
)
def test_worked_dollars(model: str, counts: TokenUsage, tier: str | None, expected: str) -> None:
    assert priced(model, counts, tier=tier).total == Decimal(expected)


def test_peak_hour_doubles() -> None:
    # 1,000,000 x $0.20 + 1,000,000 x $0.60
    counts = usage(input_uncached=10**6, output=10**6)
    assert priced("demo-seek", counts).total == Decimal("0.80")
    assert priced("demo-seek", counts, AT.replace(hour=9)).total == Decimal("1.60")


def test_lines_say_what_they_are_made_of() -> None:
    lines = priced("demo-haiku", usage(output=2, cache_write_12h=3, web_search_calls=1)).lines
    assert [(line.meter, line.quantity, line.unit, line.rule) for line in lines] == [
        (M.CACHE_WRITE_12H, 3, "1M tokens", "base; no rate for cache_write_12h, cache_write_5m rate used"),
        (M.OUTPUT, 2, "1M tokens", "base"),
        (M.WEB_SEARCH_CALLS, 1, "call", "fee"),
    ]
    assert [line.amount for line in lines] == [Decimal("0.00000375"), Decimal("0.00001"), Decimal("0.01")]
    assert {line.source for line in lines} == {"prices.json"}


def test_nothing_is_rounded() -> None:
    total = priced("demo-4o-mini", usage(cache_read=10**40 + 1)).total
    assert str(total) == "750000000000000000000000000000000.000000075"


def test_a_bucket_never_reaches_a_context_tier() -> None:
    counts = usage(input_uncached=10**9)
    bucket = charge(counts, BOOK, provider=None, model="demo-sonnet-lc", at=AT, context_tokens=None)
    assert isinstance(bucket, Charge)
    assert bucket.total == 3_000
    assert bucket.sheet.warnings


@pytest.mark.parametrize(
    ("model", "counts", "code", "reason"),
    [
        (
            "demo-unknown",
            usage(output=1),
            UnpricedCode.UNKNOWN_MODEL,
            "no price card for model 'demo-unknown'",
        ),
        ("meta-llama/llama-3.3-70b-instruct", usage(), UnpricedCode.AMBIGUOUS_MODEL, "name the provider"),
        (
            "demo-opus",
            usage(output=1, cache_storage_token_hours=1),
            UnpricedCode.UNPRICED_METER,
            "no rate for cache_storage_token_hours",
        ),
    ],
)
def test_unpriced_is_said_with_a_code(
    model: str, counts: TokenUsage, code: UnpricedCode, reason: str
) -> None:
    found = unpriced(model, counts)
    assert found.code is code
    assert reason in found.reason


def test_a_model_without_a_price_in_the_book_is_unpriced() -> None:
    listed = next(card for card in BOOK.cards() if not card.periods and card.provider == "openrouter")
    found = charge(usage(output=1), BOOK, provider="openrouter", model=listed.model, at=AT)
    assert isinstance(found, Unpriced)
    assert (found.code, "no price in the book" in found.reason) == (UnpricedCode.NO_PRICE_IN_BOOK, True)


def test_a_zero_count_never_makes_a_usage_unpriced() -> None:
    found = priced("demo-opus", usage(output=1, cache_storage_token_hours=0))
    assert [line.meter for line in found.lines] == [M.OUTPUT]
