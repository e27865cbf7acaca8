"""Every example is run as its reader would, in an empty folder, and says what it promises."""

import csv
import json
import os
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples"
SECONDS = 300


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The environment of a shell in which ``advisor`` and ``python3`` are those of the tests."""
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, words in {
        "advisor": f'exec "{sys.executable}" -m advisor "$@"',
        "python3": f'exec "{sys.executable}" "$@"',
    }.items():
        (tools / name).write_text(f"#!/bin/sh\n{words}\n")
        (tools / name).chmod(0o755)
    path = f"{tools}{os.pathsep}{os.environ.get('PATH', '')}"
    return {
        **os.environ,
        "PATH": path,
        "PYTHONPATH": str(ROOT),
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
    }


def run(words: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, cwd=folder, env=environment, timeout=SECONDS
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout


def run_example(name: str, folder: Path, environment: dict[str, str]) -> str:
    program = sys.executable if name.endswith(".py") else "sh"
    return run([program, str(EXAMPLES / name)], folder, environment)


def test_a_log_becomes_every_output(tmp_path: Path, environment: dict[str, str]) -> None:
    run_example("price_a_log.sh", tmp_path, environment)
    cost = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["cost"]
    assert cost["complete"]
    assert Decimal(cost["total"]) == sum(map(Decimal, cost["by_meter"].values()))
    assert "<html" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert (tmp_path / "report.xlsx").read_bytes().startswith(b"PK")
    with (tmp_path / "bill.csv").open(encoding="utf-8", newline="") as bill:
        billed = sum((Decimal(row["BilledCost"]) for row in csv.DictReader(bill)), Decimal(0))
    assert billed == Decimal(cost["total"])
    assert "code-review" in (tmp_path / "report.md").read_text(encoding="utf-8")


def test_negotiated_terms_make_the_contracted_cost_lower(tmp_path: Path, environment: dict[str, str]) -> None:
    said = run_example("own_terms.sh", tmp_path, environment)
    cost = json.loads((tmp_path / "terms.json").read_text(encoding="utf-8"))["cost"]
    assert said == f"list {cost['list_total']} USD, contracted {cost['total']} USD\n"
    assert Decimal(cost["total"]) < Decimal(cost["list_total"])


def test_a_scenario_is_priced_step_by_step(tmp_path: Path, environment: dict[str, str]) -> None:
    said = run_example("what_if.sh", tmp_path, environment)
    assert "Smaller reviews, shorter reports" in said
    assert "report-writer" in said


def test_two_weeks_are_compared_without_their_logs(tmp_path: Path, environment: dict[str, str]) -> None:
    said = run_example("diff_two_weeks.sh", tmp_path, environment)
    assert "before.json" in said
    assert "Volume: more or fewer requests" in said


def test_the_python_program_runs(tmp_path: Path, environment: dict[str, str]) -> None:
    said = run_example("notebook.py", tmp_path, environment)
    assert "code-review: prefill_dominated" in said
    assert "0.00120000" in said  # 1,000 x 0.40 + 500 x 1.60, in millionths
    assert "group_by 'colour' is unknown" in said
    assert (tmp_path / "notebook.html").is_file()


def test_the_steps_of_the_gate_pass_and_fail_as_budgets_say(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    workflow = yaml.safe_load((EXAMPLES / "github_actions.yml").read_text(encoding="utf-8"))
    steps = [step["run"] for step in workflow["jobs"]["budget"]["steps"] if "run" in step]
    install, check, publish = steps
    assert install == "pip install token-cost-advisor"
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    run(["sh", "-ec", check], tmp_path, environment)
    run(["sh", "-ec", publish], tmp_path, environment)
    assert "Budget kept" in Path(environment["GITHUB_STEP_SUMMARY"]).read_text(encoding="utf-8")
    budgets = tmp_path / "examples" / "budgets.yaml"
    budgets.write_text(
        budgets.read_text(encoding="utf-8").replace("monthly_cost: 50", "monthly_cost: 1"), encoding="utf-8"
    )
    broken = subprocess.run(["sh", "-ec", check], cwd=tmp_path, env=environment, timeout=SECONDS, check=False)
    assert broken.returncode == 1


def test_every_example_is_listed_and_run() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    here = Path(__file__).read_text(encoding="utf-8")
    for path in EXAMPLES.iterdir():
        if path.is_file() and path.name != "README.md":
            assert f"({path.name})" in listed, path.name
            assert path.suffix == ".yaml" or f'"{path.name}"' in here, path.name


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_the_program_is_well_typed_by_what_the_packages_declare(checker: str, tmp_path: Path) -> None:
    pytest.importorskip(checker)
    # Mistakes that only types can find: the checker looks at the packages, and not at nothing.
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import advisor\n\nadvisor.analyse('log.csv', group_by=3).total.upper()\n", encoding="utf-8"
    )
    done = _check(checker, tmp_path, EXAMPLES / "notebook.py", wrong)
    found = [line for line in done.stdout.splitlines() if "error" in line and ".py:" in line]
    assert done.returncode == 1, done.stdout + done.stderr
    assert all("wrong.py:3" in line for line in found), done.stdout
    assert any("group_by" in line for line in found), done.stdout
    assert any("upper" in line for line in found), done.stdout


def _check(checker: str, folder: Path, *files: Path) -> "subprocess.CompletedProcess[str]":
    if checker == "mypy":
        words = ["-m", "mypy", "--strict", "--cache-dir", str(folder / "mypy"), "--follow-imports", "silent"]
    else:
        words = ["-m", "pyright", "--pythonpath", sys.executable, "--project", str(folder)]
        (folder / "pyrightconfig.json").write_text(
            json.dumps({"extraPaths": [str(ROOT)], "typeCheckingMode": "standard"})
        )
    environment = {**os.environ, "MYPYPATH": os.pathsep.join([str(ROOT), str(ROOT / "typings")])}
    return subprocess.run(
        [sys.executable, *words, *map(str, files)],
        capture_output=True, text=True, check=False, cwd=folder, env=environment, timeout=SECONDS,
    )  # fmt: skip
