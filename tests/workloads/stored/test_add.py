"""What an add does to a ledger's folder, and what it leaves alone when something is in its way."""

import errno
import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from workloads.batches import ReadOptions
from workloads.load import LoadOptions
from workloads.sources import SourceError
from workloads.stored import add as adding
from workloads.stored import changes, manifest, partitions
from workloads.stored.add import Added, add
from workloads.stored.changes import Change
from workloads.stored.lock import writing
from workloads.stored.manifest import LedgerError, read_manifest
from workloads.stored.versions import ANY, version_of

NOW = datetime(2026, 7, 1, tzinfo=UTC)
FUTURE = datetime(2126, 1, 1, tzinfo=UTC)
ROOT = Path(__file__).parents[3]


def line(number: int, *, model: str = "gpt-4o", day: int = 1) -> str:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    body = {"id": f"c{number}", "object": "chat.completion", "model": model, "usage": usage}
    return json.dumps({"timestamp": f"2026-06-{day:02}T12:00:00Z", "response": body}) + "\n"


def added(folder: Path, *paths: Path, now: datetime = NOW, **read: Any) -> Added:
    options = LoadOptions(read=ReadOptions(format=read.pop("form", None)), **read)
    return add(folder, [str(path) for path in paths], options, now)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    file = tmp_path / "a.jsonl"
    file.write_text(line(1) + line(2, day=2))
    return file


@pytest.fixture
def ledger(tmp_path: Path, log: Path) -> Path:
    added(tmp_path / "ledger", log)
    return tmp_path / "ledger"


def test_one_file_a_day_and_provider(ledger: Path) -> None:
    files = read_manifest(ledger).files
    assert [(file.day, file.rows) for file in files] == [("2026-06-01", 1), ("2026-06-02", 1)]
    assert all((ledger / file.path).stat().st_size == file.size_bytes for file in files)


def test_names_of_providers_lead_nowhere_else(tmp_path: Path) -> None:
    for number, name in enumerate(("../../OpenAI", "", "x" * 300, "a=b/c", "ÅÄ")):
        log = tmp_path / f"{number}.jsonl"
        log.write_text(line(number))
        added(tmp_path / "ledger", log, provider=name)
    found = {file.path.split("/")[2] for file in read_manifest(tmp_path / "ledger").files}
    assert {"provider=.._.._openai", f"provider={'x' * 60}", "provider=a_b_c"} <= found
    assert not (tmp_path / "openai").exists()


def test_many_small_files_become_one(tmp_path: Path) -> None:
    for number in range(10):
        log = tmp_path / f"{number}.jsonl"
        log.write_text(line(number))
        added(tmp_path / "ledger", log)
    files = read_manifest(tmp_path / "ledger").files
    assert sum(file.rows for file in files) == 10
    assert len(files) == 1
    assert len(list((tmp_path / "ledger/rows").rglob("*.parquet"))) == 1


def test_many_rows_are_written_some_days_at_a_time(
    ledger: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partitions, "_MOST_ROWS", 3)
    untimed = line(99).replace("timestamp", "id")
    log.write_text("".join(line(number, day=1 + number % 5) for number in range(10)) + untimed)
    added(ledger, log)
    files = read_manifest(ledger).files
    days = [("2026-06-01", 2), ("2026-06-02", 2), ("2026-06-03", 2), ("2026-06-04", 2), ("2026-06-05", 2)]
    assert [(file.day, file.rows) for file in files] == [*days, (None, 1)]


