"""Pairs of log and bill in the shapes of real exports, whole: golden files, the command's exit codes, and its sentences.

The inputs are written by ``tools/make_reconcile_cases.py``; a day's calls cost the same on every third day, so the amounts
below are worked out by hand: gpt-4o costs 87.50 over the eight days, gpt-5-mini 11.25, claude-sonnet-4-5 112.50,
claude-haiku-4-5 37.50.
"""

import json
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from advisor import cli
from advisor.analysis import Analysis
from advisor.bill import read_bill
from advisor.options import AnalyseOptions
from advisor.reconciliation import BillError
from advisor.render.json import render_json
from advisor.run import analyse
from workloads.period import Period

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

CASES = Path(__file__).parents[1] / "golden" / "reconcile"
AS_OF = datetime(2026, 7, 1, tzinfo=UTC)

FOUND = {
    # 8 days x 2 kinds x 7 keys, rounded: haiku's half is 18.69 for 18.75, sonnet 112.56 for 112.50.
    "anthropic-csv": ("reconciled", {"fees": "0.42", "tier": "-18.72", "rounding": "-0.03"}, "0"),
    # A tenth of 112.50 is the region's; 8 x 0.25 discount.
    "aws-cur": ("reconciled", {"tax": "7.5", "credits": "-2.5", "discount": "-2", "region": "11.25"}, "0"),
    "azure": ("reconciled", {"credits": "-1.1", "discount": "-10.5"}, "0"),  # 12 % of 87.50
    # Days 7 and 8 have 3 + 4 of the 25 calls: 7 / 25 of 150.
    "focus": ("reconciled", {"tax": "9.03", "fees": "20", "days_not_in_bill": "-42"}, "0"),
    "litellm": ("reconciled", {"unpriced_models": "10", "failed_calls": "7"}, "0"),  # 25 x 0.40; 2 x 3.50
    # Day 4 has 3 calls of each model: 3 x 3.95. Of day 8's 4 x 3.95 a quarter is billed.
    "openai-page": (
        "reconciled",
        {"credits": "-3", "days_not_in_log": "11.85", "models_not_in_log": "0.0625", "late_data": "-11.85"},
        "0",
    ),
    "openrouter": ("not_reconciled", {}, "2"),
}


def pair(case: str) -> tuple[str, str, Path]:
    folder = CASES / case
    (log,) = folder.glob("log.*")
    (bill,) = folder.glob("bill.*")
    return str(log), str(bill), folder / "prices.json"


def run(case: str, **options: Any) -> Analysis:
    log, bill, prices = pair(case)
    given = {"as_of": AS_OF, "price_files": (prices,), "bills": (bill,)} | options
    return analyse([log], AnalyseOptions(**given))


def test_every_pair_has_its_answer() -> None:
    assert {path.name for path in CASES.iterdir()} == set(FOUND)


@pytest.mark.parametrize("case", sorted(FOUND))
def test_a_real_shaped_pair(case: str, check_golden: Callable[[Path, str], None]) -> None:
    analysis = run(case)
    section = json.loads(render_json(analysis))["reconciliation"]
    status, causes, unexplained = FOUND[case]
    assert section["status"] == status
    assert {item["cause"]: item["amount_usd"] for item in section["causes"]} == causes
    assert section["unexplained_usd"] == unexplained
    parts = [Decimal(item["amount_usd"]) for item in section["causes"]]
    assert sum(parts, Decimal(section["unexplained_usd"])) == Decimal(section["difference_usd"])
    assert analysis.cost.basis == ("reconciled" if status == "reconciled" else "computed")
    check_golden(CASES / case / "expected.json", json.dumps(section, indent=1, ensure_ascii=False) + "\n")


def test_a_bill_changes_nothing_that_is_computed() -> None:
    with_it, without = run("azure"), run("azure", bills=())
    assert without.reconciliation is None
    assert (with_it.cost.total, with_it.by_day, with_it.by_model) == (
        without.cost.total,
        without.by_day,
        without.by_model,
    )


