"""From a log whose prompts are named to advice on caching: the replay decides, and what loses is not recommended."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from advisor.analysis import Analysis
from advisor.cache_reuse import Known
from advisor.options import AnalyseOptions
from advisor.recommendation import Confidence, Recommendation
from advisor.run import analyse
from workloads.load import LoadOptions

AS_OF = datetime(2026, 11, 29, tzinfo=UTC)
MODEL = "claude-sonnet-4-5"
RATES = {"input": "3", "output": "15", "cache_read": "0.3", "cache_write_5m": "3.75", "cache_write_1h": "6"}


def analysis(folder: Path, rows: Sequence[dict[str, Any]]) -> Analysis:
    log, prices = folder / "log.jsonl", folder / "prices.json"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    prices.write_text(json.dumps({"models": {MODEL: RATES}}), "utf-8")
    options = AnalyseOptions(
        as_of=AS_OF,
        price_files=(prices,),
        load=LoadOptions(provider="anthropic", model=MODEL),
    )
    return analyse([str(log)], options)


def caching(found: Analysis) -> list[Recommendation]:
    assert found.advice is not None
    return [
        one
        for one in found.advice.recommendations
        if one.proposal.lever in ("prompt_caching", "cache_lifetime")
    ]


def call(at: int, blocks: list[int]) -> dict[str, Any]:
    return {"timestamp": at * 1000, "input_length": 512 * len(blocks), "output_length": 1, "hash_ids": blocks}


FOUR = [1, 2, 3, 4]


def test_five_minutes_pay_and_an_hour_is_rejected_with_its_number(tmp_path: Path) -> None:
    """Of six prompts in pairs, a day apart, the second of each is read: 5 minutes save 40 %, an hour's writes lose."""
    rows = [call(day * 86_400 + at, [*FOUR, day * 10 + at]) for day in range(3) for at in (0, 60)]
    found = analysis(tmp_path, rows)
    (one,) = caching(found)
    assert "(5m)" in one.proposal.title
    assert one.proposal.confidence is Confidence.MEASURED
    plain, read, whole = Decimal(3), Decimal("0.3"), 6 * 2560
    reads = 3 * 2048
    cost = reads * read + (whole - reads) * Decimal("3.75")
    assert abs(one.saving.expected - (whole * plain - cost) / 10**6) < Decimal("0.0001")
    assert one.saving.low == one.saving.expected == one.saving.high
    assert found.advice is not None
    (lost,) = [out for out in found.advice.rejected if out.lever == "cache_lifetime"]
    hour = reads * read + (whole - reads) * Decimal(6)
    assert "1h" in lost.reason
    assert abs(lost.saving.expected - (whole * plain - hour) / 10**6) < Decimal("0.0001")


def test_an_hour_is_chosen_where_it_reads_what_five_minutes_write_again(tmp_path: Path) -> None:
    (one,) = caching(analysis(tmp_path, [call(number * 1800, FOUR) for number in range(10)]))
    assert "(1h)" in one.proposal.title


def test_prompts_that_have_nothing_in_common_are_not_cached_and_the_loss_is_said(tmp_path: Path) -> None:
    rows = [call(number, [1, *range(number * 10 + 10, number * 10 + 20)]) for number in range(20)]
    found = analysis(tmp_path, rows)
    assert caching(found) == []


def test_the_curve_and_what_could_be_read_are_those_of_the_replay(tmp_path: Path) -> None:
    (found,) = analysis(tmp_path, [call(number * 1800, FOUR) for number in range(10)]).reuse
    ratios = {point.lifetime_seconds: point.hit_ratio for point in found.curve}
    assert (ratios[600], ratios[1_800], ratios[3_600]) == (0, 0.9, 0.9)
    assert (found.logged_ratio, found.achievable_ratio, found.lifetimes) == (None, 0.9, ("1h",))
    assert (found.requests, found.text_tokens) == (10, 20_480)


def test_a_log_without_a_price_has_a_curve_and_no_advice(tmp_path: Path) -> None:
    rows = [call(at, FOUR) for at in (0, 200, 2_000)]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    found = analyse([str(log)], AnalyseOptions(as_of=AS_OF))
    assert found.advice is None
    (one,) = found.reuse
    assert {point.lifetime_seconds: round(point.hit_ratio, 4) for point in one.curve}[300] == 0.3333
    assert (one.curve[-1].hit_ratio, one.achievable_ratio) == (2 / 3, None)


