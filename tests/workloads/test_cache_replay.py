"""Cache replay over logs: lifetimes, sessions and marked prefixes, worked by hand."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads.cache_replay import (
    UNLIMITED,
    Accesses,
    Basis,
    capacity_hits,
    find_accesses,
    refreshed_hits,
    written_hits,
)
from workloads.load import LoadOptions, load
from workloads.relations import connect


def replay(tmp_path: Path, rows: Sequence[dict[str, Any]]) -> tuple[Any, Accesses | None]:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    connection = connect()
    return connection, find_accesses(
        connection, load(connection, [str(path)], LoadOptions(prefixes=True)).ledger
    )


def trace(*requests: tuple[float, int, list[int]]) -> list[dict[str, Any]]:
    return [
        {"timestamp": int(at * 1000), "input_length": size, "output_length": 1, "hash_ids": blocks}
        for at, size, blocks in requests
    ]


def hit(tmp_path: Path, rows: Sequence[dict[str, Any]], lifetime: float, *, refresh: bool = True) -> int:
    connection, accesses = replay(tmp_path, rows)
    assert accesses is not None
    if refresh:
        return refreshed_hits(connection, accesses, [lifetime])[lifetime].hit_tokens
    return written_hits(connection, accesses, lifetime).hit_tokens


def test_a_use_keeps_an_entry_alive_and_an_age_of_the_lifetime_is_still_a_hit(tmp_path: Path) -> None:
    rows = trace((0, 512, [1]), (300, 512, [1]), (600, 512, [1]), (901, 512, [1]))
    assert hit(tmp_path, rows, 300) == 2 * 512
    # From the writing: at 300 it is read, at 600 written anew, at 901 that one is too old.
    assert hit(tmp_path, rows, 300, refresh=False) == 512


def test_the_last_block_has_its_true_size(tmp_path: Path) -> None:
    assert hit(tmp_path, trace((0, 600, [1, 2]), (1, 600, [1, 2])), UNLIMITED) == 600


@pytest.mark.parametrize("names", [["a1f0", "b2"], [17446744073709551615, 5], ["17446744073709551615", "-5"]])
def test_names_may_be_words_and_numbers_of_any_size(tmp_path: Path, names: list[Any]) -> None:
    rows = trace((0, 1000, names), (1, 1000, names), (2, 1000, [names[0], 7]))
    assert hit(tmp_path, rows, UNLIMITED) == 1000 + 512


def test_prompts_without_any_block_read_nothing(tmp_path: Path) -> None:
    assert hit(tmp_path, trace((0, 100, []), (1, 100, [])), UNLIMITED) == 0


def test_a_block_behind_a_missing_one_is_no_hit(tmp_path: Path) -> None:
    """At 11 the first block is too old to be read, so the second, written at 8, cannot be either."""
    rows = trace((0, 512, [1]), (8, 1024, [1, 2]), (11, 1024, [1, 2]))
    assert hit(tmp_path, rows, 10, refresh=False) == 512
    assert hit(tmp_path, rows, 10) == 512 + 1024


def test_equal_starts_are_taken_in_the_order_of_the_log(tmp_path: Path) -> None:
    rows = trace((5, 512, [1]), (5, 1024, [1, 2]), (5, 1024, [1, 3]))
    connection, accesses = replay(tmp_path, rows)
    assert accesses is not None
    # With one block of room the first request's block is there for the second; then only block 1 is.
    assert capacity_hits(connection, accesses, [1])[1].hit_tokens == 2 * 512
    assert refreshed_hits(connection, accesses, [0])[0].hit_tokens == 2 * 512


def test_only_the_last_part_is_measured(tmp_path: Path) -> None:
    rows = trace((0, 512, [1]), (1, 512, [1]), (2, 512, [1]), (3, 512, [9]))
    connection, accesses = replay(tmp_path, rows)
    assert accesses is not None
    found = refreshed_hits(connection, accesses, [60], measure_last=0.5)[60]
    assert (found.hit_tokens, found.input_tokens) == (512, 1024)


def test_sessions_that_grow_begin_with_the_turn_before(tmp_path: Path) -> None:
    def turn(at: str, session: str, prompt: int) -> dict[str, Any]:
        return {
            "timestamp": f"2026-06-01T10:{at}Z",
            "session_id": session,
            "model": "m",
            "input_tokens": prompt,
            "output_tokens": 10,
        }

    rows = [
        turn("00:00", "a", 1000),
        turn("01:00", "a", 1500),
        turn("20:00", "a", 2000),
        turn("21:00", "a", 800),  # shorter: a new beginning
        turn("00:30", "b", 1000),  # another session shares nothing
    ]
    connection, accesses = replay(tmp_path, rows)
    assert accesses is not None
    assert accesses.basis is Basis.SESSIONS
    found = refreshed_hits(connection, accesses, [300, 3600])
    assert (found[300].hit_tokens, found[3600].hit_tokens) == (1000, 1000 + 1500)


def test_a_log_of_counts_alone_says_nothing_of_prefixes(tmp_path: Path) -> None:
    rows = [{"timestamp": "2026-06-01", "model": "m", "input_tokens": 10, "output_tokens": 1}]
    assert replay(tmp_path, rows)[1] is None


requests = st.lists(
    st.tuples(st.integers(0, 50), st.lists(st.integers(1, 3), min_size=1, max_size=4)),
    min_size=1,
    max_size=12,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("replay")


@settings(max_examples=25, deadline=None, derandomize=True)
@given(log=requests)
def test_longer_lives_and_more_room_never_hit_less_and_order_of_rows_is_no_matter(
    folder: Path, log: list[tuple[int, list[int]]]
) -> None:
    def blocks(path: list[int]) -> list[int]:
        return [int("".join(map(str, path[: depth + 1]))) for depth in range(len(path))]

    # Starts are made distinct, so that the order of rows has no say.
    rows = trace(*[(at + index / 100, 512 * len(path), blocks(path)) for index, (at, path) in enumerate(log)])
    found = []
    for order in (rows, rows[::-1]):
        connection, accesses = replay(folder, order)
        assert accesses is not None
        lives = refreshed_hits(connection, accesses, [0, 5, 20, UNLIMITED])
        rooms = capacity_hits(connection, accesses, [1, 2, 5, 1000])
        by_life = [lives[age].hit_tokens for age in (0, 5, 20, UNLIMITED)]
        by_room = [rooms[size].hit_tokens for size in (1, 2, 5, 1000)]
        assert by_life == sorted(by_life)
        assert by_room == sorted(by_room)
        assert by_life[-1] == by_room[-1] <= accesses.input_tokens
        assert written_hits(connection, accesses, 20).hit_tokens <= by_life[2]
        found.append((by_life, by_room))
    assert found[0] == found[1]
