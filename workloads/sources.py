"""Paths to readable files: folders, globs, stdin, gzip; what kind of file each is, and a sample of it.

Only the first bytes of a file are looked at here. The rows are read by the engine.
"""

import csv
import glob
import gzip
import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, Final, cast

from workloads.archives import ArchiveError, is_archive, members
from workloads.copies import copies_folder

SUFFIXES: Final = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet", ".pq", ".log", ".txt")
"""What is looked for inside a folder, also with ``.gz`` behind it."""

_SAMPLE_BYTES: Final = 1 << 18
_GLANCE_BYTES: Final = 1 << 10
_SAMPLE_RECORDS: Final = 400
_MOST_SAMPLED: Final = 24
"""Files of a run that are sampled in depth, evenly spread; of the others only the first bytes are looked at."""

_PARQUET_MAGIC: Final = b"PAR1"
_GZIP_MAGIC: Final = b"\x1f\x8b"
_DELIMITERS: Final = (",", ";", "\t", "|")


class SourceError(Exception):
    """An input cannot be read at all; the message says which, why, and what to do."""


class Kind(StrEnum):
    """How the rows of a file are laid out."""

    JSON_LINES = "json_lines"
    JSON_DOCUMENT = "json_document"
    CSV = "csv"
    PARQUET = "parquet"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """How a delimited text is written."""

    delimiter: str
    skip_lines: int
    """Lines before the header (``sep=;``)."""
    header: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class InputFile:
    """One file, ready for the engine."""

    shown: str
    """Path as the user knows it."""
    path: Path
    """Path to read: the same, or a copy in a readable encoding."""
    kind: Kind
    records: tuple[dict[str, Any], ...] = ()
    """First objects of a JSON file."""
    is_array: bool = False
    """Whether a JSON document is an array of objects."""
    dialect: CsvDialect | None = None
    cells: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    """First data rows of a CSV file."""
    lines: tuple[str, ...] = field(default=(), repr=False)
    """First lines of a text."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that no row can be read from."""

    shown: str
    reason: str


def expand(paths: Sequence[str]) -> list[tuple[str, Path]]:
    """Return the files behind paths, folders, globs and ``-``, as ``(shown, path)``, sorted, each file once.

    Raises:
        SourceError: When a path leads to no file.
    """
    found: dict[tuple[int, int], tuple[str, Path]] = {}
    for given in paths:
        for shown, path in _expand_one(given):
            identity = path.stat()
            found.setdefault((identity.st_dev, identity.st_ino), (shown, path))
    return sorted(found.values(), key=lambda item: item[0])


def _expand_one(given: str) -> Iterator[tuple[str, Path]]:
    if given == "-":
        yield "-", _spool(sys.stdin.buffer)
        return
    path = Path(given)
    if path.is_file() and is_archive(path):
        yield from _inside(given, path)
    elif path.is_dir():
        inside = [p for p in sorted(_walk(path)) if _looks_like_data(p)]
        if not inside:
            raise SourceError(
                f"{given}: the folder holds no file that could be a log ({', '.join(SUFFIXES)}, also .gz)"
            )
        for found in inside:
            yield from _inside(str(found), found) if is_archive(found) else [(str(found), found)]
    elif path.exists():
        yield given, path
    else:
        matches = sorted(glob.glob(given, recursive=True))  # noqa: PTH207  (patterns may be absolute)
        if not matches:
            raise SourceError(f"{given}: no such file or folder")
        for match in matches:
            yield from _expand_one(match)


def _inside(shown: str, archive: Path) -> Iterator[tuple[str, Path]]:
    """Yield the logs inside an archive as ``archive::member``."""
    try:
        for name, copy in members(archive):
            if _has_data_suffix(name):
                yield f"{shown}::{name}", copy
    except ArchiveError as error:
        raise SourceError(f"{shown}: {error}") from error


def _walk(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name) for name in names if not name.startswith("."))


def _looks_like_data(path: Path) -> bool:
    return (_has_data_suffix(path.name) or is_archive(path)) and path.is_file()


