"""Paths to files: folders, globs, stdin, encodings, and what is no log at all."""

import gzip
import io
import json
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from workloads.load import NothingReadableError
from workloads.relations import literal_path
from workloads.sniff import inspect
from workloads.sources import InputFile, Kind, SourceError, Unreadable, expand

Read = Callable[..., Any]

CSV = "timestamp,model,prompt_tokens,completion_tokens,team\n2026-01-01,gpt-4o,1000,20,Bücher\n"
LINE = (
    '{"id":"a","object":"chat.completion","created":1767225600,"model":"gpt-4o","usage":{"prompt_tokens":7,'
    '"completion_tokens":3}}\n'
)


def touch(folder: Path, *names: str) -> list[Path]:
    made = []
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(LINE.replace('"a"', f'"{name}"'), encoding="utf-8")
        made.append(path)
    return made


def shown(*paths: Path | str) -> list[str]:
    return [name for name, _ in expand([str(path) for path in paths])]


def test_a_file_is_itself(tmp_path: Path) -> None:
    (path,) = touch(tmp_path, "whatever.bin")
    assert shown(path) == [str(path)]


def test_a_folder_gives_its_logs_below_and_leaves_hidden_and_foreign_files(tmp_path: Path) -> None:
    wanted = touch(tmp_path, "b.jsonl", "a/deep/er.csv", "c.jsonl.gz", "d.PARQUET")
    touch(tmp_path, ".hidden.jsonl", "notes.md", "picture.png")
    assert shown(tmp_path) == sorted(map(str, wanted))


def test_a_folder_without_logs_is_an_error_that_says_what_was_looked_for(tmp_path: Path) -> None:
    touch(tmp_path, "notes.md")
    with pytest.raises(SourceError, match=r"no file that could be a log \(.*\.jsonl.*\.gz"):
        expand([str(tmp_path)])


def test_a_glob_gives_its_matches(tmp_path: Path) -> None:
    first, second, _ = touch(tmp_path, "x1.jsonl", "x2.jsonl", "y.jsonl")
    assert shown(tmp_path / "x*.jsonl") == [str(first), str(second)]
    deep, *_ = touch(tmp_path, "p/q/z.jsonl")
    assert shown(f"{tmp_path}/**/z.jsonl") == [str(deep)]


@pytest.mark.parametrize(
    "name", ["a[1].jsonl", "b*.jsonl", "c?.jsonl", "d'quote.jsonl", "e f.jsonl", "[!x].jsonl"]
)
def test_names_with_marks_are_read_as_they_are(tmp_path: Path, read: Read, name: str) -> None:
    (path,) = touch(tmp_path, name)
    touch(tmp_path, "b-other.jsonl", "c1.jsonl", "a1.jsonl")
    run = read(path)
    assert [(row["source_file"], row["input_uncached"]) for row in run.rows] == [(name, 7)]


def test_a_path_is_no_pattern_for_the_engine() -> None:
    assert literal_path(Path("/x/a[1]*?'.csv")) == "'/x/a[[]1][*][?]''.csv'"


def test_a_missing_file_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"nowhere\.jsonl: no such file or folder"):
        expand([str(tmp_path / "nowhere.jsonl")])


def test_a_broken_link_is_an_error_that_names_it(tmp_path: Path) -> None:
    link = tmp_path / "broken.jsonl"
    link.symlink_to(tmp_path / "gone")
    with pytest.raises(SourceError, match=r"broken\.jsonl"):
        expand([str(link)])


def test_one_file_by_two_names_is_read_once(tmp_path: Path, read: Read) -> None:
    (path,) = touch(tmp_path, "one.jsonl")
    (tmp_path / "link.jsonl").symlink_to(path)
    os.link(path, tmp_path / "hard.jsonl")
    assert read([tmp_path, path, f"{tmp_path}/*.jsonl"]).report.rows() == 1


