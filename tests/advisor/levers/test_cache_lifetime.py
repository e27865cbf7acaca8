"""Caches that cost more than they save: which lifetime, or none, by what was written, read, and when."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lever_cubes import AS_OF, card, counts_of, cube, evidence, row

from advisor.evidence import Cell, Evidence, LateReads, Pauses, total_usd
from advisor.levers import cache_lifetime
from advisor.recommendation import Confidence, Level, Proposal
from pricing.book import PriceBook
from pricing.frame import price_cube

RATES = {"cache_read": "0.1", "cache_write_5m": "1.25", "cache_write_1h": "2"}
BOOK = PriceBook(
    builtin=False,
    user_cards=(
        card("anthropic", "claude-sonnet-5", "1", "10", **RATES),
        card("anthropic", "plain", "1", "10"),
    ),
)
LEVELS = (Level.LOW, Level.EXPECTED, Level.HIGH)
CELL: Cell = ("app", "anthropic", "claude-sonnet-5")


def usd(frame: pd.DataFrame) -> Decimal:
    return total_usd(price_cube(frame, BOOK, as_of=AS_OF))


def cached(
    reads: int | None, short: int | None = None, long: int | None = None, **more: Any
) -> dict[str, Any]:
    base = {
        "input_uncached": 0,
        "output": 0,
        "cache_read": reads,
        "cache_write_5m": short,
        "cache_write_1h": long,
    }
    return row(model=more.pop("model", CELL[2]), provider="anthropic", **base, **more)


def seen(
    rows: Sequence[dict[str, Any]],
    late: int | None = None,
    first: int = 0,
    *,
    by_session: bool = True,
    pauses: tuple[int, int] = (10, 5),
) -> Evidence:
    frame = cube(rows)
    reads = (
        {} if late is None else {CELL: LateReads(late_tokens=late, first_tokens=first, by_session=by_session)}
    )
    longer = Pauses(requests=100, longer_than=dict(zip((300, 3_600), pauses, strict=True)))
    return replace(
        evidence(frame),
        book=BOOK,
        priced=price_cube(frame, BOOK, as_of=AS_OF),
        late_reads=reads,
        pauses={CELL: longer},
    )


def only(found: Evidence) -> Proposal:
    (one,) = cache_lifetime.find(found)
    return one


def saved(found: Evidence, one: Proposal) -> list[Decimal]:
    return [usd(found.cube) - usd(one.change(found.cube, level)) for level in LEVELS]


def test_an_hour_that_nobody_needs() -> None:
    found = seen([cached(1_000_000, None, 100_000)], late=10_000, first=20_000)
    one = only(found)
    assert one.confidence is Confidence.MODELLED
    # Written for $1.25 instead of $2 a million; what is late is written for $1.25 instead of read for $0.10.
    assert saved(found, one) == [
        Decimal("0.075") - Decimal("1.15") * late / 10**6 for late in (60_000, 30_000, 10_000)
    ]
    after = counts_of(one.change(found.cube, Level.EXPECTED))
    assert (after["cache_read"], after["cache_write_5m"], after["cache_write_1h"]) == (
        [970_000],
        [130_000],
        [0],
    )
    assert ("Of that, after more than 5 minutes", "30 k tokens") in {(f.label, f.value) for f in one.evidence}


def test_an_hour_that_pays_is_said_to_pay() -> None:
    found = seen([cached(1_000_000, None, 100_000)], late=500_000)
    one = only(found)
    assert one.title.startswith("Write to the cache for 5 minutes")
    assert all(amount < 0 for amount in saved(found, one)[1:])


def test_without_sessions_many_writes_say_that_requests_share_nothing() -> None:
    # 6 starts of 11,000 tokens a request are 66,000 written tokens; twice that is the most.
    assert list(cache_lifetime.find(seen([cached(1_000_000, None, 100_000)], late=0, by_session=False)))
    assert not list(cache_lifetime.find(seen([cached(900_000, None, 200_000)], late=0, by_session=False)))


def test_what_is_not_known_or_cannot_be_had_is_left_alone() -> None:
    assert not list(cache_lifetime.find(seen([cached(1_000_000, None, 100_000)])))
    assert not list(cache_lifetime.find(seen([cached(1_000_000, 100_000)], late=0)))
    assert not list(cache_lifetime.find(seen([cached(1_000_000)], late=0)))
    assert not list(cache_lifetime.find(seen([row()])))


@pytest.mark.parametrize(("reads", "saves"), [(277_777, True), (277_778, False)])
def test_writes_that_are_hardly_read_cost_more_than_none(reads: int, saves: bool) -> None:  # noqa: FBT001
    # 0.25 / 0.9 = 0.2777... reads for each write are the break-even point at 5 minutes.
    found = list(cache_lifetime.find(seen([cached(reads, 1_000_000)])))
    assert bool(found) is saves
    if saves:
        assert found[0].confidence is Confidence.MEASURED


def test_no_cache_is_what_the_same_text_costs_plain() -> None:
    found = seen([cached(100_000, 400_000, 600_000), cached(None, 7, None)], late=90_000)
    one = only(found)
    assert one.title.startswith("Stop writing")
    # 400,007 x 0.25 + 600,000 x 1 - 100,000 x 0.9, at $1 a million.
    assert saved(found, one) == [Decimal("0.61000175")] * 3
    after = counts_of(one.change(found.cube, Level.EXPECTED))
    assert after["input_uncached"] == [1_100_000, 7]
    assert after["cache_read"] == [0, None]
    assert ("Requests within 5 minutes of the one before", "89 %") in {
        (f.label, f.value) for f in one.evidence
    }


def test_a_cache_that_was_mended_stays() -> None:
    one = only(seen([cached(0, 1_000_000)]))
    mended = cube([cached(900_000, 100_000)])
    pd.testing.assert_frame_equal(one.change(mended, Level.EXPECTED), mended)


counts = st.none() | st.integers(0, 1_000) | st.integers(0, 2**50)
rows_of = st.lists(
    st.tuples(
        st.sampled_from(("app", "other")),
        st.sampled_from((CELL[2], "plain")),
        counts,
        counts,
        counts,
        st.booleans(),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=80, deadline=None)
@given(rows=rows_of, late=st.integers(0, 2**50), first=st.integers(0, 2**50), by_session=st.booleans())
def test_text_stays_and_is_changed_once(rows: list[Any], late: int, first: int, by_session: bool) -> None:  # noqa: FBT001
    given_rows = [
        cached(reads, short, long, workload=name, model=model, bucketed=bucketed)
        for name, model, reads, short, long, bucketed in rows
    ]
    found = seen(given_rows, late, first, by_session=by_session)
    frame = found.cube
    text = ["input_uncached", "cache_read", "cache_write_5m", "cache_write_1h"]
    for one in cache_lifetime.find(found):
        others = (frame["workload"] != one.workload) | frame["bucketed"]
        for level in LEVELS:
            after = one.change(frame, level)
            assert list(after.dtypes) == list(frame.dtypes)
            pd.testing.assert_frame_equal(after[others], frame[others])
            assert after[text].sum(axis=1).tolist() == frame[text].sum(axis=1).tolist()
            assert all(
                value is None or value >= 0 for values in counts_of(after).values() for value in values
            )
            assert usd(frame) - usd(after) <= usd(frame[~others])
            pd.testing.assert_frame_equal(one.change(after, level), after)
        assert saved(found, one) == sorted(saved(found, one))
        if one.title.startswith("Stop"):
            assert saved(found, one)[0] > 0
