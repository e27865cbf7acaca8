"""Paths to readable files: folders, globs, stdin, gzip; what kind of file each is, and a sample of it.

Only the first bytes of a file are looked at here. The rows are read by the engine.
"""

import glob
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import IO, Any, Final

from workloads.archives import ArchiveError, is_archive, members
from workloads.copies import copies_folder
from workloads.stored.place import is_ledger

SUFFIXES: Final = (
    ".jsonl",
    ".ndjson",
    ".json",
    ".csv",
    ".tsv",
    ".parquet",
    ".pq",
    ".log",
    ".txt",
    ".prom",
    ".db",
)
"""What is looked for inside a folder, also with ``.gz`` behind it."""


class SourceError(Exception):
    """An input cannot be read at all; the message says which, why, and what to do."""


class MappingError(SourceError):
    """The user's ``--map`` names a column that no table has."""


class Kind(StrEnum):
    """How the rows of a file are laid out."""

    JSON_LINES = "json_lines"
    JSON_DOCUMENT = "json_document"
    CSV = "csv"
    PARQUET = "parquet"
    TEXT = "text"
    TABLE = "table"
    """Rows that the engine reads where they are: see ``places``."""


TABLES: Final = (Kind.CSV, Kind.PARQUET, Kind.TABLE)
"""Kinds whose rows have named columns."""


@dataclass(frozen=True, slots=True)
class CsvDialect:
    """How a delimited text is written."""

    delimiter: str
    skip_lines: int
    """Lines before the header (``sep=;``)."""
    header: tuple[str, ...]

    @property
    def columns(self) -> list[str]:
        """The header's names, repeated and empty ones made distinct."""
        seen: dict[str, int] = {}
        out = []
        for index, name in enumerate(self.header):
            base = name.lstrip("\ufeff").replace("\0", "") or f"column_{index + 1}"
            key = base.lower()
            seen[key] = seen.get(key, 0) + 1
            out.append(base if seen[key] == 1 else f"{base}_{seen[key]}")
        return out


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
    rows: Callable[[Any], str] | None = field(default=None, repr=False)
    """Of a table: opens it in an engine, and returns what stands for it in a query."""

    @property
    def size_bytes(self) -> int:
        """Size of the file; of a table, which may be anywhere, more than any small one has."""
        return self.path.stat().st_size if self.rows is None else sys.maxsize

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of a table's columns, or the keys of JSON objects; empty where they are not known yet."""
        if self.dialect is not None:
            return self.dialect.header
        return tuple(dict.fromkeys(key for record in self.records for key in record))


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
            try:
                identity = path.stat()
            except FileNotFoundError as error:
                raise SourceError(f"{shown}: it was there a moment ago, and is gone") from error
            found.setdefault((identity.st_dev, identity.st_ino), _in_unicode(shown, path))
    return sorted(found.values(), key=lambda item: item[0])


def _in_unicode(shown: str, path: Path) -> tuple[str, Path]:
    """Return a path and its name as they are; of one that is no Unicode, a link and a name that the engine can be told."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        link = Path(copies_folder(), f"named-{len(os.listdir(copies_folder()))}{path.suffix}")  # noqa: PTH208
        link.symlink_to(path.resolve())
        return os.fsencode(shown).decode("utf-8", "backslashreplace"), link
    return shown, path


def _expand_one(given: str) -> Iterator[tuple[str, Path]]:
    if given == "-":
        yield "-", _spool(sys.stdin.buffer)
        return
    path = Path(given)
    if path.is_symlink() and not path.exists():
        raise SourceError(f"{given}: a link to {path.readlink()}, which is not there")
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
        for name, copy in members(archive, _has_data_suffix):
            yield f"{shown}::{name}", copy
    except ArchiveError as error:
        raise SourceError(f"{shown}: {error}") from error


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, and the folders that cannot be listed."""
    closed: list[OSError] = []
    for parent, folders, names in os.walk(folder, onerror=closed.append):
        # What was read into a kept ledger is no log to read again.
        folders[:] = [name for name in folders if not is_ledger(Path(parent, name))]
        yield from (Path(parent, name) for name in names if not name.startswith("."))
    yield from (Path(str(error.filename)) for error in closed)


def _looks_like_data(path: Path) -> bool:
    return path.is_dir() or ((_has_data_suffix(path.name) or is_archive(path)) and path.is_file())


def _has_data_suffix(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith(SUFFIXES)


@cache
def _spool(stream: IO[bytes]) -> Path:
    """Return a copy of a stream, the same whenever it is asked for: a stream can be read only once."""
    with tempfile.NamedTemporaryFile(prefix="stdin-", dir=copies_folder(), delete=False) as copy:
        shutil.copyfileobj(stream, copy)
    return Path(copy.name)
