"""Files that were made to do harm, or that change while they are read: a named refusal, within bounds, never a crash."""

import gzip
import io
import json
import os
import sqlite3
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workloads import copies, places
from workloads.archives import ArchiveError, members
from workloads.copies import BombError, copies_folder, copy_unpacked
from workloads.load import NothingReadableError
from workloads.sniff import inspect
from workloads.sources import InputFile, SourceError, Unreadable, expand

Read = Callable[..., Any]
LINE = b'{"id":"%s","object":"chat.completion","created":1767225600,"model":"gpt-4o","usage":{"prompt_tokens":7,"completion_tokens":3}}\n'


def every(_: str) -> bool:
    return True


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "_ALWAYS_BYTES", 1 << 20)


@pytest.mark.usefixtures("small_limits")
def test_a_zip_bomb_is_refused_while_it_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.jsonl", b"\0" * (8 << 20))
    with pytest.raises(SourceError, match=r"bomb\.zip: .* unpack to more than .* no log does"):
        expand([str(path)])
    assert sum(file.stat().st_size for file in Path(copies_folder()).rglob("000000.jsonl")) <= 4 << 20


@pytest.mark.usefixtures("small_limits")
def test_many_small_members_are_one_bomb(tmp_path: Path) -> None:
    path = tmp_path / "many.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for number in range(64):
            entry = tarfile.TarInfo(f"{number}.jsonl")
            entry.size = 1 << 18
            archive.addfile(entry, io.BytesIO(b"\0" * entry.size))
    with pytest.raises(ArchiveError, match="unpack to more than"):
        list(members(path, every))


@pytest.mark.usefixtures("small_limits")
def test_a_gzip_bomb_under_another_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(gzip.compress(LINE % b"a" + b"\0" * (8 << 20)))
    looked = inspect("log.jsonl", path)
    assert isinstance(looked, Unreadable)
    assert "unpack to more than" in looked.reason


def test_a_log_that_packs_well_is_no_bomb() -> None:
    packed = gzip.compress(LINE * 20_000)
    out = io.BytesIO()
    assert copy_unpacked(io.BytesIO(LINE * 20_000), out, len(packed)) == len(LINE) * 20_000
    with pytest.raises(BombError):
        copy_unpacked(io.BytesIO(b"\0" * (3 << 20)), out, 10, before_bytes=(1 << 30) - (2 << 20))


def test_a_packed_line_without_an_end_costs_that_file_only(tmp_path: Path, read: Read) -> None:
    (tmp_path / "endless.jsonl.gz").write_bytes(
        gzip.compress(LINE % b"a" + b'{"x": "' + b"a" * (40 << 20), 1)
    )
    (tmp_path / "good.jsonl").write_bytes(LINE % b"b")
    run = read(tmp_path)
    assert "good.jsonl" in {row["source_file"] for row in run.rows}
    assert [Path(item.shown).name for item in run.report.unreadable] == ["endless.jsonl.gz"]


def test_names_inside_an_archive_lead_nowhere(tmp_path: Path, read: Read) -> None:
    outside = tmp_path / "outside.jsonl"
    path = tmp_path / "in" / "slip.zip"
    path.parent.mkdir()
    names = ["../outside.jsonl", str(outside), "a\nb\x1b[31m.jsonl", "x/../../../y.jsonl"]
    with zipfile.ZipFile(path, "w") as archive:
        for number, name in enumerate(names):
            archive.writestr(name, LINE % str(number).encode())
    assert read(path).report.rows("record") == len(names)
    assert not outside.exists()
    assert [found.name for found in tmp_path.iterdir()] == ["in"]


def test_links_and_devices_inside_an_archive_are_no_logs(tmp_path: Path) -> None:
    path = tmp_path / "odd.tar"
    with tarfile.open(path, "w") as archive:
        for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE):
            entry = tarfile.TarInfo(f"{kind!r}.jsonl")
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
    assert list(members(path, every)) == []


def test_only_what_could_be_a_log_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "mixed.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("film.mp4", b"x" * 1000)
        archive.writestr("log.jsonl", LINE % b"a")
    assert [name for name, _ in members(path, lambda name: name.endswith(".jsonl"))] == ["log.jsonl"]


