"""What stays between the log and the engine: texts of prompts, names of people, keys; and the machine's network."""

import contextlib
import io
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from advisor.analysis import Analysis
from advisor.commands.outputs import KINDS, render, summary
from advisor.options import AnalyseOptions
from advisor.render.focus import FocusError
from advisor.run import analyse
from workloads import pseudonyms
from workloads.copies import remove_copies
from workloads.relations import connect

TESTS = Path(__file__).resolve().parents[1]
PRICES = TESTS / "pricing" / "data" / "prices.json"
GOLDEN = TESTS / "golden" / "importers"
CANARY = "the-canary-sang-9f3a"
TEXT_KEYS = {
    "content", "text", "thinking", "summary", "title", "output", "input", "prompt", "completion", "response", "message", "arguments",
    "input.value", "output.value", "gen_ai.prompt", "gen_ai.completion", "ai.prompt", "ai.response.text", "snippet", "query", "answer",
}  # fmt: skip
PEOPLE = {
    "user": "jane.roe@example.com",
    "api_key": "sk-proj-abcdefghijklmnop1234",
    "team": "john.doe@example.org",
}


@pytest.fixture(autouse=True)
def _own_key(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv(pseudonyms.VARIABLE, "a key of the tests")
    pseudonyms._key.cache_clear()  # noqa: SLF001
    yield
    pseudonyms._key.cache_clear()  # noqa: SLF001


def run(*paths: Path, **options: Any) -> Analysis:
    given = AnalyseOptions(
        as_of=datetime(2026, 11, 29, tzinfo=UTC), price_files=(PRICES,), cost_lines=True, **options
    )
    return analyse([str(path) for path in paths], given)


def outputs(analysis: Analysis) -> Iterator[tuple[str, str]]:
    """Yield every form of a report as text; a workbook as all of its parts."""
    yield "terminal", summary(analysis, no_color=False)
    for kind in KINDS:
        made: str | bytes = ""
        with contextlib.suppress(FocusError, Exception if kind == "focus" else FocusError):
            made = render(kind, analysis, quiet=True)
        if isinstance(made, bytes):
            with zipfile.ZipFile(io.BytesIO(made)) as book:
                made = "\n".join(book.read(name).decode("utf-8", "replace") for name in book.namelist())
        yield kind, made


def with_canary(value: Any, key: str = "") -> Any:
    """Return a record with the canary in every field that may hold the text of a prompt or an answer."""
    if isinstance(value, dict):
        return {name: with_canary(inner, name) for name, inner in value.items()}
    if isinstance(value, list):
        return [with_canary(inner, key) for inner in value]
    return f"{value} {CANARY}" if isinstance(value, str) and key in TEXT_KEYS else value


def plant(source: Path, target: Path) -> bool:
    """Write a golden input with the canary in its texts; False where it has no place for one."""
    text = source.read_text(encoding="utf-8-sig")
    if source.suffix == ".jsonl":
        lines = []
        for line in text.split("\n"):
            try:
                record = json.loads(line)
            except ValueError:
                lines.append(line)
                continue
            planted = with_canary(record)
            if isinstance(planted, dict):
                planted |= {"canary_text": CANARY, "canary_messages": [{"role": "user", "content": CANARY}]}
            lines.append(json.dumps(planted))
        target.write_text("\n".join(lines), encoding="utf-8")
    elif source.suffix == ".json":
        try:
            planted = with_canary(json.loads(text))
        except ValueError:  # objects one after another
            return False
        target.write_text(json.dumps(planted), encoding="utf-8")
    elif source.suffix == ".csv" and ";" not in text.split("\n")[0] and '"' not in text:
        head, *rows = text.rstrip("\n").split("\n")
        planted_rows = [f"{row},{CANARY}" if row.strip() else row for row in rows]
        target.write_text("\n".join([f"{head},prompt_text", *planted_rows, ""]), encoding="utf-8")
    else:
        return False
    return True


FIRST_CASES = {path.parent.parent.name: path for path in sorted(GOLDEN.glob("*/*/input*"), reverse=True)}


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")
@pytest.mark.parametrize("place", range(6))
def test_the_text_of_prompts_is_in_no_output_and_left_nowhere(
    place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs, scratch = tmp_path / "logs", tmp_path / "scratch"
    logs.mkdir()
    scratch.mkdir()
    remove_copies()
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    names = [
        name
        for name in sorted(FIRST_CASES)[place::6]
        if not FIRST_CASES[name].with_name("options.json").is_file()
    ]
    planted = [name for name in names if plant(FIRST_CASES[name], logs / f"{name}{FIRST_CASES[name].suffix}")]
    assert len(planted) > 4
    analysis = run(logs)
    assert analysis.data.records
    for kind, made in outputs(analysis):
        assert CANARY not in made, kind
    remove_copies()
    assert [
        path for path in scratch.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()
    ] == []


def people_log(folder: Path) -> Path:
    path = folder / "log.csv"
    path.write_text(
        "timestamp,model,prompt_tokens,completion_tokens,user,api_key,team\n"
        + "".join(
            f"2026-06-01T10:0{number}:00Z,demo-4o,1000,100,{number}{PEOPLE['user']},{PEOPLE['api_key']}{number % 2},{number % 2}{PEOPLE['team']}\n"
            for number in range(6)
        ),
        encoding="utf-8",
    )
    return path


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")
@pytest.mark.parametrize("keys", [(), ("user",), ("api_key",), ("team", "user"), ("session", "user")])
def test_people_and_keys_are_in_no_output(tmp_path: Path, keys: tuple[str, ...]) -> None:
    analysis = run(people_log(tmp_path), group_by=keys)
    for kind, made in outputs(analysis):
        for name in (*PEOPLE.values(), "example.com", "example.org"):
            assert name not in made, kind


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")
def test_people_are_shown_when_asked_for(tmp_path: Path) -> None:
    analysis = run(people_log(tmp_path), group_by=("user",), show_users=True)
    assert {item.name for item in analysis.workloads} == {f"{number}{PEOPLE['user']}" for number in range(6)}


def names_with(key: str, monkeypatch: pytest.MonkeyPatch, path: Path) -> set[str]:
    monkeypatch.setenv(pseudonyms.VARIABLE, key)
    pseudonyms._key.cache_clear()  # noqa: SLF001
    return {item.name for item in run(path, group_by=("user",)).workloads}


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")
def test_pseudonyms_hold_for_a_key_and_are_others_under_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = people_log(tmp_path)
    first, again, other = (names_with(key, monkeypatch, path) for key in ("one", "one", "two"))
    assert first == again
    assert len(first) == 6
    assert not first & other
    assert all(name.startswith("user-") and len(name) == 15 for name in first)


def test_the_machines_own_key_is_made_once_and_closed_to_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(pseudonyms.VARIABLE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    keys = []
    for _ in range(2):
        pseudonyms._key.cache_clear()  # noqa: SLF001
        keys.append(pseudonyms._key())  # noqa: SLF001
    assert keys[0] == keys[1]
    assert len(keys[0]) == 64
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert file.stat().st_mode & 0o077 == 0


def test_without_a_place_for_a_key_there_is_one_for_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    monkeypatch.delenv(pseudonyms.VARIABLE)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    pseudonyms._key.cache_clear()  # noqa: SLF001
    assert len(pseudonyms._key()) == 64  # noqa: SLF001


# ---- the network


@pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")
def test_no_socket_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a socket was opened")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    forms = dict(outputs(run(people_log(tmp_path))))
    assert set(forms) == {"terminal", *KINDS}


def test_the_engine_fetches_no_extension() -> None:
    connection = connect()
    settings = connection.raw_sql(
        "SELECT name, value FROM duckdb_settings() WHERE name IN ('autoinstall_known_extensions', 'autoload_known_extensions')"
    ).fetchall()
    assert dict(settings)["autoinstall_known_extensions"] == "false"


def _unshare() -> list[str]:
    command = [shutil.which("unshare") or "unshare", "--net"]
    try:
        allowed = subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        allowed = False
    return command if allowed else []


def test_it_works_in_a_namespace_without_a_network(tmp_path: Path) -> None:
    prefix = _unshare()
    if not prefix:
        pytest.skip("this system lets nobody make a network namespace")
    log = people_log(tmp_path)
    done = subprocess.run(
        [
            *prefix,
            sys.executable,
            "-m",
            "advisor",
            "analyze",
            str(log),
            "--prices",
            str(PRICES),
            "--json",
            "-",
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(TESTS.parent)},
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["data"]["records"] == 6
