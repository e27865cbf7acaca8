"""Rows that cannot be read: counted, located by their physical line, and never in the way of the others."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workloads.accounting import NEGATIVE_COUNT, NO_WHOLE_COUNT
from workloads.count_texts import TRUTH_COUNT
from workloads.load import NothingReadableError

Read = Callable[..., Any]
HEAD = "timestamp,model,prompt_tokens,completion_tokens\n"


def chat(number: int) -> str:
    usage = {"prompt_tokens": number, "completion_tokens": 1}
    return json.dumps(
        {"id": str(number), "object": "chat.completion", "created": 1767225600 + number, "usage": usage}
    )


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_damaged_lines_are_named_by_their_physical_line(tmp_path: Path, read: Read, end: str) -> None:
    lines = [
        chat(1),
        "",
        "{broken",
        "   ",
        chat(2),
        "[1, 2]",
        '"text"',
        chat(3),
        "plain words",
        '{"hello": "world"}',
        "null",
        chat(4),
        chat(5)[:40],
    ]
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(end.join(lines).encode())
    run = read(path)
    assert sorted(row["input_uncached"] for row in run.rows) == [1, 2, 3, 4]
    assert {(line, reason) for _, line, reason in run.skipped} == {
        (3, "not valid JSON"),
        (6, "JSON, but not an object"),
        (7, "JSON, but not an object"),
        (9, "not valid JSON"),
        (10, "no usage that a known format describes"),
        (11, "JSON, but not an object"),
        (13, "not valid JSON"),
    }
    assert run.report.rows() == 11
    assert run.adds_up()


def test_a_line_of_another_format_far_down_is_found(tmp_path: Path, read: Read) -> None:
    other = {
        "type": "message",
        "id": "m",
        "model": "c",
        "usage": {"input_tokens": 5, "output_tokens": 6, "cache_read_input_tokens": 7},
    }
    path = tmp_path / "mixed.jsonl"
    path.write_text("\n".join([*map(chat, range(1, 900)), json.dumps(other), "{oops"]))
    run = read(path)
    assert run.fates == {"record": 900, "skipped: no usage that a known format describes": 1}
    (found,) = [row for row in run.rows if row["format"] == "anthropic"]
    assert (found["input_uncached"], found["cache_read"], found["output"]) == (5, 7, 6)
    assert run.skipped == [("mixed.jsonl", 901, "not valid JSON")]


def test_rows_that_do_not_fit_the_header(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "ragged.csv"
    rows = ["2026-01-01,m,1,2", "2026-01-01,m,3", "2026-01-01,m,4,5,6", "2026-01-01,m,7,8"]
    path.write_text(HEAD + "\n".join(rows) + "\n")
    run = read(path)
    assert [(row["input_uncached"], row["output"]) for row in run.rows] == [(1, 2), (7, 8)]
    assert [(line, reason.split(":")[0]) for _, line, reason in run.skipped] == [
        (3, "the row does not fit the header"),
        (4, "the row does not fit the header"),
    ]
    assert run.report.rows() == 4
    assert run.adds_up()


def test_a_cell_that_is_no_count_is_named_by_its_line(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "cells.csv"
    path.write_text(HEAD + "2026-01-01,m,1,2\n2026-01-01,m,many,2\n2026-01-01,m,-1,2\n2026-01-01,m,1.5,2\n")
    run = read(path)
    assert run.skipped == [
        ("cells.csv", 3, "a token count is no whole number"),
        ("cells.csv", 4, "a token count is negative or impossibly large"),
        ("cells.csv", 5, "a token count is no whole number"),
    ]


def test_the_line_counts_a_sep_line(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "sep.csv"
    path.write_text("sep=,\n" + HEAD + "2026-01-01,m,1,2\n2026-01-01,m,x,2\n")
    assert read(path).skipped == [("sep.csv", 4, "a token count is no whole number")]


def test_the_line_counts_breaks_inside_quotes(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "quoted.csv"
    path.write_text('prompt_tokens,completion_tokens,note\n1,2,"two\nlines"\nx,2,\n')
    assert read(path).skipped == [("quoted.csv", 4, "a token count is no whole number")]


def test_the_line_counts_blank_lines_of_a_table(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "blank.csv"
    path.write_text("prompt_tokens,completion_tokens\n1,2\n\nx,2\n")
    assert read(path).skipped == [("blank.csv", 4, "a token count is no whole number")]


def test_an_object_that_is_no_row_of_the_table_is_no_request(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "flat.jsonl"
    path.write_text('{"model":"m","tokens_in":1,"tokens_out":2}\n{"message":"server started"}\n')
    assert read(path).fates == {"record": 1, "ignored: row without token counts": 1}


def test_a_file_of_damaged_rows_only_gives_no_ledger(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(HEAD + "2026-01-01,m,x,y\n")
    with pytest.raises(NothingReadableError, match="1 rows were read and none is a request") as caught:
        read(path)
    assert caught.value.report.rows("skipped") == 1


def test_every_skipped_row_counts_though_only_the_first_thousand_are_located(
    tmp_path: Path, read: Read
) -> None:
    path = tmp_path / "many.jsonl"
    path.write_text("\n".join([chat(1), *["{broken"] * 1_500]))
    run = read(path)
    assert run.report.rows("skipped") == 1_500
    assert [line for _, line, _ in run.skipped] == list(range(2, 1_002))


def test_deep_and_huge_json_is_skipped_not_fatal(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "deep.jsonl"
    path.write_text(
        "\n".join([chat(1), "[" * 3_000 + "]" * 3_000, '{"a":' * 3_000 + "1" + "}" * 3_000, chat(2)])
    )
    run = read(path)
    assert sorted(row["input_uncached"] for row in run.rows) == [1, 2]
    assert run.report.rows("skipped") == 2


@pytest.mark.parametrize(
    "value",
    [
        '"12"',
        "12.0",
        "true",
        "[1]",
        "{}",
        "1e2",
        "null",
        "99999999999999999999",
    ],
)
def test_an_odd_count_never_becomes_a_wrong_one(tmp_path: Path, read: Read, value: str) -> None:
    path = tmp_path / "odd.jsonl"
    line = '{"object":"chat.completion","usage":{"prompt_tokens":%s,"completion_tokens":1}}'
    path.write_text(f"{chat(5)}\n{line % value}\n")
    run = read(path)
    assert run.adds_up()
    other = [row.get("input_uncached") for row in run.rows if row.get("input_uncached") != 5]
    right = {'"12"': 12, "12.0": 12, "1e2": 100}.get(value)
    assert other in ([], [None], [right])


def test_true_for_a_count_is_named_and_not_one(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "truth.jsonl"
    line = '{"at":"2026-01-02","response":{"object":"chat.completion","usage":{"prompt_tokens":%s,"completion_tokens":%s}}}'
    path.write_text("\n".join([line % (5, 7), line % ("true", 1), line % (1, "false"), line % (9, 2)]))
    run = read(path)
    assert [(row["input_uncached"], row["output"]) for row in run.rows] == [(5, 7), (9, 2)]
    assert [(line, reason) for _, line, reason in run.skipped] == [(2, TRUTH_COUNT), (3, TRUTH_COUNT)]


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("99999999999999999999", NEGATIVE_COUNT),
        ("1e30", NEGATIVE_COUNT),
        ('"many"', NO_WHOLE_COUNT),
        ('"1,2,3"', NO_WHOLE_COUNT),
        ("true", TRUTH_COUNT),
    ],
)
def test_a_count_that_is_none_is_named_and_does_not_vanish(
    tmp_path: Path, read: Read, value: str, reason: str
) -> None:
    path = tmp_path / "odd.jsonl"
    line = '{"id":"%s","object":"chat.completion","usage":{"prompt_tokens":%s,"completion_tokens":%s}}'
    path.write_text("\n".join([line % ("a", 5, 7), line % ("b", value, 1), line % ("c", '"12"', '" "')]))
    run = read(path)
    assert run.adds_up()
    assert {(row["input_uncached"], row.get("output")) for row in run.rows} == {(5, 7), (12, None)}
    assert [(number, why) for _, number, why in run.skipped] == [(2, reason)]


def test_an_odd_count_beside_one_that_overflows(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "odd.jsonl"
    line = '{"id":"%s","object":"chat.completion","usage":{"prompt_tokens":%s,"completion_tokens":%s,"total_tokens":%s}}'
    largest = 2**63 - 1
    path.write_text(
        "\n".join(
            [line % ("a", largest, largest, 10**20), line % ("b", 5, 7, 12), line % ("c", 5, 8, "true")]
        )
    )
    run = read(path)
    assert run.adds_up()
    assert [(row["input_uncached"], row["output"]) for row in run.rows] == [(5, 7)]
    assert [number for _, number, _ in run.skipped] == [1, 3]
