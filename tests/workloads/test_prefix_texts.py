"""Names of blocks of text: what prompts have in common, and nothing of what they say."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads.cache_replay import UNLIMITED, find_accesses, refreshed_hits
from workloads.load import LoadOptions, load
from workloads.prefix_texts import BLOCK_CHARACTERS
from workloads.relations import connect


def rows_of(path: Path, texts: list[str]) -> tuple[Any, Any, list[dict[str, Any]]]:
    rows = [
        {"timestamp": (1_780_300_800 + at) * 1_000_000, "input": text, "output": "yes", "session_id": "s"}
        for at, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    connection = connect()
    ledger = load(connection, [str(path)], LoadOptions()).ledger
    return connection, ledger, connection.to_pyarrow(ledger.order_by("log_row")).to_pylist()


def test_names_are_equal_up_to_the_block_that_differs(tmp_path: Path) -> None:
    start = "ä" * (3 * BLOCK_CHARACTERS)
    changed = start[: BLOCK_CHARACTERS + 7] + "b" + start[BLOCK_CHARACTERS + 8 :]
    _, _, rows = rows_of(tmp_path / "log.jsonl", [start, start + "more", changed])
    first, longer, other = (row["block_hashes"] for row in rows)
    assert (len(first), len(longer), len(other)) == (3, 4, 3)
    assert first == longer[:3]
    # A block behind the difference has another name, though its own text is the same.
    assert [one == two for one, two in zip(first, other, strict=True)] == [True, False, False]


def test_no_text_is_kept(tmp_path: Path) -> None:
    connection, ledger, rows = rows_of(tmp_path / "log.jsonl", ["a secret of the house"])
    assert "secret" not in json.dumps(rows, default=str)
    stored = [name for (name,) in connection.raw_sql("SELECT table_name FROM duckdb_tables()").fetchall()]
    assert "ledger_raw" in stored
    for name in stored:
        assert "secret" not in str(connection.raw_sql(f'SELECT * FROM "{name}"').fetchall())  # noqa: S608
    assert {"input", "text_parts"}.isdisjoint(ledger.columns)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("texts")


@settings(max_examples=15, deadline=None, derandomize=True)
@given(
    texts=st.lists(
        st.lists(st.sampled_from("ab"), min_size=1, max_size=4).map(
            lambda parts: "".join(part * BLOCK_CHARACTERS for part in parts)
        ),
        min_size=1,
        max_size=6,
    )
)
def test_what_is_found_is_what_texts_have_in_common(folder: Path, texts: list[str]) -> None:
    connection, ledger, _ = rows_of(folder / "log.jsonl", texts)
    accesses = find_accesses(connection, ledger)
    assert accesses is not None
    expected, seen = 0, set[str]()
    for text in texts:
        prefixes = [text[:end] for end in range(BLOCK_CHARACTERS, len(text) + 1, BLOCK_CHARACTERS)]
        expected += sum(prefix in seen for prefix in prefixes) * BLOCK_CHARACTERS // 4
        seen |= set(prefixes)
    assert refreshed_hits(connection, accesses, [UNLIMITED])[UNLIMITED].hit_tokens == expected
