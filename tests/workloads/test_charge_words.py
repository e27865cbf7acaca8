"""Words of real cost exports, and the kind and meter that they stand for."""

from typing import Any

import ibis
import pytest

from workloads.charge_words import charge_kind, charge_meter

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")


CONNECTION = ibis.duckdb.connect()


def value(expr: Any) -> Any:
    found = CONNECTION.execute(expr)
    return found if isinstance(found, str) else None


@pytest.mark.parametrize(
    ("words", "meter"),
    [
        ("input", "input_uncached"),
        ("input_no_cache", "input_uncached"),
        ("uncached_input_tokens", "input_uncached"),
        ("cached input", "cache_read"),
        ("cache_read_input_tokens", "cache_read"),
        ("MP:USE1_CacheReadInputTokenCount-Units", "cache_read"),
        ("gpt 4o 0806 cchd Inp glbl Tokens", "cache_read"),
        ("gpt 4o 0806 Inp glbl Tokens", "input_uncached"),
        ("gpt 4o 0806 Outp glbl Tokens", "output"),
        ("gpt 4o 0806 opt glbl Tokens", "output"),
        ("USE1-Claude4Sonnet-input-tokens", "input_uncached"),
        ("USE1-Claude4Sonnet-cache-write-input-token-count", "cache_write_5m"),
        ("MP:USE1_CacheWrite1hInputTokenCount-Units", "cache_write_1h"),
        ("cache_creation.ephemeral_1h_input_tokens", "cache_write_1h"),
        ("cache_creation.ephemeral_5m_input_tokens", "cache_write_5m"),
        ("input_cache_write_5m", "cache_write_5m"),
        ("input_cache_write_12h_tokens", "cache_write_12h"),
        ("output_tokens", "output"),
        ("audio input", "audio_input"),
        ("web_search", "web_search_calls"),
        ("file storage", None),
        (None, None),
    ],
)
def test_meter_of_words(words: str | None, meter: str | None) -> None:
    assert value(charge_meter(ibis.literal(words, type="string"))) == meter


@pytest.mark.parametrize(
    ("words", "amount", "kind"),
    [
        ("Usage", 1, "usage"),
        ("Tax", 1, "tax"),
        ("Credit", -1, "credit"),
        ("Refund", -1, "credit"),
        ("Usage Correction", -1, "credit"),
        ("EdpDiscount", -1, "discount"),
        ("DiscountedUsage", 1, "usage"),
        ("Purchase", 1, "fee"),
        ("SavingsPlanRecurringFee", 1, "fee"),
        ("SavingsPlanNegation", -1, "credit"),
        ("gpt-4o, input", -1, "credit"),
        ("syntax-checker, output", 1, "usage"),
        (None, 1, "usage"),
        (None, -1, "credit"),
    ],
)
def test_kind_of_words(words: str | None, amount: int, kind: str) -> None:
    assert value(charge_kind(ibis.literal(words, type="string"), ibis.literal(amount))) == kind
