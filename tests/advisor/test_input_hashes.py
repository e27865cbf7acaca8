"""SHA-256 of inputs: files once, archives as a whole, nothing that is no file, no hash where all are large."""

import hashlib
from pathlib import Path

import pytest

from advisor import input_hashes
from advisor.data_report import Source
from advisor.input_hashes import begin_hashes


def source(path: str) -> Source:
    return Source(path=path, format="x", rows=1)


def test_a_file_of_two_formats_is_hashed_once(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"abc")
    (found,) = begin_hashes([source(str(path)), source(str(path))])()
    assert found.path == str(path)
    assert (found.size_bytes, found.sha256) == (3, hashlib.sha256(b"abc").hexdigest())


def test_members_count_as_their_archive(tmp_path: Path) -> None:
    path = tmp_path / "logs.zip"
    path.write_bytes(b"zip")
    (found,) = begin_hashes([source(f"{path}/one.csv"), source(f"{path}/two.csv")])()
    assert found.path == str(path)


def test_what_is_no_file_is_left_out(tmp_path: Path) -> None:
    assert begin_hashes([source("-"), source(str(tmp_path / "gone")), source("x" * 9000)])() == ()


def test_large_inputs_are_not_hashed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_hashes, "MOST_BYTES", 2)
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"abc")
    (found,) = begin_hashes([source(str(path))])()
    assert (found.size_bytes, found.sha256) == (3, None)
