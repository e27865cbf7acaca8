"""The bridge between two periods: exact sums whatever the usage, and each driver where it is the only one that moved."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.forecast_days import DaySeries
from advisor.variance import Bridges, bridges
from advisor.variance_periods import comparable, length
from advisor.variance_terms import Driver
from pricing.charges import exact_sum
from pricing.frame import PricedCube

EXPONENT = 9
INPUT, CACHED, OUTPUT = "input_uncached", "cache_read", "output"


def row(
    side: int,
    *,
    requests: int = 10,
    model: str = "m",
    tier: str | None = None,
    workload: str = "w",
    tokens: tuple[int, int, int] = (1_000, 1_000, 500),
    prices: tuple[int, int, int] = (3_000, 300, 15_000),
) -> dict[str, Any]:
    """A cube row; prices are billionths of a dollar a token."""
    return {
        "side": side,
        "workload": workload,
        "provider_resolved": "p",
        "model_resolved": model,
        "service_tier": tier,
        "sheet": 0,
        "records": requests,
        "requests": requests,
        **{name: requests * count for name, count in zip((INPUT, CACHED, OUTPUT), tokens, strict=True)},
        **{
            f"cost_{name}": requests * count * price
            for name, count, price in zip((INPUT, CACHED, OUTPUT), tokens, prices, strict=True)
        },
    }


def made(*rows: dict[str, Any]) -> Bridges:
    frame = pd.DataFrame(list(rows))
    for name in (f"cost_{meter}" for meter in (INPUT, CACHED, OUTPUT)):
        frame[name] = frame[name].astype(object)
    for name in ("requests", INPUT, CACHED, OUTPUT):
        frame[name] = frame[name].astype("Int64")
    side = frame["side"].to_numpy()
    return bridges(PricedCube(frame=frame, sheets=(), unpriced=(), exponent=EXPONENT), side == 0, side == 1)


def moved(found: Bridges) -> dict[Driver, Decimal]:
    return {driver: amount for driver, amount in found.whole.terms.items() if abs(amount) > Decimal("1e-9")}


@pytest.mark.parametrize(
    ("after", "driver"),
    [
        ({"requests": 25}, Driver.VOLUME),
        ({"tokens": (2_000, 2_000, 1_000)}, Driver.TOKENS),
        ({"tokens": (1_500, 500, 500)}, Driver.CACHE),
        ({"tokens": (2_000, 0, 500)}, Driver.CACHE),
        ({"prices": (1_500, 150, 7_500)}, Driver.PRICE),
        ({"model": "n", "prices": (1_500, 150, 7_500)}, Driver.MODEL_MIX),
        ({"tier": "batch", "prices": (1_500, 150, 7_500)}, Driver.TIER),
    ],
)
def test_what_moves_alone_is_the_whole_change(after: dict[str, Any], driver: Driver) -> None:
    found = made(row(0), row(1, **after))
    assert found.whole.change
    assert moved(found) == {driver: found.whole.change}


def test_workloads_that_begin_or_end_are_terms_of_their_own() -> None:
    found = made(row(0), row(1), row(0, workload="old", requests=3), row(1, workload="new", requests=7))
    parts = {part.name: part for part in found.workloads}
    assert moved(found) == {Driver.NEW: parts["new"].after, Driver.ENDED: -parts["old"].before}


def test_no_change_has_no_terms() -> None:
    assert moved(made(row(0), row(1))) == {}
    assert made(row(0), row(1)).whole.change == 0


def test_drivers_that_offset_each_other_are_still_shown() -> None:
    found = made(row(0), row(1, requests=20, prices=(1_500, 150, 7_500)))
    assert found.whole.change == 0
    assert set(moved(found)) == {Driver.VOLUME, Driver.PRICE}


def test_without_counts_of_requests_volume_is_tokens() -> None:
    unknown = row(1) | {"requests": None, INPUT: 30_000, "cost_input_uncached": 90_000_000}
    found = made(row(0), unknown)
    assert not found.counts_requests
    assert sum(found.whole.terms.values()) == found.whole.change


def test_what_has_no_price_is_counted_and_left_out() -> None:
    found = made(row(0), row(1), row(1, workload="x") | {"sheet": -1})
    assert (found.unpriced, [part.name for part in found.workloads]) == (10, ["w"])


counts = st.integers(0, 10**7)


def used(
    side: int,
    requests: int,
    model: str,
    tier: str | None,
    workload: str,
    tokens: tuple[int, int, int],
    prices: tuple[int, int, int],
) -> dict[str, Any]:
    return row(
        side, requests=requests, model=model, tier=tier, workload=workload, tokens=tokens, prices=prices
    )


usage = st.builds(
    used,
    st.integers(0, 1),
    st.integers(1, 10**5),
    st.sampled_from("mno"),
    st.sampled_from([None, "batch", "priority"]),
    st.sampled_from("wxyz"),
    st.tuples(counts, counts, counts),
    st.tuples(*[st.integers(0, 10**5)] * 3),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(usage, min_size=1, max_size=12))
def test_terms_add_up_to_the_last_digit(rows: list[dict[str, Any]]) -> None:
    found = made(*rows)
    for part in (found.whole, *found.workloads):
        assert exact_sum(part.terms.values()) == part.change == part.after - part.before
    for side, amount in ((0, found.whole.before), (1, found.whole.after)):
        units = sum(
            one[f"cost_{meter}"] for one in rows if one["side"] == side for meter in (INPUT, CACHED, OUTPUT)
        )
        assert amount == Decimal(units).scaleb(-EXPONENT)
    for driver in Driver:
        assert found.whole.terms[driver] == exact_sum(part.terms[driver] for part in found.workloads)


@settings(max_examples=50, deadline=None)
@given(st.lists(usage, min_size=1, max_size=12))
def test_the_way_back_is_the_same_with_the_other_sign(rows: list[dict[str, Any]]) -> None:
    there = made(*rows).whole
    back = made(*({**one, "side": 1 - one["side"]} for one in rows)).whole
    assert there.change == -back.change
    for driver in (Driver.VOLUME, Driver.PRICE, Driver.CACHE, Driver.TOKENS):
        size = float(abs(there.before) + abs(there.after))
        assert float(there.terms[driver]) == pytest.approx(-float(back.terms[driver]), abs=1e-6 * size + 1e-9)


def series(first: date, days: int) -> DaySeries:
    return DaySeries(first=first, amounts=(Decimal(1),) * days)


def test_the_periods_are_months_where_the_log_has_two() -> None:
    found = comparable(series(date(2026, 5, 1), 61))
    assert found is not None
    assert (found.rule, length(found.before), length(found.after)) == ("Jun 2026 against May 2026", 31, 30)
    part = comparable(series(date(2026, 5, 1), 45))
    assert part is not None
    assert part.before == (date(2026, 5, 1), date(2026, 5, 14))
    assert part.after == (date(2026, 6, 1), date(2026, 6, 14))


def test_else_they_are_whole_weeks() -> None:
    found = comparable(series(date(2026, 6, 3), 30))
    assert found is not None
    assert (length(found.before), length(found.after)) == (14, 14)
    assert found.before[1] + timedelta(days=1) == found.after[0]
    assert comparable(series(date(2026, 6, 3), 13)) is None
    assert comparable(None) is None


def test_many_workloads_are_told_as_a_hundred_and_one() -> None:
    found = made(
        *(
            row(side, workload=f"w{place}", requests=1 + place * side)
            for side in (0, 1)
            for place in range(250)
        )
    )
    assert [part.name for part in found.workloads][-1] == "(other workloads)"
    assert len(found.workloads) == 101
    assert exact_sum(part.change for part in found.workloads) == found.whole.change
    assert moved(found) == {Driver.VOLUME: found.whole.change}
