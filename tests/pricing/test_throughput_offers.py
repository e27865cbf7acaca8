"""Offers of provisioned throughput: judged minute by minute, worked by hand and against every number of units."""

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricing.throughput_offers import (
    ThroughputOffer,
    TokenLoad,
    break_even_ratio,
    cheapest,
    provisioned,
    units_for,
)


def offer(**more: Any) -> ThroughputOffer:
    base: dict[str, Any] = {
        "name": "unit",
        "models": ("m",),
        "usd_per_hour": Decimal(1),
        "tokens_per_minute": 100,
    }
    return ThroughputOffer(where="deal.yaml: offers.0", **{**base, **more})


def load(*tokens: tuple[float, float, float], hours: str = "1", usd: tuple[str, str, str]) -> TokenLoad:
    one, two, three = map(Decimal, usd)
    return TokenLoad(
        tokens=np.array(tokens, dtype=float),
        minutes=np.ones(len(tokens)),
        hours=Decimal(hours),
        usd=(one, two, three),
    )


def test_a_minute_beyond_the_capacity_spills_over() -> None:
    """Two minutes of an hour: 50 and 300 tokens of prompts at $0.01; a unit takes 100 a minute and costs $1 an hour."""
    met = load((50, 0, 0), (300, 0, 0), usd=("3.50", "0", "0"))
    one, two = provisioned(offer(), met, 1), provisioned(offer(), met, 2)
    assert (one.usd, one.served_usd, one.saving_usd) == (1, Decimal("1.5"), Decimal("0.5"))
    assert (two.usd, two.served_usd, two.saving_usd) == (2, Decimal("2.5"), Decimal("0.5"))
    assert one.utilisation_ratio == pytest.approx(150 / 6_000)
    # Of equal savings the smaller commitment is taken.
    assert cheapest(offer(), met).units == 1
    # The mean minute has 5.8 tokens: it would call for one unit and promise that it takes everything.
    assert (units_for(offer(), met, 1.0), units_for(offer(), met)) == (3, 0)


def test_answers_and_cached_text_count_as_the_provider_says() -> None:
    met = load((100, 100, 100), usd=("1", "1", "1"))
    counted = offer(output_counts_as=Decimal(4), cached_counts_as=Decimal(0))
    assert units_for(counted, met, 1.0) == 5
    # A fifth of the minute is served, of each kind a fifth.
    assert provisioned(counted, met, 1).served_usd == Decimal("0.6")


def test_units_are_sold_from_the_fewest_on_in_steps() -> None:
    met = load((2_000, 0, 0), usd=("1000", "0", "0"))
    assert cheapest(offer(least_units=15, units_step=5), met).units == 20
    assert cheapest(offer(least_units=50), met).units == 50


def test_where_a_unit_breaks_even() -> None:
    met = load((100, 0, 0), (100, 0, 0), usd=("2", "0", "0"))
    # A full unit takes 6,000 tokens an hour, worth $60 at $0.01 a token.
    assert break_even_ratio(offer(usd_per_hour=Decimal(15)), met) == pytest.approx(0.25)
    assert break_even_ratio(offer(), load((0, 0, 0), usd=("0", "0", "0"))) is None


_TOKENS = st.lists(
    st.tuples(*[st.integers(0, 5_000)] * 3).filter(lambda row: sum(row) > 0), min_size=1, max_size=40
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(rows=_TOKENS, price=st.integers(1, 3_000), least=st.integers(1, 6), step=st.integers(1, 4))
def test_no_number_of_units_is_cheaper_and_no_saving_is_more_than_the_tokens_cost(
    rows: list[tuple[int, int, int]], price: int, least: int, step: int
) -> None:
    met = load(*rows, usd=("40", "3", "80"))
    one = offer(usd_per_hour=Decimal(price) / 100, least_units=least, units_step=step)
    found = cheapest(one, met)
    most = units_for(one, met, 1.0) + step
    every = [provisioned(one, met, units) for units in range(least, max(least, most) + step, step)]
    assert found.saving_usd == max(each.saving_usd for each in every)
    assert found.saving_usd <= met.total_usd
    assert (found.units - least) % step == 0
    assert 0 <= found.utilisation_ratio <= 1 + 1e-9


def test_many_units_are_searched_to_the_unit() -> None:
    rng = np.random.default_rng(5)
    met = load(*[(float(size), 0.0, 0.0) for size in rng.integers(1, 200_000, 60)], usd=("9000", "0", "0"))
    found = cheapest(offer(), met)
    assert found.units > 400
    for units in (found.units - 1, found.units + 1):
        assert provisioned(offer(), met, units).saving_usd <= found.saving_usd
