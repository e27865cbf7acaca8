"""Levers that cut tokens: long answers, reasoning, oversized prompts."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lever_cubes import EVEN, TAIL, counts_of, cube, cubes, evidence, row, usd

from advisor.advise import ORDER
from advisor.evidence import Evidence, Signals
from advisor.levers import levers, output_limits, prompt_trimming, reasoning_effort
from advisor.recommendation import Confidence, Level, Proposal, Risk
from pricing.meters import Phase

LEVELS = (Level.LOW, Level.EXPECTED, Level.HIGH)


def only(found: Any) -> Proposal:
    (one,) = found
    assert isinstance(one, Proposal)
    return one


def test_levers_are_found_by_folder() -> None:
    names = [lever.NAME for lever in levers()]
    assert names == sorted(names)
    assert {"output_limits", "prompt_trimming", "smaller_model"} <= set(names)
    # Each has its place in the plan.
    assert set(names) <= set(ORDER)


def test_long_answers_worked_by_hand() -> None:
    frame = cube([row()])
    one = only(output_limits.find(evidence(frame, outputs=TAIL)))
    assert (one.phase, one.confidence, one.risk) == (Phase.DECODE, Confidence.MODELLED, Risk.EVALUATE)
    # 4 %, 25 % and 37.5 % of 20,000 tokens: see test_tails. At $10 a million that is $0.008, $0.05, $0.075.
    after = [one.change(frame, level) for level in LEVELS]
    assert [int(each["output"].iloc[0]) for each in after] == [19_200, 15_000, 12_500]
    saved = [usd(frame) - usd(each) for each in after]
    assert saved == [Decimal("0.008"), Decimal("0.05"), Decimal("0.075")]
    assert all(int(each["input_uncached"].iloc[0]) == 40_000 for each in after)
    assert "max_output_tokens=200" in (one.snippet or "")
    assert any("25 %" in text for text in one.assumptions)


def test_what_goes_is_right_in_sum() -> None:
    frame = cube([row(output=7, requests=1, records=1), row(output=19_993, requests=99, records=99)])
    one = only(output_limits.find(evidence(frame, outputs=TAIL)))
    # Three quarters of 7 are 5.25, of 20,000 they are 15,000.
    assert counts_of(one.change(frame, Level.EXPECTED))["output"] == [5, 14_995]


def test_reasoning_worked_by_hand() -> None:
    frame = cube([row(reasoning=10_000), row(reasoning=None, output=5_000)])
    one = only(reasoning_effort.find(evidence(frame)))
    assert (one.phase, one.confidence, one.title) == (
        Phase.DECODE,
        Confidence.ASSUMED,
        "Reason one step less",
    )
    after = [one.change(frame, level) for level in LEVELS]
    assert [counts_of(each)["reasoning"] for each in after] == [[9_000, None], [7_500, None], [6_000, None]]
    assert [counts_of(each)["output"] for each in after] == [
        [19_000, 5_000],
        [17_500, 5_000],
        [16_000, 5_000],
    ]


def test_less_reasoning_is_asked_for_once_though_half_of_the_log_does_not_tell_it() -> None:
    frame = cube([row(reasoning=10_000), row(reasoning=None)])
    one = only(reasoning_effort.find(evidence(frame)))
    once = one.change(frame, Level.EXPECTED)
    assert counts_of(once)["reasoning"] == [7_500, None]
    assert counts_of(one.change(once, Level.EXPECTED)) == counts_of(once)


def test_little_reasoning_is_left_alone() -> None:
    assert not list(reasoning_effort.find(evidence(cube([row(reasoning=6_000)]))))
    assert len(list(reasoning_effort.find(evidence(cube([row(reasoning=6_001)]))))) == 1


def test_a_limit_after_less_reasoning_cuts_less() -> None:
    frame = cube([row(reasoning=16_000)])
    limit = only(output_limits.find(evidence(frame, outputs=TAIL)))
    effort = only(reasoning_effort.find(evidence(frame)))
    less = effort.change(frame, Level.EXPECTED)
    assert int(less["output"].iloc[0]) == 16_000
    # The limit alone leaves 15,000: that is where both end, and reasoning stays a part of the output.
    both = limit.change(less, Level.EXPECTED)
    assert counts_of(both)["output"] == [15_000]
    assert counts_of(both)["reasoning"] == [11_250]


def test_what_was_cut_off_already_is_shown() -> None:
    signals = {"app": Signals(requests=100, cut_off=12)}
    one = only(output_limits.find(evidence(cube([row()]), outputs=TAIL, signals=signals)))
    assert ("Answers cut off at their limit already", "12 %") in {(f.label, f.value) for f in one.evidence}


@pytest.mark.parametrize(
    ("provider", "model", "words"),
    [
        ("openai", "gpt-5", "max_output_tokens=200,"),
        ("anthropic", "claude-opus-4-5", "max_tokens=200,"),
        ("google", "gemini-2.5-pro", "GenerateContentConfig"),
        ("mistral", "mistral-large-4", "chat.completions"),
        (None, "gpt-oss-120b", "chat.completions"),
    ],
)
def test_examples_are_in_the_words_of_the_provider(provider: str | None, model: str, words: str) -> None:
    frame = cube([row(model=model, provider=provider, reasoning=15_000)])
    limit = only(output_limits.find(evidence(frame, outputs=TAIL)))
    effort = only(reasoning_effort.find(evidence(frame)))
    assert words in (limit.snippet or "")
    assert "at most 150 words" in (limit.snippet or "")
    assert "{" not in (limit.snippet or "").replace('{"', "")
    assert effort.snippet


def test_speech_hides_how_long_text_is() -> None:
    assert not list(output_limits.find(evidence(cube([row(audio_output=1)]), outputs=TAIL)))


def test_oversized_prompts_worked_by_hand() -> None:
    frame = cube([row(cache_read=60_000)])
    one = only(prompt_trimming.find(evidence(frame, inputs=TAIL)))
    assert (one.phase, one.confidence, one.risk) == (Phase.PREFILL, Confidence.MODELLED, Risk.EVALUATE)
    # 4 %, 25 % and 37.5 % of the 40,000 tokens that are not cached, at $1 a million.
    after = [one.change(frame, level) for level in LEVELS]
    assert [int(each["input_uncached"].iloc[0]) for each in after] == [38_400, 30_000, 25_000]
    assert [int(each["cache_read"].iloc[0]) for each in after] == [60_000] * 3
    assert [usd(frame) - usd(each) for each in after] == [
        Decimal("0.0016"),
        Decimal("0.01"),
        Decimal("0.015"),
    ]
    assert ("Not read from a cache", "40 %") in {(f.label, f.value) for f in one.evidence}


def test_a_prompt_that_is_all_cached_is_left_alone() -> None:
    frame = cube([row(input_uncached=0, cache_read=60_000)])
    assert not list(prompt_trimming.find(evidence(frame, inputs=TAIL)))


FINDERS: list[Callable[[Evidence], Any]] = [output_limits.find, prompt_trimming.find]


@pytest.mark.parametrize("find", FINDERS)
def test_nothing_is_proposed_where_it_is_not_known(find: Callable[[Evidence], Any]) -> None:
    one = row(reasoning=15_000)
    for rows, sizes in (
        ([one], EVEN if find is prompt_trimming.find else None),
        ([{**one, "bucketed": True}], TAIL),
        ([{**one, "requests": 29, "records": 29}], TAIL),
        ([{key: value for key, value in one.items() if key not in {"output", "input_uncached"}}], TAIL),
    ):
        assert not list(find(evidence(cube(rows), inputs=sizes, outputs=sizes)))


@pytest.mark.parametrize(
    "one",
    [
        {"bucketed": True},
        {"requests": 29, "records": 29},
        {"output": None, "reasoning": None},
    ],
)
def test_no_less_reasoning_where_it_is_not_known(one: dict[str, Any]) -> None:
    assert not list(reasoning_effort.find(evidence(cube([row(reasoning=15_000) | one]))))


def proposals() -> list[Proposal]:
    told = evidence(cube([row(reasoning=15_000)]), inputs=TAIL, outputs=TAIL)
    return [*output_limits.find(told), *prompt_trimming.find(told), *reasoning_effort.find(told)]


PROPOSALS = proposals()


@settings(max_examples=150, deadline=None)
@given(cubes(), st.sampled_from(PROPOSALS), st.sampled_from(LEVELS))
def test_a_cut_only_ever_removes_tokens_of_its_workload(
    frame: pd.DataFrame, proposal: Proposal, level: Level
) -> None:
    kept = frame.copy(deep=True)
    after = proposal.change(frame, level)
    pd.testing.assert_frame_equal(frame, kept)
    assert list(after.columns) == list(frame.columns)
    assert after.dtypes.astype(str).tolist() == frame.dtypes.astype(str).tolist()
    before, then = counts_of(frame), counts_of(after)
    cut = {"output", "reasoning"} if proposal.phase is Phase.DECODE else {"input_uncached"}
    touched = ((frame["workload"] == "app") & ~frame["bucketed"]).tolist()
    for name, values in before.items():
        for mine, old, new in zip(touched, values, then[name], strict=True):
            if not mine or name not in cut or old is None:
                assert new == old
            else:
                assert new is not None
                assert 0 <= new <= old
    if {"output", "reasoning"} <= before.keys():
        both = zip(then["output"], then["reasoning"], strict=True)
        assert all(reasoned <= written for written, reasoned in both if None not in (written, reasoned))
    assert usd(after) <= usd(frame)


@settings(max_examples=200, deadline=None)
@given(cubes(), st.sampled_from(PROPOSALS), st.sampled_from(LEVELS))
def test_a_cut_of_what_was_cut_for_the_same_cube_is_rounding(
    frame: pd.DataFrame, proposal: Proposal, level: Level
) -> None:
    mine = (frame["workload"] == "app") & ~frame["bucketed"]
    if not mine.any():
        return
    sized = evidence(frame.assign(requests=frame["records"]), inputs=TAIL, outputs=TAIL)
    for own in [*output_limits.find(sized), *prompt_trimming.find(sized), *reasoning_effort.find(sized)]:
        if own.title != proposal.title:
            continue
        once = own.change(sized.cube, level)
        twice = own.change(once, level)
        for name, values in counts_of(once).items():
            again = counts_of(twice)[name]
            assert all(
                old is None or new is None or old - new <= 2 for old, new in zip(values, again, strict=True)
            )
