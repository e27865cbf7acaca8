"""One call is one record, whatever order and files its lines come in."""

import itertools
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workloads.ledger import DUPLICATE, RECORD

Read = Callable[..., Any]
Line = dict[str, Any]


def line(
    message: str | None,
    request: str | None,
    second: int = 0,
    *,
    output: int = 1,
    prompt: int = 10,
    side: bool = False,
    session: str = "s",
) -> Line:
    """Return a line of a Claude Code session."""
    return {
        "type": "assistant",
        "isSidechain": side,
        "sessionId": session,
        "uuid": f"{message}-{request}-{second}",
        "timestamp": f"2026-03-01T10:00:{second:02}.000Z",
        **({} if request is None else {"requestId": request}),
        "message": {
            **({} if message is None else {"id": message}),
            "model": "claude-opus-4-6",
            "usage": {"input_tokens": prompt, "output_tokens": output},
        },
    }


def chat(name: str, created: int = 1767225600, prompt: int = 7, output: int = 3) -> Line:
    usage = {"prompt_tokens": prompt, "completion_tokens": output}
    return {"id": name, "object": "chat.completion", "created": created, "model": "m", "usage": usage}


def write(folder: Path, *files: Sequence[Line]) -> list[Path]:
    paths = []
    for index, lines in enumerate(files):
        path = folder / f"part-{index}.jsonl"
        path.write_text("".join(json.dumps(item) + "\n" for item in lines), encoding="utf-8")
        paths.append(path)
    return paths


def outcome(run: Any) -> list[tuple[Any, ...]]:
    """Return what a bill depends on."""
    names = ("format", "model", "input_uncached", "output")
    return sorted(tuple(str(row.get(name)) for name in names) for row in run.rows)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (
            [line("m", "r", 0, output=1), line("m", "r", 1, output=50)],
            [(0, 50)],
        ),  # snapshots: largest, first time
        ([line("m", "r", 5, output=50), line("m", "r", 9, output=1)], [(5, 50)]),
        ([line("m", "r", 0), line("m", "r", 0)], [(0, 1)]),  # one line twice
        ([line("m", "r", 0), line("m", "q", 1)], [(0, 1), (1, 1)]),  # a retry is a call of its own
        ([line("m", "r", 0), line("n", "r", 1)], [(0, 1), (1, 1)]),
        ([line("m", "r", 0), line("m", "q", 1, side=True)], [(0, 1)]),  # a side chain that replays
        ([line("m", "q", 0, side=True), line("m", "r", 1)], [(1, 1)]),
        ([line("m", "r", 0, side=True)], [(0, 1)]),  # a side chain of its own
        (
            [line("m", "r", 0, side=True), line("m", "q", 1, side=True, output=9)],
            [(0, 9)],
        ),  # one replay, begun first
        (
            [line("m", None, 0), line("m", None, 1, output=8)],
            [(0, 8)],
        ),  # no request id: the message id is enough
        ([line("m", None, 0, output=8), line("m", "r", 1)], [(1, 1)]),
        ([line(None, "r", 0), line(None, "r", 0)], [(0, 1), (0, 1)]),  # no message id: kept
        ([line("", "r", 0), line("", "r", 0)], [(0, 1), (0, 1)]),
    ],
)
def test_lines_of_a_session(
    tmp_path: Path, read: Read, lines: list[Line], expected: list[tuple[int, int]]
) -> None:
    run = read(write(tmp_path, lines))
    assert sorted((row["started_at"], row["output"]) for row in run.rows) == [
        (f"2026-03-01T10:00:{second:02}Z", output) for second, output in expected
    ]
    assert run.report.rows(DUPLICATE) == len(lines) - len(expected)
    assert run.report.rows() == len(lines)
    assert run.adds_up()


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([chat("a"), chat("a")], 1),
        ([chat("a"), chat("b")], 2),
        ([chat("a"), chat("a", output=4)], 2),  # servers that answer every call with one id
        ([chat("a"), chat("a", created=1767225601)], 2),
        ([chat(""), chat("")], 2),
    ],
)
def test_responses_with_one_id(tmp_path: Path, read: Read, lines: list[Line], expected: int) -> None:
    assert len(read(write(tmp_path, lines)).rows) == expected


def test_a_copy_in_another_file_is_a_duplicate(tmp_path: Path, read: Read) -> None:
    run = read(write(tmp_path, [chat("a"), chat("b")], [chat("b"), chat("c")]))
    assert sorted(row["source_file"] for row in run.rows) == ["part-0.jsonl", "part-0.jsonl", "part-1.jsonl"]
    assert (run.report.rows(RECORD), run.report.rows(DUPLICATE)) == (3, 1)


def test_one_id_in_two_formats_is_two_calls(tmp_path: Path, read: Read) -> None:
    run = read(write(tmp_path, [chat("x")], [line("x", "r")]))
    assert sorted(row["format"] for row in run.rows) == ["claude-code", "openai"]


@pytest.mark.parametrize("others", [[chat("a"), chat("a")], [chat("m")]])
def test_a_replay_in_one_format_does_not_touch_another(
    tmp_path: Path, read: Read, others: list[Line]
) -> None:
    session = [line("m", "r"), line("m", "q", side=True)]
    run = read(write(tmp_path, session, others))
    assert sorted(row["format"] for row in run.rows) == ["claude-code", "openai"]


def test_usage_rows_of_equal_content_are_not_duplicates(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "export.csv"
    row = "1767225600,1767312000,3,gpt-4o,2100,400\n"
    path.write_text("start_time,end_time,num_model_requests,model,input_tokens,output_tokens\n" + row * 2)
    assert len(read(path).rows) == 2


session_lines = st.builds(
    line,
    message=st.sampled_from(["m1", "m2", None]),
    request=st.sampled_from(["r1", "r2", None]),
    second=st.integers(0, 9),
    output=st.integers(0, 3),
    side=st.booleans(),
)


def test_of_replays_of_equal_size_the_earliest_stays(tmp_path: Path, read: Read) -> None:
    lines = [line("m", "r", 0, output=2, side=True), line("m", None, 5, output=2)]
    for order in (lines, lines[::-1]):
        assert [row["started_at"] for row in read(write(tmp_path, order)).rows] == ["2026-03-01T10:00:00Z"]


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(session_lines, min_size=1, max_size=8),
    data=st.data(),
)
def test_neither_order_nor_files_matter(
    tmp_path_factory: pytest.TempPathFactory, read: Read, lines: list[Line], data: st.DataObject
) -> None:
    one = read(write(tmp_path_factory.mktemp("one"), lines))
    shuffled = data.draw(st.permutations(lines))
    cuts = sorted(data.draw(st.sets(st.integers(1, max(1, len(lines) - 1)), max_size=2)))
    bounds = [0, *[cut for cut in cuts if cut < len(lines)], len(lines)]
    files = [shuffled[a:b] for a, b in itertools.pairwise(bounds)]
    many = read(write(tmp_path_factory.mktemp("many"), *files))
    assert outcome(many) == outcome(one)
    assert many.adds_up()
    assert one.adds_up()
    assert many.report.rows(DUPLICATE) == one.report.rows(DUPLICATE)


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(session_lines, min_size=1, max_size=6))
def test_reading_everything_twice_changes_no_count(
    tmp_path_factory: pytest.TempPathFactory, read: Read, lines: list[Line]
) -> None:
    named = [item for item in lines if item["message"].get("id")]
    once = read(write(tmp_path_factory.mktemp("once"), named)) if named else None
    if once is not None:
        twice = read(write(tmp_path_factory.mktemp("twice"), named, named))
        assert outcome(twice) == outcome(once)
