"""JSON values in the types that a format declares for them."""

from collections.abc import Mapping
from typing import Any

import ibis
from ibis.backends.sql.datatypes import DuckDBType

from workloads.schema import ANY, MapOf, duckdb_type

Expr = Any


def as_declared(value: Expr, kind: Any) -> Expr:
    """Return a field in the type its format declares, where another format of the run declares it differently."""
    if kind is None or not _differs(value.type(), kind):
        return value
    if not isinstance(kind, str):
        return value.cast("json").try_cast(DuckDBType.from_string(duckdb_type(kind)))
    text = value
    if value.type().is_json():
        text = ibis.coalesce(value.unwrap_as("string"), value.cast("string"))
    return text.try_cast(DuckDBType.from_string(kind))


def _differs(read: Any, kind: Any) -> bool:
    """Return whether a field, or one inside it, was read in a wider type (``schema.merge``) than declared."""
    if isinstance(kind, str):
        return (read.is_json() and kind != ANY) or (read.is_string() and kind not in (ANY, "VARCHAR"))
    if read.is_json():
        return True
    if isinstance(kind, Mapping):
        return any(_differs(read[name], inner) for name, inner in kind.items())
    return _differs(read.value_type, kind.value if isinstance(kind, MapOf) else kind[0])


def elements(value: Expr) -> Expr:
    """Return an array as it is, and the entries of an object whose keys are not known, each with ``f1`` and ``f2``."""
    return value.keys().zip(value.values()) if value.type().is_map() else value
