"""Attributes of telemetry records: an object of scalars, or OTLP's list of keys with typed values."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import ibis
from ibis.backends.sql.datatypes import DuckDBType

from workloads.schema import Schema, duckdb_type

Expr = Any

_KINDS: Final = ("string", "int", "double", "bool", "array")
_VALUE: Final[Schema] = {
    spelling: "VARCHAR" for kind in _KINDS for spelling in (f"{kind}Value", f"{kind}_value")
}
ATTRIBUTES: Final[Any] = [{"key": "VARCHAR", "value": _VALUE}]
"""OTLP's list."""


def _engine_function(name: str, takes: tuple[str, str], gives: str) -> Any:
    """Return a function of the engine by its name; the library's own way to find an element is many times as long."""

    def by_name(first: Any, second: Any) -> Any:
        """The engine has the body; only the number of arguments is read."""

    return ibis.udf.scalar.builtin(by_name, name=name, signature=(takes, gives))


_place_of: Final = _engine_function("list_position", ("array<string>", "string"), "int64")
_element: Final = _engine_function("list_extract", ("array<string>", "int64"), "string")


def keys_of(attributes: Expr) -> Expr:
    """Return the keys of an OTLP list."""

    def key(item: Expr) -> Expr:
        return item["key"]

    return attributes.map(key)


def texts_of(attributes: Expr) -> Expr:
    """Return the values of an OTLP list as text, whatever their kind."""

    def text(item: Expr) -> Expr:
        return ibis.coalesce(*(item["value"][kind] for kind in _VALUE))

    return attributes.map(text)


def lookup(keys: Expr, texts: Expr) -> Callable[[str], Expr]:
    """Return what gives an attribute by name as text; null when it is not there or blank."""

    def text(name: str) -> Expr:
        return _element(texts, _place_of(keys, name)).nullif("")

    return text


def flat_of(value: Expr, names: Sequence[str]) -> Expr:
    """Return a JSON column of attributes that are an object as one with these names; null when they are a list."""
    return value.try_cast(_type(dict.fromkeys(names, "VARCHAR")))


def listed_of(value: Expr) -> Expr:
    """Return a JSON column of attributes that are OTLP's list as one; null when they are an object."""
    return value.try_cast(_type(ATTRIBUTES))


def _type(schema: Any) -> Any:
    return DuckDBType.from_string(duckdb_type(schema))


def words_of(value: Expr) -> Expr:
    """Return a JSON column of text, bare or as OTLP's ``stringValue``, as text."""
    return ibis.coalesce(value.unwrap_as("string"), value["stringValue"].unwrap_as("string"))
