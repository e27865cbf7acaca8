"""Ledger rows of several batches in one stored table."""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ibis

from workloads.batches import Batch
from workloads.failures import connection_errors
from workloads.ledger import COLUMNS, PREFIX_COLUMNS, ROW_ID
from workloads.mending import with_care
from workloads.quarantine import with_places
from workloads.raw import PLACE_COLUMN
from workloads.relations import add, in_order, store

Connection = Any
Expr = Any

_NAME = "ledger_raw"


class BrokenBatchError(Exception):
    """A batch that the engine cannot read, and what the engine said."""

    def __init__(self, batch: Batch, error: Exception) -> None:
        """Keep both."""
        super().__init__(str(error))
        self.batch = batch
        self.error = error


@dataclass(slots=True)
class LedgerTable:
    """The stored table, to which batches are added one after the other.

    Attributes:
        connection: The engine.
        names: Columns of the table, see ``columns_of``.
        filled: Ledger column -> what to fill in where the input is silent.
        prefixes: Whether rows are stored in the order of their files, with their numbers.
        places: Whether rows have their places in their files.
        words: See ``workloads.relations.store``.
        meanwhile: See ``workloads.relations.store``.
        alone: Whether no more than one batch will be added: what is the same in all its rows is then not stored in each.
        rows: The table; None: nothing was added yet.
    """

    connection: Connection
    names: Sequence[str]
    filled: Mapping[str, str]
    prefixes: bool
    places: bool
    words: Mapping[str, Iterable[str]]
    meanwhile: Callable[[], None]
    alone: bool
    rows: Expr | None = None

    def put(self, batch: Batch, tables: Sequence[Expr]) -> Batch:
        """Add a batch's ledger rows, read with care where something in them is not as expected; return how it was read.

        Raises:
            BrokenBatchError: When the engine cannot read the batch either way.
        """
        try:
            self._add(batch, tables)
        except connection_errors() as error:
            careful = with_care(self.connection, batch, error)
            if careful is None:
                raise BrokenBatchError(batch, error) from error
            try:
                raw = careful.raw(self.connection, careful.files)
                self._add(careful, careful.ledger(with_places(raw) if self.places else raw))
            except connection_errors() as other:
                raise BrokenBatchError(careful, other) from other
            return careful
        return batch

    def _add(self, batch: Batch, tables: Sequence[Expr]) -> None:
        rows = _union(tables, self.names, self.filled)
        same = _same_everywhere(rows) if self.alone else {}
        rows = rows.drop(*same)
        rows = rows.mutate(log_row=ibis.row_number()) if self.prefixes else rows
        ordered = batch.ordered or self.places or self.prefixes
        with in_order(self.connection) if ordered else contextlib.nullcontext():
            if self.rows is None:
                words = {name: values for name, values in self.words.items() if name not in same}
                stored = store(self.connection, _NAME, rows, self.meanwhile, words)
                self.rows = stored.mutate(**{ROW_ID: stored.rowid()}, **same) if same else stored
            else:
                add(self.connection, _NAME, rows)


def _same_everywhere(rows: Expr) -> dict[str, Expr]:
    """Return the columns of a projection that are made of no column, so that their value is the same in every row."""
    return {name: value.to_expr() for name, value in rows.op().values.items() if value.shape.is_scalar()}


def columns_of(tables: Sequence[Expr], prefixes: bool, filled: Mapping[str, str]) -> list[str]:  # noqa: FBT001
    """Return the ledger columns that some table has, or that are filled in; with ``prefixes`` those of blocks too."""
    wanted = [name for name in COLUMNS if prefixes or name not in PREFIX_COLUMNS]
    names = [name for name in wanted if any(name in table.columns for table in tables)]
    names += [name for name in filled if name not in names]
    return names + [PLACE_COLUMN] * all(PLACE_COLUMN in table.columns for table in tables)


def _union(tables: Sequence[Expr], names: Sequence[str], filled: Mapping[str, str]) -> Expr:
    """Return all rows of some tables with these columns, nulls where a table has none."""

    def aligned(table: Expr) -> Expr:
        same = _same_everywhere(table)
        columns = {
            name: same.get(name, table[name]) if name in table.columns else ibis.null(COLUMNS[name])
            for name in names
        }
        for name, given in filled.items():
            columns[name] = ibis.coalesce(columns[name], given)
        return table.select(**columns)

    first, *rest = [aligned(table) for table in tables]
    return first.union(*rest, distinct=False) if rest else first
