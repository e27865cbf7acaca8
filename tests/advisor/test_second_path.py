"""The same money by another path: plain Python over the golden ledgers, to the last digit; and sums beyond 64 bits."""

import json
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from advisor.analysis import Analysis
from advisor.options import AnalyseOptions
from advisor.run import analyse
from pricing.meters import Meter

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "importers"
FIRST_CASES = {
    path.parent.parent.name: path.parent for path in sorted(GOLDEN.glob("*/*/input*"), reverse=True)
}
RATES = {
    "input": "2.503", "output": "10.0000007", "cache_read": "0.3125", "cache_write_5m": "3.75", "cache_write_30m": "4.1", "cache_write_1h": "5.99",
    "cache_write_12h": "6.25", "audio_input": "32.01", "audio_cache_read": "2.51", "audio_output": "64.3", "image_input": "8.7", "image_output": "40.9",
}  # fmt: skip
"""USD per million tokens, the same for every model: which card a name leads to is another test's matter."""
STORAGE, SEARCH = "4.51", "0.0103"
PER_TOKEN = {
    **{
        Meter.INPUT_UNCACHED if key == "input" else Meter(key): Fraction(rate) / 1_000_000
        for key, rate in RATES.items()
    },
    Meter.CACHE_STORAGE_TOKEN_HOURS: Fraction(STORAGE) / 1_000_000,
    Meter.WEB_SEARCH_CALLS: Fraction(SEARCH),
}
"""USD per unit of each meter, as a fraction: nothing is rounded on this path."""

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")


def golden_rows(cases: list[Path]) -> list[dict[str, Any]]:
    lines = [
        line
        for case in cases
        for line in (case / "expected.jsonl").read_text("utf-8").split("\n")[1:]
        if line
    ]
    return [json.loads(line) for line in lines]


def run(paths: list[Path], folder: Path, models: set[str]) -> Analysis:
    names: dict[str, str] = {}
    for model in sorted(models):
        names.setdefault(model.strip().lower(), model)
    card = {**RATES, "cache_storage_per_mtok_hour": STORAGE}
    cards = {"models": dict.fromkeys(names.values(), card), "fees": {"web_search_call": SEARCH}}
    (folder / "cards.json").write_text(json.dumps(cards), "utf-8")
    options = AnalyseOptions(as_of=datetime(2026, 11, 29, tzinfo=UTC), price_files=(folder / "cards.json",))
    return analyse([str(path) for path in paths], options)


@pytest.mark.parametrize("place", range(6))
def test_plain_python_over_the_golden_ledgers_gives_the_same_to_the_last_digit(
    place: int, tmp_path: Path
) -> None:
    cases = [
        case for name, case in sorted(FIRST_CASES.items())[place::6] if not (case / "options.json").is_file()
    ]
    rows = [row for row in golden_rows(cases) if not row.get("charge_only")]
    analysis = run(
        [path for case in cases for path in sorted(case.glob("input*"))],
        tmp_path,
        {row["model"] for row in rows if row.get("model")},
    )
    tokens = {meter: sum(row.get(str(meter), 0) for row in rows) for meter in PER_TOKEN}
    named = {meter: sum(row.get(str(meter), 0) for row in rows if row.get("model")) for meter in PER_TOKEN}
    assert sum(tokens.values()) > 0
    for meter, rate in PER_TOKEN.items():
        assert analysis.whole.tokens.get(meter, 0) == tokens[meter], meter
        assert Fraction(analysis.whole.cost.get(meter, Decimal(0))) == named[meter] * rate, meter


def log_of(folder: Path, count: int, repeat: int) -> Path:
    path = folder / "log.csv"
    row = f"2026-06-01T10:00:00Z,demo,{count},{count}\n"
    path.write_text("timestamp,model,prompt_tokens,completion_tokens\n" + row * repeat, "utf-8")
    return path


@pytest.mark.parametrize("repeat", [2, 20_000])
def test_sums_beyond_64_bits_are_exact(tmp_path: Path, repeat: int) -> None:
    count = 10**15
    analysis = run([log_of(tmp_path, count, repeat)], tmp_path, {"demo"})
    assert analysis.whole.tokens[Meter.OUTPUT] == count * repeat
    assert Fraction(analysis.whole.cost[Meter.OUTPUT]) == count * repeat * PER_TOKEN[Meter.OUTPUT]
    assert (
        analysis.cost.total == analysis.whole.cost[Meter.INPUT_UNCACHED] + analysis.whole.cost[Meter.OUTPUT]
    )


@pytest.mark.parametrize("count", [2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64, 10**30])
def test_a_count_that_no_request_has_is_refused_by_name_and_never_wraps(tmp_path: Path, count: int) -> None:
    path = log_of(tmp_path, count, 3)
    with path.open("a", encoding="utf-8") as log:
        log.write("2026-06-01T10:00:00Z,demo,100,10\n")
    analysis = run([path], tmp_path, {"demo"})
    assert (analysis.data.records, analysis.data.skipped) == (1, 3)
    assert analysis.whole.tokens[Meter.OUTPUT] == 10
    (problem,) = (item for item in analysis.data.problems if item.code == "skipped_rows")
    assert "token count" in problem.message
    assert [place.line for place in problem.examples] == [2, 3, 4]
