"""``advisor prices`` and ``advisor explain`` with files: a list of usages, an exported book, names of one's own."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from advisor.cli import cli
from pricing.pinned import unpin


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path
    unpin()


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, list(words), standalone_mode=False)


def message(result: Result) -> str:
    return getattr(result.exception, "message", str(result.exception))


def usages(folder: Path, **changes: Any) -> str:
    entry = {
        "id": "one",
        "provider": "openai",
        "model": "gpt-4o",
        "timestamp": "2026-11-01T00:00:00Z",
        "context": {},
        "usage": {"input_tokens": 2006, "cache_read_tokens": 1920, "output_tokens": 300},
    }
    path = folder / "usages.json"
    path.write_text(json.dumps([{**entry, **changes}]), "utf-8")
    return str(path)


def answer(folder: Path, **changes: Any) -> dict[str, Any]:
    found: list[dict[str, Any]] = json.loads(run("explain", usages(folder, **changes), "--json", "-").stdout)
    return found[0]


def test_a_list_of_usages_is_priced_line_by_line(folder: Path) -> None:
    found = answer(folder)
    assert (found["id"], found["total"]) == (
        "one",
        "0.005615",
    )  # 86 x 2.5 + 1,920 x 1.25 + 300 x 10 per million
    assert [(line["meter"], line["quantity"], line["usd_per_unit"]) for line in found["lines"]] == [
        ("input_uncached", 86, "2.5"),
        ("cache_read", 1920, "1.25"),
        ("output", 300, "10"),
    ]
    assert all(line["source"] and line["retrieved"] for line in found["lines"])


def test_an_unknown_model_has_no_total_and_a_reason(folder: Path) -> None:
    found = answer(folder, model="gpt-99")
    assert (found["total"], found["lines"]) == (None, [])
    assert "gpt-99" in found["reason"]


def test_a_context_that_decides_nothing_is_said(folder: Path) -> None:
    assert answer(folder, context={"colour": "red"})["warnings"] == [
        "context colour = 'red' has no influence on the price"
    ]
    assert answer(folder, context={"service_tier": "golden"})["warnings"] == [
        "service tier 'golden' asked, standard price used"
    ]


def test_of_two_tiers_the_second_is_said_to_be_left_out(folder: Path) -> None:
    found = answer(folder, context={"processing": "batch", "service_tier": "priority"})
    # 86 x 1.25 + 1,920 x 1.25 + 300 x 5 per million: a batch of this model halves no cached tokens.
    assert found["total"] == "0.0040075"
    assert found["warnings"] == ["context service_tier = 'priority' has no influence on the price"]
    again = answer(folder, context={"processing": "batch", "service_tier": "batch", "speed": "standard"})
    assert (again["total"], again.get("warnings")) == ("0.0040075", None)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"usage": {"input_tokens": 1, "coffee": 2}}, "unknown key 'coffee', allowed: input_tokens"),
        ({"usage": {"input_tokens": -1}}, "usage.input_tokens: expected a whole number from 0 up, got -1"),
        ({"usage": {"input_tokens": 1, "cache_read_tokens": 2}}, "input_uncached would be -1"),
        ({"usage": 5}, "usage: expected an object, got 5"),
        ({"timestamp": "yesterday"}, "timestamp: expected an ISO 8601 time"),
        ({"model": ""}, "model: expected a name"),
        ({"context": "batch"}, "context: expected an object, got 'batch'"),
        ({"context": {"region": ["eu"]}}, "context.region: expected a word, got ['eu']"),
        ({"provider": 5}, "provider: expected a name or null, got 5"),
    ],
)
def test_a_wrong_entry_is_named(folder: Path, changes: dict[str, Any], said: str) -> None:
    result = run("explain", usages(folder, **changes), "--json", "-")
    assert said in message(result)
    assert "entry 1 (one)" in message(result)


def test_one_wrong_entry_does_not_stop_the_others(folder: Path) -> None:
    good = json.loads(Path(usages(folder)).read_text("utf-8"))[0]
    wrong = {**good, "id": "two", "usage": {"input_tokens": 1, "coffee": 2}}
    silent = {**good, "id": "three", "usage": {**good["usage"], "cache_write_tokens": None, "coffee": 0}}
    path = folder / "mixed.json"
    path.write_text(json.dumps([good, wrong, silent]), "utf-8")
    result = run("explain", str(path), "--json", "-")
    first, second, third = json.loads(result.stdout)
    assert first["total"] == third["total"] is not None
    assert (second["id"], second["total"]) == ("two", None)
    assert "unknown key 'coffee'" in second["reason"]
    assert "unknown key 'coffee'" in result.stderr


def test_a_list_nested_without_end_is_no_list(folder: Path) -> None:
    (folder / "deep.json").write_text("[" * 100_000, "utf-8")
    assert "deep.json: not valid JSON" in message(run("explain", str(folder / "deep.json"), "--json", "-"))


def test_a_bucket_reaches_no_context_tier(folder: Path) -> None:
    usage = {"input_tokens": 1_000_000, "output_tokens": 0}
    tiered = {"provider": "google", "model": "gemini-2.5-pro", "usage": usage}
    assert answer(folder, **tiered)["total"] == "2.5"
    assert answer(folder, **tiered, kind="aggregate")["total"] == "1.25"


def test_an_exported_book_prices_as_the_built_in_one_and_differs_in_nothing(folder: Path) -> None:
    book = str(folder / "book.json")
    assert run("prices", "--export", book).exit_code == 0
    first = run("explain", usages(folder), "--json", "-", "--price-book", book).stdout
    unpin()
    assert first == run("explain", usages(folder), "--json", "-").stdout
    same = run("prices", "--diff", book)
    assert "No rate differs." in same.stdout


def test_a_name_stands_for_a_model(folder: Path) -> None:
    path = usages(folder, model="prod-chat")
    assert json.loads(run("explain", path, "--json", "-").stdout)[0]["total"] is None
    mapped = run("explain", path, "--json", "-", "--map-model", "prod-chat=gpt-4o")
    assert json.loads(mapped.stdout)[0]["total"] == "0.005615"
    assert "--map-model 'prod-chat' is not NAME=MODEL" in message(
        run("explain", path, "--json", "-", "--map-model", "prod-chat")
    )


def test_a_rate_is_listed_once_for_its_longest_time() -> None:
    lines = run("prices", "claude-sonnet-4-5").stdout.splitlines()
    batch = [line.split() for line in lines if line.startswith("output ") and "batch x0.5" in line]
    assert [words[1] for words in batch] == ["7.5"]
    assert any("context > 200,000; batch rates" in line for line in lines)
