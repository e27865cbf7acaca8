"""Caches that break within conversations, from logs to advice, worked by hand."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from advisor.options import AnalyseOptions
from advisor.recommendation import Advice, Recommendation
from advisor.run import analyse
from workloads.load import LoadOptions

MODEL = "claude-sonnet-4-5"
RATES = {"input": "3", "output": "15", "cache_read": "0.3", "cache_write_5m": "3.75", "cache_write_1h": "6"}


def advice(folder: Path, rows: Sequence[dict[str, Any]]) -> Advice:
    log, prices = folder / "log.jsonl", folder / "prices.json"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    prices.write_text(json.dumps({"models": {MODEL: RATES}}), "utf-8")
    options = AnalyseOptions(
        as_of=datetime(2026, 11, 29, tzinfo=UTC),
        price_files=(prices,),
        load=LoadOptions(provider="anthropic", model=MODEL),
    )
    found = analyse([str(log)], options).advice
    assert found is not None
    return found


def only(found: Advice, lever: str) -> Recommendation | None:
    return next((one for one in found.recommendations if one.proposal.lever == lever), None)


def turn(second: int, session: str, read: int, written: int) -> dict[str, Any]:
    return {
        "timestamp": f"2026-06-01T10:{second // 60:02d}:{second % 60:02d}Z",
        "session_id": session,
        "provider": "anthropic",
        "model": MODEL,
        "input_tokens": 0,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": 1,
    }


def test_what_was_cached_and_not_read_soon_after_is_paid_again(tmp_path: Path) -> None:
    rows = [
        turn(0, "a", 0, 10_000),
        turn(60, "a", 10_000, 1_000),
        turn(120, "a", 0, 12_000),  # 11,000 were there
        turn(180, "a", 4_000, 9_000),  # 12,000 were there, a third is read
        turn(240, "a", 12_500, 1_000),  # nearly all of 13,000
        turn(900, "a", 0, 14_000),  # too late
        turn(30, "b", 0, 11_000),  # another session
        turn(200, "b", 0, 2_000),  # a shorter prompt begins anew
    ]
    found = only(advice(tmp_path, rows), "cache_breakage")
    assert found is not None
    per_token = (Decimal("3.75") - Decimal("0.3")) / 10**6
    expected = {"low": 11_000, "expected": 11_000 + 8_000, "high": 11_000 + 8_000 + 500}
    for level, lost in expected.items():
        saved = getattr(found.saving, level)
        assert abs(saved - lost * per_token) < Decimal("0.00002"), level
        assert saved <= found.touched_usd
    facts = {fact.label: fact.value for fact in found.proposal.evidence}
    assert facts["Turns within 5 minutes that read less than half of what was cached"] == "2 of 4"


def test_conversations_that_read_what_they_have_are_left_alone(tmp_path: Path) -> None:
    rows = [turn(60 * number, "a", 1_000 * number, 1_000) for number in range(10)]
    assert only(advice(tmp_path, rows), "cache_breakage") is None


def test_a_cache_that_is_not_in_use_cannot_break(tmp_path: Path) -> None:
    rows = [turn(60 * number, "a", 0, 5_000 + number) for number in range(5)]
    assert only(advice(tmp_path, rows), "cache_breakage") is None


def test_names_of_blocks_tell_where_conversations_part(tmp_path: Path) -> None:
    """The third turn begins like the second for three blocks of eight."""
    prompts = [range(1, 7), range(1, 9), (1, 2, 3, *range(24, 34)), (1, 2, 3, *range(24, 36))]
    rows = [
        {
            "timestamp": 60_000 * number,
            "session_id": "a",
            "input_length": 512 * len(names),
            "output_length": 1,
            "hash_ids": list(names),
        }
        for number, names in enumerate(prompts)
    ]
    found = only(advice(tmp_path, rows), "prompt_caching")
    assert found is not None
    (said,) = [fact.value for fact in found.proposal.evidence if "less than half" in fact.label]
    # Of 4,096 tokens 1,536 are there: 2,560 are written at 3.75 instead of read at 0.30 USD per million.
    assert said.startswith("1 of 3; in the mean they part at block 4, after 1,536 tokens; 2,560 tokens")
    assert said.endswith("$0.0088")


def test_a_cache_that_works_by_itself_and_reads_nothing_is_looked_into(tmp_path: Path) -> None:
    def call(minute: int, read: int) -> dict[str, Any]:
        return {
            "timestamp": f"2026-06-01T10:{minute:02d}:00Z",
            "provider": "openai",
            "model": "gpt-4o",
            "input_tokens": 10_000,
            "cache_read_input_tokens": read,
            "output_tokens": 1,
        }

    def found(read: int) -> Recommendation | None:
        log = tmp_path / "log.jsonl"
        rows = [call(minute, read) for minute in range(50)]
        log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        advice = analyse([str(log)], AnalyseOptions(as_of=datetime(2026, 11, 29, tzinfo=UTC))).advice
        assert advice is not None
        return only(advice, "cache_breakage")

    one = found(0)
    assert one is not None
    assert one.saving.low == one.saving.expected == 0 < one.saving.high <= one.touched_usd
    assert found(9_000) is None
