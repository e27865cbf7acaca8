"""All rows of some inputs, and what they come to once those are set aside that repeat others."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from workloads.account import (
    FileRows,
    LoadReport,
    NothingReadableError,
    StoredHash,
    count_rows,
    nothing_readable,
    with_repeats,
)
from workloads.dedup import deduplicate
from workloads.ledger import RECORD
from workloads.pages import PageEnd, without_followed
from workloads.quarantine import SkippedRow
from workloads.sources import Unreadable

Connection = Any
Expr = Any
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read, before anything is said about repeats: they may be in several inputs."""

    rows: Expr | None = None
    """Ledger rows of every fate, or the records alone; None: there are none."""
    counts: Sequence[FileRows] = ()
    skipped: Sequence[SkippedRow] = ()
    unreadable: Sequence[Unreadable] = ()
    pages: Sequence[PageEnd] = ()
    """Only of inputs that may be pages of one answer."""
    hashes: Sequence[StoredHash] = field(default=())
    """Of inputs that are known from a kept ledger, and may not be there any more."""


def settled(
    connection: Connection, reading: Reading, progress: Progress = lambda _: None
) -> tuple[Expr, LoadReport]:
    """Return the records of what was read, each call once, and the account of all rows.

    Raises:
        NothingReadableError: When there is not one record; the message says why for every file.
    """
    if reading.rows is None:
        report = _report(reading, reading.counts)
        raise NothingReadableError(nothing_readable(report), report)
    progress("looking for duplicates")
    records, repeated = deduplicate(connection, reading.rows)
    counts = list(reading.counts)
    if repeated:
        counts = with_repeats(counts, count_rows(connection, records))
    report = _report(reading, without_followed(reading.pages, counts))
    if not report.rows(RECORD):
        raise NothingReadableError(nothing_readable(report), report)
    return records, report


def _report(reading: Reading, counts: Sequence[FileRows]) -> LoadReport:
    return LoadReport(
        counts=tuple(counts),
        skipped=tuple(reading.skipped),
        unreadable=tuple(reading.unreadable),
        hashes=tuple(reading.hashes),
    )
