"""Exports from the command line: where they go, what is said, and one sentence where there is nothing to export."""

import csv
import json
import sys
from collections.abc import Callable
from pathlib import Path

import export_logs
import pytest

from advisor import cli

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

Outcome = tuple[int, str, str]
Advisor = Callable[..., Outcome]


@pytest.fixture
def advisor(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Advisor:
    """Runs the command line in an empty folder; returns exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    Path("prices.json").write_text(json.dumps(export_logs.PRICES))

    def run(*words: str | Path) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["advisor", *map(str, words)])
        capsys.readouterr()
        code = cli._run()  # noqa: SLF001  (main ends the process)
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return export_logs.write_log(tmp_path, export_logs.ROWS)


def test_focus_goes_where_it_is_asked_to(advisor: Advisor, log: Path) -> None:
    assert advisor("analyze", log, "--prices", "prices.json", "--focus", "out/../bill.csv")[0] == 2
    code, out, err = advisor("analyze", log, "--prices", "prices.json", "--focus", "bill.csv")
    assert (code, out) == (0, "")
    assert "nobody-knows-9b" in err
    with Path("bill.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 13
    code, out, err = advisor("analyze", log, "--prices", "prices.json", "--focus", "-", "-q")
    assert (code, out, err) == (0, Path("bill.csv").read_text(), "")
    assert advisor("analyze", log, "--prices", "prices.json", "--focus", "bill.PARQUET", "-q") == (0, "", "")
    assert Path("bill.PARQUET").read_bytes()[:4] == b"PAR1"


def test_an_export_of_an_export_is_refused(advisor: Advisor, log: Path) -> None:
    advisor("analyze", log, "--prices", "prices.json", "--focus", "bill.csv")
    code, out, err = advisor("analyze", "bill.csv", "--focus", "again.csv")
    assert (code, out) == (2, "")
    assert err.startswith("Error: no FOCUS export: the log holds money only")
    assert not Path("again.csv").exists()


def test_the_workbook_goes_where_it_is_asked_to(advisor: Advisor, log: Path) -> None:
    assert advisor("analyze", log, "--prices", "prices.json", "--xlsx", "bill.xlsx", "-q") == (0, "", "")
    assert Path("bill.xlsx").read_bytes()[:2] == b"PK"
