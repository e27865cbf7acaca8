"""Small cubes of single requests, their evidence, and strategies of cubes as earlier steps may leave them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from advisor.analysis import Distribution, Slice, Workload
from advisor.evidence import Evidence, Signals, total_usd
from advisor.moves import moves
from pricing.book import PriceBook
from pricing.cards import PriceCard
from pricing.frame import price_cube
from pricing.meters import Meter
from pricing.rules import ContextTier, RatePeriod

AS_OF = datetime(2026, 11, 29, tzinfo=UTC)
COUNTS = ("context_tokens", "records", "requests", "unmeasured", "recorded", "reasoning", *map(str, Meter))
TAIL = Distribution(mean=200.0, p50=100.0, p90=300.0, p99=1_000.0)
"""Of 25 % above twice the median at least: see ``test_tails``."""
EVEN = Distribution(mean=100.0, p50=100.0, p90=110.0, p99=120.0)


def card(
    provider: str, model: str, usd_in: str, usd_out: str, above: int | None = None, **rates: str
) -> PriceCard:
    """A card; above a prompt of so many tokens all rates are those of ten times the money."""
    own = {
        Meter.INPUT_UNCACHED: Decimal(usd_in),
        Meter.OUTPUT: Decimal(usd_out),
        **{Meter(meter): Decimal(rate) for meter, rate in rates.items()},
    }
    dear = {meter: 10 * rate for meter, rate in own.items()}
    tiers = () if above is None else (ContextTier(above=above, rates=dear),)
    return PriceCard(
        provider=provider, model=model, periods=(RatePeriod(rates=own, context_tiers=tiers),), source="test"
    )


BOOK = PriceBook(
    builtin=False,
    user_cards=(
        card("openai", "gpt-5", "1", "10", cache_read="0.1"),
        card("openai", "gpt-5-mini", "0.1", "1", cache_read="0.01"),
        card("openai", "gpt-5-nano", "0.05", "0.5", cache_read="0.01"),
        card("anthropic", "claude-opus-4-5", "5", "25", cache_write_1h="10", web_search_calls="0.01"),
        card("anthropic", "claude-sonnet-5-5", "2", "10", above=1_000),
        card("mistral", "mistral-large-4", "0.7", "2.1"),
        card("mistral", "mistral-medium-latest", "1.5", "7.5"),
        card("mistral", "mistral-small-latest", "0.15", "0.6"),
    ),
)


def row(
    workload: str = "app", model: str = "gpt-5", provider: str | None = "openai", **more: Any
) -> dict[str, Any]:
    """A cell of a hundred requests: 40,000 tokens in, 20,000 out."""
    return {
        "day": pd.Timestamp("2026-11-02"),
        "workload": workload,
        "provider": provider,
        "model": model,
        "service_tier": None,
        "region": None,
        "bucketed": False,
        "charge_only": False,
        "price_at": pd.Timestamp("2026-11-02 09:00", tz="UTC"),
        "context_tokens": 400,
        "records": 100,
        "requests": 100,
        "recorded": 0,
        "input_uncached": 40_000,
        "output": 20_000,
        **more,
    }


def cube(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    return frame.astype({name: "Int64" for name in COUNTS if name in frame.columns})


def evidence(
    frame: pd.DataFrame,
    *,
    inputs: Distribution | None = EVEN,
    outputs: Distribution | None = EVEN,
    signals: dict[str, Signals] | None = None,
) -> Evidence:
    """The evidence of a cube whose workloads all have these sizes."""
    names = sorted(set(frame["workload"]))
    found = Evidence(
        cube=frame,
        priced=price_cube(frame, BOOK, as_of=AS_OF),
        book=BOOK,
        as_of=AS_OF,
        workloads={name: _workload(name, frame, inputs, outputs) for name in names},
        signals=signals or {},
    )
    return replace(found, moves=tuple(moves(found)))


def _workload(
    name: str, frame: pd.DataFrame, inputs: Distribution | None, outputs: Distribution | None
) -> Workload:
    mine = frame[frame["workload"] == name]
    requests = int(mine["records"].sum())
    return Workload(
        name=name,
        labels={},
        models=tuple(sorted(set(mine["model"]))),
        whole=Slice(
            records=requests,
            requests=requests,
            tokens={},
            reasoning=None,
            cost={},
            priced_requests=requests,
        ),
        cost_mix=None,
        time_mix=None,
        input_tokens=inputs,
        output_tokens=outputs,
        cache_read_ratio=None,
        cache_coverage=0.0,
        ttft_seconds=None,
        duration_seconds=None,
        first_request=None,
        last_request=None,
    )


def usd(frame: pd.DataFrame) -> Decimal:
    """What a cube costs."""
    return total_usd(price_cube(frame, BOOK, as_of=AS_OF))


_counts = st.one_of(st.integers(0, 5), st.integers(0, 10**7), st.integers(2**55, 2**56))
_known = st.none() | _counts
_OPTIONAL = ("cache_read", "cache_write_1h", "web_search_calls", "unmeasured", "input_uncached", "output")


@st.composite
def cubes(draw: st.DrawFn) -> pd.DataFrame:
    """Cubes as steps before may leave them: other models, missing columns, requests that are not known, wide integers."""
    present = draw(st.sets(st.sampled_from((*_OPTIONAL, "reasoning"))))
    rows = []
    for _ in range(draw(st.integers(1, 5))):
        provider, model = draw(
            st.sampled_from(
                (
                    ("openai", "gpt-5"),
                    ("openai", "gpt-5-mini"),
                    ("anthropic", "claude-opus-4-5"),
                    (None, "other"),
                )
            )
        )
        counts = {name: draw(_known) for name in sorted(present - {"reasoning"})}
        if "reasoning" in present:
            whole = counts.get("output")
            counts["reasoning"] = None if whole is None else draw(st.none() | st.integers(0, whole))
        one = row(
            draw(st.sampled_from(("app", "other"))),
            model,
            provider,
            bucketed=draw(st.booleans()),
            context_tokens=draw(st.none() | st.integers(0, 3_000)),
            requests=draw(st.none() | st.integers(0, 10**6)),
            records=draw(st.integers(1, 10**6)),
        )
        rows.append({**{name: one[name] for name in one if name not in _OPTIONAL}, **counts})
    frame = cube(rows)
    lost = draw(st.sets(st.sampled_from(("requests", "recorded"))))
    frame = frame.drop(columns=[name for name in lost if name in frame.columns])
    wide = [name for name in COUNTS if name in frame.columns]
    return frame.astype(dict.fromkeys(wide, object)) if draw(st.booleans()) else frame


def counts_of(frame: pd.DataFrame) -> dict[str, list[int | None]]:
    """Every count, as Python integers, None where nothing is reported."""
    return {
        name: [None if pd.isna(value) else int(value) for value in frame[name]]
        for name in COUNTS
        if name in frame.columns
    }
