"""The summary that a page prices again: nothing is lost, alike cells are one part, what differs is not."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from advisor import what_if_cube
from advisor.analysis import Analysis
from advisor.options import AnalyseOptions
from advisor.run import analyse
from advisor.view_whatif import whatif_section
from advisor.what_if_model import NOTHING, CubeSummary
from workloads.batches import ReadOptions
from workloads.load import LoadOptions

AS_OF = datetime(2026, 6, 30, tzinfo=UTC)
CARDS = {
    "large": {
        "input": "3",
        "output": "15",
        "cache_read": "0.3",
        "cache_write_5m": "3.75",
        "batch_multiplier": "0.5",
        "tier": {
            "above": 200000,
            "inclusive": False,
            "scope": "whole_request",
            "input": "6",
            "output": "22.5",
        },
    },
    "small": {"input": "0.4", "output": "1.6"},
}
MAPPING = {"input_uncached": "plain", "cache_write_5m": "written", "output": "answer"}


def summary(folder: Path, *rows: tuple[str, str, int, int | str, int], days: int = 1) -> CubeSummary:
    lines = ["timestamp,provider,model,application,plain,written,answer"]
    for day in range(1, days + 1):
        lines += [f"2026-06-{day:02d}T10:00:00Z,maker,{','.join(map(str, row))}" for row in rows]
    (folder / "log.csv").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "prices.json").write_text(json.dumps({"models": CARDS}), "utf-8")
    found = report_of(folder).what_if
    assert found is not None
    return found


def report_of(folder: Path) -> Analysis:
    load = LoadOptions(read=ReadOptions(mapping=MAPPING))
    options = AnalyseOptions(as_of=AS_OF, price_files=(folder / "prices.json",), load=load)
    return analyse([str(folder / "log.csv")], options)


def test_days_that_are_alike_are_one_part_and_add_up(tmp_path: Path) -> None:
    found = summary(tmp_path, ("large", "chat", 1_000, 200, 50), ("small", "chat", 300, "", 20), days=9)
    assert len(found.parts) == 2
    at = dict(zip(found.meters, zip(*(part.counts for part in found.parts), strict=True), strict=True))
    assert sum(at["input_uncached"]) == 9 * 1_300
    assert sum(at["cache_write_5m"]) == 9 * 200
    assert found.list_usd == 9 * Decimal("0.0045") + 9 * Decimal("0.000152")


def test_what_is_written_to_a_cache_tells_parts_apart_by_the_percent(tmp_path: Path) -> None:
    found = summary(tmp_path, ("large", "chat", 900, 100, 50), days=1)
    more = summary(
        tmp_path,
        *(("large", "chat", 1_000 - share, share, 50) for share in (100, 100)),
        ("large", "code", 500, 500, 50),
    )
    assert (len(found.parts), len(more.parts)) == (1, 2)


def test_rates_are_of_one_token_and_both_of_a_threshold(tmp_path: Path) -> None:
    found = summary(tmp_path, ("large", "chat", 1_000, 0, 50), ("large", "chat", 300_000, 0, 50))
    ladders = [one for one in found.ladders if one.thresholds]
    assert {one.thresholds for one in ladders} == {(200_000,)}
    plain = found.ladders[found.situations[found.parts[0].situation].prices.plain]
    column = found.meters.index("input_uncached")
    assert Decimal("0.000003") in {found.rates[place][column] for place in plain.rates}
    assert {part.context_tokens for part in found.parts} == {0, 300_000}


def test_a_model_without_batch_prices_has_none(tmp_path: Path) -> None:
    found = summary(tmp_path, ("small", "chat", 1_000, "", 50))
    assert found.situations[found.parts[0].situation].prices.batch == NOTHING


def test_too_many_parts_give_up_workloads_and_then_the_panel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [("small", f"name-{number}", 1_000, "", 50) for number in range(9)]
    monkeypatch.setattr(what_if_cube, "MOST_PARTS", 5)
    assert len(summary(tmp_path, *rows).workloads) == 4
    monkeypatch.setattr(what_if_cube, "MOST_PARTS", 0)
    with pytest.raises(AssertionError):
        summary(tmp_path, *rows)


def test_data_cannot_end_its_script_and_large_counts_are_text(tmp_path: Path) -> None:
    found = summary(tmp_path, ("small", "</script>", 1_000, "", 50))
    huge = replace(found.parts[0], counts=tuple(2**60 for _ in found.meters))
    section = whatif_section(replace(report_of(tmp_path), what_if=replace(found, parts=(huge,))))
    assert section is not None
    assert "<" not in section.data
    data = json.loads(section.data)
    assert data["workloads"] == ["</script>"]
    assert set(data["parts"][0][4]) == {str(2**60)}