@pytest.mark.parametrize("damage", ["cut", "noise"])
def test_a_damaged_archive_is_named(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "logs.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        entry = tarfile.TarInfo("log.jsonl")
        entry.size = len(LINE)
        archive.addfile(entry, io.BytesIO(LINE))
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2] if damage == "cut" else content[:20] + b"\xff" * 50)
    with pytest.raises(SourceError, match=r"logs\.tar\.gz: "):
        expand([str(path)])


def test_pipes_devices_and_loops_are_named_and_not_opened(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.jsonl"
    os.mkfifo(pipe)
    assert inspect("pipe", pipe) == Unreadable("pipe", "not a regular file")
    assert inspect("zero", Path("/dev/zero")) == Unreadable("zero", "not a regular file")
    assert places.inspect_all([str(pipe)])[0] == []
    (tmp_path / "a.jsonl").symlink_to(tmp_path / "b.jsonl")
    (tmp_path / "b.jsonl").symlink_to(tmp_path / "a.jsonl")
    with pytest.raises(SourceError, match=r"a\.jsonl: a link to"):
        expand([str(tmp_path / "a.jsonl")])


def test_folders_that_hold_themselves_end(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(LINE % b"a")
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "up").symlink_to(tmp_path)
    assert len(expand([str(tmp_path)])) == 1


def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "log.jsonl").write_bytes(LINE % b"a")
    (tmp_path / "closed").mkdir()
    real = os.scandir

    def scandir(path: str) -> Any:
        if str(path).endswith("closed"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found = [inspect(shown, path) for shown, path in expand([str(tmp_path)])]
    assert Unreadable(str(tmp_path / "closed"), "a folder that cannot be listed") in found


def test_a_file_that_vanishes_is_named(tmp_path: Path) -> None:
    assert inspect("gone", tmp_path / "never.jsonl") == Unreadable("gone", "it is not there any more")
    with pytest.raises(SourceError, match="no such file"):
        expand([str(tmp_path / "never.jsonl")])


def test_a_file_that_grows_while_it_is_read_is_read_once(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "grows.jsonl"
    path.write_bytes(LINE % b"a" + (LINE % b"b")[:40])
    run = read(path)
    assert (run.report.rows("record"), run.report.rows("skipped")) == (1, 1)


@pytest.mark.parametrize(
    "name",
    [
        b"a'; drop table ledger_raw; --.jsonl", b'q"q.jsonl', b"f*?[x].jsonl", b"n\nl.jsonl", b"e\x1b[31m.jsonl", b"%s{{7*7}}${x}.jsonl",
        b"bad\xff\xfe.jsonl", "\u202egpj.jsonl".encode(), b"a::b.jsonl", b"-o.jsonl", b"x?mode=rw#y.jsonl",
    ],
)  # fmt: skip
def test_names_of_files_mean_nothing_but_themselves(tmp_path: Path, read: Read, name: bytes) -> None:
    path = Path(os.fsdecode(os.path.join(os.fsencode(tmp_path), name)))  # noqa: PTH118
    path.write_bytes(LINE % b"a")
    (tmp_path / "fox.jsonl").write_bytes(LINE % b"b")
    run = read(path)
    assert [row["input_uncached"] for row in run.rows] == [7]
    assert read(tmp_path).report.rows("record") == 2


@pytest.mark.parametrize(
    "name",
    ["it's", 'a"b', "select", "x; drop table ledger_raw", "$$", "{{7*7}}", "__row", "a\nb", "filename"],
)
def test_names_of_columns_mean_nothing_but_themselves(tmp_path: Path, read: Read, name: str) -> None:
    quoted = '"' + name.replace('"', '""') + '"'
    (tmp_path / "log.csv").write_text(
        f"timestamp,model,prompt_tokens,completion_tokens,{quoted}\n2026-06-01T10:00:00Z,gpt-4o,100,10,x\n",
        "utf-8",
    )
    assert [row["input_uncached"] for row in read(tmp_path / "log.csv").rows] == [100]
    key = json.dumps(name)
    (tmp_path / "log.jsonl").write_text(
        f'{{"prompt_tokens": 5, "completion_tokens": 1, {key}: "x"}}\n' * 2, "utf-8"
    )
    assert sum(row["input_uncached"] for row in read(tmp_path / "log.jsonl").rows) == 10


def test_a_database_whose_messages_are_an_endless_query_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x?mode=rw#.db"
    database = sqlite3.connect(path)
    database.execute(
        "CREATE VIEW message AS WITH RECURSIVE n(data) AS (SELECT '1' UNION ALL SELECT data FROM n) SELECT data FROM n"
    )
    database.commit()
    database.close()
    assert inspect("db", path) == Unreadable("db", "an SQLite database without a table of messages")


def test_a_broken_quote_loses_no_row_without_a_word(tmp_path: Path, read: Read) -> None:
    rows = [f"2026-06-01T10:{number:02}:00Z,gpt-4o,100,10" for number in range(50)]
    rows[10] = rows[10].replace("gpt", '"gpt')
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["timestamp,model,prompt_tokens,completion_tokens", *rows, ""]), "utf-8")
    run = read(path)
    assert (run.report.rows("record"), run.report.rows("skipped"), run.report.rows()) == (10, 40, 50)
    assert [(row.line, row.rows) for row in run.report.skipped] == [(12, 1), (13, 39)]