def test_days_are_utc_days_whatever_the_reports_zone() -> None:
    utc, far = run("azure"), run("azure", period=Period(timezone="Pacific/Auckland"))
    assert far.reconciliation == utc.reconciliation
    assert [row.day for row in far.by_day] != [row.day for row in utc.by_day]


def test_only_the_asked_days_are_compared() -> None:
    found = run("azure", period=Period(since=date(2026, 6, 2), until=date(2026, 6, 3))).reconciliation
    assert found is not None
    # Days 2 and 3 have 4 + 2 calls of 3.50, at 0.88 of the price.
    assert (found.computed_usd, found.billed_usd) == (21, Decimal("18.48"))
    assert [row.key for row in found.by_day] == [date(2026, 6, 2), date(2026, 6, 3)]


def test_parts_of_a_bill_are_one_bill(tmp_path: Path) -> None:
    log, bill, prices = pair("azure")
    head, *rows = Path(bill).read_text(encoding="utf-8").splitlines()
    for number in (0, 1):
        part = "\n".join([head, *rows[number::2]]) + "\n"
        (tmp_path / f"part{number}.csv").write_text(part, encoding="utf-8")
    parts = analyse([log], AnalyseOptions(as_of=AS_OF, price_files=(prices,), bills=(str(tmp_path),)))
    assert parts.reconciliation == run("azure").reconciliation


# ---- bills that cannot be compared


def bill_of(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


OPENAI = "start_time,end_time,amount_value,amount_currency,line_item\n"


def test_a_bill_in_another_currency_is_not_compared(tmp_path: Path) -> None:
    text = OPENAI + '1780272000,1780358400,5.0,eur,"gpt-4o, input"\n'
    with pytest.raises(BillError, match=r"another currency than US dollars \(1 line\).*Export it in USD"):
        read_bill([bill_of(tmp_path / "cost.csv", text)], Period())


def test_lines_in_another_currency_are_left_out_and_said(tmp_path: Path) -> None:
    text = (
        OPENAI
        + '1780272000,1780358400,5.0,eur,"gpt-4o, input"\n1780272000,1780358400,2,usd,"gpt-4o, input"\n'
    )
    bill = read_bill([bill_of(tmp_path / "cost.csv", text)], Period())
    assert [line.amount_usd for line in bill.lines] == [2]
    assert bill.notes == ("1 line of the bill left out: an amount in another currency than US dollars.",)


def test_a_bill_without_money_is_none(tmp_path: Path) -> None:
    text = "time,model,prompt_tokens,completion_tokens\n2026-06-01T00:00:00Z,gpt-4o,10,5\n"
    with pytest.raises(BillError, match="states no amount of money"):
        read_bill([bill_of(tmp_path / "usage.csv", text)], Period())


def test_a_bill_of_other_days_says_so(tmp_path: Path) -> None:
    text = OPENAI + '1780272000,1780358400,2,usd,"gpt-4o, input"\n'
    with pytest.raises(BillError, match="no amount within the asked days"):
        read_bill([bill_of(tmp_path / "cost.csv", text)], Period(since=date(2026, 7, 1)))


def test_a_line_for_a_month_is_on_no_day(tmp_path: Path) -> None:
    text = OPENAI + '1780272000,1782864000,2,usd,"gpt-4o, input"\n'
    (line,) = read_bill([bill_of(tmp_path / "cost.csv", text)], Period()).lines
    assert (line.day, line.meter, line.kind, line.rounding_usd) == (
        None,
        "input_uncached",
        "usage",
        Decimal("0.005"),
    )


def test_saved_pages_that_are_not_all_are_said(tmp_path: Path) -> None:
    page = {
        "object": "page",
        "has_more": True,
        "data": [
            {
                "object": "bucket",
                "start_time": 1780272000,
                "end_time": 1780358400,
                "results": [
                    {
                        "object": "organization.costs.result",
                        "amount": {"value": "1.25", "currency": "usd"},
                        "line_item": None,
                    }
                ],
            }
        ],
    }
    bill = read_bill([bill_of(tmp_path / "costs.json", json.dumps(page))], Period())
    assert "there are more" in bill.notes[0]
    assert not bill.is_complete
    page["has_more"] = False
    assert read_bill([bill_of(tmp_path / "costs.json", json.dumps(page))], Period()).is_complete


# ---- the command


@pytest.fixture
def advisor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.chdir(tmp_path)

    def run(*words: str | Path) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["advisor", *map(str, words)])
        capsys.readouterr()
        return cli._run(), *capsys.readouterr()  # noqa: SLF001

    return run


