"""The vectorised pricing is the reference pricing, row by row and to the last digit."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from generated_cards import AS_OF, assert_equal, cards, cube_of, usages
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pricing.book import PriceBook, load_book
from pricing.charges import UnpricedCode
from pricing.errors import NoPriceAtTimeError
from pricing.frame import NO_MODEL, price_cube

PRICES = load_book([Path(__file__).parent / "data" / "prices.json"])

books = st.tuples(cards("a"), cards("b")).map(lambda both: PriceBook(user_cards=both, builtin=False))
row = usages((None, "a", "b", "A-2026-01-01", "openai/b", "c"), (None, "openai", "azure"))


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
