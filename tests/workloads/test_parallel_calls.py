"""Calls that start before the first answer of an entry has begun."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workloads.cache_replay import UNLIMITED, find_accesses, refreshed_hits
from workloads.load import LoadOptions, load
from workloads.parallel_calls import strict_hits
from workloads.relations import connect


def both(path: Path, rows: Sequence[dict[str, Any]], lifetime: float) -> tuple[int, int, float]:
    """Tokens from start to start, and with entries that can be read once an answer has begun; how often that is told."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    connection = connect()
    found = find_accesses(connection, load(connection, [str(path)], LoadOptions(prefixes=True)).ledger)
    assert found is not None
    strict = strict_hits(connection, found, lifetime)
    hits = refreshed_hits(connection, found, [lifetime])[lifetime]
    return hits.hit_tokens, strict.hits.hit_tokens, strict.known_ratio


def call(second: int, latency: float | None, name: str = "a") -> dict[str, Any]:
    row = {
        "timestamp": f"2026-06-01T10:{second // 60:02d}:{second % 60:02d}Z",
        "model": "m",
        "prefix_sha256": name,
        "prefix_tokens": 1_000,
        "suffix_tokens": 10,
        "output_tokens": 1,
    }
    return row if latency is None else {**row, "latency_s": latency}


def test_calls_before_the_first_answer_are_misses(tmp_path: Path) -> None:
    # The first answers at 10: the call at 5 reads nothing, and the one at 12 does.
    rows = [call(0, 10), call(5, 20), call(12, 1)]
    assert both(tmp_path / "log.jsonl", rows, 300) == (2_000, 1_000, 1.0)
    # After a pause the entry is written anew, and whoever comes right behind is too early again.
    rows += [call(500, 10), call(505, 1), call(511, 1)]
    assert both(tmp_path / "log.jsonl", rows, 300) == (4_000, 2_000, 1.0)


def test_a_fast_answer_of_a_later_call_makes_the_entry_readable(tmp_path: Path) -> None:
    rows = [call(0, 100), call(5, 1), call(10, 1)]
    assert both(tmp_path / "log.jsonl", rows, 300) == (2_000, 1_000, 1.0)


def test_where_no_answer_has_a_time_only_calls_of_one_moment_are_told(tmp_path: Path) -> None:
    rows = [
        {"timestamp": at, "input_length": 512, "output_length": 1, "hash_ids": [1]}
        for at in (0, 0, 0, 1_000, 1_000)
    ]
    assert both(tmp_path / "log.jsonl", rows, UNLIMITED) == (4 * 512, 2 * 512, 0.0)
