"""Names of blocks of text: what prompts have in common, and nothing of what they say."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads.cache_replay import UNLIMITED, Basis, find_accesses, refreshed_hits
from workloads.grouping import choose_grouping
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


START = "You are the helper of an invented shop. " * 60


def payload(kind: str, number: int, messages: Any, tokens: int) -> dict[str, Any]:
    """A row of a gateway's log that keeps the prompt."""
    start, end = f"2026-06-01T10:0{number}:00Z", f"2026-06-01T10:0{number}:02Z"
    if kind == "litellm":
        return {
            "request_id": f"r{number}", "call_type": "acompletion", "api_key": "k", "spend": 0.01, "metadata": {},
            "total_tokens": tokens + 10, "prompt_tokens": tokens, "completion_tokens": 10, "startTime": start,
            "endTime": end, "model": "gpt-4o", "custom_llm_provider": "openai", "messages": messages,
        }  # fmt: skip
    if kind == "helicone":
        return {
            "response_id": f"x{number}", "request_id": f"r{number}", "request_created_at": start,
            "response_created_at": end, "response_status": 200, "prompt_tokens": tokens, "completion_tokens": 10,
            "provider": "OPENAI", "model": "gpt-4o", "request_body": {"model": "gpt-4o", "messages": messages},
        }  # fmt: skip
    return {
        "id": f"r{number}", "trace_id": f"t{number}", "type": "GENERATION", "start_time": start, "end_time": end,
        "provided_model_name": "gpt-4o", "usage_details": {"input": tokens, "output": 10}, "cost_details": {},
        "input": messages,
    }  # fmt: skip


def conversation(turns: int) -> list[dict[str, str]]:
    asked = [{"role": "user", "content": f"question {turn} " * 40} for turn in range(turns)]
    return [{"role": "system", "content": START}, *asked]


def replayed(path: Path, rows: list[dict[str, Any]]) -> tuple[Any, Any]:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    connection = connect()
    ledger = load(connection, [str(path)], LoadOptions(prefixes=True)).ledger
    return connection, find_accesses(connection, ledger)


@pytest.mark.parametrize("kind", ["litellm", "helicone", "langfuse"])
def test_prompts_in_a_gateways_log_tell_reuse(tmp_path: Path, kind: str) -> None:
    rows = [payload(kind, turn, conversation(turn + 1), 700 + 150 * turn) for turn in range(4)]
    connection, accesses = replayed(tmp_path / "log.jsonl", rows)
    assert accesses is not None
    assert accesses.basis is Basis.TEXTS
    hits = refreshed_hits(connection, accesses, [UNLIMITED])[UNLIMITED]
    # Each prompt begins with all but the end of the one before it.
    assert 0.6 * (700 + 850 + 1000) < hits.hit_tokens < 700 + 850 + 1000


def test_a_text_that_is_shorter_than_its_tokens_says_nothing(tmp_path: Path) -> None:
    """What a gateway writes instead of a prompt that it does not keep."""
    rows = [payload("litellm", number, {}, 700) for number in range(3)]
    assert replayed(tmp_path / "log.jsonl", rows)[1] is None


def test_sessions_in_files_named_by_ids_are_one_call_site(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    for number in range(3):
        row = {"timestamp": 1_780_300_800_000_000, "input": START, "output": "yes", "session_id": "s"}
        (folder / f"{'a' * 24}{number:08x}.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    connection = connect()
    records = load(connection, [str(folder)], LoadOptions()).ledger
    assert len(choose_grouping(connection, records, ()).sites) == 1


def test_names_are_chained_over_many_blocks(tmp_path: Path) -> None:
    """Names are made run by run: what differs in one run is told in all after it, and in none before."""
    blocks = [f"b{place:03d}" * (BLOCK_CHARACTERS // 4) for place in range(150)]
    changed = [*blocks[:70], "x" * BLOCK_CHARACTERS, *blocks[71:]]
    _, _, (one, other) = rows_of(tmp_path / "log.jsonl", ["".join(blocks), "".join(changed)])
    same = [left == right for left, right in zip(one["block_hashes"], other["block_hashes"], strict=True)]
    assert same == [True] * 70 + [False] * 80
    assert len({*one["block_hashes"], *other["block_hashes"]}) == 150 + 80


def test_a_log_is_read_for_its_texts_only_where_it_keeps_some(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    for messages, told in ((conversation(2), True), ({}, False)):
        rows = [payload("litellm", number, messages, 700) for number in range(3)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        ledger = load(connect(), [str(path)], LoadOptions()).ledger
        assert ({"text_hashes", "log_row"} <= set(ledger.columns)) is told


def test_a_text_whose_middle_was_left_out_says_nothing(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": f"{START}... (litellm_truncated 9000 chars) ...{START}"}]
    rows = [payload("litellm", number, messages, 700) for number in range(3)]
    assert replayed(tmp_path / "log.jsonl", rows)[1] is None
