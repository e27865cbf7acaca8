"""Surcharges for a region: priced without them, where data may leave and the price is lower elsewhere."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lever_cubes import AS_OF, counts_of, cube, evidence, row

from advisor.evidence import Evidence, total_usd
from advisor.levers import region
from advisor.recommendation import Level, Proposal, Risk
from pricing.book import PriceBook
from pricing.cards import PriceCard
from pricing.frame import price_cube
from pricing.meters import Meter
from pricing.rules import RatePeriod, RegionRate

RATES = {Meter.INPUT_UNCACHED: Decimal(1), Meter.OUTPUT: Decimal(10), Meter.WEB_SEARCH_CALLS: Decimal("0.01")}
BOOK = PriceBook(
    builtin=False,
    user_cards=(
        PriceCard(
            provider="openai",
            model="gpt-5",
            periods=(
                RatePeriod(
                    rates=RATES,
                    regions=(
                        RegionRate(regions=("eu", "us_gov"), multiplier=Decimal("1.1")),
                        RegionRate(regions=("in",), multiplier=Decimal("0.8")),
                    ),
                ),
            ),
            source="test",
        ),
        PriceCard(
            provider="aws",
            model="us.anthropic.claude-x",
            periods=(RatePeriod(rates={meter: rate * 2 for meter, rate in RATES.items()}),),
            source="test",
        ),
        PriceCard(
            provider="aws",
            model="global.anthropic.claude-x",
            periods=(RatePeriod(rates=RATES),),
            source="test",
        ),
    ),
)


def usd(frame: pd.DataFrame) -> Decimal:
    return total_usd(price_cube(frame, BOOK, as_of=AS_OF))


def seen(frame: pd.DataFrame) -> Evidence:
    return replace(evidence(frame), book=BOOK, priced=price_cube(frame, BOOK, as_of=AS_OF))


def only(frame: pd.DataFrame) -> Proposal:
    (one,) = region.find(seen(frame))
    return one


def test_the_surcharge_is_the_saving() -> None:
    # 40,000 x $1 and 20,000 x $10 a million are $0.24; a tenth more in the EU. Searches have no surcharge.
    frame = cube([row(region="eu", web_search_calls=3), row(region=None, web_search_calls=0)])
    one = only(frame)
    assert (one.phase, one.risk) == (None, Risk.NONE)
    assert [usd(frame) - usd(one.change(frame, level)) for level in Level] == [
        Decimal(0),
        Decimal(0),
        Decimal("0.024"),
    ]
    assert "if data may be processed anywhere" in one.title
    assert "the log does not tell" in one.assumptions[0]
    assert ("Served in", "eu") in {(fact.label, fact.value) for fact in one.evidence}
    assert ("Requests with a surcharge", "100") in {(fact.label, fact.value) for fact in one.evidence}


@pytest.mark.parametrize("place", [None, "global", "mars", "in", "us-gov", "US GOV"])
def test_nothing_is_said_where_nothing_is_paid_extra_or_nobody_may_leave(place: str | None) -> None:
    assert not list(region.find(seen(cube([row(region=place)]))))


def test_regional_ids_of_a_model_become_global() -> None:
    frame = cube([row(model="us.anthropic.claude-x", provider="aws")])
    one = only(frame)
    after = one.change(frame, Level.HIGH)
    assert list(after["model"]) == ["global.anthropic.claude-x"]
    assert usd(after) * 2 == usd(frame)
    # No global id, no other price: it stays.
    assert not list(region.find(seen(cube([row(model="us.anthropic.claude-y", provider="aws")]))))


def test_unpriced_rows_stay() -> None:
    assert not list(region.find(seen(cube([row(model="other", region="eu")]))))


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(("app", "other")),
            st.sampled_from((("openai", "gpt-5"), ("aws", "us.anthropic.claude-x"), (None, "other"))),
            st.sampled_from((None, "eu", "EU", "in", "us-gov", "global")),
            st.none() | st.integers(0, 2**60),
            st.integers(0, 2**60),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_only_where_it_is_served_changes_and_only_once(rows: list[tuple[Any, ...]]) -> None:
    frame = cube(
        [
            row(workload, model, provider, region=place, input_uncached=prompt, output=output)
            for workload, (provider, model), place, prompt, output in rows
        ]
    )
    for one in region.find(seen(frame)):
        for level in Level:
            after = one.change(frame, level)
            assert counts_of(after) == counts_of(frame)
            assert list(after.dtypes) == list(frame.dtypes)
            others = frame["workload"] != one.workload
            pd.testing.assert_frame_equal(after[others], frame[others])
            assert 0 <= usd(frame) - usd(after) <= usd(frame)
            pd.testing.assert_frame_equal(one.change(after, level), after)
