"""Prompts that were sent before, word for word."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import ibis
import pytest

from workloads.cube_columns import with_sizes
from workloads.grouping import Grouping
from workloads.repeats import LATER, repeats

START = datetime(2026, 6, 15, 12)  # noqa: DTZ001  (the ledger's instants are naive UTC)
KINDS = {
    "started_at": "timestamp",
    "bucket_seconds": "int64",
    "model": "string",
    "application": "string",
    "input_uncached": "int64",
    "output": "int64",
    "block_hashes": "array<int64>",
    "block_tokens": "int64",
}
Asked = tuple[int | None, list[int], int, int]
"""Second, names of blocks, tokens of the prompt, tokens of the answer."""


def found(engine: Any, rows: Sequence[Asked], **more: Any) -> dict[int, tuple[int, int, int]]:
    """Return requests, prompt tokens and answer tokens by place."""
    data = [
        {
            **dict.fromkeys(KINDS),
            "started_at": None if at is None else START + timedelta(seconds=at),
            "model": "m",
            "application": "a",
            "input_uncached": prompt,
            "output": answer,
            "block_hashes": names,
            "block_tokens": 512,
            **more,
        }
        for at, names, prompt, answer in rows
    ]
    ledger = with_sizes(ibis.memtable(data, schema=KINDS))
    frame = repeats(engine, ledger, Grouping(("application",), ""))
    assert frame is not None
    return {
        int(row["within"]): (int(row["requests"]), int(row["input_uncached"]), int(row["output"]))
        for row in frame.to_dict("records")
    }


ROWS: list[Asked] = [
    (0, [1, 2], 1_000, 10),
    (60, [1, 2], 1_000, 20),  # a minute later
    (100, [1, 2], 999, 9),  # not as long
    (120, [1, 3], 1_000, 9),
    (1_860, [1, 2], 1_000, 30),  # half an hour after the one before
    (9_060, [1, 2], 1_000, 40),  # two hours
    (9_070, [1], 1_000, 9),  # half of it has no name
    (9_080, [1], 1_000, 9),
]


def test_a_repeat_is_what_was_sent_before_and_how_soon(engine: Any) -> None:
    assert found(engine, ROWS) == {0: (1, 1_000, 20), 1: (1, 1_000, 30), LATER: (1, 1_000, 40)}


def test_the_order_of_the_log_decides_nothing(engine: Any) -> None:
    assert found(engine, ROWS[::-1]) == found(engine, ROWS)


def test_of_those_that_came_together_the_dearest_is_the_first(engine: Any) -> None:
    together: list[Asked] = [(0, [1, 2], 1_000, answer) for answer in (5, 50, 7)]
    assert found(engine, together) == found(engine, together[::-1]) == {0: (2, 2_000, 12)}


def test_without_times_all_are_late(engine: Any) -> None:
    assert found(engine, [(None, *row[1:]) for row in ROWS[:2]]) == {LATER: (1, 1_000, 10)}


def test_buckets_and_prompts_without_names_are_none(engine: Any) -> None:
    assert found(engine, ROWS, bucket_seconds=60) == {}
    assert found(engine, [(0, [], 0, 1), (1, [], 0, 1)]) == {}


@pytest.mark.parametrize("missing", ["block_hashes", "block_tokens"])
def test_a_log_without_names_says_nothing(engine: Any, missing: str) -> None:
    kinds = {name: kind for name, kind in KINDS.items() if name != missing}
    ledger = with_sizes(ibis.memtable([dict.fromkeys(kinds)], schema=kinds))
    assert repeats(engine, ledger, Grouping(("application",), "")) is None


def test_names_of_texts_prove_it_where_blocks_have_none(engine: Any) -> None:
    texts = {"text_hashes": "array<int64>", "text_block_tokens": "int64"}
    data = [
        {
            **dict.fromkeys(KINDS),
            "started_at": START + timedelta(seconds=at),
            "model": "m",
            "application": "a",
            "input_uncached": 900,
            "output": 5,
            "text_hashes": [7, last],
            "text_block_tokens": 450,
        }
        for at, last in ((0, 1), (10, 1), (20, 2))
    ]
    ledger = with_sizes(ibis.memtable(data, schema=KINDS | texts))
    frame = repeats(engine, ledger, Grouping(("application",), ""))
    assert frame is not None
    assert [int(row["requests"]) for row in frame.to_dict("records")] == [1]
