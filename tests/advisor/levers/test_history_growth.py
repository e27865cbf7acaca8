"""History of long conversations: what is paid in full of it, after a cache has been tried."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from lever_cubes import cube, evidence, row, usd

from advisor.evidence import Evidence, History
from advisor.levers import history_growth
from advisor.recommendation import Confidence, Level, Risk
from pricing.meters import Phase

LONG = History(
    turns=100,
    grown=95,
    later=60,
    early_mean=2_000.0,
    later_mean=9_000.0,
    above={Level.LOW: 40_000, Level.EXPECTED: 120_000, Level.HIGH: 200_000},
    cached_tokens=0,
)


def seen(one: History = LONG, **more: Any) -> Evidence:
    frame = cube([row(input_uncached=400_000, **more)])
    return replace(evidence(frame), histories={("app", "openai", "gpt-5"): one})


def saved(told: Evidence, changed: Any) -> Mapping[Level, Decimal]:
    (one,) = history_growth.find(told)
    return {level: usd(changed) - usd(one.change(changed, level)) for level in Level}


def test_three_quarters_of_the_old_text_go() -> None:
    told = seen()
    (one,) = history_growth.find(told)
    assert (one.phase, one.confidence, one.risk) == (Phase.PREFILL, Confidence.MODELLED, Risk.EVALUATE)
    # $1 a million tokens.
    assert list(saved(told, told.cube).values()) == [Decimal("0.03"), Decimal("0.09"), Decimal("0.2")]
    assert [fact.value for fact in one.evidence] == ["60", "2,000 / 9,000", "120 k tokens", "0 tokens"]
    once = one.change(told.cube, Level.EXPECTED)
    assert usd(one.change(once, Level.EXPECTED)) == usd(once)


def test_nothing_is_left_where_a_cache_reads_it() -> None:
    """A step before has put most of the prompts into a cache: what is plain now is new text."""
    told = seen()
    cached = cube([row(input_uncached=80_000, cache_read=320_000)])
    assert set(saved(told, cached).values()) == {Decimal(0)}


@pytest.mark.parametrize(
    "one",
    [
        replace(LONG, grown=79),
        replace(LONG, later_mean=2_900.0),
        replace(LONG, early_mean=0.0, later_mean=0.0),
        replace(LONG, above=dict.fromkeys(Level, 0), cached_tokens=200_000),
    ],
    ids=["no conversations", "hardly longer", "no sizes", "cached"],
)
def test_nothing_is_proposed(one: History) -> None:
    assert not list(history_growth.find(seen(one)))


def test_other_workloads_stay_as_they_are() -> None:
    told = seen()
    (one,) = history_growth.find(told)
    other = cube([row(input_uncached=400_000, workload="other")])
    assert usd(one.change(other, Level.HIGH)) == usd(other)