def test_a_table_without_rows_beside_others_is_named(tmp_path: Path, read: Read) -> None:
    (tmp_path / "empty.csv").write_text("timestamp,model,prompt_tokens,completion_tokens\n", "utf-8")
    with pytest.raises(NothingReadableError, match=r"empty\.csv: a table without rows"):
        read(tmp_path / "empty.csv")
    (tmp_path / "good.jsonl").write_bytes(LINE % b"b")
    assert [item.reason for item in read(tmp_path).report.unreadable] == ["a table without rows"]


def test_a_small_file_is_known(tmp_path: Path) -> None:
    (tmp_path / "good.jsonl").write_bytes(LINE % b"b")
    assert isinstance(inspect("good", tmp_path / "good.jsonl"), InputFile)


def test_bytes_that_are_no_utf8_far_down_are_named_by_line(tmp_path: Path, read: Read) -> None:
    rows = [LINE % str(number).encode() for number in range(3000)]  # more than a sample
    rows[2500] = rows[2500].replace(b'"gpt-4o"', b'"caf\xe9"')
    path = tmp_path / "late.jsonl"
    path.write_bytes(b"".join(rows))
    run = read(path)
    assert (run.report.rows("record"), run.skipped) == (2999, [("late.jsonl", 2501, "not valid UTF-8")])


def test_a_long_cell_is_in_no_way_of_the_lines_of_others(tmp_path: Path, read: Read) -> None:
    row = "2026-06-01T10:00:00Z,gpt-4o,%s,10,%s\n"
    path = tmp_path / "log.csv"
    head = "timestamp,model,prompt_tokens,completion_tokens,note\n"
    path.write_text(head + row % ("5", "x" * 300_000) + row % ("-5", "y") + row % ("7", "z"), "utf-8")
    run = read(path)
    assert sum(found["input_uncached"] for found in run.rows) == 12
    assert [line for _, line, _ in run.skipped] == [3]


@pytest.mark.parametrize("odd", [b'"text"', b"null", b"[1]", b"7", b"{broken", b"[" * 500 + b"]" * 500])
@pytest.mark.parametrize("first", [True, False])
def test_a_line_that_is_no_object_is_in_no_way_of_the_others(
    tmp_path: Path, read: Read, odd: bytes, *, first: bool
) -> None:
    """Also where every record has all that counts under one key: the engine then guesses what a line is."""
    events = (Path(__file__).parents[1] / "golden/importers/openai/events/input.jsonl").read_bytes()
    path = tmp_path / "log.jsonl"
    path.write_bytes(odd + b"\n" + events if first else events + odd + b"\n")
    run = read(path)
    assert (run.report.rows("record"), run.report.rows("ignored"), run.report.rows("skipped")) == (2, 2, 1)
    assert [line for _, line, _ in run.skipped] == [1 if first else 5]


def test_a_field_that_is_nested_deep_costs_no_other_line(tmp_path: Path, read: Read) -> None:
    events = (Path(__file__).parents[1] / "golden/importers/openai/events/input.jsonl").read_bytes()
    deep = b'{"type":"response.completed","response":{"id":"r","object":"response","created_at":%s,"usage":{"input_tokens":5}}}\n'
    (tmp_path / "log.jsonl").write_bytes(events + deep % (b"[" * 500 + b"]" * 500))
    assert read(tmp_path / "log.jsonl").report.rows("record") == 3
