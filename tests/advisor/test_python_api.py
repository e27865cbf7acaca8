"""``import advisor`` as a program or a notebook uses it: arguments, frames, files, and errors."""

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import advisor
from advisor.frames import DAYS, frame_of

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

CARDS = {"models": {"test-4o": {"input": "2.50", "output": "10.00"}}}
AS_OF = datetime(2026, 7, 1, tzinfo=UTC)


def rows() -> pd.DataFrame:
    """Return three requests of two days and models, one of them without a price."""
    return pd.DataFrame(
        {
            "time": ["2026-06-14T10:00:00Z", "2026-06-15T10:00:00Z", "2026-06-15T11:00:00Z"],
            "model": ["test-4o", "test-4o", "nobody-knows-9b"],
            "application": ["<b>bot</b>", "<b>bot</b>", "other"],
            "prompt_tokens": [1_000, 3_000, 500],
            "completion_tokens": [100, 300, 50],
        }
    )


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "log.csv"
    rows().to_csv(file, index=False)
    return file


@pytest.fixture
def report(log: Path) -> advisor.Report:
    return advisor.analyse(log, prices=CARDS, as_of=AS_OF)


def test_importing_it_imports_nothing_heavy() -> None:
    code = "import sys, advisor; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"pandas", "ibis", "duckdb", "pydantic", "jinja2"} & set(done.stdout.split())


def test_a_name_that_is_not_there_is_said() -> None:
    with pytest.raises(AttributeError, match="analyze_all"):
        _ = advisor.analyze_all  # type: ignore[attr-defined]


def test_it_is_a_function_whatever_was_imported_before() -> None:
    code = "import advisor.commands.analyze, advisor; print(callable(advisor.analyse))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_the_numbers_are_exact_and_what_has_no_price_is_not_zero(report: advisor.Report) -> None:
    # 4,000 x 2.50 + 400 x 10.00, in millionths
    assert (report.total, report.currency, report.complete, report.requests) == (
        Decimal("0.014"),
        "USD",
        False,
        3,
    )
    assert report.by_day["cost"].tolist() == [Decimal("0.0035"), Decimal("0.0105")]
    assert report.by_day["day"].tolist() == [pd.Timestamp(2026, 6, 14), pd.Timestamp(2026, 6, 15)]
    assert report.by_day["input_uncached"].tolist() == [1_000, 3_500]
    models = report.by_model.set_index("model")
    assert models.loc["test-4o", "output_input_price_ratio"] == 4
    assert models.loc["nobody-knows-9b", "cost"] is None
    assert report.unpriced["model"].tolist() == ["nobody-knows-9b"]
    assert repr(report) == "<advisor.Report: at least $0.014 for 3 requests in 2 workloads>"


def test_nothing_priced_has_no_total(log: Path) -> None:
    found = advisor.analyse(
        log, model="x", prices={"models": {"another": {"input": "1", "output": "1"}}}, as_of=AS_OF
    )
    assert found.total is None
    assert "cost unknown" in repr(found)


def test_frames_have_the_keys_of_the_document(report: advisor.Report) -> None:
    document = json.loads(report.to_json())
    assert [day["cost"] for day in document["by_day"]] == [str(cost) for cost in report.by_day["cost"]]
    assert report.workloads["prefill_share"].tolist()[0] == document["workloads"][0]["prefill_share"]
    assert report.workloads["input_tokens_p50"].tolist()[0] == document["workloads"][0]["input_tokens"]["p50"]
    assert len(report.prices) == len(document["prices"]) == 2
    assert len(report.recommendations) == len(document["recommendations"])
    assert len(report.plan) == len(document["plan"]["steps"])
    assert report.problems["code"].tolist() == [one["code"] for one in document["data"]["problems"]]


def test_a_changed_frame_changes_nothing(report: advisor.Report) -> None:
    mine = report.by_day
    mine["cost"] = 0
    assert report.by_day["cost"].tolist() == [Decimal("0.0035"), Decimal("0.0105")]
    with pytest.raises(AttributeError):
        report.analysis = report.analysis  # type: ignore[misc]


def test_counts_beyond_64_bits_stay_exact(report: advisor.Report) -> None:
    day = report.document.by_day[0]
    large = day.model_copy(update={"tokens": {"output": 2**64}})
    frame = frame_of([day, large], DAYS)
    assert frame["output"].tolist() == [100, 2**64]
    assert frame["input_uncached"].tolist()[0] == 1_000
    assert frame["input_uncached"].isna().tolist() == [False, True]


def test_a_frame_is_a_log(report: advisor.Report) -> None:
    assert advisor.analyse(rows(), prices=CARDS, as_of=AS_OF).total == report.total
    both = advisor.analyse([rows().iloc[:1], rows().iloc[1:]], prices=CARDS, as_of=AS_OF)
    assert both.total == report.total


