"""Time pricing: ``python benchmarks/price_cube.py [--rows N]``. A cube of distinct rows, beside genai-prices' ``calc_price``.

The cube mixes the models that genai-prices has most rules for, over two years, with every service tier, a region and
prompts on both sides of every threshold. ``calc_price`` prices a sample of the same usages, one by one.
"""

import argparse
import time
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
from genai_prices import Usage, calc_price

from pricing.book import PriceBook
from pricing.frame import price_cube

MODELS = (
    ("openai", "gpt-4o"),
    ("openai", "gpt-5.5"),
    ("openai", "gpt-5.6-terra"),
    ("anthropic", "claude-sonnet-5"),
    ("anthropic", "claude-haiku-5-5"),
    ("google", "gemini-2.5-pro"),
    ("google", "gemini-3.8-flash"),
    ("x-ai", "grok-4.7"),
    ("deepseek", "deepseek-v4-pro"),
    ("mistral", "mistral-large-4"),
    ("azure", "gpt-5"),
    ("aws", "us.anthropic.claude-sonnet-5-5"),
)
TIERS: tuple[str | None, ...] = (None, None, None, "batch", "flex", "priority")
REGIONS: tuple[str | None, ...] = (None, None, None, "us", "eu", "global")
SAMPLE = 2_000
SEED = 7


def cube(rows: int) -> pd.DataFrame:
    """A cube of so many distinct rows."""
    rng = np.random.default_rng(SEED)
    pick = rng.integers(0, len(MODELS), rows)
    minutes = pd.to_timedelta(rng.integers(0, 2 * 365 * 24 * 60, rows), unit="min")
    sizes = {name: rng.integers(0, 250_000, rows) for name in ("input_uncached", "cache_read", "output")}
    return pd.DataFrame(
        {
            "provider": np.array([one for one, _ in MODELS], dtype=object)[pick],
            "model": np.array([one for _, one in MODELS], dtype=object)[pick],
            "service_tier": np.array(TIERS, dtype=object)[rng.integers(0, len(TIERS), rows)],
            "region": np.array(REGIONS, dtype=object)[rng.integers(0, len(REGIONS), rows)],
            "price_at": pd.Timestamp(datetime(2025, 1, 1, tzinfo=UTC)) + minutes,
            "context_tokens": sizes["input_uncached"] + sizes["cache_read"],
            **sizes,
        }
    )


def oracle_seconds(frame: pd.DataFrame) -> float:
    """Seconds that ``calc_price`` takes for a row."""
    rows: list[dict[str, Any]] = frame.head(SAMPLE).to_dict("records")
    start = time.perf_counter()
    for row in rows:
        calc_price(
            Usage(
                input_tokens=row["context_tokens"],
                cache_read_tokens=row["cache_read"],
                output_tokens=row["output"],
            ),
            row["model"],
            provider_id=row["provider"],
            genai_request_timestamp=row["price_at"].to_pydatetime(),
        )
    return (time.perf_counter() - start) / len(rows)


def main() -> None:
    """Print seconds and ratios."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=1_000_000)
    rows = parser.parse_args().rows
    book, as_of = PriceBook(), datetime(2026, 11, 29, tzinfo=UTC)
    whole = cube(rows)
    price_cube(whole.head(1_000), book, as_of=as_of)  # the models are looked up and lifted once
    each = oracle_seconds(whole)
    print(f"calc_price, a row        {each * 1e6:10.1f} us   {1 / each:14,.0f} rows/s")
    for part in (rows // 10, rows // 3, rows):
        frame = whole.head(part)
        start = time.perf_counter()
        priced = price_cube(frame, book, as_of=as_of)
        seconds = time.perf_counter() - start
        speed = part / seconds
        unpriced = int((priced.frame["sheet"] < 0).sum())
        print(
            f"price_cube, {part:>9,} rows {seconds:8.2f} s    {speed:14,.0f} rows/s   "
            f"{speed * each:8,.0f}x calc_price   {len(priced.sheets):,} rate sheets, {unpriced:,} unpriced"
        )


if __name__ == "__main__":
    main()
