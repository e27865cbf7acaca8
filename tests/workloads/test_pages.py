"""Saved pages: only the last one of a series may be missing its next, and only then the period is incomplete."""

import json
from pathlib import Path
from typing import Any

import pytest

from workloads.accounting import MORE_PAGES

Read = Any
DAY = 86_400
START = 1_780_272_000
COST = {
    "object": "organization.costs.result",
    "amount": {"value": 1.25, "currency": "usd"},
    "line_item": "gpt-4o, input",
}
USAGE = {
    "object": "organization.usage.completions.result",
    "input_tokens": 100,
    "output_tokens": 10,
    "num_model_requests": 5,
    "model": "gpt-4o",
}
CLAUDE = {
    "model": "claude-opus-5",
    "uncached_input_tokens": 100,
    "cache_read_input_tokens": 0,
    "output_tokens": 5,
    "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
}


def openai(day: int, result: dict[str, Any], *, more: bool) -> str:
    start = START + day * DAY
    bucket = {"object": "bucket", "start_time": start, "end_time": start + DAY, "results": [result]}
    return json.dumps({"object": "page", "has_more": more, "data": [bucket]})


def anthropic(day: int, *, more: bool) -> str:
    at = [f"2026-06-{one:02}T00:00:00Z" for one in (day + 1, day + 2)]
    return json.dumps(
        {"data": [{"starting_at": at[0], "ending_at": at[1], "results": [CLAUDE]}], "has_more": more}
    )


def doubted(read: Read, folder: Path, *pages: str) -> int:
    for number, page in enumerate(pages):
        (folder / f"{number}.json").write_text(page, "utf-8")
    counts = read(folder).report.counts
    return sum(count.rows for count in counts if count.problem == MORE_PAGES)


@pytest.mark.parametrize("result", [COST, USAGE])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1)])
def test_a_series_with_its_last_page_is_whole(
    tmp_path: Path, read: Read, result: dict[str, Any], order: tuple[int, ...]
) -> None:
    pages = [openai(day, result, more=day < 2) for day in order]
    assert doubted(read, tmp_path, *pages) == 0


def test_a_series_without_its_last_page_is_not(tmp_path: Path, read: Read) -> None:
    assert doubted(read, tmp_path, openai(0, COST, more=True), openai(1, COST, more=True)) == 2


def test_pages_of_another_kind_or_maker_do_not_follow(tmp_path: Path, read: Read) -> None:
    pages = [openai(0, USAGE, more=True), openai(1, COST, more=False), anthropic(1, more=False)]
    assert doubted(read, tmp_path, *pages) == 1


def test_what_came_before_does_not_follow(tmp_path: Path, read: Read) -> None:
    assert doubted(read, tmp_path, anthropic(0, more=False), anthropic(1, more=True)) == 1
    assert doubted(read, tmp_path, anthropic(0, more=True), anthropic(1, more=False)) == 0


def test_pages_as_lines_of_one_file(tmp_path: Path, read: Read) -> None:
    lines = [openai(day, COST, more=day < 1) for day in range(2)]
    (tmp_path / "pages.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    assert {count.problem for count in read(tmp_path).report.counts} == {None}
