"""``advisor ledger``: the same numbers as from the logs, whatever was added when; clear ends where something goes wrong."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from advisor import cli
from advisor.options import AnalyseOptions
from advisor.render.json import render_json
from advisor.run import analyse
from workloads.batches import ReadOptions
from workloads.load import LoadOptions
from workloads.sources import SourceError
from workloads.stored.add import add

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

AS_OF = datetime(2026, 7, 1, tzinfo=UTC)
GOLDEN = Path(__file__).parents[1] / "golden" / "importers"
CASES = sorted(path for path in GOLDEN.glob("*/*") if path.is_dir())
PRICES = {"models": {"test-a": {"input": "2.00", "output": "8.00"}}}


def line(number: int, *, prompt: int = 100, day: int = 1) -> str:
    usage = {"prompt_tokens": prompt, "completion_tokens": 10, "total_tokens": prompt + 10}
    body = {"id": f"c{number}", "object": "chat.completion", "model": "test-a", "usage": usage}
    return json.dumps({"timestamp": f"2026-06-{day:02}T12:00:00Z", "response": body}) + "\n"


def snapshot(message: str, *, output: int) -> str:
    """Return a line of a coding agent's session, of a message that is still being written."""
    body = {
        "id": f"msg_{message}",
        "role": "assistant",
        "type": "message",
        "model": "test-a",
        "usage": {"input_tokens": 100, "output_tokens": output},
    }
    at = "2026-06-01T12:00:00.000Z"
    whole = {
        "type": "assistant",
        "timestamp": at,
        "sessionId": "s1",
        "requestId": f"req_{message}",
        "message": body,
    }
    return json.dumps(whole) + "\n"


def document(paths: list[Path], load: LoadOptions) -> dict[str, Any]:
    """Return the JSON document, but for what says where it came from; or why there is none."""
    options = AnalyseOptions(as_of=AS_OF, load=load, cost_lines=True)
    try:
        made: dict[str, Any] = json.loads(render_json(analyse([str(path) for path in paths], options)))
    except SourceError as error:
        return {"error": str(error)}
    del made["provenance"], made["data"]["sources"]
    return made


def read_as(case: Path) -> LoadOptions:
    file = case / "options.json"
    said = json.loads(file.read_text()) if file.is_file() else {}
    return LoadOptions(read=ReadOptions(format=said.get("format"), mapping=said.get("mapping", {})))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}/{case.name}")
def test_a_ledger_is_analysed_as_its_inputs_are(case: Path, tmp_path: Path) -> None:
    inputs, load = sorted(case.glob("input*")), read_as(case)
    for file in inputs:  # each on a day of its own, so that repeats are over several adds
        try:
            add(tmp_path / "ledger", [str(file)], load, AS_OF)
        except SourceError:
            assert len(inputs) == 1
            return
    assert document([tmp_path / "ledger"], LoadOptions()) == document(inputs, load)


@dataclass(frozen=True)
class Result:
    exit_code: int
    stdout: str
    stderr: str


@pytest.fixture
def advisor(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Result]:
    monkeypatch.chdir(tmp_path)
    Path("prices.json").write_text(json.dumps(PRICES))

    def run(*words: str) -> Result:
        monkeypatch.setattr(sys, "argv", ["advisor", *words])
        capsys.readouterr()
        code = cli._run()  # noqa: SLF001  (main ends the process)
        return Result(code, *capsys.readouterr())

    return run


