"""Counts as texts, so that one that is no whole number can be told from one that is not there."""

from collections.abc import Iterator
from typing import Any, Final

import ibis
from ibis.backends.sql.datatypes import DuckDBType

from workloads.accounting import NEGATIVE_COUNT, NO_WHOLE_COUNT
from workloads.declared import as_declared, elements
from workloads.expressions import NO_TEXT
from workloads.schema import ITEM, Path, Schema, duckdb_type, inside, replaced

Expr = Any

WRONG: Final = "wrong"
"""Beside an importer's ledger columns: what is wrong with a count of the row; null when nothing is."""
TRUTH_COUNT = "a token count is true or false, not a number"
_NOTHING: Final = ("", "-", "\u2013", "\u2014", "n/a", "na", "null", "none", "nil", "nan", "undefined")
"""What stands, in small letters, in a cell of a table for a detail that is not stated."""
_WHOLE: Final = ("BIGINT", "HUGEINT")


def counts(kind: Any, path: Path = ()) -> Iterator[Path]:
    """Yield where a schema has whole numbers with a name of their own.

    >>> list(counts({"id": "VARCHAR", "data": [{"tokens": "BIGINT", "hashes": ["BIGINT"]}]}))
    [('data', '[]', 'tokens')]
    """
    if kind in _WHOLE and path[-1] != ITEM:
        yield path
    for key, inner in inside(kind):
        yield from counts(inner, (*path, key))


def as_texts(schema: Schema, odd: frozenset[Path]) -> Schema:
    """Return the schema with text for the counts at some paths."""
    read: Schema = replaced(schema, lambda name, path: "VARCHAR" if path in odd and name in _WHOLE else name)
    return read


def texts_in(value: Expr, schema: Schema) -> Expr:
    """Return a JSON value as an object of this schema with text for every count: see ``counts_in`` and ``wrong_in``."""
    return as_declared(value, as_texts(schema, frozenset(counts(schema))))


def counts_in(texts: Expr, schema: Schema) -> Expr:
    """Return the object with its counts as numbers; null where one is none."""
    return texts.try_cast(DuckDBType.from_string(duckdb_type(schema)))


def wrong_in(texts: Expr, schema: Schema) -> Expr:
    """Return what is wrong with one of the object's counts; null when nothing is."""
    return ibis.coalesce(*(first_wrong(texts, path) for path in counts(schema)), NO_TEXT)


def first_wrong(value: Expr, path: Path) -> Expr:
    """Return what is wrong with the count at a path, read as text, or with the first such where the path leads to many."""
    for depth, key in enumerate(path):
        if key == ITEM:
            return _first_of(value, path[depth + 1 :])
        value = value[key]
    return wrong_with(value)


def _first_of(values: Expr, path: Path) -> Expr:
    def wrong(value: Expr) -> Expr:
        return first_wrong(value, path)

    return elements(values).map(wrong).filter(_is_there)[0]


def _is_there(value: Expr) -> Expr:
    return value.notnull()


def wrong_with(count: Expr) -> Expr:
    """Return what is wrong with a count that was read as text; null when nothing is."""
    whole = count.try_cast("int64")
    return ibis.cases(
        (count.isnull() | (count.strip() == "") | (whole >= 0), NO_TEXT),
        (count.isin(("true", "false")), TRUTH_COUNT),
        (count.try_cast("float64").notnull(), NEGATIVE_COUNT),
        else_=NO_WHOLE_COUNT,
    )


def wrong_json_count(value: Expr) -> Expr:
    """Return what is wrong with a JSON value that should be a count or a text of one; null also of an object."""
    text = ibis.coalesce(value.unwrap_as("string"), value.cast("string"))
    return ibis.cases((text.startswith("{"), NO_TEXT), else_=wrong_with(text))


def wrong_json_counts(value: Expr) -> Expr:
    """Return what is wrong with a JSON value that should be a count, a text of one, or an array of counts."""
    several = first_wrong(value.try_cast("array<string>"), (ITEM,))
    is_array = value.cast("string").startswith("[")
    return ibis.cases((is_array, several), else_=wrong_json_count(value))


def wrong_cell(text: Expr, count: Expr) -> Expr:
    """Return what is wrong with a count that was read of a cell: it is negative, or none although the cell says something."""
    nothing = text.strip().lower().isin(_NOTHING)
    wrong = ibis.cases((nothing, NO_TEXT), else_=wrong_with(text))
    return ibis.cases((count < 0, NEGATIVE_COUNT), (text.notnull() & count.isnull(), wrong), else_=NO_TEXT)
