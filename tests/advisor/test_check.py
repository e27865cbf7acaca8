"""``advisor check``: limits by scope, exit codes, and that what has no price never lets a budget pass."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from advisor.budget_file import schema_json
from advisor.cli import Failure, cli

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

PRICES = """
models:
  demo-small: {provider: demo, input: "1.00", output: "5.00"}
  demo-large: {provider: demo, input: "10.00", output: "50.00"}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Twenty days of June: $10 a day of chat, from day 11 on also $5 of search; two requests a day each."""
    rows = ["timestamp,project,team,model,input_tokens,output_tokens"]
    for day in range(1, 21):
        rows += [f"2026-06-{day:02d}T{hour}:00:00Z,chat,red,demo-small,5000000,0" for hour in ("08", "20")]
        if day > 10:
            rows += [f"2026-06-{day:02d}T{hour}:30:00Z,search,,demo-large,250000,0" for hour in ("08", "20")]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "prices.yaml").write_text(PRICES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*options: str) -> Result:
    arguments = ["check", "log.csv", "--prices", "prices.yaml", "--as-of", "2026-06-21", *options]
    return CliRunner().invoke(cli, arguments)


def found(*options: str) -> tuple[int, list[dict[str, Any]]]:
    done = check(*options, "--json", "-")
    return done.exit_code, json.loads(done.stdout)["checks"]


@pytest.mark.usefixtures("folder")
def test_the_month_in_progress_counts_as_it_is_forecast() -> None:
    code, (row,) = found("--max-monthly-cost", "300")
    assert code == 1
    assert row["verdict"] == "broken"
    assert 380 <= float(row["found"]) <= 440  # spent is $250, ten days at $15 are to come
    assert "forecast to its end" in row["basis"]
    assert found("--max-monthly-cost", "500")[0] == 0


def test_a_month_that_is_over_counts_as_it_was(folder: Path) -> None:
    with (folder / "log.csv").open("a") as log:
        log.write("2026-05-31T12:00:00Z,chat,red,demo-small,900000000,0\n")
    code, (row,) = found("--max-monthly-cost", "800")
    assert (code, row["found"], row["basis"]) == (1, "900", "2026-05, as logged")


@pytest.mark.usefixtures("folder")
def test_cost_per_request() -> None:
    code, (row,) = found("--max-cost-per-request", "4.16")
    assert code == 1
    assert row["found"].startswith("4.1666")
    assert found("--max-cost-per-request", "4.17")[0] == 0


@pytest.mark.usefixtures("folder")
def test_change_against_the_period_before() -> None:
    """The last seven days cost $105, the seven before $85."""
    code, (row,) = found("--max-change", "23%")
    assert (code, row["verdict"]) == (1, "broken")
    assert row["found"].startswith("23.52")
    assert found("--max-change", "24")[0] == 0


BUDGETS = """
budgets:
  - scope: {workload: chat}
    monthly_cost: 310
  - name: Search
    scope: {workload: [search]}
    cost_per_request: 2
  - scope: {team: red}
    monthly_cost: 300
  - scope: {team: (unlabelled)}
    monthly_cost: 40
  - scope: {provider: demo, model: demo-large}
    cost_per_request: 2.5