def told(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.stderr
    made: dict[str, Any] = json.loads(result.stdout)
    return made


def analysed(advisor: Callable[..., Result], path: str = "ledger") -> dict[str, Any]:
    return told(advisor("analyze", path, "--prices", "prices.json", "--as-of", "2026-07-01", "--json", "-"))


def test_new_grown_changed_renamed_and_removed(advisor: Callable[..., Result]) -> None:
    logs = Path("logs")
    logs.mkdir()
    (logs / "a.jsonl").write_text(line(1) + line(2))
    (logs / "b.jsonl").write_text(line(3, day=2))
    first = advisor("ledger", "add", "logs", "--to", "ledger")
    assert first.exit_code == 0, first.stderr
    assert "2 inputs given: 2 new" in first.stdout
    assert analysed(advisor)["data"]["records"] == 3

    assert "2 unchanged" in advisor("ledger", "add", "logs", "--to", "ledger").stdout

    with (logs / "a.jsonl").open("a") as out:
        out.write(line(4, day=3))
    (logs / "b.jsonl").write_text(line(3, prompt=700, day=2))
    again = advisor("ledger", "add", "logs", "--to", "ledger")
    assert "1 grown, 1 changed" in again.stdout
    made = analysed(advisor)
    assert made["data"]["records"] == 4
    assert made["data"]["rows_read"] == 4
    assert made["tokens"]["input_uncached"] == 100 + 100 + 100 + 700

    (logs / "a.jsonl").rename(logs / "a.1.jsonl")
    moved = advisor("ledger", "add", "logs", "--to", "ledger")
    assert "1 known under another name before" in moved.stdout
    assert analysed(advisor)["data"]["records"] == 4

    (logs / "b.jsonl").unlink()
    gone = advisor("ledger", "remove", "logs/b.jsonl", "--from", "ledger")
    assert "1 inputs with 1 rows" in gone.stdout
    assert analysed(advisor)["tokens"]["input_uncached"] == 300
    assert {path.name for path in Path("ledger/rows").iterdir()} == {"day=2026-06-01", "day=2026-06-03"}

    shown = told(advisor("ledger", "show", "ledger", "--json", "-"))
    assert [item["path"] for item in shown["inputs"]] == ["logs/a.1.jsonl"]
    assert shown["rows"] == {"read": 3, "records": 3, "skipped": 0, "duplicates": 0, "ignored": 0}
    assert [(day["day"], day["rows"]) for day in shown["days"]] == [("2026-06-01", 2), ("2026-06-03", 1)]


def test_a_call_that_a_later_file_repeats_counts_once(advisor: Callable[..., Result]) -> None:
    """The snapshot with more output stays, whichever was added first; without it, the other one counts again."""
    Path("monday.jsonl").write_text(snapshot("one", output=5) + snapshot("two", output=7))
    Path("tuesday.jsonl").write_text(snapshot("one", output=900))
    advisor("ledger", "add", "monday.jsonl", "--to", "ledger")
    advisor("ledger", "add", "tuesday.jsonl", "--to", "ledger")
    together = analysed(advisor)
    assert (together["data"]["records"], together["data"]["duplicates"]) == (2, 1)
    advisor("ledger", "remove", "tuesday.jsonl", "--from", "ledger")
    alone = analysed(advisor)
    assert (alone["data"]["records"], alone["data"]["duplicates"]) == (2, 0)
    assert (together["tokens"]["output"], alone["tokens"]["output"]) == (907, 12)


def test_a_ledger_may_be_read_beside_other_logs_but_not_twice(advisor: Callable[..., Result]) -> None:
    Path("a.jsonl").write_text(line(1))
    Path("b.jsonl").write_text(line(2))
    advisor("ledger", "add", "a.jsonl", "--to", "ledger")
    words = ("--prices", "prices.json", "--as-of", "2026-07-01", "--json", "-")
    assert told(advisor("analyze", "ledger", "b.jsonl", *words))["data"]["records"] == 2
    twice = advisor("analyze", "ledger", "a.jsonl", *words)
    assert twice.exit_code == 3
    assert "a.jsonl: the ledger has this input already" in twice.stderr


def test_inputs_in_the_folder_of_the_ledger(advisor: Callable[..., Result]) -> None:
    Path("logs").mkdir()
    Path("logs/a.jsonl").write_text(line(1))
    advisor("ledger", "add", "logs", "--to", "logs/ledger")
    assert "1 unchanged" in advisor("ledger", "add", "logs", "--to", "logs/ledger").stdout
    assert analysed(advisor, "logs/a.jsonl")["data"]["records"] == 1


def test_provenance_names_the_inputs_of_the_ledger(advisor: Callable[..., Result]) -> None:
    Path("a.jsonl").write_text(line(1))
    advisor("ledger", "add", "a.jsonl", "--to", "ledger")
    shown = told(advisor("ledger", "show", "ledger", "--json", "-"))
    Path("a.jsonl").unlink()
    (found,) = analyse(["ledger"], AnalyseOptions(as_of=AS_OF)).provenance.inputs
    assert found.path == "a.jsonl"
    assert found.sha256 == shown["inputs"][0]["sha256"]


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("ledger", "show", "nowhere"), 2, "nowhere: no ledger"),
        (("ledger", "remove", "x", "--from", "nowhere"), 2, "nowhere: no ledger"),
        (("ledger", "remove", "x.jsonl", "--from", "ledger"), 2, "x.jsonl: no input of ledger"),
        (("ledger", "add", "x.jsonl", "--to", "ledger"), 3, "x.jsonl: no such file"),
        (("ledger", "add", "notes.txt", "--to", "ledger"), 3, "notes.txt"),
        (("ledger", "add", "a.jsonl", "--to", "other"), 2, "not empty and no ledger"),
        (("analyze", "ledger", "--map", "prompt=x"), 2, "`advisor ledger add`"),
    ],
)
def test_what_cannot_be_done_says_why(
    advisor: Callable[..., Result], words: tuple[str, ...], code: int, says: str
) -> None:
    Path("a.jsonl").write_text(line(1))
    Path("notes.txt").write_text("nothing that could be a log\n")
    Path("other").mkdir()
    Path("other/file").touch()
    advisor("ledger", "add", "a.jsonl", "--to", "ledger")
    result = advisor(*words)
    assert result.exit_code == code, result.stderr
    assert says in result.stderr
    assert "Traceback" not in result.stderr


