"""Counts that are none, wherever they stand: the row is skipped with its reason, and no other row changes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workloads.accounting import NEGATIVE_COUNT, NO_WHOLE_COUNT
from workloads.count_texts import TRUTH_COUNT, as_texts, counts
from workloads.odd_counts import odd_counts
from workloads.schema import MapOf, only

Read = Callable[..., Any]


def lines(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def bucket(*inputs: Any) -> dict[str, Any]:
    """Return a page of OpenAI's usage API with a result for each count of input tokens."""
    results = [
        {
            "object": "organization.usage.completions.result",
            "input_tokens": count,
            "output_tokens": 5,
            "num_model_requests": 1,
            "model": f"gpt-{place}",
        }
        for place, count in enumerate(inputs)
    ]
    return {
        "object": "page",
        "data": [{"object": "bucket", "start_time": 1736616660, "end_time": 1736640000, "results": results}],
    }


def chat(number: int, prompt: Any, **usage: Any) -> dict[str, Any]:
    return {
        "id": f"c{number}",
        "object": "chat.completion",
        "model": "gpt-4o",
        "usage": {"prompt_tokens": prompt, "completion_tokens": 1, **usage},
    }


def cli_stats(answer: Any) -> dict[str, Any]:
    model = {"api": {"totalRequests": 1}, "tokens": {"prompt": 10, "candidates": 5}}
    odd = {"api": {"totalRequests": 1}, "tokens": {"prompt": 20, "candidates": answer}}
    return {"session_id": "s", "stats": {"models": {"gemini-2.5-flash": model, "gemini-2.5-pro": odd}}}


@pytest.mark.parametrize(
    ("value", "reason"),
    [("many", NO_WHOLE_COUNT), (True, TRUTH_COUNT), (10**22, NEGATIVE_COUNT), ({"x": 1}, NO_WHOLE_COUNT)],
)
def test_one_in_an_array_costs_its_own_row(tmp_path: Path, read: Read, value: Any, reason: str) -> None:
    run = read(lines(tmp_path / "usage.jsonl", bucket(7, 8), bucket(value, 9)))
    assert run.adds_up()
    assert sorted(row["input_uncached"] for row in run.rows) == [7, 8, 9]
    assert run.skipped == [("usage.jsonl", 2, reason)]


def test_one_in_a_document_of_arrays(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "usage.json"
    path.write_text(json.dumps(bucket("many", 9)), encoding="utf-8")
    run = read(path)
    assert [row["input_uncached"] for row in run.rows] == [9]
    assert run.fates == {"record": 1, f"skipped: {NO_WHOLE_COUNT}": 1}


def test_one_in_a_document_beside_a_broken_one(tmp_path: Path, read: Read) -> None:
    pages = {"a": [bucket(7, 8)], "b": [bucket("many", 9)], "c": [bucket(10), bucket(12)], "d": [bucket(11)]}
    for name, content in pages.items():
        text = json.dumps(content)
        (tmp_path / f"{name}.json").write_text(text[:-30] if name == "c" else text, encoding="utf-8")
    run = read(tmp_path)
    assert run.adds_up()
    assert sorted(row["input_uncached"] for row in run.rows) == [7, 8, 9, 11]
    assert run.fates == {"record": 4, f"skipped: {NO_WHOLE_COUNT}": 1}
    assert [Path(one.shown).name for one in run.report.unreadable] == ["c.json"]
    assert "Malformed JSON" in run.report.unreadable[0].reason


def test_a_document_that_is_as_declared_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read: Read
) -> None:
    monkeypatch.setattr("workloads.planned.find_odd", lambda *_: pytest.fail("looked for odd counts"))
    path = tmp_path / "usage.json"
    path.write_text(json.dumps([bucket(7, 8)]), encoding="utf-8")
    assert len(read(path).rows) == 2