def _has_data_suffix(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith(SUFFIXES)


def _spool(stream: IO[bytes]) -> Path:
    with tempfile.NamedTemporaryFile(prefix="stdin-", dir=copies_folder(), delete=False) as copy:
        shutil.copyfileobj(stream, copy)
    return Path(copy.name)


def inspect_each(found: Sequence[tuple[str, Path]]) -> list["InputFile | Unreadable"]:
    """Return what kind of file each of ``(shown, path)`` is.

    Of thousands of small files only some are sampled in depth: the engine reads all of them by one plan, and what the
    plan misses is found again among the rows that it does not recognise.
    """
    step = max(1, -(-len(found) // _MOST_SAMPLED))
    return [
        inspect(shown, path) if index % step == 0 else _glance(shown, path)
        for index, (shown, path) in enumerate(found)
    ]


def _glance(shown: str, path: Path) -> "InputFile | Unreadable":
    """Return a file of JSON lines on sight of its first bytes, without a sample; whatever else it is, inspected."""
    try:
        with path.open("rb") as raw:
            head = raw.read(_GLANCE_BYTES)
    except OSError:
        return inspect(shown, path)
    if path.suffix == ".jsonl" and head.startswith(b'{"'):
        return InputFile(shown=shown, path=path, kind=Kind.JSON_LINES)
    return inspect(shown, path)


def inspect(shown: str, path: Path) -> "InputFile | Unreadable":
    """Return what kind of file this is, with a sample of it; or why it cannot be read."""
    try:
        if not path.is_file():
            return Unreadable(shown, "not a regular file")
        head = _head(path)
    except (OSError, EOFError) as error:
        return Unreadable(shown, f"cannot be read: {error}")
    if not head.strip():
        return Unreadable(shown, "the file is empty")
    if head.startswith(_PARQUET_MAGIC):
        return InputFile(shown=shown, path=path, kind=Kind.PARQUET)
    text, path = _decode(head, path)
    if text is None:
        return Unreadable(shown, "binary data, not a log in text, JSON, CSV or Parquet")
    return _inspect_text(shown, path, text, cut=len(head) == _SAMPLE_BYTES)


def _head(path: Path) -> bytes:
    with _unpacked(path) as raw:
        return raw.read(_SAMPLE_BYTES)


def _decode(head: bytes, path: Path) -> tuple[str | None, Path]:
    """Return the sample as text and a path to the file in UTF-8 (a copy when it was in another encoding)."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return head.decode("utf-16", errors="ignore"), _transcode(path, "utf-16")
    if b"\x00" in head[:4096]:
        return None, path
    try:
        return head.decode("utf-8-sig"), path
    except UnicodeDecodeError as error:
        if error.start > len(head) - 4:  # the sample was cut inside a character
            return head[: error.start].decode("utf-8-sig"), path
    return head.decode("cp1252", errors="replace"), _transcode(path, "cp1252")


def _transcode(path: Path, encoding: str) -> Path:
    with (
        _unpacked(path) as raw,
        tempfile.NamedTemporaryFile(
            "w", prefix="utf8-", dir=copies_folder(), encoding="utf-8", newline="", delete=False
        ) as copy,
    ):
        shutil.copyfileobj(io.TextIOWrapper(raw, encoding=encoding, errors="replace", newline=""), copy)
    return Path(copy.name)


def _unpacked(path: Path) -> IO[bytes]:
    """Return a file opened for reading, unpacked when it is gzip."""
    with path.open("rb") as raw:
        packed = raw.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC
    return cast("IO[bytes]", gzip.open(path)) if packed else path.open("rb")


def _inspect_text(shown: str, path: Path, text: str, *, cut: bool) -> "InputFile | Unreadable":
    start = text.lstrip()[:1]
    lines = [line for line in text.split("\n") if line.strip()]
    whole = lines[:-1] if cut and len(lines) > 1 else lines
    parsed = [value for line in whole[:_SAMPLE_RECORDS] if (value := _parse(line)) is not None]
    objects = [value for value in parsed if isinstance(value, dict)]
    if objects and (start == "{" or 2 * len(objects) >= len(whole[:_SAMPLE_RECORDS])):
        return InputFile(shown=shown, path=path, kind=Kind.JSON_LINES, records=tuple(objects))
    if start in "{[":
        if start == "[" and not objects and parsed and len(whole) == 1 and isinstance(parsed[0], list):
            objects = [value for value in parsed[0] if isinstance(value, dict)]
        records = tuple(objects or _document_head(text))
        return InputFile(
            shown=shown,
            path=path,
            kind=Kind.JSON_DOCUMENT,
            records=records[:_SAMPLE_RECORDS],
            is_array=start == "[",
        )
    return _inspect_csv(shown, path, text)


def _parse(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _document_head(text: str) -> Iterator[dict[str, Any]]:
    """Yield the first objects of a JSON array, a single object, or objects one after another."""
    decoder = json.JSONDecoder()
    position = len(text) - len(text.lstrip())
    if text[position : position + 1] == "[":
        position += 1
    while position < len(text):
        while position < len(text) and text[position] in " \t\r\n,":
            position += 1
        try:
            value, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            return
        if isinstance(value, dict):
            yield value


def _inspect_csv(shown: str, path: Path, text: str) -> InputFile | Unreadable:
    skip = 0
    lines = text.splitlines()
    forced = lines[0].strip().lower() if lines else ""
    delimiters: Sequence[str] = _DELIMITERS
    if forced.startswith("sep=") and len(forced) == len("sep=;"):
        delimiters, skip = (forced[-1],), 1
    body = "\n".join(lines[skip:])
    best: tuple[int, str, list[list[str]]] | None = None
    for delimiter in delimiters:
        try:
            rows = list(csv.reader(io.StringIO(body), delimiter=delimiter))[:_SAMPLE_RECORDS]
        except csv.Error:
            continue
        if not rows:
            continue
        width = len(rows[0])
        agreeing = sum(len(row) == width for row in rows)
        if width > 1 and 2 * agreeing >= len(rows) and (best is None or width > best[0]):
            best = (width, delimiter, rows)
    if best is None:
        return InputFile(shown=shown, path=path, kind=Kind.TEXT, lines=tuple(lines[:_SAMPLE_RECORDS]))
    _, delimiter, rows = best
    dialect = CsvDialect(delimiter=delimiter, skip_lines=skip, header=tuple(rows[0]))
    cells = tuple(tuple(row) for row in rows[1:] if len(row) == len(rows[0]))
    return InputFile(shown=shown, path=path, kind=Kind.CSV, dialect=dialect, cells=cells)