def test_a_damaged_or_a_newer_ledger_says_so(advisor: Callable[..., Result]) -> None:
    Path("a.jsonl").write_text(line(1))
    advisor("ledger", "add", "a.jsonl", "--to", "ledger")
    (file,) = Path("ledger/rows").rglob("*.parquet")
    file.rename("kept")
    assert "missing, though the ledger's manifest names it" in advisor("analyze", "ledger").stderr
    manifest = Path("ledger/advisor-ledger.json")
    whole = manifest.read_text()
    manifest.write_text(whole[:40])
    assert "damaged" in advisor("ledger", "show", "ledger").stderr
    manifest.write_text(whole.replace('"ledger_version": 1', '"ledger_version": 99'))
    shown = advisor("ledger", "show", "ledger")
    assert shown.exit_code == 2
    assert "version 99" in shown.stderr


def _run(folder: Path, *words: str, **more: Any) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    command = [sys.executable, "-m", "advisor", *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=env, **more)


def _small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000))


def test_a_full_disk_is_one_sentence_and_leaves_everything_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(line(1))
    assert _run(tmp_path, "ledger", "add", "a.jsonl", "--to", "ledger").returncode == 0
    before = (tmp_path / "ledger/advisor-ledger.json").read_bytes()
    rows = "".join(line(number, day=1 + number % 28, prompt=number) for number in range(5_000))
    (tmp_path / "b.jsonl").write_text(rows)
    for words in (
        ("ledger", "add", "b.jsonl", "--to", "ledger"),
        ("analyze", "b.jsonl", "--json", "out.json"),
        ("analyze", "b.jsonl", "--xlsx", "out.xlsx"),
    ):
        full = _run(tmp_path, *words, preexec_fn=_small_files)
        assert full.returncode == 2, (words, full)
        assert full.stderr.count("\n") == 1, full.stderr
        assert "File too large" in full.stderr
    assert (tmp_path / "ledger/advisor-ledger.json").read_bytes() == before
    left = {path.name for path in tmp_path.rglob("*") if path.is_file() and "lock" not in path.name}
    assert left == {"a.jsonl", "b.jsonl", "advisor-ledger.json", "000001-1.parquet"}


def _heed_interrupts() -> None:
    """What a shell starts in the background ignores them, and so would what this starts."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_stopping_a_run_leaves_no_half_output(tmp_path: Path) -> None:
    """Ctrl-C at several moments: an output is there as a whole or not at all, and nothing lies beside it."""
    (tmp_path / "a.jsonl").write_text("".join(line(n, day=1 + n % 28, prompt=n) for n in range(20_000)))
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    outputs = ("-o", "r.html", "--json", "r.json", "--xlsx", "r.xlsx", "--focus", "r.csv")
    stopped = 0
    for wait_seconds in (0.4, 0.9, 1.6, 2.4):
        process = subprocess.Popen(
            [sys.executable, "-m", "advisor", "analyze", "a.jsonl", "--model", "gpt-4o", *outputs],
            cwd=tmp_path,
            env=env,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=_heed_interrupts,  # noqa: PLW1509  (no thread is running)
        )
        time.sleep(wait_seconds)
        process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=60)[1]
        assert "defect" not in errors
        stopped += process.returncode == 130
        found = {path.name for path in tmp_path.iterdir()} - {"a.jsonl"}
        assert found <= {"r.html", "r.json", "r.xlsx", "r.csv"}
        if "r.json" in found:
            json.loads((tmp_path / "r.json").read_text())
    assert stopped
