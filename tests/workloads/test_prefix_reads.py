"""Reads by workload of logs that name what prompts begin with, and call sites of logs without labels."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads import cube as scan
from workloads.cache_replay import UNLIMITED, Basis
from workloads.grouping import Grouping, choose_grouping
from workloads.load import LoadOptions, load
from workloads.period import Period
from workloads.prefix_reads import PrefixReads, prefix_reads
from workloads.relations import connect
from workloads.session_reads import Smallest

MODEL = ("anthropic", "m")
LIFETIMES = (60, 300, UNLIMITED)


def read(path: Path, rows: Sequence[dict[str, Any]]) -> tuple[Any, Any, Grouping]:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    connection = connect()
    found = load(connection, [str(path)], LoadOptions(provider=MODEL[0], model=MODEL[1]))
    records = scan.prepare(connection, found.ledger, Period())
    return connection, records, choose_grouping(connection, records, ())


def reads(path: Path, rows: Sequence[dict[str, Any]], *caches: Smallest) -> PrefixReads:
    connection, records, grouping = read(path, rows)
    found = prefix_reads(connection, records, grouping, {MODEL: list(caches)} if caches else {}, LIFETIMES)
    assert found is not None
    return found


def sums(frame: pd.DataFrame, place: int = 0) -> list[int]:
    return [int(frame[f"read_{place}_{number}"].sum()) for number in range(len(LIFETIMES))]


def call(at: float, blocks: list[int], size: int | None = None) -> dict[str, Any]:
    size = 512 * len(blocks) if size is None else size
    return {"timestamp": int(at * 1000), "input_length": size, "output_length": 1, "hash_ids": blocks}


def test_reads_are_told_by_lifetime_and_under_the_smallest_prefix_of_each_cache(tmp_path: Path) -> None:
    rows = [call(0, [1, 2]), call(100, [1, 3]), call(1000, [1, 2])]
    found = reads(tmp_path / "log.jsonl", rows, Smallest(1, 1), Smallest(1024, 128))
    assert found.basis is Basis.BLOCKS
    # 100 s later the first block is read; 1,000 s after the first request both are, if they are kept that long.
    assert sums(found.frame) == [0, 512, 512 + 1024]
    assert sums(found.frame, 1) == [0, 0, 1024]
    assert (found.frame["cacheable_1"].sum(), found.frame["text_tokens"].sum()) == (3072, 3072)


def test_workloads_share_nothing(tmp_path: Path) -> None:
    rows = [{**call(at, [1, 2]), "chat_id": at, "type": kind} for at, kind in ((0, "a"), (1, "b"), (2, "a"))]
    for number, row in enumerate(rows):
        row |= {"timestamp": number, "input_length": 32}
    found = reads(tmp_path / "log.jsonl", rows).frame.set_index("workload")
    assert {name: int(found.loc[name, "read_0_0"]) for name in ("a", "b")} == {"a": 32, "b": 0}


def test_a_log_without_labels_is_grouped_by_what_prompts_begin_with(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    common = [call(at, [7, at]) for at in range(1, 60)] + [call(at, [8, at]) for at in range(60, 100)]
    rare = [call(at, [at]) for at in range(100, 110)]
    connection, records, grouping = read(path, common + rare)
    counts = connection.execute(grouping.name_of(records).value_counts(name="n")).set_axis(
        ["name", "n"], axis=1
    )
    counts = dict(zip(counts["name"], counts["n"], strict=True))
    assert sorted(counts.values()) == [10, 40, 59]
    assert counts["other prompts"] == 10
    assert "what prompts begin with" in grouping.rule
    # The name of a call site does not depend on what else the log has.
    other = read(path, common[:59])
    assert set(other[0].execute(other[2].name_of(other[1]))) <= set(counts)


def test_prompts_that_all_begin_differently_are_grouped_by_model(tmp_path: Path) -> None:
    grouping = read(tmp_path / "log.jsonl", [call(at, [at]) for at in range(200)])[2]
    assert (grouping.keys, grouping.sites) == (("model",), ())


def test_a_log_of_counts_names_nothing(tmp_path: Path) -> None:
    rows = [{"timestamp": "2026-06-01", "model": "m", "input_tokens": 10, "output_tokens": 1}]
    connection, records, grouping = read(tmp_path / "log.jsonl", rows)
    assert not {"log_row", "block_hashes"} & set(records.columns)
    assert prefix_reads(connection, records, grouping, {}, LIFETIMES) is None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reads")


prompts = st.lists(st.tuples(st.integers(0, 400), st.lists(st.integers(1, 2), min_size=1, max_size=4)), min_size=1, max_size=12)  # fmt: skip


@settings(max_examples=20, deadline=None, derandomize=True)
@given(log=prompts)
def test_reads_grow_with_the_lifetime_and_do_not_depend_on_the_order_of_rows(
    folder: Path, log: list[tuple[int, list[int]]]
) -> None:
    def blocks(path: list[int]) -> list[int]:
        return [int("".join(map(str, path[: depth + 1]))) for depth in range(len(path))]

    rows = [call(at + number / 100, blocks(path)) for number, (at, path) in enumerate(log)]
    there, back = (sums(reads(folder / "log.jsonl", order).frame) for order in (rows, rows[::-1]))
    assert there == back == sorted(there)
