"""Part of the traffic on a smaller model of the same provider."""

from decimal import Decimal
from fractions import Fraction
from math import ceil
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lever_cubes import AS_OF, BOOK, counts_of, cube, cubes, evidence, row, usd

from advisor.levers import smaller_model
from advisor.recommendation import Confidence, Level, Risk
from advisor.rerouting import Reroute, Route

LEVELS = (Level.LOW, Level.EXPECTED, Level.HIGH)
SUMS = ("requests", "input_uncached", "output", "cache_read")


def found(*rows: dict[str, Any]) -> list[Any]:
    return list(smaller_model.find(evidence(cube(rows))))


def test_half_of_the_requests_on_the_nearest_smaller_model() -> None:
    frame = cube([row()])
    (one,) = smaller_model.find(evidence(frame))
    assert (one.phase, one.confidence, one.risk) == (None, Confidence.ASSUMED, Risk.EVALUATE)
    assert "gpt-5-mini instead of gpt-5" in one.title
    # 40,000 x $1 + 20,000 x $10 a million = $0.24, a tenth of that on gpt-5-mini, which has the same tokenizer.
    saved = [usd(frame) - usd(one.change(frame, level)) for level in LEVELS]
    assert saved == [
        Decimal("0.24") * share * 9 / 10 for share in (Decimal("0.2"), Decimal("0.5"), Decimal(1))
    ]
    after = one.change(frame, Level.EXPECTED)
    assert list(after["model"]) == ["gpt-5", "gpt-5-mini"]
    assert [list(after[name]) for name in ("requests", "input_uncached", "output")] == [
        [50, 50],
        [20_000, 20_000],
        [10_000, 10_000],
    ]
    assert list(one.change(frame, Level.HIGH)["model"]) == ["gpt-5-mini"]
    facts = {fact.label: fact.value for fact in one.evidence}
    assert facts["Cost of prefill on gpt-5"] == "$0.04"
    assert facts["Cost of decode on gpt-5"] == "$0.20"
    assert facts["Price of a million output tokens"] == "$10.00 to $1.00 (0.1 x)"


def test_tokens_are_those_of_the_other_tokenizer() -> None:
    frame = cube([row(model="claude-opus-4-5", provider="anthropic")])
    (one,) = smaller_model.find(evidence(frame))
    # Compact JSON is the median of the usual samples, legal English the worst of all; CSV has the same tokens.
    ratios = [Fraction(14371, 10279), Fraction(28892, 22229), Fraction(54969, 54970)]
    for level, share, ratio in zip(
        LEVELS, (Fraction(1, 5), Fraction(1, 2), Fraction(1)), ratios, strict=True
    ):
        moved = one.change(frame, level).iloc[-1]
        assert moved["model"] == "claude-sonnet-5-5"
        assert moved["output"] == round(20_000 * share * ratio)
        assert moved["input_uncached"] == round(40_000 * share * ratio)
        assert moved["context_tokens"] == ceil(400 * ratio)
        assert moved["requests"] == 100 * share
    assert "1.30 (1.00 to 1.40)" in {fact.value for fact in one.evidence}


def test_a_smaller_model_that_costs_more_is_passed_over() -> None:
    (one,) = found(row(model="mistral-large-4", provider="mistral"))
    assert "mistral-small-latest" in one.title
    assert any("not compared" in text for text in one.assumptions)


def test_names_are_decorated_as_the_log_does() -> None:
    (one,) = found(row(model="openai/gpt-5-2025-08-07", provider=None))
    assert "openai/gpt-5-mini instead of openai/gpt-5-2025-08-07" in one.title
    frame = cube([row(model="openai/gpt-5-2025-08-07", provider=None)])
    assert usd(one.change(frame, Level.HIGH)) == Decimal("0.024")


def test_that_caches_are_of_one_model_is_said_where_there_is_one() -> None:
    (plain,), (cached,) = found(row()), found(row(cache_read=5))
    assert not any("cache" in text for text in plain.assumptions)
    assert any("cache of its own" in text for text in cached.assumptions)


def test_what_is_next_to_nothing_of_the_bill_is_not_looked_at() -> None:
    small = {"input_uncached": 40, "output": 19}
    # $0.00023 beside $0.24 is under a thousandth of the bill, and a little more is not.
    assert [one.workload for one in found(row("small", **small), row())] == ["app"]
    more = {"input_uncached": 60, "output": 20}
    assert sorted(one.workload for one in found(row("small", **more), row())) == ["app", "small"]


