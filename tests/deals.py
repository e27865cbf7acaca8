"""Small priced cubes for the tests of discounts, commitments and currencies."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pandas as pd

from pricing.book import PriceBook
from pricing.cards import PriceCard
from pricing.frame import PricedCube, price_cube
from pricing.meters import Meter
from pricing.rules import RatePeriod

AS_OF = datetime(2026, 11, 1, tzinfo=UTC)


def card(name: str, usd_in: str, usd_out: str, provider: str | None = None) -> PriceCard:
    rates = {
        Meter.INPUT_UNCACHED: Decimal(usd_in),
        Meter.OUTPUT: Decimal(usd_out),
        Meter.WEB_SEARCH_CALLS: Decimal("0.01"),
    }
    return PriceCard(
        provider=provider, model=name, aliases=(), periods=(RatePeriod(rates=rates),), source="test"
    )


BOOK = PriceBook(
    user_cards=(card("alpha", "2.5", "10", "openai"), card("beta", "1", "5", "anthropic")), builtin=False
)


def row(
    model: str, tokens_in: int, tokens_out: int, day: str | None = "2026-10-05", **more: Any
) -> dict[str, Any]:
    return {
        "provider": None,
        "model": model,
        "service_tier": None,
        "api_key": None,
        "day": None if day is None else pd.Timestamp(day),
        "price_at": None if day is None else pd.Timestamp(day, tz="UTC") + pd.Timedelta(hours=12),
        "context_tokens": None,
        "charge_only": False,
        "recorded_cost_usd": None,
        "input_uncached": tokens_in,
        "output": tokens_out,
        "web_search_calls": 0,
        **more,
    }


def cube(rows: Sequence[dict[str, Any]]) -> PricedCube:
    frame = pd.DataFrame(rows)
    frame["day"] = pd.to_datetime(frame["day"])
    for name in ("input_uncached", "output", "web_search_calls", "context_tokens"):
        frame[name] = frame[name].astype("Int64")
    return price_cube(frame, BOOK, as_of=AS_OF)


def total(priced: PricedCube) -> Decimal:
    costs = [name for name in priced.frame.columns if name.startswith("cost_")]
    return priced.to_usd(int(sum(sum(priced.frame[name]) for name in costs)))


def list_total(priced: PricedCube) -> Decimal:
    return priced.to_usd(int(sum(priced.frame["list_cost"])))
