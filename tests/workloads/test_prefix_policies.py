"""Mixed lifetimes and pings, worked by hand and against a plain simulation."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads.cache_replay import find_accesses, refreshed_hits
from workloads.load import LoadOptions, load
from workloads.prefix_policies import store_longer
from workloads.relations import connect

SHORT, LONG = 300, 3_600
PINGS = (1, 2, 11)


def trace(*requests: tuple[float, list[int]]) -> list[dict[str, Any]]:
    return [
        {
            "timestamp": int(at * 1000),
            "input_length": 512 * len(blocks),
            "output_length": 1,
            "hash_ids": blocks,
        }
        for at, blocks in requests
    ]


def replayed(path: Path, rows: Sequence[dict[str, Any]]) -> tuple[dict[str, int], dict[float, int]]:
    """Sums of all columns, and hits by plain lifetime."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    connection = connect()
    accesses = find_accesses(connection, load(connection, [str(path)], LoadOptions(prefixes=True)).ledger)
    assert accesses is not None
    found = store_longer(connection, accesses, SHORT, LONG, PINGS)
    sums = {name: found[name].sum() for name in found.columns if name != "request"}
    row = connection.to_pyarrow(found.agg(**sums)).to_pylist()[0]
    plain = refreshed_hits(connection, accesses, [SHORT, LONG])
    return {name: int(value) for name, value in row.items()}, {
        age: one.hit_tokens for age, one in plain.items()
    }


def test_what_all_begin_with_is_kept_long_and_the_rest_short(tmp_path: Path) -> None:
    rows = trace((0, [1, 2, 30]), (1000, [1, 2, 40]), (1100, [1, 2, 40, 41]), (3000, [1, 2, 50]))
    sums, plain = replayed(tmp_path / "log.jsonl", rows)
    # Block 40 stands in half of the prompts, so it is stable too; 30, 41 and 50 are not.
    assert sums["stable"] == (2 + 3 + 3 + 2) * 512
    assert sums["stable_read"] == (0 + 2 + 3 + 2) * 512
    assert sums["mixed_read"] == plain[LONG] == (2 + 3 + 2) * 512
    assert plain[SHORT] == 3 * 512


def test_a_ping_bridges_a_pause_and_a_prompt_that_is_never_met_again_is_pinged_in_vain(
    tmp_path: Path,
) -> None:
    rows = trace((0, [1, 2]), (500, [1, 2, 3]), (1500, [1, 2, 3]))
    sums, plain = replayed(tmp_path / "log.jsonl", rows)
    assert plain[SHORT] == 0
    # Up to one: after the first request one, after the second one (too few), after the last one.
    assert (sums["sent_1"], sums["read_1"]) == (3, 2 * 512)
    # 1,000 s need three.
    assert (sums["sent_2"], sums["read_2"]) == (1 + 2 + 2, 2 * 512)
    assert (sums["sent_11"], sums["read_11"]) == (1 + 3 + 11, (2 + 3) * 512)


def test_no_ping_is_due_within_the_lifetime(tmp_path: Path) -> None:
    sums, _ = replayed(tmp_path / "log.jsonl", trace((0, [1]), (300, [1])))
    assert sums["sent_1"] == 1  # after the last
    assert sums["read_1"] == 512


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("policies")


@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    log=st.lists(
        st.tuples(st.integers(0, 4000), st.lists(st.integers(1, 2), min_size=1, max_size=4)),
        min_size=1,
        max_size=12,
    )
)
def test_longer_never_reads_less_and_the_order_of_rows_is_no_matter(
    folder: Path, log: list[tuple[int, list[int]]]
) -> None:
    def blocks(path: list[int]) -> list[int]:
        return [int("".join(map(str, path[: depth + 1]))) for depth in range(len(path))]

    rows = trace(*[(at + number / 100, blocks(path)) for number, (at, path) in enumerate(log)])
    there, plain = replayed(folder / "log.jsonl", rows)
    back, _ = replayed(folder / "log.jsonl", rows[::-1])
    assert there == back
    assert plain[SHORT] <= there["mixed_read"] <= plain[LONG]
    assert plain[SHORT] <= there["read_1"] <= there["read_2"] <= there["read_11"]
    assert there["sent_1"] <= there["sent_2"] <= there["sent_11"]
    assert there["stable_read"] <= there["stable"]
