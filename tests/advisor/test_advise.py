"""Advice over whole logs: what is recommended, what is not, and a plan that does not add up too much."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from advisor.options import AnalyseOptions
from advisor.recommendation import Advice, Confidence, Risk
from advisor.run import analyse
from pricing.meters import Phase

START = datetime(2026, 11, 2, 8, tzinfo=UTC)
AS_OF = datetime(2026, 11, 29, tzinfo=UTC)
GPT: dict[str, Any] = {"provider": "openai", "model": "gpt-5.4"}


def advice(folder: Path, rows: list[dict[str, Any]]) -> Advice:
    path = folder / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = analyse([str(path)], AnalyseOptions(as_of=AS_OF)).advice
    assert found is not None
    return found


def minute(number: int, prompt: int, answer: int, **more: Any) -> dict[str, Any]:
    return {
        "timestamp": (START + timedelta(minutes=number)).isoformat(),
        "provider": "anthropic",
        "model": "claude-sonnet-5",
        "application": "app",
        "input_tokens": prompt,
        "output_tokens": answer,
        **more,
    }


def test_long_prompts_every_minute_are_to_be_cached_first_of_all(tmp_path: Path) -> None:
    found = advice(tmp_path, [minute(number, 20_000, 50) for number in range(600)])
    first = found.recommendations[0]
    assert (first.proposal.lever, first.proposal.phase, first.fits) == ("prompt_caching", Phase.PREFILL, True)
    # 600 x (20,000 x 2 + 50 x 10) per million; 10 slots of an hour are written at twice the price, the rest read at a
    # tenth of it.
    bill = Decimal(600 * (20_000 * 2 + 50 * 10)) / 10**6
    cached = Decimal(10 * 20_000 * 4 + 590 * 20_000) * Decimal("0.2") / 10**6
    cached = (Decimal(10 * 20_000 * 4) + Decimal(590 * 20_000) * Decimal("0.2") + 600 * 50 * 10) / 10**6
    assert found.plan.baseline_usd == bill
    assert float(first.saving.high) == pytest.approx(float(bill - cached), rel=0.01)
    assert first.saving.high > bill * Decimal("0.8")
    # All prompts have one size, so they are taken for one text; counts alone do not prove it, and that is said.
    assert first.proposal.confidence is Confidence.ASSUMED
    assert (first.saving.low, first.saving.expected) == (0, first.saving.high)
    assert found.plan.optimised_usd < bill * Decimal("0.2")


def test_prompts_of_many_sizes_are_a_bound_and_nothing_is_expected(tmp_path: Path) -> None:
    found = advice(tmp_path, [minute(number, 20_000 + number, 50) for number in range(600)])
    (first,) = [one for one in found.recommendations if one.proposal.lever == "prompt_caching"]
    assert first.saving.high > first.saving.expected == first.saving.low == 0


def test_short_prompts_with_long_answers_are_not(tmp_path: Path) -> None:
    found = advice(tmp_path, [minute(number, 200, 2_000) for number in range(600)])
    assert "prompt_caching" not in {one.proposal.lever for one in found.recommendations}
    (why,) = [one for one in found.rejected if one.lever == "prompt_caching"]
    assert why.saving.high == 0
    assert "shortest prompts" in why.reason
    # 600 x 200 tokens at $2 a million, beside 600 x 2,000 at $10.
    assert why.reason.endswith("all of its prefill costs $0.24, 2.0 % of the workload")
    assert found.recommendations[0].proposal.lever in {"smaller_model", "output_limits"}


def test_the_phase_that_dominates_decides_what_comes_first(tmp_path: Path) -> None:
    """Two workloads with the same tails, in prompts and in answers: what is cut first follows what they pay for."""
    sizes = [(number, 8 if number % 10 == 0 else 1) for number in range(300)]
    rows = [
        minute(number, 9_000 * times, 50 * times, application="reads", stream=True) for number, times in sizes
    ]
    rows += [
        minute(number, 50 * times, 900 * times, application="writes", stream=True) for number, times in sizes
    ]
    found = advice(tmp_path, rows)
    cuts = {"reads": "prompt_trimming", "writes": "output_limits"}
    for name, lever in cuts.items():
        levers = [
            one.proposal.lever
            for one in found.recommendations
            if one.proposal.workload == name and one.proposal.lever in cuts.values()
        ]
        assert levers == [lever]
        (other,) = set(cuts.values()) - {lever}
        (why,) = [one for one in found.rejected if (one.workload, one.lever) == (name, other)]
        assert "; all of its" in why.reason
        # It would save something, and the number is said.
        assert why.saving.expected > 0


def test_what_somebody_waits_for_is_no_batch_job(tmp_path: Path) -> None:
    streamed = advice(tmp_path, [minute(number, 500, 500, stream=True) for number in range(100)])
    assert "batch" not in {one.proposal.lever for one in streamed.recommendations}
    assert "somebody waits" in next(one.reason for one in streamed.rejected if one.lever == "batch")
    silent = advice(tmp_path, [minute(number, 500, 500) for number in range(100)])
    batch = next(one for one in silent.recommendations if one.proposal.lever == "batch")
    bill = silent.plan.baseline_usd
    # Half the price, for a quarter, a half and all of the tokens.
    assert [batch.saving.low, batch.saving.expected, batch.saving.high] == [bill / 8, bill / 4, bill / 2]


def test_a_dear_tier_is_left(tmp_path: Path) -> None:
    rows = [
        minute(number, 500, 500, model="gpt-5.4", provider="openai", service_tier="priority", stream=True)
        for number in range(100)
    ]
    found = advice(tmp_path, rows)
    (one,) = [item for item in found.recommendations if item.proposal.lever == "service_tier"]
    assert one.proposal.risk is Risk.NONE
    assert one.saving.expected == found.plan.baseline_usd / 2


def test_the_plan_never_promises_more_than_the_bill_nor_more_than_its_steps_alone(tmp_path: Path) -> None:
    rows = [
        minute(number, 4_000 + number % 7 * 1_000, 300 + number % 5 * 400, **GPT, service_tier="priority")
        for number in range(300)
    ]
    rows += [minute(number, 500, 500, **GPT, application="nightly") for number in range(300)]
    found = advice(tmp_path, rows)
    plan = found.plan
    assert {step.lever for step in plan.steps} >= {"service_tier", "batch"}
    for saving in (plan.combined.low, plan.combined.expected, plan.combined.high):
        assert 0 <= saving <= plan.baseline_usd
    assert plan.combined.low <= plan.combined.expected <= plan.combined.high
    assert plan.baseline_usd - plan.combined.expected == plan.optimised_usd == plan.steps[-1].after_usd
    assert sum((step.saving_usd for step in plan.steps), Decimal(0)) == plan.combined.expected
    assert 0 < plan.safe_usd <= plan.combined.expected <= plan.ceiling_usd <= plan.baseline_usd
    assert plan.overlap_usd >= 0
    assert all(one.saving.high <= one.touched_usd for one in found.recommendations)


def test_cached_traffic_gets_no_advice_to_cache(tmp_path: Path) -> None:
    rows = [
        minute(number, 100, 50, cache_read_input_tokens=19_000, cache_creation_input_tokens=0)
        for number in range(200)
    ]
    found = advice(tmp_path, rows)
    assert "prompt_caching" not in {one.proposal.lever for one in found.recommendations}


def test_a_log_without_prices_gets_none(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(minute(0, 10, 1, model="nobody-knows", provider=None)) + "\n", "utf-8")
    assert analyse([str(path)], AnalyseOptions(as_of=AS_OF)).advice is None


def conversation(name: str, first: int, pause_minutes: int) -> list[dict[str, Any]]:
    """Ten turns: each prompt is the one before with its answer of 500 tokens and 100 tokens more."""
    return [
        minute(first + turn * pause_minutes, 2_000 + 600 * turn, 500, session_id=name) for turn in range(10)
    ]


def test_conversations_are_replayed_and_the_saving_is_expected(tmp_path: Path) -> None:
    rows = [row for number in range(20) for row in conversation(f"c{number}", number * 30, 2)]
    found = advice(tmp_path, rows)
    caching = next(one for one in found.recommendations if one.proposal.lever == "prompt_caching")
    assert caching.proposal.confidence is Confidence.MODELLED
    assert "(5m)" in caching.proposal.title
    prompts = [2_000 + 600 * turn for turn in range(10)]
    reads, written = sum(prompts[:-1]), prompts[0] + 9 * 600
    before = Decimal(20 * sum(prompts) * 2)
    after = 20 * (Decimal("0.2") * reads + Decimal("2.5") * written)
    assert float(caching.saving.expected) == pytest.approx(float((before - after) / 10**6), rel=1e-4)
    assert caching.saving.low == caching.saving.expected
    # In the plan half of the conversations are on a model at a twentieth of the price by then, and cached there.
    assert [one.lever for one in found.plan.steps] == ["smaller_model", "prompt_caching", "batch"]
    step = found.plan.steps[1]
    assert step.alone_usd == caching.saving.expected
    assert float(step.saving_usd / caching.saving.expected) == pytest.approx((1 + 0.05) / 2, rel=1e-4)


def short_conversations(folder: Path, smaller_usd: str) -> Advice:
    """Prompts that Opus 5.5 caches (512 tokens and more) and Sonnet 5 does not (1,024), at prices of one's own."""
    rows = [
        row | {"model": "claude-opus-5-5", "input_tokens": 600 + 20 * turn, "output_tokens": 10}
        for number in range(20)
        for turn, row in enumerate(conversation(f"c{number}", number * 30, 2))
    ]
    prices, log = folder / "prices.json", folder / "log.jsonl"
    rates = {"output": "1", "cache_read": "0.1", "cache_write_5m": "1.25", "cache_write_1h": "2"}
    models = {"claude-opus-5-5": {"input": "1", **rates}, "claude-sonnet-5": {"input": smaller_usd, **rates}}
    prices.write_text(json.dumps({"unit": "USD per 1,000,000 tokens", "models": models}), "utf-8")
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = analyse([str(log)], AnalyseOptions(as_of=AS_OF, price_files=(prices,))).advice
    assert found is not None
    return found


