"""Where the skipped rows are: file, line and reason, looked up only for files that have some."""

import contextlib
import csv
import gzip
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import ibis

from workloads import relations
from workloads.batches import Batch
from workloads.failures import connection_errors
from workloads.json_plan import UNRECOGNISED
from workloads.ledger import SKIPPED
from workloads.raw import FILE_COLUMN, PLACE_COLUMN
from workloads.shared import computed_once
from workloads.sources import CsvDialect, InputFile, Kind

Connection = Any
Expr = Any

NOT_JSON = "not valid JSON"
NOT_UTF8 = "not valid UTF-8"
NOT_AN_OBJECT = "JSON, but not an object"

_MOST_PER_FILE = 1_000
_LARGEST_CELL = 1 << 26
"""Characters; twice the bytes of the longest line that the engine reads unless it must."""
_APART_BYTES = 1 << 24
"""A file this large is looked into alone: reading then stops at its last row that is shown."""


@dataclass(frozen=True, slots=True)
class SkippedRow:
    """A row that should have been a record and could not be read."""

    file: str
    line: int | None
    reason: str
    text: str | None = None
    """The line itself, when it is JSON of no known format; used to recognise it and never shown."""
    rows: int = 1
    """How many rows this stands for, the first of which is on the line."""


def is_small(files: Iterable[InputFile]) -> bool:
    """Return whether files are so small that reading them in order, to number their rows, costs nothing."""
    return sum(file.size_bytes for file in files) < _APART_BYTES


def with_places(raw: Expr) -> Expr:
    """Return raw rows, read in order, with their numbers in their files."""
    if "line" in raw.columns:
        return raw.mutate(**{PLACE_COLUMN: raw["line"] - 1})
    raw = raw.mutate(row_in_run=ibis.row_number())
    in_file = ibis.window(group_by=FILE_COLUMN, order_by="row_in_run")
    return raw.mutate(**{PLACE_COLUMN: ibis.row_number().over(in_file)}).drop("row_in_run")


def located(connection: Connection, ledger: Expr, batches: Sequence[Batch], most: int) -> list[SkippedRow]:
    """Return the skipped rows of the first files that have some, a thousand of each at most.

    Args:
        connection: The engine.
        ledger: The stored ledger, with or without the places of its rows.
        batches: What was read.
        most: Number of files.
    """
    rows = ledger.filter(ledger.fate == SKIPPED)
    names = set(connection.execute(rows.select("source_file").distinct()).source_file)
    files = [(batch, file) for batch in batches for file in batch.files if file.shown in names][:most]
    if PLACE_COLUMN not in ledger.columns:
        groups = [(batch, [file for of, file in files if of is batch]) for batch in batches]
        return [row for batch, group in groups for row in skipped_rows(connection, batch, group)]
    rows = rows.select("reason", path=rows.source_file, row_in_run=rows[PLACE_COLUMN])
    found: dict[str, list[tuple[int, str]]] = {}
    rows = _first_of_each(rows, in_order=False).order_by("path", "row_in_run")
    for row in connection.execute(rows).itertuples():
        found.setdefault(row.path, []).append((int(row.row_in_run), str(row.reason)))
    with relations.in_order(connection):
        return [row for _, file in files for row in _placed(connection, file, found.get(file.shown, []))]


def skipped_rows(connection: Connection, batch: Batch, files: Sequence[InputFile]) -> list[SkippedRow]:
    """Return the skipped rows of some files (the first thousand of each), by reading them again with row numbers."""
    if not files:
        return []
    large = [file for file in files if file.size_bytes >= _APART_BYTES]
    small = [file for file in files if file not in large]
    with relations.in_order(connection):
        found = _find(connection, batch, small) if small else {}
        for file in large:
            found |= _find(connection, batch, [file])
        return [row for file in files for row in _placed(connection, file, found.get(str(file.path), []))]


def _find(
    connection: Connection, batch: Batch, files: Sequence[InputFile]
) -> dict[str, list[tuple[int, str]]]:
    """Return ``(row in the file, reason)`` of skipped rows by path; all files at once, for a plan is long to prepare."""
    raw = batch.raw(connection, files)
    numbered = raw.mutate(row_in_run=raw["line"] - 1 if "line" in raw.columns else ibis.row_number())
    before: dict[str, int] = {}
    if "line" not in raw.columns and len(files) > 1:
        firsts = numbered.group_by(FILE_COLUMN).agg(first=numbered.row_in_run.min())
        before = {
            row.path: int(row.first)
            for row in connection.execute(firsts.rename(path=FILE_COLUMN)).itertuples()
        }
    found: dict[str, list[tuple[int, str]]] = {}
    for part in batch.read(numbered):
        rows = computed_once(
            part.relation.select(
                "row_in_run",
                path=part.relation[FILE_COLUMN],
                fate=part.columns["fate"],
                reason=part.columns["reason"],
            )
        )
        rows = _first_of_each(
            rows.filter(rows.fate == SKIPPED), in_order=len(files) == 1 and not batch.ordered
        )
        for row in connection.execute(rows.order_by("path", "row_in_run")).itertuples():
            found.setdefault(row.path, []).append(
                (int(row.row_in_run) - before.get(row.path, 0), str(row.reason))
            )
    return found


