"""Prompts just above a threshold: what is certain about how many are near, and what they cost below it."""

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lever_cubes import AS_OF, card, counts_of, cube, evidence, row

from advisor.evidence import Evidence, total_usd
from advisor.levers import long_context
from advisor.recommendation import Confidence, Level, Proposal, unchanged
from pricing.book import PriceBook
from pricing.frame import price_cube

BOOK = PriceBook(
    builtin=False,
    user_cards=(
        card("openai", "gpt-5", "1", "10", above=1_000, cache_read="0.1", web_search_calls="0.01"),
        card("openai", "flat", "1", "10"),
    ),
)
"""Above a prompt of 1,000 tokens gpt-5 costs ten times as much."""
LEVELS = (Level.LOW, Level.EXPECTED, Level.HIGH)


def usd(frame: pd.DataFrame) -> Decimal:
    return total_usd(price_cube(frame, BOOK, as_of=AS_OF))


def seen(frame: pd.DataFrame) -> Evidence:
    return replace(evidence(frame), book=BOOK, priced=price_cube(frame, BOOK, as_of=AS_OF))


def only(frame: pd.DataFrame) -> Proposal:
    (one,) = long_context.find(seen(frame))
    return one


def long(prompt: int, largest: int, output: int = 20_000, **more: Any) -> dict[str, Any]:
    return row(input_uncached=prompt, output=output, context_tokens=largest, **more)


def test_where_all_are_near_all_are_trimmed() -> None:
    # A hundred prompts of 1,040 tokens: 104,000 x $10 and 20,000 x $100 a million are $3.04; at 1,000 tokens each they
    # cost 100,000 x $1 and 20,000 x $10 a million: $0.30.
    frame = cube([long(104_000, 1_040)])
    one = only(frame)
    assert one.confidence is Confidence.ASSUMED
    for level in LEVELS:
        after = one.change(frame, level)
        assert counts_of(after)["input_uncached"] == [100_000]
        assert usd(frame) - usd(after) == Decimal("2.74")
    facts = {fact.label: fact.value for fact in one.evidence}
    # The rate alone: 104,000 tokens at $1 instead of $10, and the answers.
    assert facts["What the dearer rates cost them"] == "$2.74"
    assert facts["Requests with more than 1,000 tokens"] == "100"


def test_of_unequal_prompts_only_those_count_that_must_be_near() -> None:
    # Above by 5,000 tokens in sum: at most 100 by more than 50, 50 by more than 100, 20 by more than 250.
    frame = cube([long(105_000, 3_000)])
    one = only(frame)
    after = {level: one.change(frame, level) for level in LEVELS}
    assert counts_of(after[Level.LOW]) == counts_of(frame)
    assert counts_of(after[Level.EXPECTED])["requests"] == [50, 50]
    assert counts_of(after[Level.EXPECTED])["context_tokens"] == [3_000, 1_000]
    # What is trimmed is not counted as saved: 55,000 tokens stay at the dear rate.
    assert counts_of(after[Level.EXPECTED])["input_uncached"] == [55_000, 50_000]
    assert counts_of(after[Level.EXPECTED])["output"] == [10_000, 10_000]
    assert counts_of(after[Level.HIGH])["requests"] == [20, 80]
    # 50,000 x ($10 - $1) and 10,000 x ($100 - $10) a million.
    assert usd(frame) - usd(after[Level.EXPECTED]) == Decimal("1.35")


def test_far_above_nothing_can_be_done_and_the_amount_is_said() -> None:
    one = only(cube([long(300_000, 4_000)]))
    assert one.change is unchanged
    assert "$3.60" not in one.doubt
    assert "$4.50" in one.doubt


@pytest.mark.parametrize(
    "given_row",
    [
        long(104_000, 1_000),
        long(104_000, 1_040, bucketed=True),
        long(104_000, 1_040, model="flat"),
        long(104_000, 1_040, model="nobody-knows"),
        row(input_uncached=104_000, context_tokens=None),
    ],
)
def test_nothing_is_said_without_a_dearer_rate(given_row: dict[str, Any]) -> None:
    assert not list(long_context.find(seen(cube([given_row]))))


cells = st.tuples(
    st.sampled_from(("app", "other")),
    st.sampled_from(("gpt-5", "gpt-5", "flat")),
    st.integers(1, 50),
    st.lists(st.integers(900, 1_600), min_size=1, max_size=50),
    st.none() | st.integers(0, 10**6),
    st.booleans(),
)


@settings(max_examples=80, deadline=None)
@given(rows=st.lists(cells, min_size=1, max_size=4))
def test_only_long_prompts_change_and_only_once(rows: list[tuple[Any, ...]]) -> None:
    frame = cube(
        [
            row(
                workload,
                model,
                context_tokens=max(sizes),
                records=len(sizes),
                requests=len(sizes),
                input_uncached=sum(sizes) // 2,
                cache_read=sum(sizes) - sum(sizes) // 2,
                output=output,
                reasoning=None if output is None else output // 3,
                web_search_calls=calls,
                bucketed=bucketed,
            )
            for workload, model, calls, sizes, output, bucketed in rows
        ]
    )
    for one in long_context.find(seen(frame)):
        saved = []
        for level in LEVELS:
            after = one.change(frame, level)
            assert list(after.dtypes) == list(frame.dtypes)
            left, before = counts_of(after), counts_of(frame)
            assert all(value is None or value >= 0 for values in left.values() for value in values)
            for name in ("requests", "output", "reasoning", "web_search_calls"):
                assert sum(value or 0 for value in left[name]) == sum(value or 0 for value in before[name])
            others = frame["workload"] != one.workload
            kept = after[after["workload"] != one.workload].reset_index(drop=True)
            pd.testing.assert_frame_equal(kept, frame[others].reset_index(drop=True))
            saved.append(usd(frame) - usd(after))
            assert 0 <= saved[-1] <= usd(frame)
            assert usd(one.change(after, level)) == usd(after)
        assert saved == sorted(saved)


@settings(max_examples=80, deadline=None)
@given(sizes=st.lists(st.integers(1_001, 2_000), min_size=1, max_size=60))
def test_no_more_are_called_near_than_are(sizes: list[int]) -> None:
    frame = cube([long(sum(sizes), max(sizes), records=len(sizes), requests=len(sizes))])
    one = only(frame)
    for level, room in zip(LEVELS, (50, 100, 250), strict=True):
        after = one.change(frame, level)
        below = after[after["context_tokens"] == 1_000]
        assert int(below["requests"].sum()) <= sum(size <= 1_000 + room for size in sizes)