def chat(second: int, session: str, prompt: int) -> dict[str, Any]:
    at = datetime.fromtimestamp(1_780_300_800 + second, UTC).isoformat()
    return {
        "timestamp": at,
        "session_id": session,
        "model": MODEL,
        "input_tokens": prompt,
        "output_tokens": 10,
    }


def test_sessions_that_grow_have_a_curve_and_single_turns_have_none(tmp_path: Path) -> None:
    (found,) = analysis(tmp_path, [chat(100 * turn, "s", 2_000 + 100 * turn) for turn in range(10)]).reuse
    ratios = [point.hit_ratio for point in found.curve]
    assert ratios == sorted(ratios)
    assert found.known_by is Known.SESSIONS
    whole = sum(2_000 + 100 * turn for turn in range(10))
    assert ratios[-1] == (whole - 2_900) / whole
    assert analysis(tmp_path, [chat(turn, f"s{turn}", 2_000) for turn in range(10)]).reuse == ()


def test_counts_alone_are_no_evidence(tmp_path: Path) -> None:
    rows = [chat(turn, "s", 2_000) for turn in range(10)]
    assert (
        analysis(tmp_path, [{key: row[key] for key in row if key != "session_id"} for row in rows]).reuse
        == ()
    )


SHOPS = [f"You are the helper of the invented shop {name}. " * 150 for name in ("one", "two")]


def kept(number: int, question: str) -> dict[str, Any]:
    """A row of a gateway that keeps prompts and has no label: two call sites in turn."""
    messages = [
        {"role": "system", "content": SHOPS[number % 2]},
        {"role": "user", "content": question * 40},
    ]
    tokens = len(json.dumps(messages)) // 4
    at = f"2026-11-02T{8 + number // 60:02d}:{number % 60:02d}"
    return {
        "request_id": f"r{number}", "call_type": "acompletion", "api_key": "", "spend": 0.0, "metadata": {},
        "total_tokens": tokens + 10, "prompt_tokens": tokens, "completion_tokens": 10, "startTime": f"{at}:00Z",
        "endTime": f"{at}:02Z", "model": MODEL, "custom_llm_provider": "anthropic", "messages": messages,
    }  # fmt: skip


def test_texts_of_a_gateway_tell_call_sites_and_what_they_share(tmp_path: Path) -> None:
    found = analysis(tmp_path, [kept(number, f"question {number} ") for number in range(200)])
    assert [(one.name.split()[0], one.whole.requests) for one in found.workloads] == [
        ("call", 100),
        ("call", 100),
    ]
    advised = caching(found)
    assert {one.proposal.confidence for one in advised} == {Confidence.MEASURED}
    assert {one.proposal.workload for one in advised} == {one.name for one in found.workloads}
    assert {one.known_by for one in found.reuse} == {Known.TEXTS}
    for one in found.reuse:
        # The whole blocks of what is the same: 13 of 512 characters in a prompt of some 7,500.
        assert 0.85 < one.curve[-1].hit_ratio < 0.93
    assert "invented" not in repr(found)


def test_prompts_that_a_gateway_shows_to_be_sent_again(tmp_path: Path) -> None:
    rows = [kept(number, f"question {number // 4} ") for number in range(200)]
    advice = analysis(tmp_path, rows).advice
    assert advice is not None
    again = [one for one in advice.recommendations if one.proposal.lever == "exact_repeats"]
    counts = [fact.value for one in again for fact in one.proposal.evidence if "at all" in fact.label]
    assert counts == ["50 (50 %)", "50 (50 %)"]


def test_sessions_tell_where_few_prompts_were_kept(tmp_path: Path) -> None:
    """The texts of a tenth of the prompts say less than the sessions of all."""
    rows = [
        {
            **kept(2 * number, f"question {number} "),
            "session_id": f"s{number % 10}",
            "metadata": {"user_api_key_team_alias": "team"},
        }
        for number in range(100)
    ]
    for number, row in enumerate(rows):
        row["messages"] = row["messages"] if number < 10 else {}
        row["prompt_tokens"] += 200 * (number // 10)
    found = analysis(tmp_path, rows)
    assert {one.proposal.confidence for one in caching(found)} == {Confidence.MODELLED}
