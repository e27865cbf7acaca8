"""Kept ledgers beside inputs that were read just now: one set of rows, one account."""

import contextlib
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ibis

from workloads.account import FileRows, StoredHash
from workloads.ledger import COLUMNS, LEDGER_ROW, PREFIX_NAMES, RECORD
from workloads.load import LoadOptions
from workloads.quarantine import SkippedRow
from workloads.reading import Reading
from workloads.relations import in_order, row_id, store
from workloads.sources import MappingError, Unreadable
from workloads.stored.lock import begin_reading
from workloads.stored.manifest import LedgerError, Manifest, StoredInput, read_manifest, skipped_rows
from workloads.stored.partitions import rows_of

Connection = Any
Expr = Any

_MOST_FILES_LOCATED = 50
_FEW_ROWS = 2_000_000
"""So many rows are held in the engine, where they are asked a dozen times; more of them are read from their files."""


def with_ledgers(
    connection: Connection, reading: Reading, folders: Sequence[Path], options: LoadOptions
) -> Reading:
    """Return a reading with the rows and the account of kept ledgers beside it.

    Raises:
        LedgerError: When a ledger cannot be read.
        MappingError: When the user says how to read what was read before.
    """
    if options.read.format or options.read.mapping:
        raise MappingError(
            f"{folders[0]}: a ledger's inputs are read when they are added: give --format and --map to `advisor ledger add`"
        )
    with contextlib.ExitStack() as held:
        rows, inputs = _read_kept(connection, reading, folders, options, held)
        if rows is not None and sum(item.rows["read"] for item in inputs) <= _FEW_ROWS:
            with in_order(
                connection
            ):  # as the logs would be: sums of fractions depend on it in their last digit
                rows = store(connection, "ledger_stored", rows.order_by(LEDGER_ROW))
        else:  # the files are read for as long as there is an engine to ask
            weakref.finalize(connection, held.pop_all().close)
    return Reading(
        rows=rows,
        counts=_counts([*reading.counts, *(count for item in inputs for count in item.counts)]),
        skipped=[*reading.skipped, *_skipped(inputs)],
        unreadable=[
            *reading.unreadable,
            *(Unreadable(item.shown, item.unreadable) for item in inputs if item.unreadable),
        ],
        pages=[*reading.pages, *(page for item in inputs for page in item.pages)],
        hashes=[StoredHash(path=i.shown, size_bytes=i.size_bytes, sha256=i.sha256) for i in inputs],
    )


def _read_kept(
    connection: Connection,
    reading: Reading,
    folders: Sequence[Path],
    options: LoadOptions,
    held: contextlib.ExitStack,
) -> tuple[Expr | None, list[StoredInput]]:
    """Return the rows of a reading and of kept ledgers, numbered through, and the inputs of these."""
    first = sum(count.rows for count in reading.counts)
    tables = [] if reading.rows is None else [_numbered(reading.rows)]
    inputs: list[StoredInput] = []
    for folder in folders:
        held.callback(begin_reading(folder))
        manifest = read_manifest(folder)
        inputs += manifest.inputs
        if manifest.files:
            tables.append(_rows(connection, folder, manifest, first))
        first += manifest.next_row
    _refuse_twice(inputs, reading)
    return _together(tables, options) if tables else None, inputs


def _numbered(rows: Expr) -> Expr:
    return rows.mutate(**{LEDGER_ROW: row_id(rows), "source_file": rows.source_file.cast("string")})


def _rows(connection: Connection, folder: Path, manifest: Manifest, first: int) -> Expr:
    """Return the rows of one ledger, numbered from ``first``."""
    lost = [file.path for file in manifest.files if not (folder / file.path).is_file()]
    if lost:
        raise LedgerError(
            f"{folder / lost[0]}: missing, though the ledger's manifest names it ({len(lost)} such files); restore it, or "
            "add the inputs to a new folder"
        )
    rows = rows_of(connection, folder, manifest.files, f"ledger_kept_{first}")
    return rows.mutate(
        **{
            LEDGER_ROW: rows[LEDGER_ROW] + first,
            "fate": ibis.literal(RECORD),
            "reason": ibis.null("string"),
        }
    )


def _together(tables: Sequence[Expr], options: LoadOptions) -> Expr:
    """Return the rows of all tables with the columns that any has, and what the user fills in."""
    names = [name for name in COLUMNS if any(name in table.columns for table in tables)]
    given = {"provider": options.provider, "model": options.model}
    names += [name for name, value in given.items() if value and name not in names]

    def aligned(table: Expr) -> Expr:
        columns = {
            name: table[name].cast(COLUMNS[name]) if name in table.columns else ibis.null(COLUMNS[name])
            for name in names
        }
        filled = {name: ibis.coalesce(columns[name], value) for name, value in given.items() if value}
        return table.select(**columns, **filled, **{LEDGER_ROW: table[LEDGER_ROW]})

    first, *rest = [aligned(table) for table in tables]
    rows = first.union(*rest, distinct=False) if rest else first
    if options.prefixes or set(PREFIX_NAMES) & set(names):
        rows = rows.mutate(log_row=rows[LEDGER_ROW])
    return rows


def _counts(counts: Sequence[FileRows]) -> list[FileRows]:
    """Return counts in the order of ``count_rows``, those of no format last, and what two inputs share a name for added up."""
    merged: dict[tuple[str | None, ...], int] = {}
    for count in counts:
        key = (count.file, count.format, count.fate, count.reason, count.problem)
        merged[key] = merged.get(key, 0) + count.rows
    ordered = sorted(
        merged,
        key=lambda key: (not key[1], [(part is None, part or "") for part in key]),
    )
    return [
        FileRows(
            file=file or "", format=form or "", fate=fate or "", reason=reason, problem=problem, rows=rows
        )
        for (file, form, fate, reason, problem), rows in ((key, merged[key]) for key in ordered)
    ]


def _skipped(inputs: Sequence[StoredInput]) -> list[SkippedRow]:
    """Return the skipped rows of the first inputs that have some."""
    having = [item for item in inputs if item.skipped][:_MOST_FILES_LOCATED]
    return [row for item in having for row in skipped_rows(item)]


def _refuse_twice(inputs: Sequence[StoredInput], reading: Reading) -> None:
    """Refuse an input that is given beside a ledger that has it: its rows would count twice."""
    from workloads.stored.changes import key_of  # noqa: PLC0415  (only where both are given)

    has = {item.key for item in inputs}
    for shown in dict.fromkeys(count.file for count in reading.counts):
        if key_of(shown) in has:
            raise LedgerError(f"{shown}: the ledger has this input already; give the one or the other")
