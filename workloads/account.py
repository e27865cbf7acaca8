"""The account of a run: every row of every input, by what became of it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import ibis

from workloads.ledger import DUPLICATE, IGNORED, RECORD, SKIPPED
from workloads.quarantine import SkippedRow
from workloads.sources import InputFile, SourceError, Unreadable

Connection = Any
Expr = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRows:
    """What one file gave, by format and fate."""

    file: str
    format: str
    fate: str
    reason: str | None
    problem: str | None
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredHash:
    """What one input of a kept ledger was when it was read."""

    path: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """Every row of every input, accounted for."""

    counts: tuple[FileRows, ...]
    skipped: tuple[SkippedRow, ...]
    """Where skipped rows are (the first of each file)."""
    unreadable: tuple[Unreadable, ...]
    """Files that no row could be read from; they count no rows."""
    hashes: tuple[StoredHash, ...] = ()
    """Of inputs that came from a kept ledger."""

    def rows(self, fate: str | None = None) -> int:
        """Return how many rows had this fate; all of them for None."""
        return sum(count.rows for count in self.counts if fate in (None, count.fate))


class NothingReadableError(SourceError):
    """No record could be read from any input."""

    def __init__(self, message: str, report: LoadReport) -> None:
        """Keep the account of what was tried."""
        super().__init__(message)
        self.report = report


def count_rows(connection: Connection, rows: Expr) -> list[FileRows]:
    """Return the rows by file, format, fate, reason and problem; rows without a fate are records."""
    null = ibis.null("string")
    keys = {name: rows[name] if name in rows.columns else null for name in ("reason", "problem")}
    fate = rows.fate if "fate" in rows.columns else ibis.literal(RECORD)
    named = rows.select(file=rows.source_file, format=rows.format, fate=fate, **keys)
    names = ["file", "format", "fate", "reason", "problem"]
    frame = connection.execute(named.group_by(names).agg(rows=named.count()).order_by(names))
    columns = [frame[name].astype(object).where(frame[name].notna(), None) for name in names]
    return [
        FileRows(file=file, format=form or "", fate=fate, reason=reason, problem=problem, rows=int(rows))
        for file, form, fate, reason, problem, rows in zip(*columns, frame["rows"], strict=True)
    ]


def with_repeats(counts: Sequence[FileRows], records: Sequence[FileRows]) -> list[FileRows]:
    """Return the counts with those rows as duplicates that are not among the records any more."""
    left = {(count.file, count.format, count.problem): count.rows for count in records}
    out = []
    for count in counts:
        if count.fate != RECORD:
            out.append(count)
            continue
        rows = left.get((count.file, count.format, count.problem), 0)
        parts = (replace(count, rows=rows), replace(count, fate=DUPLICATE, rows=count.rows - rows))
        out += [part for part in parts if part.rows]
    return out


def shown_rejects(rows: Sequence[SkippedRow], files: Sequence[InputFile]) -> list[SkippedRow]:
    """Return rejected rows with their files as the user knows them."""
    names = {str(file.path): file.shown for file in files}
    return [replace(row, file=names.get(row.file, row.file)) for row in rows]


def reject_counts(rows: Sequence[SkippedRow]) -> list[FileRows]:
    """Return rows that the engine could not fit to a header as skipped rows, by file and reason."""
    by_file: dict[tuple[str, str], int] = {}
    for row in rows:
        by_file[row.file, row.reason] = by_file.get((row.file, row.reason), 0) + row.rows
    return [
        FileRows(file=file, format="", fate=SKIPPED, reason=reason, problem=None, rows=count)
        for (file, reason), count in by_file.items()
    ]


def without_rows(
    files: Sequence[InputFile], counts: Sequence[FileRows], unreadable: Sequence[Unreadable]
) -> list[Unreadable]:
    """Return the files that are in no account yet: nothing was read of them, and nothing said why."""
    told = {count.file for count in counts} | {item.shown for item in unreadable}
    return [
        Unreadable(file.shown, "a table without rows" if file.columns else "no row of its format is in it")
        for file in files
        if file.shown not in told
    ]


def nothing_readable(report: LoadReport) -> str:
    """Return why not one record could be read, in a sentence."""
    reasons = [f"{item.shown}: {item.reason}" for item in report.unreadable[:5]]
    skipped, ignored = report.rows(SKIPPED), report.rows(IGNORED) + report.rows(DUPLICATE)
    if skipped or ignored:
        reasons.append(f"{skipped + ignored:,} rows were read and none is a request with usage")
    return "; ".join(reasons) if reasons else "no file to read"
