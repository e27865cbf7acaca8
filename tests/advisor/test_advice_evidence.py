"""From a log to levers: how requests end, when they come and where they are served gets into the advice."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from advisor.options import AnalyseOptions
from advisor.recommendation import Advice, Recommendation
from advisor.run import analyse
from workloads.load import LoadOptions

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

START = datetime(2026, 11, 2, 8, tzinfo=UTC)
AS_OF = datetime(2026, 11, 29, tzinfo=UTC)
SONNET = "claude-sonnet-5"
PRICES = {
    "unit": "USD per 1,000,000 tokens",
    "models": {
        "own": {
            "input": "2",
            "output": "10",
            "region_multiplier": {"eu": "1.1"},
            "tier": {"above": 1000, "inclusive": False, "scope": "whole_request", "input": "4", "output": "20"},
        },
        SONNET: {
            "input": "2", "output": "10", "cache_read": "0.2", "cache_write_5m": "2.5", "cache_write_1h": "4",
        },
    },
}  # fmt: skip


def advice(folder: Path, rows: Sequence[dict[str, Any]]) -> Advice:
    log, prices = folder / "log.jsonl", folder / "prices.json"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    prices.write_text(json.dumps(PRICES), "utf-8")
    found = analyse([str(log)], AnalyseOptions(as_of=AS_OF, price_files=(prices,))).advice
    assert found is not None
    return found


def of(found: Advice, lever: str) -> list[Recommendation]:
    return [one for one in found.recommendations if one.proposal.lever == lever]


def call(number: int, **more: Any) -> dict[str, Any]:
    at = START + timedelta(minutes=number)
    base = {"timestamp": at.isoformat(), "model": "own", "application": "app"}
    return {**base, "input_tokens": 500, "output_tokens": 100, **more}


def message(second: int, read: int, short: int, long: int) -> dict[str, Any]:
    usage = {
        "input_tokens": 50,
        "output_tokens": 50,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": short + long,
        "cache_creation": {"ephemeral_5m_input_tokens": short, "ephemeral_1h_input_tokens": long},
    }
    at = (START + timedelta(seconds=second)).isoformat()
    return {"type": "message", "id": f"m{second}", "timestamp": at, "model": SONNET, "usage": usage}


def test_requests_that_fail(tmp_path: Path) -> None:
    rows = [call(number, status=500 if number % 10 == 0 else 200) for number in range(100)]
    (one,) = of(advice(tmp_path, rows), "waste")
    # Ten of a hundred equal requests; a half of them is expected.
    bill = Decimal(100 * (500 * 2 + 100 * 10)) / 10**6
    assert [one.saving.low, one.saving.expected, one.saving.high] == [bill / 40, bill / 20, bill / 10]


def test_answers_that_are_cut_off(tmp_path: Path) -> None:
    rows = [call(number, finish_reason="length" if number % 2 else "stop") for number in range(100)]
    (one,) = of(advice(tmp_path, rows), "waste")
    assert (one.saving.expected, one.saving.high) == (0, Decimal(50 * 500 * 2) / 10**6)


def test_a_surcharge_for_a_region(tmp_path: Path) -> None:
    rows = [call(number, region="eu" if number % 2 else None) for number in range(100)]
    found = advice(tmp_path, rows)
    (one,) = of(found, "region")
    # Whether the data may leave is for others to say: a bound.
    assert (one.saving.expected, one.saving.high) == (0, Decimal(50 * (500 * 2 + 100 * 10)) / 10**7)
    assert "region" not in {step.lever for step in found.plan.steps}


def test_prompts_just_above_a_dearer_rate(tmp_path: Path) -> None:
    rows = [call(number, input_tokens=1_020 if number % 2 else 500) for number in range(100)]
    (one,) = of(advice(tmp_path, rows), "long_context")
    before, after = 1_020 * 4 + 100 * 20, 1_000 * 2 + 100 * 10
    assert one.saving.low == one.saving.high == Decimal(50 * (before - after)) / 10**6


def test_an_hour_that_nobody_needs(tmp_path: Path) -> None:
    # Three stretches of an hour with a request each minute, two hours apart: no read is later than 5 minutes.
    starts = [stretch * 3 * 3_600 + minute * 60 for stretch in range(3) for minute in range(60)]
    rows = [
        message(second, 20_000 * bool(place % 60), 0, 20_000 * (not place % 60))
        for place, second in enumerate(starts)
    ]
    (one,) = of(advice(tmp_path, rows), "cache_lifetime")
    assert one.saving.low == one.saving.high == Decimal(3 * 20_000) * Decimal("1.5") / 10**6


def test_an_hour_that_pays_stays(tmp_path: Path) -> None:
    rows = [message(place * 1_200, 20_000 * bool(place), 0, 20_000 * (not place)) for place in range(100)]
    found = advice(tmp_path, rows)
    assert not of(found, "cache_lifetime")
    (why,) = [one for one in found.rejected if one.lever == "cache_lifetime"]
    # 99 reads would be writes at 2.5 instead of 0.2; the one write would cost 1.5 less.
    assert why.saving.expected == (20_000 * Decimal("1.5") - 99 * 20_000 * Decimal("2.3")) / 10**6


def test_a_cache_that_nobody_reads(tmp_path: Path) -> None:
    (one,) = of(
        advice(tmp_path, [message(place * 60, 0, 20_000, 0) for place in range(100)]), "cache_lifetime"
    )
    assert one.saving.expected == Decimal(100 * 20_000) * Decimal("0.5") / 10**6


def traced(folder: Path, asked: Sequence[tuple[int, list[int], int]]) -> Advice:
    """The advice on a trace that names blocks of 512 tokens: second, names, tokens of the prompt."""
    log, prices = folder / "trace.jsonl", folder / "prices.json"
    log.write_text(
        "".join(
            json.dumps(
                {"timestamp": 1_000 * at, "input_length": prompt, "output_length": 100, "hash_ids": names}
            )
            + "\n"
            for at, names, prompt in asked
        ),
        "utf-8",
    )
    prices.write_text(json.dumps(PRICES), "utf-8")
    load = LoadOptions(model="own", prefixes=True)
    options = AnalyseOptions(as_of=AS_OF, price_files=(prices,), load=load)
    found = analyse([str(log)], options).advice
    assert found is not None
    return found


def test_prompts_that_were_sent_before_word_for_word(tmp_path: Path) -> None:
    rows = [(number * 600, [number], 500) for number in range(96)]
    again = [(10, [0], 500), (2_000, [0], 500), (7_200 + 1, [0], 500), (57_000, [95], 499)]
    found = traced(tmp_path, [*rows, *again])
    (one,) = of(found, "exact_repeats")
    # One within 5 minutes, one more within the hour, one later; the last is a token shorter than what it looks like.
    each = Decimal(500 * 2 + 100 * 10) / 10**6
    assert [one.saving.low, one.saving.expected, one.saving.high] == [each, 2 * each, 3 * each]
    assert found.plan.steps[0].lever == "exact_repeats"


def test_prompts_of_which_a_part_has_no_name_prove_nothing(tmp_path: Path) -> None:
    assert not of(traced(tmp_path, [(number * 10, [1], 600) for number in range(50)]), "exact_repeats")


@pytest.mark.parametrize("lever", ["waste", "exact_repeats", "region", "long_context", "cache_lifetime"])
def test_a_plain_log_has_nothing_of_these(tmp_path: Path, lever: str) -> None:
    found = advice(tmp_path, [call(number) for number in range(100)])
    assert not of(found, lever)
    assert lever not in {one.lever for one in found.rejected}