def test_stdin(tmp_path: Path, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(LINE.encode())

    monkeypatch.setattr(sys, "stdin", Stdin)
    monkeypatch.chdir(tmp_path)
    run = read(["-"])
    assert [(row["source_file"], row["input_uncached"], row["output"]) for row in run.rows] == [("-", 7, 3)]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.csv", CSV.encode()),
        ("bom.csv", b"\xef\xbb\xbf" + CSV.encode()),
        ("latin.csv", CSV.encode("cp1252")),
        ("wide-le.csv", b"\xff\xfe" + CSV.encode("utf-16-le")),
        ("wide-be.csv", b"\xfe\xff" + CSV.encode("utf-16-be")),
        ("excel.txt", b"\xff\xfe" + CSV.replace(",", "\t").encode("utf-16-le")),
        ("packed.csv.gz", gzip.compress(CSV.encode(), mtime=0)),
        ("packed-latin.csv.gz", gzip.compress(CSV.encode("cp1252"), mtime=0)),
        ("tabs.tsv", CSV.replace(",", "\t").encode()),
        ("semicolons.csv", CSV.replace(",", ";").encode()),
        ("bars.csv", CSV.replace(",", "|").encode()),
        ("sep.csv", b"sep=;\r\n" + CSV.replace(",", ";").replace("\n", "\r\n").encode()),
        ("sep-bom.csv", b"\xef\xbb\xbfsep=;\n" + CSV.replace(",", ";").encode()),
        ("crlf.csv", CSV.replace("\n", "\r\n").encode()),
        ("no-end.csv", CSV.rstrip("\n").encode()),
        ("quoted.csv", CSV.replace("Bücher", '"Bücher"').encode()),
    ],
)
def test_every_way_to_write_a_table_reads_the_same(
    tmp_path: Path, read: Read, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    run = read(path)
    assert [
        {key: row[key] for key in ("source_file", "model", "input_uncached", "output", "team", "usage_date")}
        for row in run.rows
    ] == [
        {
            "source_file": name,
            "model": "gpt-4o",
            "input_uncached": 1000,
            "output": 20,
            "team": "Bücher",
            "usage_date": "2026-01-01",
        }
    ]
    assert run.fates == {"record": 1}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("plain.jsonl", LINE.encode()),
        ("bom.jsonl", b"\xef\xbb\xbf" + LINE.encode()),
        ("crlf.jsonl", LINE.replace("\n", "\r\n").encode()),
        ("packed.jsonl.gz", gzip.compress(LINE.encode(), mtime=0)),
        pytest.param(
            "packed-without-a-name.log",
            gzip.compress(LINE.encode(), mtime=0),
        ),
        pytest.param(
            "plain-with-the-name.jsonl.gz",
            LINE.encode(),
        ),
        ("wide.jsonl", b"\xff\xfe" + LINE.encode("utf-16-le")),
        ("blank-first.jsonl", b"\n\n" + LINE.encode()),
        ("no-end.jsonl", LINE.rstrip("\n").encode()),
        ("object.json", LINE.encode()),
        ("array.json", f"[{LINE}]".encode()),
        ("array-lines.json", f"[\n{LINE}]\n".encode()),
        ("pretty.json", LINE.replace(",", ",\n  ").replace("{", "{\n  ").encode()),
        ("bom.json", b"\xef\xbb\xbf" + f"[\n{LINE}]\n".encode()),
        ("packed.json.gz", gzip.compress(f"[\n{LINE}]\n".encode(), mtime=0)),
        ("extension-that-lies.csv", LINE.encode()),
    ],
)
def test_every_way_to_write_json_reads_the_same(
    tmp_path: Path, read: Read, name: str, content: bytes
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    run = read(path)
    assert [(row["source_file"], row["input_uncached"], row["output"]) for row in run.rows] == [(name, 7, 3)]
    assert run.fates == {"record": 1}


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b" \n\t\n", "the file is empty"),
        (b"\x00\x01\x02\x03" * 50, "binary data"),
        (b"\x89PNG\r\n\x1a\n" + b"\x00" * 40, "binary data"),
        (b"hello\nworld\n", ""),
        (b"\x1f\x8bnot really gzip", "cannot be read"),
        (gzip.compress(LINE.encode(), mtime=0)[:20], "cannot be read"),
    ],
)
def test_what_is_no_log_says_why(tmp_path: Path, read: Read, content: bytes, reason: str) -> None:
    path = tmp_path / "odd.log"
    path.write_bytes(content)
    with pytest.raises(NothingReadableError) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert reason in str(caught.value)
    assert len(caught.value.report.unreadable) == 1


