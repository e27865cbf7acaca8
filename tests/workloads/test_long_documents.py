"""A file that is one very long line: what it is is told from all but its long texts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workloads import sniff

Read = Callable[..., Any]


@pytest.mark.parametrize(
    "text",
    ["x" * 900_000, 'a line "of" text\n' * 50_000, "\\" * 400_000, "日本\t" * 200_000],
    ids=["plain", "escapes", "backslashes", "letters"],
)
@pytest.mark.parametrize("first", [False, True], ids=["counts first", "counts last"])
def test_one_line_longer_than_what_is_looked_at(
    tmp_path: Path, read: Read, monkeypatch: pytest.MonkeyPatch, text: str, *, first: bool
) -> None:
    monkeypatch.setattr(sniff, "_LARGE_BYTES", 1 << 19)
    usage = {"usage": {"prompt_tokens": 10, "completion_tokens": 2}}
    content = {"choices": [{"message": {"content": text}}]}
    parts = (content, usage) if first else (usage, content)
    record = {"id": "c1", "object": "chat.completion", "model": "gpt-4o", **parts[0], **parts[1]}
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")
    assert log.stat().st_size > 1 << 19
    (row,) = read(log).rows
    assert (row["input_uncached"], row["output"], row["model"]) == (10, 2, "gpt-4o")
