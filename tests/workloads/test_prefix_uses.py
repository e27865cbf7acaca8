"""Uses of blocks, put together where they tell the same."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads.cache_replay import UNLIMITED, find_accesses, refreshed_hits
from workloads.load import LoadOptions, load
from workloads.relations import connect


def uses(path: Path, prompts: list[list[int]]) -> tuple[int, int, int]:
    """Rows of uses, tokens of them, and hits of a cache that keeps everything."""
    rows = [
        {"timestamp": at, "input_length": 512 * len(names), "output_length": 1, "hash_ids": names}
        for at, names in enumerate(prompts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    connection = connect()
    found = find_accesses(connection, load(connection, [str(path)], LoadOptions(prefixes=True)).ledger)
    assert found is not None
    table = found.uses
    row: dict[str, Any] = connection.to_pyarrow(
        table.agg(rows=table.count(), tokens=table.tokens.sum())
    ).to_pylist()[0]
    hits = refreshed_hits(connection, found, [UNLIMITED])[UNLIMITED]
    return row["rows"], int(row["tokens"]), hits.hit_tokens


def test_blocks_that_always_occur_together_are_one_use(tmp_path: Path) -> None:
    assert uses(tmp_path / "log.jsonl", [[1, 2, 3, 4], [1, 2, 3, 9], [7]]) == (5, 9 * 512, 3 * 512)


def test_names_of_contents_stand_for_what_is_before_them_too(tmp_path: Path) -> None:
    """5 follows 1 and 2: a cache has the second only behind what it was written behind."""
    assert uses(tmp_path / "log.jsonl", [[1, 5], [2, 5]]) == (2, 4 * 512, 0)
    assert uses(tmp_path / "log.jsonl", [[1, 5], [2, 5], [1, 5, 5]]) == (4, 7 * 512, 2 * 512)
    # The whole prompt is looked up before any of it is there.
    assert uses(tmp_path / "log.jsonl", [[3, 3, 3]]) == (1, 3 * 512, 0)
    assert uses(tmp_path / "log.jsonl", [[3, 3, 3], [3, 3]]) == (3, 5 * 512, 2 * 512)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("uses")


@settings(max_examples=30, deadline=None, derandomize=True)
@given(log=st.lists(st.lists(st.integers(1, 2), min_size=1, max_size=5), min_size=1, max_size=10))
def test_nothing_is_lost(folder: Path, log: list[list[int]]) -> None:
    prompts = [[int("".join(map(str, path[: depth + 1]))) for depth in range(len(path))] for path in log]
    seen: set[int] = set()
    hits = 0
    for names in prompts:
        hits += 512 * sum(name in seen for name in names)
        seen |= set(names)
    rows, tokens, found = uses(folder / "log.jsonl", prompts)
    assert (tokens, found) == (512 * sum(map(len, prompts)), hits)
    assert rows <= sum(map(len, prompts))
