"""An engine somewhere else: the queries go there, and only their small results come back.

It stands wherever the embedded engine's connection stands, and gives results in the same types.
"""

from abc import ABC, abstractmethod
from threading import RLock
from typing import Any

import pandas as pd
from ibis.expr import operations

from workloads.sources import SourceError

Expr = Any
ops: Any = operations  # the library's own types of these do not fit its values


class RemoteError(SourceError):
    """The other engine could not be reached, or refused; the message says what it said and what to do."""


class Remote(ABC):
    """A connection to an engine that is not the embedded one."""

    name: str
    """What the engine is, in a word."""

    def __init__(self, backend: Any) -> None:
        """Keep the library's own connection."""
        self.backend = backend
        # A session answers one question at a time, whatever thread asks.
        self._lock = RLock()

    def compile(self, expr: Expr) -> str:
        """Return the query of an expression in the engine's own dialect."""
        return str(self.backend.compile(expr))

    def to_pyarrow(self, expr: Expr) -> Any:
        """Return the rows of a table expression, integers exact."""
        with self._lock:
            return _in_order(self._fetch(self.compile(expr), expr), expr)

    def execute(self, expr: Expr) -> Any:
        """Return a table as a frame, a column or a scalar, in the types that the embedded engine gives."""
        from ibis.backends.duckdb.converter import DuckDBPandasData  # noqa: PLC0415

        table = expr.as_table()
        found = self.to_pyarrow(table)
        columns = {
            name: column.to_pylist() if _is_nested(column) else column.to_pandas()
            for name, column in zip(found.column_names, found.columns, strict=True)
        }
        frame = DuckDBPandasData.convert_table(pd.DataFrame(columns), table.schema())
        return expr.__pandas_result__(frame)

    def way_in(self) -> "Remote":
        """Return what another thread may ask."""
        return self

    @abstractmethod
    def _fetch(self, query: str, expr: Expr) -> Any:
        """Return the rows of a query as an Arrow table with the schema of its expression.

        Raises:
            RemoteError: When the engine refuses.
        """

    @abstractmethod
    def store(self, name: str, expr: Expr) -> Expr:
        """Return an expression's rows, worked out once if the engine can keep them for this session."""


def _is_nested(column: Any) -> bool:
    import pyarrow as pa  # noqa: PLC0415

    return bool(pa.types.is_nested(column.type))


def _in_order(table: Any, expr: Expr) -> Any:
    """Return the rows in the order that the expression asks for: engines differ in how they compare texts."""
    node = expr.op()
    if not isinstance(node, ops.Sort) or not all(isinstance(key.arg, ops.Field) for key in node.keys):
        return table
    keys = [(key.arg.name, "ascending" if key.ascending else "descending") for key in node.keys]
    return table.sort_by(keys) if all(name in table.column_names for name, _ in keys) else table
