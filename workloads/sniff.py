"""What kind of file this is, told from its first bytes: JSON lines, a JSON document, a table, Parquet, text.

Only samples are looked at here. The rows are read by the engine.
"""

import contextlib
import csv
import io
import json
import re
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Final

from workloads.copies import copies_folder, copy_unpacked
from workloads.event_stream import is_event_stream, with_bare_data
from workloads.packed import is_packed, unpacked
from workloads.sources import CsvDialect, InputFile, Kind, Unreadable

_SAMPLE_BYTES: Final = 1 << 18
_LARGE_BYTES: Final = 1 << 26
_LARGEST_BYTES: Final = 1 << 28
_LONG_TEXT: Final = re.compile(rb'(?:[^"\\]++|\\.){256,}+|[^"\\]{4096,}+', re.DOTALL)
"""Inside of a text of JSON: long with line ends and other escapes, or without."""
_GLANCE_BYTES: Final = 1 << 10
_SAMPLE_RECORDS: Final = 400
_MOST_SAMPLED: Final = 24
"""Files of a run that are sampled in depth, evenly spread; of the others only the first bytes are looked at."""

_PARQUET_MAGIC: Final = b"PAR1"
_SQLITE_MAGIC: Final = b"SQLite format 3\x00"
_DELIMITERS: Final = (",", ";", "\t", "|")
_VALUE: Final = re.compile(r'="|: -?\d')
"""A line with such a cell is no header: a line of a log that has its names and values in one."""