def test_one_under_a_key_that_is_not_known(tmp_path: Path, read: Read) -> None:
    run = read(lines(tmp_path / "stats.jsonl", cli_stats("x"), cli_stats(6)))
    assert run.adds_up()
    assert sorted(row["output"] for row in run.rows) == [5, 5, 6]
    assert run.skipped == [("stats.jsonl", 1, NO_WHOLE_COUNT)]


def test_the_first_one_far_down_in_a_large_log(tmp_path: Path, read: Read) -> None:
    values: list[Any] = [10] * 5_000
    values[4_800], values[4_900] = "lots", 10**22
    path = lines(tmp_path / "late.jsonl", *(chat(place, value) for place, value in enumerate(values)))
    run = read(path)
    assert run.fates["record"] == 4_998
    assert run.skipped == [
        ("late.jsonl", 4_801, NO_WHOLE_COUNT),
        ("late.jsonl", 4_901, NEGATIVE_COUNT),
    ]


def test_one_beside_a_broken_line_far_down(tmp_path: Path, read: Read) -> None:
    path = lines(
        tmp_path / "cut.jsonl", *(chat(place, "no" if place == 4_500 else 3) for place in range(4_700))
    )
    path.write_text(path.read_text(encoding="utf-8") + '{"id": "c', encoding="utf-8")
    run = read(path)
    assert [(line, reason) for _, line, reason in run.skipped] == [
        (4_501, NO_WHOLE_COUNT),
        (4_701, "not valid JSON"),
    ]


def test_a_blank_text_is_not_odd(tmp_path: Path, read: Read) -> None:
    words = ["", " ", "12", None, "many", "N/A"]
    records = (chat(place, 3, cached_tokens=word) for place, word in enumerate(words))
    run = read(lines(tmp_path / "blank.jsonl", *records))
    assert len(run.rows) == 4
    assert [line for _, line, _ in run.skipped] == [5, 6]


def test_a_cell_of_a_detail(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "activity.csv"
    path.write_text(
        "created_at,generation_id,model_permaslug,provider_name,cost_total,tokens_prompt,tokens_completion,tokens_cached\n"
        + "".join(
            f"2026-06-01 10:00:00,g{place},openai/gpt-4o,OpenAI,0.1,{place}0,1,{cell}\n"
            for place, cell in enumerate(["4", "some", "n/a", "", "-"], 1)
        ),
        encoding="utf-8",
    )
    run = read(path)
    assert sorted(row["input_uncached"] for row in run.rows) == [6, 30, 40, 50]
    assert run.skipped == [("activity.csv", 3, NO_WHOLE_COUNT)]


def test_one_in_the_json_of_a_column(tmp_path: Path, read: Read) -> None:
    row = {
        "call_type": "acompletion",
        "spend": 0.1,
        "prompt_tokens": 50,
        "completion_tokens": 2,
        "model": "m",
    }
    details = [{"usage_object": {"cache_read_input_tokens": value}} for value in (20, "some", None)]
    run = read(
        lines(
            tmp_path / "spend.jsonl",
            *({**row, "request_id": f"r{n}", "metadata": detail} for n, detail in enumerate(details)),
        )
    )
    assert sorted((row["input_uncached"], row.get("cache_read", 0)) for row in run.rows) == [
        (30, 20),
        (50, 0),
    ]
    assert run.skipped == [("spend.jsonl", 2, NO_WHOLE_COUNT)]


def test_one_among_the_attributes_of_a_span(tmp_path: Path, read: Read) -> None:
    def span(number: int, cached: Any) -> dict[str, Any]:
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.usage.input_tokens": 50,
            "gen_ai.usage.output_tokens": 2,
            "gen_ai.usage.cache_read.input_tokens": cached,
        }
        return {"traceId": "t", "spanId": f"s{number}", "name": "chat", "attributes": attributes}

    run = read(lines(tmp_path / "spans.jsonl", span(1, 20), span(2, "some")))
    assert [(row["input_uncached"], row["cache_read"]) for row in run.rows] == [(30, 20)]
    assert run.skipped == [("spans.jsonl", 2, NO_WHOLE_COUNT)]


