"""A table in another engine to a ledger there: importer, de-duplication and account, without a row leaving the engine."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import ibis

from workloads.account import (
    FileRows,
    LoadReport,
    NothingReadableError,
    count_rows,
    nothing_readable,
    with_repeats,
)
from workloads.batches import Batch, ReadOptions, importer_of_table, rows_of_table
from workloads.json_plan import Rows
from workloads.ledger import COLUMNS, PREFIX_COLUMNS, RECORD, SKIPPED
from workloads.load import Loaded, LoadOptions
from workloads.pages import without_followed
from workloads.portable_dedup import records_of
from workloads.postgres import Address, PostgresEngine
from workloads.postgres_table import PostgresTable
from workloads.quarantine import SkippedRow
from workloads.raw import FILE_COLUMN
from workloads.reading import Reading
from workloads.remote import Remote, RemoteError
from workloads.sources import InputFile, Kind, MappingError, SourceError
from workloads.vocabulary import normal

Expr = Any
Progress = Callable[[str], None]

_LEDGER: Final = "advisor_ledger"


def load_table(engine: PostgresEngine, address: Address, options: LoadOptions, progress: Progress) -> Loaded:
    """Return the ledger of a table in PostgreSQL, made and kept there.

    Raises:
        SourceError: When there is no such table, or no importer reads it there.
        NothingReadableError: When no row of it is a record.
    """
    progress("asking the database")
    try:
        raw = engine.backend.table(address.table, database=address.schema)
    except ibis.common.exceptions.TableNotFound as error:
        raise SourceError(_no_table(engine, address)) from error
    ledger = _ledger_of_table(raw, address, options)
    try:
        stored = engine.store(_LEDGER, ledger)
    except (ibis.common.exceptions.IbisError, NotImplementedError) as error:
        raise SourceError(
            f"{address.shown}: this format cannot be read inside PostgreSQL ({type(error).__name__}); "
            "export the table as CSV or Parquet and give the file"
        ) from error
    except RemoteError as error:
        raise SourceError(f"{address.shown}: {error}") from error
    progress("looking for duplicates")
    return account_for(engine, stored)


def _ledger_of_table(raw: Expr, address: Address, options: LoadOptions) -> Expr:
    names = {normal(name): name for name in reversed(raw.columns)}
    importer = importer_of_table(frozenset(names), options.read)
    if importer is None:
        raise _foreign(raw.columns, address, options.read)

    def read(raw: Expr) -> list[Rows]:
        return [rows_of_table(importer, raw, names, {}, wide=False, kind=PostgresTable)]

    given = InputFile(shown=address.shown, path=Path(), kind=Kind.TABLE)
    batch = Batch((given,), lambda _, __: raw, read)
    (ledger,) = batch.ledger(raw.mutate(**{FILE_COLUMN: ibis.literal(address.shown)}))
    columns = {
        name: ledger[name] for name in COLUMNS if name in ledger.columns and name not in PREFIX_COLUMNS
    }
    for name, filled in (("provider", options.provider), ("model", options.model)):
        if filled:
            columns[name] = ibis.coalesce(columns[name], filled) if name in columns else ibis.literal(filled)
    return ledger.select(**columns)


def _foreign(columns: Sequence[str], address: Address, options: ReadOptions) -> SourceError:
    listed = ", ".join(list(columns)[:40])
    if options.mapping:
        return MappingError(f"--map: no such columns, or no token counts, among {listed} of {address.shown}")
    return SourceError(f"{address.shown}: no token counts among the columns {listed}")


def _no_table(engine: PostgresEngine, address: Address) -> str:
    tables = engine.ask(
        "SELECT CASE table_schema WHEN current_schema() THEN table_name ELSE table_schema || '.' || table_name END "
        "FROM information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1 LIMIT 30"
    )
    listed = ", ".join(name for (name,) in tables) or "none that you may see"
    return f"{address.shown}: no table {address.table!r} (capitals count); the database has: {listed}"


def account_for(engine: Remote, ledger: Expr, reading: Reading | None = None) -> Loaded:
    """Return the records of a ledger in another engine, with its account.

    Args:
        engine: Where the ledger is.
        ledger: Its rows.
        reading: What is known of its inputs; None: no more than the rows themselves say.

    Raises:
        NothingReadableError: When it has no record.
    """
    if reading is None:
        counts = count_rows(engine, ledger)
        reading = Reading(counts=counts, skipped=_skipped(counts))
    counts = list(reading.counts)
    records, repeated = records_of(engine, ledger)
    if repeated:
        records = engine.store(f"{_LEDGER}_records", records)
        counts = with_repeats(counts, count_rows(engine, records))
    report = LoadReport(
        counts=tuple(without_followed(reading.pages, counts)),
        skipped=tuple(reading.skipped),
        unreadable=tuple(reading.unreadable),
        hashes=tuple(reading.hashes),
    )
    if not report.rows(RECORD):
        raise NothingReadableError(nothing_readable(report), report)
    return Loaded(records, report)


def _skipped(counts: Sequence[FileRows]) -> list[SkippedRow]:
    """Return one entry a reason: rows of a table have no lines."""
    return [
        SkippedRow(count.file, None, count.reason or "", rows=count.rows)
        for count in counts
        if count.fate == SKIPPED
    ]
