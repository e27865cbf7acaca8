"""What failed requests used, and prompts that were sent twice."""

from dataclasses import replace
from decimal import Decimal

import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st
from lever_cubes import counts_of, cube, cubes, evidence, row, usd

from advisor.evidence import Ended
from advisor.levers import waste
from advisor.recommendation import Level, Risk
from pricing.meters import Meter, Phase

LEVELS = (Level.LOW, Level.EXPECTED, Level.HIGH)
CELL = ("app", "openai", "gpt-5")
FAILED = Ended(requests=10, tokens={Meter.INPUT_UNCACHED: 8_000, Meter.OUTPUT: 400})


def test_failures_worked_by_hand() -> None:
    frame = cube(
        [row(input_uncached=30_000), row(input_uncached=10_000), row(model="gpt-5-mini"), row("other")]
    )
    (one,) = waste.find(replace(evidence(frame), failed={CELL: FAILED}))
    after = {level: one.change(frame, level) for level in LEVELS}
    # A quarter, a half and all of 8,000 tokens, by the size of the rows; and of 400.
    assert [counts_of(after[level])["input_uncached"][:2] for level in LEVELS] == [
        [28_500, 9_500],
        [27_000, 9_000],
        [24_000, 8_000],
    ]
    assert counts_of(after[Level.HIGH])["output"] == [19_800, 19_800, 20_000, 20_000]
    # 8,000 x $1 and 400 x $10 a million.
    assert usd(frame) - usd(after[Level.HIGH]) == Decimal("0.012")
    facts = {fact.label: fact.value for fact in one.evidence}
    assert facts["Requests that failed and used tokens"] == "10 (3.3 %)"
    assert facts["Tokens of their prompts"] == "8,000"
    assert any("compare with the bill" in text for text in one.assumptions)


def test_cut_off_answers_cost_their_prompts_at_most() -> None:
    frame = cube([row()])
    ended = Ended(requests=10, tokens={Meter.INPUT_UNCACHED: 8_000, Meter.OUTPUT: 4_000})
    (one,) = waste.find(replace(evidence(frame), cut_off={CELL: ended}))
    assert (one.phase, one.risk) == (Phase.PREFILL, Risk.NONE)
    assert usd(one.change(frame, Level.EXPECTED)) == usd(frame)
    high = one.change(frame, Level.HIGH)
    assert counts_of(high)["input_uncached"] == [32_000]
    # Answers are the business of limits.
    assert counts_of(high)["output"] == [20_000]


def test_a_limit_of_a_few_words_is_meant() -> None:
    ended = Ended(requests=100, tokens={Meter.INPUT_UNCACHED: 8_000, Meter.OUTPUT: 100})
    assert not list(waste.find(replace(evidence(cube([row()])), cut_off={CELL: ended})))


def test_nothing_is_said_where_nothing_failed() -> None:
    assert not list(waste.find(evidence(cube([row()]))))
    none = Ended(requests=3, tokens={Meter.OUTPUT: 0})
    assert not list(waste.find(replace(evidence(cube([row()])), failed={CELL: none}, cut_off={CELL: none})))


def test_reasoning_stays_a_part_of_the_output() -> None:
    frame = cube([row(output=3, reasoning=3), row(output=5, reasoning=4)])
    (one,) = waste.find(replace(evidence(frame), failed={CELL: Ended(requests=1, tokens={Meter.OUTPUT: 3})}))
    after = counts_of(one.change(frame, Level.HIGH))
    assert after["output"] == [2, 3]
    assert after["reasoning"] == [2, 2]


@settings(max_examples=80, deadline=None)
@given(
    frame=cubes(),
    other=cubes(),
    wasted=st.dictionaries(
        st.sampled_from(("input_uncached", "output", "cache_read")), st.integers(0, 2**56)
    ),
)
def test_only_its_cell_changes_and_only_once(
    frame: pd.DataFrame, other: pd.DataFrame, wasted: dict[str, int]
) -> None:
    ended = Ended(requests=1, tokens={Meter(name): count for name, count in wasted.items()})
    seen = replace(evidence(frame), failed={CELL: ended}, cut_off={CELL: ended})
    for one in waste.find(seen):
        for given_cube in (frame, other):
            saved = []
            for level in LEVELS:
                after = one.change(given_cube, level)
                assert list(after.dtypes) == list(given_cube.dtypes)
                strangers = (given_cube["workload"] != "app") | (given_cube["model"] != "gpt-5")
                pd.testing.assert_frame_equal(after[strangers], given_cube[strangers])
                assert all(
                    value is None or value >= 0 for values in counts_of(after).values() for value in values
                )
                saved.append(usd(given_cube) - usd(after))
                assert 0 <= saved[-1] <= usd(given_cube)
            assert saved == sorted(saved)
        for level in LEVELS:
            after = one.change(frame, level)
            pd.testing.assert_frame_equal(one.change(after, level), after)