def _first_of_each(rows: Expr, *, in_order: bool) -> Expr:
    """Return the first rows of each file; of rows that come in order the engine reads no further."""
    if in_order:
        return rows.limit(_MOST_PER_FILE)
    place = ibis.row_number().over(ibis.window(group_by=rows.path, order_by=rows.row_in_run))
    rows = rows.mutate(place=place)
    return rows.filter(rows.place < _MOST_PER_FILE)


def _placed(connection: Connection, file: InputFile, found: Sequence[tuple[int, str]]) -> list[SkippedRow]:
    """Return rows of one file with the lines they are on."""
    numbers, reasons = [number for number, _ in found], [reason for _, reason in found]
    if file.kind is Kind.JSON_LINES:
        return _with_lines(connection, file, numbers, reasons) if found else []
    if file.dialect is not None:
        lines = _csv_lines(file, file.dialect, set(numbers))
        return [SkippedRow(file.shown, lines.get(n), why) for n, why in zip(numbers, reasons, strict=True)]
    if file.kind is Kind.JSON_DOCUMENT:  # a document's objects have no lines of their own
        return [SkippedRow(file.shown, None, reason) for reason in reasons]
    return [
        SkippedRow(file.shown, number + 1, reason) for number, reason in zip(numbers, reasons, strict=True)
    ]


def _csv_lines(file: InputFile, dialect: CsvDialect, wanted: set[int]) -> dict[int, int]:
    """Return the physical lines on which some data rows end; cells may hold line breaks, and lines may be blank."""
    found: dict[int, int] = {}
    packed = file.path.suffix == ".gz"
    csv.field_size_limit(_LARGEST_CELL)
    how: dict[str, Any] = {"encoding": "utf-8-sig", "errors": "replace", "newline": ""}
    with (
        contextlib.suppress(csv.Error),  # of what is broken further down no lines are known
        gzip.open(file.path, "rt", **how) if packed else file.path.open(**how) as text,
    ):
        for _ in range(dialect.skip_lines):
            text.readline()
        reader = csv.reader(text, delimiter=dialect.delimiter)
        rows = (row for row in reader if len(row) == len(dialect.header))
        next(rows, None)
        for number in range(max(wanted, default=-1) + 1):
            if next(rows, None) is None:
                break
            if number in wanted:
                found[number] = reader.line_num + dialect.skip_lines
    return found


def _with_lines(
    connection: Connection, file: InputFile, numbers: Sequence[int], reasons: Sequence[str]
) -> list[SkippedRow]:
    """Return rows with their physical line numbers (blank lines count) and a closer reason."""
    encoding = "utf-8"
    try:
        texts = _texts(connection, file, numbers, encoding)
    except connection_errors():  # some byte is no UTF-8; as Latin-1 every byte is something
        encoding = "latin-1"
        texts = _texts(connection, file, numbers, encoding)
    out = []
    for number, reason in zip(numbers, reasons, strict=True):
        line, text = texts.get(number, (None, ""))
        if reason == UNRECOGNISED and not _is_utf8(text, encoding):
            out.append(SkippedRow(file.shown, line, NOT_UTF8))
        elif reason == UNRECOGNISED:
            closer, content = _closer(text)
            out.append(SkippedRow(file.shown, line, closer, content or None))
        else:
            out.append(SkippedRow(file.shown, line, reason))
    return out


def _texts(
    connection: Connection, file: InputFile, numbers: Sequence[int], encoding: str
) -> dict[int, tuple[int, str]]:
    """Return line and text of some rows of a file, counted without its blank lines."""
    lines = relations.text_lines(connection, [file], encoding)
    lines = lines.filter(lines.text.notnull())
    lines = lines.mutate(row_in_file=ibis.row_number()).limit(max(numbers) + 1)
    wanted = lines.filter(lines.row_in_file.isin(list(numbers))).order_by("row_in_file")
    return {
        int(row.row_in_file): (int(row.line), str(row.text))
        for row in connection.execute(wanted).itertuples()
    }


def _is_utf8(text: str, encoding: str) -> bool:
    """Return whether the bytes of a line, which were read as an encoding, are UTF-8."""
    try:
        text.encode(encoding).decode("utf-8")
    except UnicodeError:
        return False
    return True


def _closer(text: str) -> tuple[str, str]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return NOT_JSON, ""
    return (UNRECOGNISED, text) if isinstance(value, dict) else (NOT_AN_OBJECT, "")