def test_what_is_too_short_for_the_cache_of_the_smaller_model_is_not_cached_there(tmp_path: Path) -> None:
    plan = short_conversations(tmp_path, "0.01").plan
    assert [one.lever for one in plan.steps] == ["smaller_model", "prompt_caching"]
    # Half of the conversations stay where their prompts are long enough.
    assert float(plan.steps[1].saving_usd / plan.steps[1].alone_usd) == pytest.approx(0.5)
    assert plan.safe_usd == plan.steps[1].alone_usd


def test_a_plan_with_steps_to_evaluate_is_never_worse_than_one_without(tmp_path: Path) -> None:
    found = short_conversations(tmp_path, "0.5")
    assert {one.proposal.lever for one in found.recommendations} == {"smaller_model", "prompt_caching"}
    # Half the price for half of the conversations is less than what caching them saves.
    assert [one.lever for one in found.plan.steps] == ["prompt_caching"]
    assert found.plan.safe_usd == found.plan.combined.expected


def test_slow_conversations_need_the_longer_lifetime(tmp_path: Path) -> None:
    rows = [row for number in range(20) for row in conversation(f"c{number}", number * 30, 20)]
    found = advice(tmp_path, rows)
    caching = next(one for one in found.recommendations if one.proposal.lever == "prompt_caching")
    assert "(1h)" in caching.proposal.title
    assert caching.saving.expected > 0


def test_conversations_of_one_turn_or_a_day_between_turns_promise_nothing(tmp_path: Path) -> None:
    rows = [row for number in range(20) for row in conversation(f"c{number}", number * 30, 24 * 60)]
    found = advice(tmp_path, rows)
    assert all(
        one.saving.expected == 0 for one in found.recommendations if one.proposal.lever == "prompt_caching"
    )


def test_the_order_of_the_log_decides_nothing(tmp_path: Path) -> None:
    rows = [row for number in range(20) for row in conversation(f"c{number}", number * 3, 2)]
    forward, backward = tmp_path / "a", tmp_path / "b"
    forward.mkdir()
    backward.mkdir()
    assert advice(forward, rows).plan == advice(backward, rows[::-1]).plan
