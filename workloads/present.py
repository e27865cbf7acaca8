"""What a run's records say at all: a column that is null in every one of them is taken away again.

An importer gives the columns that its source may have. Most runs use a few of these, and every question asked of the
records later would be computed over the others too: an absent column means the same as a null one and costs nothing.
"""

from typing import Any, Final

from workloads.ledger import COLUMNS, PREFIX_COLUMNS

Connection = Any
Expr = Any

_ALWAYS: Final = frozenset(
    {"source_file", "format", "started_at", "provider", "model", "requests", *PREFIX_COLUMNS}
)
"""Columns that stay even when they are empty: later steps ask for them by name, or tell null from absent."""


def without_empty(connection: Connection, records: Expr) -> Expr:
    """Return the records without the columns that are null in all of them.

    Args:
        connection: The engine that holds the records.
        records: The records of a run.
    """
    names = [name for name in records.columns if name in COLUMNS and name not in _ALWAYS]
    if not names:
        return records
    found = connection.execute(records.agg(**{name: records[name].count() for name in names})).iloc[0]
    return records.drop(*(name for name in names if not found[name]))
