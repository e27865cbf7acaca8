"""Attributes of telemetry records: an object of scalars, or OTLP's list of keys with typed values."""

from collections.abc import Sequence
from typing import Any, Final

import ibis
from ibis.backends.sql.datatypes import DuckDBType

from workloads.numbers import parse_count
from workloads.schema import Schema, duckdb_type

Expr = Any

_KINDS: Final = ("stringValue", "intValue", "doubleValue", "boolValue")
_LISTED: Final[list[Schema]] = [{"key": "VARCHAR", "value": dict.fromkeys(_KINDS, "VARCHAR")}]


class Attributes:
    """A JSON column of attributes, reached by name; all values are text."""

    def __init__(self, value: Expr, names: Sequence[str]) -> None:
        """Keep the column as an object with these names, and as a list."""
        self._flat = value.try_cast(_type(dict.fromkeys(names, "VARCHAR")))
        self._listed = value.try_cast(_type(_LISTED)).map(_plain)

    def text(self, name: str) -> Expr:
        """Return an attribute as text; null when it is not there or blank."""

        def named(item: Expr) -> Expr:
            return item["key"] == name

        return ibis.coalesce(self._flat[name], self._listed.filter(named)[0]["text"]).nullif("")

    def count(self, name: str) -> Expr:
        """Return an attribute as a whole number, however its exporter typed it."""
        return parse_count(self.text(name), None)


def _type(schema: Any) -> Any:
    return DuckDBType.from_string(duckdb_type(schema))


def _plain(item: Expr) -> Expr:
    return ibis.struct({"key": item["key"], "text": ibis.coalesce(*(item["value"][kind] for kind in _KINDS))})


def words_of(value: Expr) -> Expr:
    """Return a JSON column of text, bare or as OTLP's ``stringValue``, as text."""
    return ibis.coalesce(value.unwrap_as("string"), value["stringValue"].unwrap_as("string"))
