"""Declared schemas of JSON records: nested dictionaries of DuckDB types, merged over all importers of a run.

A field that a record lacks, or holds in another type, reads as null; nothing is inferred from the data, so a field
that first appears in the last line of a large log is read like any other.
"""

from collections.abc import Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]
"""Field name -> a type name, a nested Schema, or a one-element list of either (an array)."""

ANY = "JSON"
"""Type of a field that two importers declare differently: kept as raw JSON text."""


def nest(path: Sequence[str], schema: Any) -> Schema:
    """Return the schema of a record that holds a schema (or a type) at ``path``.

    >>> nest(("response", "body"), {"id": "VARCHAR"})
    {'response': {'body': {'id': 'VARCHAR'}}}
    """
    nested: Schema = schema
    for key in reversed(path):
        nested = {key: nested}
    return nested


def merge(left: Schema, right: Schema) -> Schema:
    """Return the schema that reads whatever either of the two reads.

    >>> merge({"a": {"x": "BIGINT"}}, {"a": {"y": "VARCHAR"}, "b": "VARCHAR"})
    {'a': {'x': 'BIGINT', 'y': 'VARCHAR'}, 'b': 'VARCHAR'}
    """
    merged = dict(left)
    for key, value in right.items():
        merged[key] = _merge_types(merged[key], value) if key in merged else value
    return merged


def _merge_types(left: Any, right: Any) -> Any:
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        merged = merge(left, right)
        return merged if len(spellings(merged)) == 1 else ANY
    if isinstance(left, list) and isinstance(right, list):
        return [_merge_types(left[0], right[0])]
    if left == right:
        return left
    scalars = isinstance(left, str) and isinstance(right, str)
    return "VARCHAR" if scalars and ANY not in (left, right) else ANY


def is_name(key: str) -> bool:
    r"""Return whether the engine can be asked for a field of this name: not for an empty one, nor for what is no text.

    >>> is_name("id"), is_name(""), is_name("a\x00b"), is_name("\ud800")
    (True, False, False, False)
    """
    return bool(key) and "\0" not in key and key == key.encode("utf-8", "replace").decode()


def spellings(schema: Schema) -> list[Schema]:
    """Return a schema as parts without names that differ in case only: the engine takes such names for one.

    >>> spellings({"sessionId": "VARCHAR", "id": "VARCHAR", "sessionID": "VARCHAR"})
    [{'sessionId': 'VARCHAR', 'id': 'VARCHAR'}, {'sessionID': 'VARCHAR'}]
    """
    parts: list[dict[str, Any]] = [{}]
    for key, value in schema.items():
        fitting = (part for part in parts if key.lower() not in map(str.lower, part))
        part = next(fitting, None)
        if part is None:
            part = {}
            parts.append(part)
        part[key] = value
    return [dict(part) for part in parts]


def other_spelling(key: str) -> str:
    """Return the name of the column of a field whose own name is taken by one that differs in case only."""
    capitals = "".join("1" if letter.isupper() else "0" for letter in key)
    return f"{key} {capitals}"


def element(schema: Any, path: Sequence[str]) -> Any:
    """Return the type of the elements of the array at ``path``; None of an object whose keys are not known (a map).

    >>> element({"data": {"rows": [{"id": "VARCHAR"}]}}, ("data", "rows"))
    {'id': 'VARCHAR'}
    """
    for key in path:
        schema = schema[key]
    return schema[0] if isinstance(schema, list) else None


def widened(schema: Schema) -> Schema:
    """Return the schema with 128-bit integers for 64-bit ones.

    >>> widened({"a": "BIGINT", "b": [{"c": "BIGINT"}], "d": "VARCHAR"})
    {'a': 'HUGEINT', 'b': [{'c': 'HUGEINT'}], 'd': 'VARCHAR'}
    """
    return {key: _widened_type(value) for key, value in schema.items()}


def _widened_type(value: Any) -> Any:
    if isinstance(value, Mapping):
        return widened(value)
    if isinstance(value, list):
        return [_widened_type(value[0])]
    return "HUGEINT" if value == "BIGINT" else value


def column_types(schema: Schema) -> str:
    """Return the ``columns=`` argument of DuckDB's read_json for a schema."""
    return (
        "{" + ", ".join(f"{quote(key)}: {quote(duckdb_type(value))}" for key, value in schema.items()) + "}"
    )


def duckdb_type(value: Any) -> str:
    """Return the DuckDB type of one field of a schema."""
    if isinstance(value, Mapping):
        return (
            "STRUCT("
            + ", ".join(f"{identifier(key)} {duckdb_type(inner)}" for key, inner in value.items())
            + ")"
        )
    if isinstance(value, list):
        return f"{duckdb_type(value[0])}[]"
    return str(value)


def quote(text: str) -> str:
    """Return a text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