def words_of(case: str, command: str = "reconcile") -> list[str]:
    log, bill, prices = pair(case)
    return [command, log, "--bill", bill, "--prices", str(prices), "--as-of", "2026-07-01"]


def test_the_gate_opens_and_shuts(advisor: Any) -> None:
    code, out, _ = advisor(*words_of("azure"))
    assert code == 0
    assert "Reconciled to the cent" in out
    assert "\N{MINUS SIGN}$10.50" in out
    code, out, _ = advisor(*words_of("openrouter"))
    assert code == 1
    assert "Not reconciled: $2.00 (2.0 %) unexplained" in out
    code, out, _ = advisor(*words_of("openrouter"), "--tolerance", "2%")
    assert code == 0
    assert "Reconciled within 2.0 %" in out


def test_the_table_fits_the_terminal(advisor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    _, out, _ = advisor(*words_of("openai-page"))
    assert max(map(len, out.splitlines())) <= 60
    assert "text-embedding-3-small" in out


def test_every_output_carries_the_badge(advisor: Any) -> None:
    badge = "Reconciled to the cent"
    outputs = ["-o", "r.html", "--json", "r.json", "--markdown", "r.md"]
    for command in ("analyze", "reconcile"):
        code, out, err = advisor(*words_of("aws-cur", command), *outputs)
        assert (code, out, err) == (0, "", "")
        header = Path("r.html").read_text().partition('<section id="spend"')[0]
        assert badge in header
        assert badge in Path("r.md").read_text()
        document = json.loads(Path("r.json").read_text())
        assert document["reconciliation"]["badge"] == badge
        assert document["cost"]["basis"] == "reconciled"
    _, out, _ = advisor(*words_of("aws-cur", "analyze"))
    assert badge in out


def test_without_a_bill_every_output_says_so(advisor: Any) -> None:
    log, _, prices = pair("aws-cur")
    advisor("analyze", log, "--prices", prices, "-o", "r.html", "--json", "r.json", "--markdown", "r.md")
    assert all("No bill given" in Path(name).read_text() for name in ("r.html", "r.json", "r.md"))
    _, out, _ = advisor("analyze", log, "--prices", prices)
    assert "No bill given" in out


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (("--tolerance", "lots"), 2, "--tolerance 'lots' is no percentage"),
        (("--bill", "nowhere.csv"), 3, "nowhere.csv"),
    ],
)
def test_wrong_options_are_one_sentence(advisor: Any, change: tuple[str, str], code: int, said: str) -> None:
    got, out, err = advisor(*words_of("azure"), *change)
    assert (got, out) == (code, "")
    assert said in err
    assert "Traceback" not in err


def test_a_bill_is_required(advisor: Any) -> None:
    code, _, err = advisor("reconcile", pair("azure")[0])
    assert code == 2
    assert "--bill" in err


def test_a_log_of_money_only_cannot_be_reconciled(advisor: Any) -> None:
    _, bill, _ = pair("azure")
    code, _, err = advisor("reconcile", bill, "--bill", bill)
    assert code == 3
    assert "nothing is computed" in err


def test_the_bill_may_stand_in_the_configuration(advisor: Any) -> None:
    log, bill, prices = pair("openrouter")
    Path("advisor.toml").write_text(f'bill = "{bill}"\nprices = "{prices}"\ntolerance = 2.5\n')
    code, out, _ = advisor("reconcile", log)
    assert code == 0
    assert "Reconciled within 2.0 %" in out