def test_at_most_two_a_workload_those_that_save_most() -> None:
    titles = [
        one.title
        for one in found(
            row(model="mistral-large-4", provider="mistral"),
            row(model="gpt-5"),
            row(model="claude-opus-4-5", provider="anthropic"),
        )
    ]
    assert [title.rsplit(" ", 1)[-1] for title in titles] == ["claude-opus-4-5", "gpt-5"]


@pytest.mark.parametrize(
    "rows",
    [
        [row(bucketed=True)],
        [row(requests=29, records=29)],
        [row(model="gpt-5-nano")],
        [row(model="unheard-of")],
        [row(model="claude-sonnet-5-5", provider="anthropic")],  # the smaller one has no price in this book
        [row(), row(model="gpt-5-mini")],  # half of the requests are there already
    ],
    ids=["buckets", "few", "smallest", "unknown", "no price", "routed"],
)
def test_nothing_is_proposed(rows: list[dict[str, Any]]) -> None:
    assert not found(*rows)


def test_the_plan_of_a_log_that_followed_it_is_empty() -> None:
    frame = cube([row()])
    (one,) = smaller_model.find(evidence(frame))
    for level in LEVELS[1:]:
        followed = one.change(frame, level)
        titles = [each.title for each in smaller_model.find(evidence(followed))]
        # Where nothing is left on the larger model, the smaller one may be looked at.
        assert not titles or (level is Level.HIGH and "gpt-5-nano instead of gpt-5-mini" in titles[0])


def test_without_sizes_nothing_is_proposed() -> None:
    assert not list(smaller_model.find(evidence(cube([row()]), inputs=None)))


def test_what_would_cost_more_or_has_no_price_there_stays() -> None:
    dear = row(model="claude-opus-4-5", provider="anthropic", context_tokens=900)  # above 1,000 in its tokens
    written = row(
        model="claude-opus-4-5", provider="anthropic", web_search_calls=3
    )  # no rate for searches there
    plain = row(model="claude-opus-4-5", provider="anthropic")
    frame = cube([dear, written, plain])
    (one,) = smaller_model.find(evidence(frame))
    after = one.change(frame, Level.EXPECTED)
    assert list(after["model"]) == ["claude-opus-4-5"] * 3 + ["claude-sonnet-5-5"]
    assert list(after["output"])[:3] == [20_000, 20_000, 10_000]
    assert usd(after) < usd(frame)


def test_money_that_the_log_states_stays_with_its_rows() -> None:
    frame = cube([row(recorded=100, recorded_cost_usd=0.24)])
    (one,) = smaller_model.find(evidence(frame))
    after = one.change(frame, Level.EXPECTED)
    assert list(after["recorded"]) == [100, 0]
    assert after["recorded_cost_usd"].sum() == 0.24


@settings(max_examples=80, deadline=None)
@given(cubes(), st.sampled_from((Fraction(1, 5), Fraction(1, 2), Fraction(1))))
def test_requests_are_neither_lost_nor_added(frame: pd.DataFrame, share: Fraction) -> None:
    route = Route(workload="app", provider="openai", source="gpt-5", target="gpt-5-mini")
    kept = frame.copy(deep=True)
    after = Reroute(route, BOOK, AS_OF).of(frame, share, Fraction(1))
    pd.testing.assert_frame_equal(frame, kept)
    assert list(after.columns) == list(frame.columns)
    assert after.dtypes.astype(str).tolist() == frame.dtypes.astype(str).tolist()
    before, then = counts_of(frame), counts_of(after)
    for name in SUMS:
        if name in before:
            assert sum(value or 0 for value in before[name]) == sum(value or 0 for value in then[name])
            assert all(value is None or value >= 0 for value in then[name])
    # Tokens of another model, workload or bucket are where they were.
    own = route.rows(frame)
    other = after[~(route.rows(after) | route.rows(after, "gpt-5-mini"))].reset_index(drop=True)
    untouched = frame[~(own | route.rows(frame, "gpt-5-mini"))].reset_index(drop=True)
    pd.testing.assert_frame_equal(other, untouched)
    assert usd(after) <= usd(frame)
    if share == 1:
        pd.testing.assert_frame_equal(Reroute(route, BOOK, AS_OF).of(after, share, Fraction(1)), after)


@settings(max_examples=40, deadline=None)
@given(cubes())
def test_a_larger_count_of_tokens_never_makes_it_dearer(frame: pd.DataFrame) -> None:
    route = Route(workload="app", provider="openai", source="gpt-5", target="gpt-5-mini")
    after = Reroute(route, BOOK, AS_OF).of(frame, Fraction(1, 2), Fraction(7, 5))
    assert usd(after) <= usd(frame)
