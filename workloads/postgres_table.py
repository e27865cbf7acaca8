"""The columns of a PostgreSQL table as importers read them: JSON is reached into on the server, texts are never fetched."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

import ibis
import ibis.expr.datatypes as dt

from workloads.count_texts import odd_cell
from workloads.expressions import NO_TEXT
from workloads.schema import Schema
from workloads.table import Table

Expr = Any

PROMPT_TEXTS: Final = frozenset(
    {"messages", "response", "proxy_server_request", "request_body", "response_body"}
)
"""Columns that hold what people wrote: they are not looked at."""
_LEAF: Final = "__leaf_"
_JSON: Final = dt.JSON(binary=True)


@dataclass(frozen=True, slots=True)
class JsonObject:
    """An object in a JSON column with the fields that its importer declares; a field is worked out once a row."""

    table: "PostgresTable"
    column: str
    schema: Schema
    path: tuple[str, ...] = ()

    def __getitem__(self, key: str) -> Any:
        """Return a field: an object again, or its value in the declared type, null where it has another."""
        kind = self.schema[key]
        path = (*self.path, key)
        if isinstance(kind, Mapping):
            return JsonObject(self.table, self.column, kind, path)
        return self.table.leaf(self.column, path, kind)


@dataclass(frozen=True, slots=True)
class PostgresTable(Table):
    """A table whose columns have types of their own, beside JSON."""

    def has(self, name: str) -> bool:
        """See ``Table.has``; a column of prompts counts as missing."""
        return name in self.names and name not in PROMPT_TEXTS

    def text(self, name: str) -> Expr:
        """See ``Table.text``."""
        if name not in self.names:
            return NO_TEXT
        return self._reading(f"__text_{name}", lambda table: _text(table.raw[table.names[name]]))

    def count(self, name: str) -> Expr:
        """See ``Table.count``."""
        if name not in self.names:
            return ibis.null("int64")
        self.odd[name] = lambda table: odd_cell(_text(table.raw[table.names[name]]), table.count(name))
        return self._reading(f"__count_{name}", lambda table: _number(table.raw[table.names[name]], "int64"))

    def number(self, name: str) -> Expr:
        """See ``Table.number``."""
        kind = "decimal(38, 12)"
        if name not in self.names:
            return ibis.null(kind)
        return self._reading(f"__number_{name}", lambda table: _number(table.raw[table.names[name]], kind))

    def json(self, name: str) -> Expr:
        """See ``Table.json``."""
        if name not in self.names:
            return ibis.null(_JSON)
        column = self.raw[self.names[name]]
        if column.type().is_json():
            return column if column.type().binary else column.cast(_JSON)
        # Of a text that is an object. One that is broken fails the query: the server has no softer way.
        text = column.cast("string")
        return ibis.cases((text.strip().left(1) == "{", text)).cast(_JSON)

    def object(self, name: str, schema: Schema) -> Any:
        """See ``Table.object``."""
        return JsonObject(self, name, schema)

    def leaf(self, column: str, path: tuple[str, ...], kind: str) -> Expr:
        """Return a field deep in a JSON column as text or as a number."""
        # The server cuts names at 63 bytes, and paths are longer.
        name = _LEAF + sha256("/".join((column, *path)).encode()).hexdigest()[:16]

        def text(table: Table) -> Expr:
            value = table.json(column)
            for key in path[:-1]:
                value = value[key]
            return _json_text(value, path[-1])

        def make(table: Table) -> Expr:
            read = text(table)
            return read if kind == "VARCHAR" else read.try_cast("int64" if kind == "BIGINT" else "float64")

        if kind == "BIGINT":
            self.odd[name] = lambda table: odd_cell(text(table), table.raw[name])
        return self._reading(name, make)


def _key_text(value: Any, key: Any) -> Any:
    """The server has the body; only the number of arguments is read."""


_json_text: Final = ibis.udf.scalar.builtin(
    _key_text, name="jsonb_extract_path_text", signature=((_JSON, "string"), "string")
)


def _text(column: Expr) -> Expr:
    return column.cast("string").strip().nullif("")


def _number(column: Expr, kind: str) -> Expr:
    """Return a column of numbers, or of texts that are some; a float by way of its shortest text, for exactness."""
    if column.type().is_integer():
        return column.cast(kind)
    return _text(column).try_cast(kind)