def test_a_running_total_that_is_damaged_is_not_counted_twice(tmp_path: Path, read: Read) -> None:
    def event(second: int, whole: Any, last: int) -> dict[str, Any]:
        counts = {"input_tokens": whole, "output_tokens": second, "total_tokens": 100 * second + second}
        return {
            "timestamp": f"2026-06-01T10:00:{second:02}Z",
            "type": "event_msg",
            "payload": {
                "type": "token_count",
                "info": {
                    "total_token_usage": counts,
                    "last_token_usage": {"input_tokens": last, "output_tokens": 1},
                },
            },
        }

    meta = {"timestamp": "2026-06-01T10:00:00Z", "type": "session_meta", "payload": {"id": "s", "cwd": "/p"}}
    run = read(
        lines(tmp_path / "rollout.jsonl", meta, event(1, 100, 100), event(2, "x", 100), event(3, 300, 100))
    )
    assert [row["input_uncached"] for row in run.rows] == [100, 100]
    assert [(line, reason) for _, line, reason in run.skipped] == [(3, NO_WHOLE_COUNT)]


def test_two_formats_that_declare_a_field_differently(tmp_path: Path, read: Read) -> None:
    claude = {
        "type": "assistant",
        "timestamp": "2026-06-01T10:00:00Z",
        "requestId": "q1",
        "message": {
            "id": "m1",
            "model": "claude-sonnet-4-5",
            "usage": {"input_tokens": 4, "output_tokens": 2},
        },
    }
    # One record has an object where the other has counts, so both are read as raw JSON.
    stream = {"message": "text", "object": "chat.completion", "usage": {"prompt_tokens": "many"}}
    run = read(lines(tmp_path / "mixed.jsonl", claude, chat(1, 7), {**stream, "id": "c2", "model": "gpt-4o"}))
    assert sorted(row["input_uncached"] for row in run.rows) == [4, 7]
    assert run.skipped == [("mixed.jsonl", 3, NO_WHOLE_COUNT)]


SCHEMA = {
    "id": "VARCHAR",
    "usage": {"tokens": "BIGINT", "hashes": ["BIGINT"]},
    "rows": [{"tokens": "BIGINT", "cost": "DOUBLE"}],
    "models": MapOf({"tokens": "HUGEINT"}),
}
PATHS = [("usage", "tokens"), ("rows", "[]", "tokens"), ("models", "[]", "f2", "tokens")]


def test_the_counts_of_a_schema() -> None:
    assert list(counts(SCHEMA)) == PATHS


def test_counts_as_texts() -> None:
    texts = as_texts(SCHEMA, frozenset(PATHS[1:]))
    assert texts == {
        **SCHEMA,
        "rows": [{"tokens": "VARCHAR", "cost": "DOUBLE"}],
        "models": MapOf({"tokens": "VARCHAR"}),
    }


def test_what_of_a_schema_leads_to_counts() -> None:
    assert only(SCHEMA, PATHS) == {
        "usage": {"tokens": "BIGINT"},
        "rows": [{"tokens": "BIGINT"}],
        "models": MapOf({"tokens": "HUGEINT"}),
    }
    assert only(SCHEMA, [("elsewhere",)]) == {}


def test_odd_counts_of_a_sample() -> None:
    narrow = {**SCHEMA, "models": MapOf({"tokens": "BIGINT"})}
    record = {
        "id": "x",
        "usage": {"tokens": 5, "hashes": ["word"]},
        "rows": [{"tokens": 1}, {"tokens": "many"}],
        "models": {"a": {"tokens": 2}, "b": {"tokens": [1]}},
    }
    assert set(odd_counts(record, narrow)) == set(PATHS[1:])
    assert set(odd_counts({"usage": {"tokens": True}}, narrow)) == {PATHS[0]}
