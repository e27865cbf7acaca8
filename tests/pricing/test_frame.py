"""The vectorised pricing is the reference pricing, row by row and to the last digit."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pricing.book import PriceBook, load_book
from pricing.cards import PriceCard
from pricing.charges import Charge, UnpricedCode, charge
from pricing.errors import NoPriceAtTimeError
from pricing.frame import NO_MODEL, PricedCube, price_cube
from pricing.meters import Meter, TokenUsage
from pricing.rules import ClockWindow, ContextTier, RatePeriod, RegionRate, ServiceTier

AS_OF = datetime(2026, 1, 7, 12, tzinfo=UTC)
START = datetime(2026, 1, 1, tzinfo=UTC)
USED = (Meter.INPUT_UNCACHED, Meter.CACHE_READ, Meter.CACHE_WRITE_1H, Meter.OUTPUT, Meter.WEB_SEARCH_CALLS)
PRICES = load_book([Path(__file__).parent / "data" / "prices.json"])

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


books = st.tuples(cards("a"), cards("b")).map(lambda both: PriceBook(user_cards=both, builtin=False))
counts = st.none() | st.integers(0, 50) | st.integers(0, 2**70)
instants = hours | st.builds(
    lambda at, shift: at + timedelta(microseconds=shift), hours, st.integers(-(10**8), 10**8)
)
row = st.fixed_dictionaries(
    {
        "provider": st.sampled_from((None, "openai", "azure")),
        "model": st.sampled_from((None, "a", "b", "A-2026-01-01", "openai/b", "c")),
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
            assert (priced["sheet"], priced["unpriced_reason"]) == (-1, expected.reason)
            assert expected in cube.unpriced
            assert set(costs.values()) == {0}
            assert (priced["provider_resolved"], priced["model_resolved"]) == (
                given_row["provider"],
                given_row["model"],
            )


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(book=books, rows=st.lists(row, min_size=1, max_size=25))
def test_the_frame_is_the_reference(book: PriceBook, rows: list[dict[str, Any]]) -> None:
    assert_equal(price_cube(cube_of(rows), book, as_of=AS_OF), rows, book)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(book=books, rows=st.lists(row, min_size=1, max_size=10))
def test_a_cell_of_the_rate_keys_has_one_price(book: PriceBook, rows: list[dict[str, Any]]) -> None:
    keys = book.rate_keys([(None, "a"), (None, "b")])
    card = book.find(None, "a")
    seen: dict[object, object] = {}
    for one in rows:
        at = one["price_at"] or AS_OF
        size = one["context_tokens"]
        minute = (at - datetime(2026, 1, 5, tzinfo=UTC)) // timedelta(minutes=1) % 10_080
        cell = (
            sum(edge <= at for edge in keys.breakpoints),
            sum(edge <= minute for edge in keys.clock_edges) if (None, "a") in keys.clocked else 0,
            None if size is None else sum(size > above for above in keys.context_thresholds),
            one["service_tier"],
            one["region"] if (None, "a") in keys.regional else None,
        )
        try:
            found: object = dict(card.resolve(at, size, one["service_tier"], one["region"]).rates)
        except NoPriceAtTimeError:
            found = None
        assert seen.setdefault(cell, found) == found


@pytest.mark.parametrize(
    ("model", "instants_or_sizes"),
    [
        ("demo-sol", ["2026-08-20T23:59:59.999999", "2026-08-21T00:00:00", "2026-08-21T00:00:00.000001"]),
        ("demo-seek", ["2026-11-02T00:59:59", "2026-11-02T01:00:00", "2026-11-02T03:59:59", "2026-11-02T04:00:00"]),
        ("demo-grok", [199_998, 199_999, 200_000, None]),
        ("demo-sonnet-lc", [199_999, 200_000, 200_001, None]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("order", [1, -1])
def test_rows_on_both_sides_of_every_edge(model: str, instants_or_sizes: list[Any], order: int) -> None:
    rows = [
        {
            "provider": None,
            "model": model,
            "service_tier": None,
            "price_at": datetime.fromisoformat(edge).replace(tzinfo=UTC) if isinstance(edge, str) else None,
            "context_tokens": edge if isinstance(edge, int) else None,
            "output": 1,
        }
        for edge in instants_or_sizes[::order]
    ]
    cube = price_cube(cube_of(rows), PRICES, as_of=AS_OF)
    assert_equal(cube, rows, PRICES)
    assert len(set(cube.frame["cost_output"])) == 2


def frame_of(**columns: Any) -> pd.DataFrame:
    size = len(next(iter(columns.values())))
    usual: dict[str, Any] = {
        "provider": [None] * size,
        "model": ["demo-4o"] * size,
        "service_tier": [None] * size,
        "price_at": pd.Series([pd.NaT] * size, dtype="datetime64[us, UTC]"),
        "context_tokens": pd.array([pd.NA] * size, dtype="Int64"),
    }
    return pd.DataFrame({**usual, **columns})


@pytest.mark.parametrize(
    "column",
    [
        pd.array([1_000_000, pd.NA, 2], dtype="Int64"),
        pd.Series([1_000_000, None, 2], dtype=object),
        pd.Series([1e6, np.nan, 2.0]),
        pd.Series([Decimal(1_000_000), None, Decimal(2)], dtype=object),
        pd.array([1_000_000, pd.NA, 2], dtype="UInt64"),
        pd.array([1_000_000, 0, 2], dtype="uint64"),
        np.array([1_000_000, 0, 2]),
    ],
)
def test_counts_of_any_integer_type(column: Any) -> None:
    cube = price_cube(frame_of(input_uncached=column), PRICES, as_of=AS_OF)
    assert [cube.to_usd(cost) for cost in cube.frame["cost_input_uncached"]] == [
        Decimal("2.5"),
        0,
        Decimal("0.000005"),
    ]


@pytest.mark.parametrize("bad", [1.5, "many", Decimal("0.5")])
def test_counts_that_are_none_are_refused(bad: object) -> None:
    with pytest.raises(ValueError, match=r"whole number|invalid literal"):
        price_cube(frame_of(output=pd.Series([bad], dtype=object)), PRICES, as_of=AS_OF)


@pytest.mark.parametrize("count", [2**62, 2**63 - 1, 2**63, 2**64 + 1, 10**30])
def test_sums_beyond_machine_integers(count: int) -> None:
    column = pd.Series([count, 1], dtype=object)
    cube = price_cube(frame_of(output=column), PRICES, as_of=AS_OF)
    total = cube.frame["cost_output"].sum()
    assert total * 10**6 == (count + 1) * 10 * 10**cube.exponent


def test_unsigned_counts_do_not_wrap() -> None:
    cube = price_cube(frame_of(output=pd.array([2**64 - 1], dtype="UInt64")), PRICES, as_of=AS_OF)
    assert cube.frame["cost_output"].sum() * 10**6 == (2**64 - 1) * 10 * 10**cube.exponent


def test_nulls_of_every_kind_mean_not_given() -> None:
    nulls: list[Any] = [None, np.nan, pd.NA]
    cube = price_cube(
        frame_of(model=nulls, provider=nulls, service_tier=nulls, output=[1, 1, 1]), PRICES, as_of=AS_OF
    )
    assert list(cube.frame["unpriced_reason"]) == [NO_MODEL] * 3
    assert list(cube.frame["model_resolved"]) == [None] * 3
    assert [one.code for one in cube.unpriced] == [UnpricedCode.NO_MODEL]
    assert list(cube.frame["cost_output"]) == [0, 0, 0]


def test_a_row_with_an_unpriced_meter_is_unpriced_as_a_whole() -> None:
    cube = price_cube(
        frame_of(output=[1, 1, 1], cache_storage_token_hours=pd.array([1, 0, pd.NA], dtype="Int64")),
        PRICES,
        as_of=AS_OF,
    )
    assert list(cube.frame["sheet"] == -1) == [True, False, False]
    assert list(cube.frame["cost_output"] == 0) == [True, False, False]
    assert "no rate for cache_storage_token_hours" in cube.frame["unpriced_reason"][0]


def test_rows_without_a_time_are_priced_as_of_the_report() -> None:
    frame = frame_of(model=["demo-sol"], output=[1_000_000])
    costs = [
        price_cube(frame, PRICES, as_of=datetime(2026, 8, day, tzinfo=UTC)).frame["cost_output"][0]
        for day in (20, 21)
    ]
    assert costs[0] * 24 == costs[1] * 32
    with pytest.raises(ValueError, match="needs a time zone"):
        price_cube(frame, PRICES, as_of=datetime(2026, 8, 20))  # noqa: DTZ001


def test_an_empty_cube_and_the_index_are_kept() -> None:
    empty = price_cube(frame_of(output=[]).iloc[:0], PRICES, as_of=AS_OF)
    assert len(empty.frame) == 0
    assert empty.to_usd(0) == 0
    odd = frame_of(output=[1, 2])
    odd.index = pd.Index([7, 3])
    cube = price_cube(odd, PRICES, as_of=AS_OF)
    assert list(cube.frame.index) == [7, 3]
    assert "cost_output" not in odd.columns
    assert list(cube.frame["cost_output"] * 1) == [
        10 * 10 ** (cube.exponent - 6),
        20 * 10 ** (cube.exponent - 6),
    ]
    assert cube.to_usd(-5) == Decimal(-5).scaleb(-cube.exponent)