def test_a_file_that_is_as_it_was_is_not_even_opened(
    tmp_path: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = tmp_path / "ledger"
    added(ledger, log, now=FUTURE)

    def never(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(changes, "_digests", never)
    assert added(ledger, log, now=FUTURE).count(Change.SAME) == 1
    os.utime(log, ns=(1, 1))
    with pytest.raises(AssertionError):
        added(ledger, log, now=FUTURE)


def test_a_file_that_was_just_changed_is_hashed_again(ledger: Path, log: Path) -> None:
    """Its times could be the same after yet another change: ``NOW`` is before them."""
    assert read_manifest(ledger).inputs[0].stamp is None
    assert added(ledger, log).count(Change.SAME) == 1


def test_another_version_of_an_importer_or_other_options_read_again(
    ledger: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert added(ledger, log, provider="azure").count(Change.REREAD) == 1
    assert {file.provider for file in read_manifest(ledger).files} == {"azure"}
    monkeypatch.setattr(changes, "version_of", lambda _: "another")
    assert added(ledger, log, provider="azure").count(Change.REREAD) == 1
    assert sum(file.rows for file in read_manifest(ledger).files) == 2


def test_versions_tell_importers_apart_and_stay() -> None:
    assert version_of("openai") == version_of("openai")
    assert len({version_of(name) for name in ("openai", "anthropic", "litellm", ANY)}) == 4


def test_a_second_writer_is_told_and_a_lock_left_behind_is_harmless(ledger: Path, log: Path) -> None:
    assert (ledger / ".writer.lock").exists(), "it stays, and holds nobody up"
    with (
        writing(ledger),
        pytest.raises(LedgerError, match=f"process {os.getpid()}.*is writing to this ledger"),
    ):
        added(ledger, log)
    assert added(ledger, log).count(Change.SAME) == 1


def test_two_writers_at_once_leave_a_whole_ledger(tmp_path: Path) -> None:
    logs = [tmp_path / f"{number}.jsonl" for number in range(2)]
    for number, log in enumerate(logs):
        log.write_text("".join(line(number * 1_000 + each) for each in range(500)))
    command = [sys.executable, "-m", "advisor", "ledger", "add", "--to", str(tmp_path / "ledger")]
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    both = [
        subprocess.Popen([*command, str(log)], env=env, stderr=subprocess.PIPE, text=True) for log in logs
    ]
    told = [process.communicate()[1] for process in both]
    codes = sorted(process.returncode for process in both)
    assert codes in ([0, 0], [0, 2])
    if codes == [0, 2]:
        assert any("is writing to this ledger" in text for text in told)
    found = read_manifest(tmp_path / "ledger")
    assert sum(file.rows for file in found.files) == 500 * codes.count(0) == 500 * len(found.inputs)


@pytest.mark.parametrize("step", ["write_rows", "write_manifest"])
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_a_step_that_fails_leaves_the_ledger_as_it_was(
    ledger: Path, log: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException
) -> None:
    before = {path: path.read_bytes() for path in ledger.rglob("*") if path.is_file()}
    log.write_text(line(1) + line(2, day=2) + line(3, day=3))

    def fail(*_: Any, **__: Any) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(adding, step, fail)
        with pytest.raises((LedgerError, KeyboardInterrupt)) as raised:
            added(ledger, log)
    if isinstance(error, OSError):
        assert "cannot be written: No space left on device" in str(raised.value)
    after = {path: path.read_bytes() for path in ledger.rglob("*") if path.is_file()}
    assert after == before
    assert added(ledger, log).count(Change.GREW) == 1
    assert sum(file.rows for file in read_manifest(ledger).files) == 3


def test_a_manifest_that_cannot_be_replaced_leaves_the_old_one(
    ledger: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log.write_text(line(7))

    def fail(*_: Any) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    with monkeypatch.context() as patched:
        patched.setattr(manifest.os, "fsync", fail)
        with pytest.raises(LedgerError, match="cannot be written: Permission denied"):
            added(ledger, log)
    assert [item.rows["read"] for item in read_manifest(ledger).inputs] == [2]
    assert not list(ledger.glob(".*.draft"))


def test_what_cannot_be_opened_is_named_and_keeps_what_the_ledger_has(
    ledger: Path, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = log.with_name("b.jsonl")
    other.write_text(line(9))
    log.write_text(line(1))

    def closed(path: Path, at: int) -> tuple[int, str, str]:
        if path.name == log.name:
            raise PermissionError(errno.EACCES, "Permission denied")
        return real(path, at)

    real = changes._digests  # noqa: SLF001
    monkeypatch.setattr(changes, "_digests", closed)
    done = added(ledger, log, other)
    assert [(item.shown, item.reason) for item in done.unreadable] == [
        (str(log), "cannot be read: Permission denied")
    ]
    assert sum(file.rows for file in read_manifest(ledger).files) == 3
    with pytest.raises(SourceError, match="Permission denied"):
        added(ledger, log)


def test_the_same_name_from_two_folders_is_two_inputs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.jsonl").write_text(line(ord(name)))
        monkeypatch.chdir(tmp_path / name)
        added(tmp_path / "ledger", Path("log.jsonl"))
    shown = [item.shown for item in read_manifest(tmp_path / "ledger").inputs]
    assert shown == [str(tmp_path / "y/log.jsonl"), "log.jsonl"]
