"""Days that break their own pattern: found with their driver, and nothing else is."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.analysis import Analysis
from advisor.document import document_of
from advisor.document_finance import AnomaliesDoc
from advisor.options import AnalyseOptions
from advisor.run import analyse
from advisor.view import build_view

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

FIRST = datetime(2026, 6, 1, tzinfo=UTC)
PRICES = 'models: {demo-small: {provider: demo, input: "1.00", output: "5.00"}}\n'
WEEK = (100, 110, 105, 100, 108, 20, 15)


def rows(days: int, *, growth: float = 0.0, wild: dict[int, tuple[str, int, int]] | None = None) -> list[str]:
    """Chat with a weekly pattern and search that is the same every day; a wild day has other requests or other sizes."""
    found: list[str] = []
    for day in range(days):
        at = (FIRST + timedelta(days=day)).strftime("%Y-%m-%dT12:00:00Z")
        counts = {
            "chat": (round(WEEK[day % 7] * (1 + growth * day)) + day % 3, 50_000),
            "search": (10, 100_000),
        }
        for name, times, size in [(wild or {}).get(day, ("", 0, 0))]:
            if name:
                counts[name] = (counts[name][0] * times, counts[name][1] * size)
        found += [
            f"{at},{name},demo-small,{size},0" for name, (count, size) in counts.items() for _ in range(count)
        ]
    return found


def analysed(folder: Path, lines: list[str]) -> Analysis:
    log, book = folder / "log.csv", folder / "prices.yaml"
    log.write_text("\n".join(["timestamp,project,model,input_tokens,output_tokens", *lines]) + "\n")
    book.write_text(PRICES)
    return analyse([str(log)], AnalyseOptions(as_of=datetime(2026, 8, 1, tzinfo=UTC), price_files=(book,)))


def unusual(analysis: Analysis) -> AnomaliesDoc:
    found = document_of(analysis).anomalies
    assert found is not None
    return found


def test_an_even_log_has_none(tmp_path: Path) -> None:
    found = unusual(analysed(tmp_path, rows(28, growth=0.02)))
    assert (found.available, found.found) == (True, [])


def test_a_day_of_many_requests_is_found_with_its_workload(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, rows(28, wild={16: ("search", 6, 1)}))
    found = unusual(analysis).found
    assert {(one.day, one.workload, one.driver) for one in found} >= {("2026-06-17", "search", "volume")}
    assert {one.day for one in found} == {"2026-06-17"}
    (search,) = (one for one in found if one.workload == "search")
    assert (search.cost, Decimal(search.expected)) == ("6", Decimal(1))
    assert search.score > 4
    whole = [one for one in found if one.workload is None]
    assert all(one.leading_workload == "search" for one in whole)
    section = build_view(analysis).finance
    assert section is not None
    assert "17 Jun 2026" in section.unusual


def test_a_day_of_long_prompts_says_so(tmp_path: Path) -> None:
    found = unusual(analysed(tmp_path, rows(28, wild={10: ("chat", 1, 4)}))).found
    assert {(one.day, one.driver) for one in found} == {("2026-06-11", "tokens_per_request")}


def test_too_little_money_is_no_alarm(tmp_path: Path) -> None:
    lines = [line.replace(",100000,", ",1000,") for line in rows(28, wild={16: ("search", 6, 1)})]
    assert unusual(analysed(tmp_path, lines)).found == []


def test_under_three_weeks_nothing_is_said(tmp_path: Path) -> None:
    found = unusual(analysed(tmp_path, rows(20, wild={16: ("search", 6, 1)})))
    assert (found.available, found.reason) == (False, "20 whole days are in the log, 21 are needed")
