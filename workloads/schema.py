"""Declared schemas of JSON records: nested dictionaries of DuckDB types, merged over all importers of a run.

A field that a record lacks, or holds in another type, reads as null; nothing is inferred from the data, so a field
that first appears in the last line of a large log is read like any other.
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

Path = tuple[str, ...]
Schema = Mapping[str, Any]
"""Field name -> a type name, a nested Schema, a one-element list of either (an array), or a ``MapOf`` either."""

ANY = "JSON"
"""Type of a field that two importers declare differently: kept as raw JSON text."""

ITEM: Final = "[]"
"""Stands in a path for every element of an array, or every entry of a map (with ``f1``, its key, and ``f2``)."""


@dataclass(frozen=True, slots=True)
class MapOf:
    """An object whose keys are not known."""

    value: Any
    """Type or Schema of what stands under every key."""


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
    """Return the type of the elements of the array (or the entries of the map) at ``path``; None where there is neither.

    >>> element({"data": {"rows": [{"id": "VARCHAR"}]}}, ("data", "rows"))
    {'id': 'VARCHAR'}
    """
    for key in path:
        schema = schema[key]
    return dict(inside(schema)).get(ITEM)


def inside(kind: Any) -> Iterator[tuple[str, Any]]:
    """Yield what a field of some type holds, and of which type that is."""
    if isinstance(kind, Mapping):
        yield from kind.items()
    elif isinstance(kind, list):
        yield ITEM, kind[0]
    elif isinstance(kind, MapOf):
        yield ITEM, {"f1": "VARCHAR", "f2": kind.value}


def replaced(kind: Any, new: Callable[[str, Path], str], path: Path = ()) -> Any:
    """Return a schema with other names of types: those that ``new`` gives for the old ones and the paths to them.

    >>> replaced({"a": "BIGINT", "b": [{"c": "DATE"}]}, lambda name, path: name + str(len(path)))
    {'a': 'BIGINT1', 'b': [{'c': 'DATE3'}]}
    """
    if isinstance(kind, Mapping):
        return {key: replaced(inner, new, (*path, key)) for key, inner in kind.items()}
    if isinstance(kind, list):
        return [replaced(kind[0], new, (*path, ITEM))]
    if isinstance(kind, MapOf):
        return MapOf(replaced(kind.value, new, (*path, ITEM, "f2")))
    return new(kind, path)


def only(kind: Any, paths: Collection[Path], path: Path = ()) -> Any:
    """Return what of a schema leads to some fields; None where it leads to none.

    >>> only({"a": "BIGINT", "b": [{"c": "DATE", "d": "JSON"}]}, [("b", ITEM, "d")])
    {'b': [{'d': 'JSON'}]}
    """
    if path in paths or not any(given[: len(path)] == path for given in paths):
        return kind if path in paths else None
    left = {key: found for key, inner in inside(kind) if (found := only(inner, paths, (*path, key)))}
    if isinstance(kind, list):
        return list(left.values())
    return MapOf(left[ITEM]["f2"]) if isinstance(kind, MapOf) else left


def widened(schema: Schema) -> Schema:
    """Return the schema with 128-bit integers for 64-bit ones.

    >>> widened({"a": "BIGINT", "b": [{"c": "BIGINT"}], "d": "VARCHAR"})
    {'a': 'HUGEINT', 'b': [{'c': 'HUGEINT'}], 'd': 'VARCHAR'}
    """
    wide: Schema = replaced(schema, lambda name, _: "HUGEINT" if name == "BIGINT" else name)
    return wide


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
    if isinstance(value, MapOf):
        return f"MAP(VARCHAR, {duckdb_type(value.value)})"
    return str(value)


def quote(text: str) -> str:
    """Return a text as an SQL string literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a name as a quoted SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def structure(value: Any) -> str:
    """Return a schema in the notation of DuckDB's from_json."""
    if isinstance(value, list):
        return f"[{structure(value[0])}]"
    if not isinstance(value, Mapping):
        return json.dumps(duckdb_type(value))
    return "{" + ", ".join(f"{json.dumps(key)}: {structure(inner)}" for key, inner in value.items()) + "}"
