"""The command line as a process of its own: exit codes, streams, and what it imports."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINE = {
    "id": "a",
    "object": "chat.completion",
    "created": 1767225600,
    "model": "test-4o",
    "usage": {"prompt_tokens": 1_000_000, "completion_tokens": 0},
}


def python(folder: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR", "SYSTEMROOT") if name in os.environ}
    environment = {**kept, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    return subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )


def advisor(folder: Path, *words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return python(folder, "-m", "advisor", *words, given=given)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "log.jsonl").write_text(json.dumps(LINE) + "\n")
    prices = {"unit": "USD per 1,000,000 tokens", "models": {"test-4o": {"input": "2.50", "output": "10"}}}
    (tmp_path / "prices.json").write_text(json.dumps(prices))
    return tmp_path


def test_a_run_from_stdin_to_stdout(folder: Path) -> None:
    got = advisor(folder, "analyze", "-", "--prices", "prices.json", "--json", "-", given=json.dumps(LINE))
    assert (got.returncode, got.stderr) == (0, "")
    assert json.loads(got.stdout)["cost"]["total"] == "2.5"


def test_nothing_readable_is_exit_3(folder: Path) -> None:
    got = advisor(folder, "analyze", "nowhere.jsonl")
    assert (got.returncode, got.stdout) == (3, "")
    assert got.stderr == "Error: nothing to analyse: nowhere.jsonl: no such file or folder.\n"


def test_a_strict_run_with_a_damaged_line_is_exit_1(folder: Path) -> None:
    with (folder / "log.jsonl").open("a") as file:
        file.write("{broken\n")
    got = advisor(folder, "analyze", "log.jsonl", "--prices", "prices.json", "--json", "out.json", "--strict")
    assert (got.returncode, got.stdout) == (1, "")
    assert len(got.stderr.splitlines()) == 1


def test_a_wrong_configuration_is_exit_2(folder: Path) -> None:
    (folder / "advisor.toml").write_text("colour = 1\n")
    got = advisor(folder, "analyze", "log.jsonl")
    assert (got.returncode, got.stdout) == (2, "")
    assert "unknown key 'colour'" in got.stderr
    assert "Traceback" not in got.stderr


@pytest.mark.parametrize("words", [["--help"], ["analyze", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(folder: Path, words: list[str]) -> None:
    program = (
        "import sys\nfrom advisor import cli\nsys.argv = ['advisor', *sys.argv[1:]]\ncode = cli._run()\n"
        "heavy = {'pandas', 'ibis', 'duckdb', 'genai_prices', 'numpy', 'pydantic', 'jinja2'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)\nsys.exit(code)"
    )
    got = python(folder, "-c", program, *words)
    assert got.returncode == 0
    assert got.stderr == "[]\n"
    assert got.stdout


def test_a_reader_that_goes_away_is_no_error(folder: Path) -> None:
    shell = f"{sys.executable} -m advisor formats | head -c 1"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    got = subprocess.run(
        ["sh", "-c", shell], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert (got.returncode, got.stderr) == (0, "")