def test_arguments_take_what_python_has_for_them(log: Path, tmp_path: Path) -> None:
    cards = tmp_path / "cards.json"
    cards.write_text(json.dumps(CARDS), encoding="utf-8")
    found = advisor.analyse(
        [str(log)],
        prices=[cards],
        since=date(2026, 6, 15),
        until="2026-06-15",
        as_of="2026-07-01",
        group_by=["model"],
    )
    assert found.total == Decimal("0.0105")
    assert set(found.workloads["name"]) == {"test-4o", "nobody-knows-9b"}


def test_steps_are_told(log: Path) -> None:
    steps: list[str] = []
    advisor.analyse(log, prices=CARDS, as_of=AS_OF, progress=steps.append)
    assert "adding up tokens" in steps


def test_a_notebook_shows_a_table_and_no_markup_of_the_log(report: advisor.Report) -> None:
    shown = report._repr_html_()
    assert "at least $0.014" in shown
    assert "&lt;b&gt;bot&lt;/b&gt;" in shown
    assert "<b>bot</b>" not in shown


def test_every_form_can_be_written(report: advisor.Report, tmp_path: Path) -> None:
    report.to_html(tmp_path / "r.html")
    report.to_json(str(tmp_path / "r.json"))
    report.to_markdown(tmp_path / "r.md")
    report.to_excel(tmp_path / "r.xlsx")
    report.to_focus(tmp_path / "r.csv")
    report.to_focus(tmp_path / "r.parquet")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == report.to_html()
    assert (tmp_path / "r.md").read_text(encoding="utf-8") == report.to_markdown()
    assert (tmp_path / "r.xlsx").read_bytes().startswith(b"PK")
    billed = pd.read_csv(tmp_path / "r.csv", dtype=str)["BilledCost"]
    assert sum(map(Decimal, billed), Decimal(0)) == report.total
    assert len(pd.read_parquet(tmp_path / "r.parquet")) == len(billed)
    again = advisor.read_report(tmp_path / "r.json")
    assert again.total == report.total
    assert again.to_html() == report.to_html()
    assert "test-4o" in report.summary()


def test_it_says_what_the_command_line_says(log: Path, tmp_path: Path, report: advisor.Report) -> None:
    cards, out = tmp_path / "cards.json", tmp_path / "out.json"
    cards.write_text(json.dumps(CARDS), encoding="utf-8")
    words = ["--prices", str(cards), "--as-of", "2026-07-01", "--json", str(out), "-q"]
    subprocess.run([sys.executable, "-m", "advisor", "analyze", str(log), *words], check=True, cwd=tmp_path)
    document, own = json.loads(out.read_text(encoding="utf-8")), json.loads(report.to_json())
    for kept in (document, own):
        del kept["provenance"], kept["saved"]
        for price in kept["prices"]:
            del price["source"]  # where the cards were read from
    assert own == document


WRONG: dict[str, Callable[[Path], dict[str, Any]]] = {
    "group_by 'nope' is unknown; allowed are project": lambda _: {"group_by": "nope"},
    "since 'soon' is no day; write it as 2026-06-30": lambda _: {"since": "soon"},
    "since 2026-06-02 is after until 2026-06-01": lambda _: {"since": "2026-06-02", "until": "2026-06-01"},
    "currency EUR needs fx FILE": lambda _: {"currency": "EUR"},
    "timezone 'Mars' is unknown": lambda _: {"timezone": "Mars"},
    "format 'zz' is unknown": lambda _: {"format": "zz"},
    "plan 'seats=many' is not NAME=USD": lambda _: {"plan": {"seats": "many"}},
    "none.json: cannot be read": lambda folder: {"prices": folder / "none.json"},
    "none.yaml": lambda folder: {"budget": folder / "none.yaml"},
    "input": lambda _: {"prices": {"models": {"m": {"input": "many"}}}},
    "no column 'zz' among the columns": lambda _: {"map": {"prompt": "zz"}},
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_not_allowed_is_said_in_the_words_of_the_arguments(
    message: str, log: Path, tmp_path: Path
) -> None:
    with pytest.raises(advisor.OptionError) as caught:
        advisor.analyse(log, **WRONG[message](tmp_path))
    assert message in str(caught.value)
    assert "--" not in str(caught.value)


def test_nothing_to_read_is_an_error_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(advisor.InputError, match="no such file or folder"):
        advisor.analyse(tmp_path / "none.csv")
    with pytest.raises(advisor.OptionError, match="logs is empty"):
        advisor.analyse([])
    with pytest.raises(advisor.InputError, match="cannot be read: No such file"):
        advisor.read_report(tmp_path / "none.json")
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    with pytest.raises(advisor.AdvisorError, match="no document of advisor"):
        advisor.read_report(tmp_path / "other.json")


def test_a_file_that_cannot_be_written_is_said(report: advisor.Report, tmp_path: Path) -> None:
    with pytest.raises(advisor.AdvisorError, match="cannot write"):
        report.to_html(tmp_path / "no folder" / "r.html")