"""


def test_scopes(folder: Path) -> None:
    (folder / "budget.yaml").write_text(BUDGETS)
    code, rows = found("--budget", "budget.yaml", "--group-by", "project")
    assert code == 1
    assert [(row["budget"], row["verdict"]) for row in rows] == [
        ("workload chat", "kept"),
        ("Search", "broken"),
        ("team red", "kept"),
        ("team (unlabelled)", "broken"),
        ("provider demo, model demo-large", "kept"),
    ]
    assert [row["found"] for row in rows] == ["300", "2.5", "300", "100", "2.5"]


@pytest.mark.parametrize("limit", [("--max-monthly-cost", "10000"), ("--max-cost-per-request", "10000")])
def test_what_has_no_price_never_passes(folder: Path, limit: tuple[str, str]) -> None:
    with (folder / "log.csv").open("a") as log:
        log.write("2026-06-20T21:00:00Z,chat,red,nobody-knows-9b,900000000,0\n")
    code, (row,) = found(*limit)
    assert (code, row["verdict"], row["unpriced_requests"]) == (1, "unknown", 1)
    done = check(*limit)
    assert "1 requests" not in done.stdout
    assert "nobody-knows-9b" in done.stdout
    code, (row,) = found(*limit, "--ignore-unpriced")
    assert (code, row["verdict"], row["unpriced_requests"]) == (0, "kept", 1)
    assert found("--max-monthly-cost", "1", "--ignore-unpriced")[0] == 1


@pytest.mark.usefixtures("folder")
def test_a_gate_that_cannot_be_judged_does_not_pass() -> None:
    code, (row,) = found("--max-change", "10", "--since", "2026-06-15")
    assert (code, row["verdict"], row["found"]) == (1, "unknown", None)
    assert "no two weeks" in row["basis"]


def test_a_scope_that_the_log_does_not_have_is_said(folder: Path) -> None:
    (folder / "budget.yaml").write_text("budgets: [{scope: {team: blue}, monthly_cost: 5}]")
    code, (row,) = found("--budget", "budget.yaml")
    assert (code, row["verdict"]) == (0, "kept")
    assert row["basis"].startswith("nothing of it is in this log")


@pytest.mark.usefixtures("folder")
def test_markdown_for_a_pull_request() -> None:
    done = check("--max-monthly-cost", "300", "--markdown", "-")
    assert done.exit_code == 1
    lines = done.stdout.splitlines()
    assert lines[0] == "<!-- token-cost-advisor check -->"
    assert lines[2] == "**❌ Budget broken: 1 of 1 limit broken.**"
    assert any(line.startswith("| total | cost a month | $300.00 | $") for line in lines)
    kept = check("--max-monthly-cost", "500", "--markdown", "-").stdout.splitlines()
    assert kept[2] == "**✅ Budget kept: the limit holds.**"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("budgets: []", "budgets"),
        ("budgets: [{monthly_cost: 5, size: 3}]", "unknown key, allowed: name, scope, monthly_cost"),
        ("budgets: [{scope: {team: a}}]", "no limit; name one of monthly_cost"),
        ("budgets: [{scope: {team: a, project: b}, monthly_cost: 5}]", "project and team are both named"),
        ("budgets: [{scope: {tame: a}, monthly_cost: 5}]", "unknown key, allowed: provider, model"),
        ("budgets: [{monthly_cost: -1}]", "got -1"),
        ("{currency: EUR, budgets: [{monthly_cost: 5}]}", "the report is in USD"),
        ("budgets: [", "budget.yaml"),
    ],
)
def test_mistakes_in_the_file_are_named(folder: Path, text: str, said: str) -> None:
    (folder / "budget.yaml").write_text(text)
    arguments = ["check", "log.csv", "--as-of", "2026-06-21", "--budget", "budget.yaml"]
    failure = CliRunner().invoke(cli, arguments, standalone_mode=False).exception
    assert isinstance(failure, Failure)
    assert failure.code == 2
    assert said in failure.message


@pytest.mark.usefixtures("folder")
def test_wrong_usage() -> None:
    for options in ((), ("--max-monthly-cost", "much"), ("--max-change", "-5")):
        assert check(*options).exit_code == 2


@pytest.mark.usefixtures("folder")
def test_the_schema_is_published() -> None:
    assert check("--schema").stdout == schema_json()
    assert set(json.loads(schema_json())["properties"]) == {"currency", "budgets"}


def test_analyze_shows_the_log_against_budgets(folder: Path) -> None:
    (folder / "budget.yaml").write_text(BUDGETS)
    arguments = [
        "analyze",
        "log.csv",
        "--prices",
        "prices.yaml",
        "--as-of",
        "2026-06-21",
        "--group-by",
        "project",
    ]
    done = CliRunner().invoke(
        cli, [*arguments, "--budget", "budget.yaml", "--json", "out.json", "-o", "out.html"]
    )
    assert done.exit_code == 0  # the gate is ``advisor check``
    document = json.loads((folder / "out.json").read_text())
    assert [row["verdict"] for row in document["budgets"]] == ["kept", "broken", "kept", "broken", "kept"]
    page = (folder / "out.html").read_text()
    assert "Budget broken: 2 of 5 limits broken." in page