def inspect_each(found: Sequence[tuple[str, Path]]) -> list[InputFile | Unreadable]:
    """Return what kind of file each of ``(shown, path)`` is.

    Of thousands of small files only some are sampled in depth: the engine reads all of them by one plan, and what the
    plan misses is found again among the rows that it does not recognise.
    """
    step = max(1, -(-len(found) // _MOST_SAMPLED))
    return [
        inspect(shown, path) if index % step == 0 else _glance(shown, path)
        for index, (shown, path) in enumerate(found)
    ]


def _glance(shown: str, path: Path) -> InputFile | Unreadable:
    """Return a file of JSON lines on sight of its first bytes, without a sample; whatever else it is, inspected."""
    try:
        with path.open("rb") as raw:
            head = raw.read(_GLANCE_BYTES)
    except OSError:
        return inspect(shown, path)
    if path.suffix == ".jsonl" and head.startswith(b'{"'):
        return InputFile(shown=shown, path=path, kind=Kind.JSON_LINES)
    return inspect(shown, path)


def inspect(shown: str, path: Path, *, deep: bool = False) -> InputFile | Unreadable:
    """Return what kind of file this is, with a sample of it; or why it cannot be read.

    Args:
        shown: Path as the user knows it.
        path: Path to read.
        deep: Whether to read a JSON document as a whole whose first object is larger than a sample.
    """
    try:
        return _inspect(shown, path, deep=deep)
    except FileNotFoundError:
        return Unreadable(shown, "it is not there any more")
    except (OSError, EOFError, zlib.error) as error:
        return Unreadable(shown, f"cannot be read: {error}")


def _inspect(shown: str, path: Path, *, deep: bool) -> InputFile | Unreadable:
    if path.exists() and not path.is_file():
        what = "a folder that cannot be listed" if path.is_dir() else "not a regular file"
        return Unreadable(shown, what)
    head = _head(path)
    if not head.strip():
        return Unreadable(shown, "the file is empty")
    path = _rightly_named(path)
    if head.startswith((_PARQUET_MAGIC, _SQLITE_MAGIC)):
        is_table = head.startswith(_PARQUET_MAGIC)
        return (
            InputFile(shown=shown, path=path, kind=Kind.PARQUET) if is_table else _inspect_sqlite(shown, path)
        )
    text, path = _decode(head, path)
    if text is None:
        return Unreadable(shown, "binary data, not a log in text, JSON, CSV or Parquet")
    looked = _inspect_text(shown, path, text, cut=len(head) == _SAMPLE_BYTES)
    sizes = (_LARGE_BYTES, _LARGEST_BYTES) if deep else ()
    for size in sizes:
        if not isinstance(looked, InputFile) or looked.kind is not Kind.JSON_DOCUMENT or looked.records:
            break
        with unpacked(path) as raw:
            document = raw.read(size)
        looked = _inspect_text(
            shown, path, _shortened(document).decode("utf-8-sig", errors="replace"), cut=False
        )
        if len(document) < size:  # there is no more of it
            break
    return looked


def _shortened(document: bytes) -> bytes:
    """Return what there is room to look at of a document: of a very large one, without its long texts."""
    if len(document) <= _LARGE_BYTES:
        return document
    kept: list[bytes] = []
    room, end = _LARGE_BYTES, 0
    # Piece by piece, so that a document without long texts is not there twice.
    for text in _LONG_TEXT.finditer(document):
        kept.append(document[end : min(text.start(), end + room)])
        room -= len(kept[-1])
        end = text.end()
        if not room:
            break
    kept.append(document[end : end + room])
    return b"".join(kept)


def _inspect_sqlite(shown: str, path: Path) -> InputFile | Unreadable:
    """Return a coding agent's database as the JSON messages that it keeps in ``message.data``."""
    import sqlite3  # noqa: PLC0415  (rarely needed)

    place = f"{path.resolve().as_uri()}?mode=ro"  # a name may hold what means something in such an address
    try:
        with contextlib.closing(sqlite3.connect(place, uri=True)) as database:
            database.execute("PRAGMA trusted_schema = OFF")
            kinds = database.execute("SELECT type FROM sqlite_master WHERE name = 'message'").fetchall()
            if kinds != [("table",)]:  # a view may be a query without an end
                return Unreadable(shown, "an SQLite database without a table of messages")
            (text,) = database.execute("SELECT group_concat(json(data), char(10)) FROM message").fetchone()
    except sqlite3.Error as error:
        return Unreadable(shown, f"an SQLite database without messages: {error}")
    with tempfile.NamedTemporaryFile(
        "w", prefix="sqlite-", suffix=".jsonl", dir=copies_folder(), encoding="utf-8", delete=False
    ) as copy:
        copy.write(text or "")
    return inspect(shown, Path(copy.name))


def _rightly_named(path: Path) -> Path:
    """Return the path, or that of a copy when its name lies about being packed: the engine goes by the name."""
    return path if is_packed(path) == (path.suffix.lower() == ".gz") else _plain_copy(path)


def _plain_copy(path: Path) -> Path:
    """Return the path of an unpacked copy."""
    suffix = Path(path.stem).suffix or path.suffix
    with (
        unpacked(path) as content,
        tempfile.NamedTemporaryFile(
            prefix="plain-", suffix=suffix, dir=copies_folder(), delete=False
        ) as copy,
    ):
        copy_unpacked(content, copy, path.stat().st_size)
    return Path(copy.name)


def _head(path: Path) -> bytes:
    with unpacked(path) as raw:
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
    plain = _plain_copy(path) if is_packed(path) else path
    with (
        plain.open("rb") as raw,
        tempfile.NamedTemporaryFile(
            "w", prefix="utf8-", dir=copies_folder(), encoding="utf-8", newline="", delete=False
        ) as copy,
    ):
        shutil.copyfileobj(io.TextIOWrapper(raw, encoding=encoding, errors="replace", newline=""), copy)
    return Path(copy.name)


def _inspect_text(shown: str, path: Path, text: str, *, cut: bool) -> InputFile | Unreadable:
    if is_event_stream(text):
        return inspect(shown, with_bare_data(_plain_copy(path) if is_packed(path) else path))
    start = text.lstrip()[:1]
    lines = [line for line in text.split("\n") if line.strip()]
    whole = lines[:-1] if cut and len(lines) > 1 else lines
    parsed = [value for line in whole[:_SAMPLE_RECORDS] if (value := _parse(line)) is not None]
    objects = [value for value in parsed if isinstance(value, dict)]
    # A document that is laid out by hand has lines that are objects, too; but its first line is none.
    if objects and (isinstance(_parse(whole[0]), dict) or 2 * len(objects) >= len(whole[:_SAMPLE_RECORDS])):
        return InputFile(shown=shown, path=path, kind=Kind.JSON_LINES, records=tuple(objects))
    if start in "{[":
        inside: list[dict[str, Any]] = []
        if parsed and len(whole) == 1 and isinstance(parsed[0], list):
            inside = [value for value in parsed[0] if isinstance(value, dict)]
        records = tuple(inside or _document_head(text))
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
        rows: list[list[str]] = []
        # What stands before a cell that never ends tells enough.
        with contextlib.suppress(csv.Error):
            rows.extend(islice(csv.reader(io.StringIO(body), delimiter=delimiter), _SAMPLE_RECORDS))
        if not rows:
            continue
        width = len(rows[0])
        agreeing = sum(len(row) == width for row in rows)
        is_table = width > 1 and 2 * agreeing >= len(rows) and not any(map(_VALUE.search, rows[0]))
        if is_table and (best is None or width > best[0]):
            best = (width, delimiter, rows)
    if best is None:
        return InputFile(shown=shown, path=path, kind=Kind.TEXT, lines=tuple(lines[:_SAMPLE_RECORDS]))
    _, delimiter, rows = best
    dialect = CsvDialect(delimiter=delimiter, skip_lines=skip, header=tuple(rows[0]))
    cells = tuple(tuple(row) for row in rows[1:] if len(row) == len(rows[0]))
    return InputFile(shown=shown, path=path, kind=Kind.CSV, dialect=dialect, cells=cells)
