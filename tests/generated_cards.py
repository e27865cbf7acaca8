"""Price cards with every kind of rule, usages of them, and the check that both ways of pricing agree."""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pandas as pd
from hypothesis import strategies as st

from pricing.book import PriceBook
from pricing.cards import PriceCard
from pricing.charges import Charge, charge
from pricing.frame import NO_MODEL, PricedCube
from pricing.meters import Meter, TokenUsage
from pricing.rules import ClockWindow, ContextTier, RatePeriod, RegionRate, ServiceTier

AS_OF = datetime(2026, 1, 7, 12, tzinfo=UTC)
START = datetime(2026, 1, 1, tzinfo=UTC)
USED = (Meter.INPUT_UNCACHED, Meter.CACHE_READ, Meter.CACHE_WRITE_1H, Meter.OUTPUT, Meter.WEB_SEARCH_CALLS)

rates_of = st.decimals(0, 1_000, places=4, allow_nan=False)
bags = st.dictionaries(st.sampled_from(USED), rates_of, max_size=5)
steps = st.lists(st.builds(ContextTier, above=st.integers(0, 20), rates=bags), max_size=2).map(tuple)
hours = st.integers(0, 10 * 24).map(lambda hour: START + timedelta(hours=hour))
factors = st.decimals("0.1", 3, places=2)
spans = st.lists(
    st.tuples(st.integers(0, 10_079), st.integers(1, 3_000)).map(lambda at: (at[0], min(sum(at), 10_080))),
    min_size=1,
    max_size=3,
).map(tuple)
tiers = st.builds(
    ServiceTier,
    name=st.sampled_from(("batch", "flex", "priority")),
    multiplier=factors,
    multipliers=st.dictionaries(st.sampled_from(USED), factors, max_size=2),
    rates=bags,
    context_tiers=steps,
    valid_from=st.none() | hours,
    valid_until=st.none() | hours,
)
places = st.builds(
    RegionRate,
    regions=st.sampled_from((("eu",), ("us", "us_gov"), ("*",))),
    except_regions=st.sampled_from(((), ("us",))),
    multiplier=factors,
    valid_from=st.none() | hours,
    valid_until=st.none() | hours,
)
windows = st.builds(
    ClockWindow,
    name=st.just("peak"),
    minutes=spans,
    multiplier=factors,
    rates=st.none() | bags,
    context_tiers=steps,
)


@st.composite
def cards(draw: st.DrawFn, name: str) -> PriceCard:
    edges: list[datetime | None] = [None, *sorted(draw(st.sets(hours, max_size=3))), None]
    pairs = list(pairwise(edges))
    kept = draw(st.lists(st.booleans(), min_size=len(pairs), max_size=len(pairs)))
    return PriceCard(
        provider=draw(st.sampled_from((None, "openai"))),
        model=name,
        periods=tuple(
            RatePeriod(
                valid_from=start,
                valid_until=end,
                rates=draw(bags),
                context_tiers=draw(steps),
                service_tiers=tuple(draw(st.lists(tiers, max_size=3))),
                windows=tuple(draw(st.lists(windows, max_size=2))),
                regions=tuple(draw(st.lists(places, max_size=2))),
            )
            for (start, end), keep in zip(pairs, kept, strict=True)
            if keep
        ),
        source="test",
    )


counts = st.none() | st.integers(0, 50) | st.integers(0, 2**70)
instants = hours | st.builds(
    lambda at, shift: at + timedelta(microseconds=shift), hours, st.integers(-(10**8), 10**8)
)


def usages(
    models: tuple[str | None, ...], providers: tuple[str | None, ...]
) -> st.SearchStrategy[dict[str, Any]]:
    """Rows of a cube: usage of some models under some words for the provider, mostly near the edges of the rules."""
    return st.fixed_dictionaries(
        {
            "provider": st.sampled_from(providers),
            "model": st.sampled_from(models),
            "service_tier": st.sampled_from((None, "default", "batch", "flex", "fast", "Priority", "odd")),
            "region": st.sampled_from((None, "eu", "US", "us-gov", "global")),
            "price_at": st.none() | instants,
            "context_tokens": st.none() | st.integers(0, 25),
            **{meter.value: counts for meter in USED},
        }
    )


def cube_of(rows: list[dict[str, Any]]) -> pd.DataFrame:
    frame = pd.DataFrame(
        {name: pd.Series([one[name] for one in rows], dtype=object) for name in rows[0] if name != "price_at"}
    )
    frame["price_at"] = pd.to_datetime(pd.Series([one["price_at"] for one in rows], dtype=object), utc=True)
    return frame


def assert_equal(cube: PricedCube, rows: list[dict[str, Any]], book: PriceBook) -> None:
    for given_row, priced in zip(rows, cube.frame.to_dict("records"), strict=True):
        meters = [meter for meter in Meter if meter.value in given_row]
        costs = {meter: priced[f"cost_{meter}"] for meter in meters}
        assert all(type(cost) is int for cost in costs.values())
        if given_row["model"] is None:
            assert (priced["sheet"], priced["unpriced_reason"]) == (-1, NO_MODEL)
            continue
        usage = {meter: given_row[meter.value] for meter in meters if given_row[meter.value] is not None}
        expected = charge(
            TokenUsage(counts=usage),
            book,
            provider=given_row["provider"],
            model=given_row["model"],
            at=given_row["price_at"] or AS_OF,
            service_tier=given_row["service_tier"],
            region=given_row.get("region"),
            context_tokens=given_row["context_tokens"],
        )
        if isinstance(expected, Charge):
            assert cube.sheets[priced["sheet"]] == expected.sheet
            assert priced["unpriced_reason"] is None
            assert cube.to_usd(sum(costs.values())) == expected.total
            by_meter = {line.meter: line.amount for line in expected.lines}
            assert {meter: cube.to_usd(cost) for meter, cost in costs.items()} == {
                meter: by_meter.get(meter, Decimal(0)) for meter in meters
            }
            assert priced["provider_resolved"] == (expected.sheet.provider or given_row["provider"])
            assert priced["model_resolved"] == expected.sheet.model
        else:
            assert (priced["sheet"], _undated(priced["unpriced_reason"])) == (-1, _undated(expected.reason))
            assert (expected.code, _undated(expected.reason)) in {
                (one.code, _undated(one.reason)) for one in cube.unpriced
            }
            assert set(costs.values()) == {0}
            assert (priced["provider_resolved"], priced["model_resolved"]) == (
                given_row["provider"],
                given_row["model"],
            )


def _undated(reason: str) -> str:
    """A reason without its instant: rows that lack a price together share the instant of the first of them."""
    return re.sub(r"no price at \S+;", "no price;", reason)