def test_a_file_that_is_no_log_does_not_take_the_others_down(tmp_path: Path, read: Read) -> None:
    touch(tmp_path, "good.jsonl")
    (tmp_path / "bad.csv").write_bytes(b"\x00" * 100)
    (tmp_path / "foreign.csv").write_text("name,price\nx,1\n")
    (tmp_path / "broken.json").write_text('[{"usage": ')
    run = read(tmp_path)
    assert len(run.rows) == 1
    assert {Path(item.shown).name for item in run.report.unreadable} == {
        "bad.csv",
        "foreign.csv",
        "broken.json",
    }
    assert "name, price" in next(i.reason for i in run.report.unreadable if i.shown.endswith("foreign.csv"))


def test_a_folder_in_place_of_a_file_is_unreadable(tmp_path: Path) -> None:
    assert inspect("x", tmp_path) == Unreadable("x", "a folder that cannot be listed")


def test_a_character_cut_by_the_sample_is_no_sign_of_another_encoding(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "long.csv"
    row = "2026-01-01,gpt-4o,1000,20,Bücher\n"
    for shift in range(2):  # one of the two cuts a two-byte character in half
        head = "timestamp,model,prompt_tokens,completion_tokens,team" + " " * shift + "\n"
        path.write_text(head + row * 12_000, encoding="utf-8")
        run = read(path)
        assert {row["team"] for row in run.rows} == {"Bücher"}
        assert run.report.rows() == 12_000


def test_columns_of_equal_names_keep_the_first(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "twice.csv"
    path.write_text("model,prompt_tokens,prompt_tokens,completion_tokens,\nm,1,2,3,4\n")
    (row,) = read(path).rows
    assert (row["input_uncached"], row["output"]) == (1, 3)


def test_the_sample_says_what_kind_a_file_is(tmp_path: Path) -> None:
    path = tmp_path / "x"
    for text, kind in ((LINE * 3, Kind.JSON_LINES), (f"[\n{LINE}]", Kind.JSON_DOCUMENT), (CSV, Kind.CSV)):
        path.write_text(text)
        found = inspect("x", path)
        assert isinstance(found, InputFile)
        assert found.kind is kind


def test_files_are_closed_after_reading(tmp_path: Path, read: Read) -> None:
    path = tmp_path / "array.json"
    path.write_text(f"[\n{LINE}]\n")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always", ResourceWarning)
        read(path)
    assert not [item for item in seen if issubclass(item.category, ResourceWarning)]


def test_many_documents_that_are_larger_than_a_sample_are_read_as_the_first_of_them(
    tmp_path: Path, read: Read
) -> None:
    """Only some are looked into whole; the others are no less of that format."""
    request = {"t": 0, "type": "s", "model": "m", "in": 64 * 5_000, "out": 1, "hash_ids": list(range(5_000))}
    for number in range(12):
        session = {
            "id": f"s{number}",
            "models": ["m"],
            "block_size": 64,
            "requests": [{**request, "t": at} for at in range(12)],
        }
        text = json.dumps(session)
        assert len(text) > 1 << 18
        (tmp_path / f"trace_{number:02}.json").write_text(text, "utf-8")
    run = read(tmp_path)
    assert (run.fates, run.report.unreadable) == ({"record": 12 * 12}, ())
