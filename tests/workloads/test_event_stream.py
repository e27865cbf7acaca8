"""Server-sent events saved as text."""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workloads.event_stream import is_event_stream

Read = Callable[..., Any]

CHUNK = '{"id":"%s","object":"chat.completion.chunk","model":"m","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":%d}}'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('data: {"a":1}\n\n', True),
        ('event: x\ndata:{"a":1}\n', True),
        (': note\nid: 7\nretry: 10\ndata: {"a":1}\n', True),
        ("event: x\n\n", False),
        ("data: plain words\n", False),
        ('data: {"a":1}\nand a line that is none\n', False),
        ("data,event,id\n1,2,3\n", False),
        ('{"data": {"a":1}}\n', False),
    ],
)
def test_only_events_with_json_are_an_event_stream(text: str, *, expected: bool) -> None:
    assert is_event_stream(text) is expected


@pytest.mark.parametrize("packed", [False, True])
def test_a_broken_event_is_skipped_with_the_line_it_is_on(
    tmp_path: Path, read: Read, *, packed: bool
) -> None:
    path = tmp_path / ("stream.txt.gz" if packed else "stream.txt")
    text = f"event: a\r\ndata: {CHUNK % ('one', 7)}\r\n\r\ndata: {{broken\r\n\r\ndata: {CHUNK % ('two', 9)}\r\n\r\ndata: [DONE]\r\n"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    run = read(path)
    assert sorted(row["output"] for row in run.rows) == [7, 9]
    assert [(file, line) for file, line, _ in run.skipped] == [(path.name, 4)]
    assert run.adds_up()
