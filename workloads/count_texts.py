"""Counts as texts, so that one that is no whole number can be told from one that is not there."""

import re
from collections.abc import Iterator
from typing import Any, Final

import ibis

from workloads.accounting import LARGEST_COUNT, NEGATIVE_COUNT, NO_WHOLE_COUNT
from workloads.declared import as_declared, elements
from workloads.expressions import NO_TEXT
from workloads.schema import ITEM, Path, Schema, inside, replaced

Expr = Any

ODD: Final = "odd_count"
"""Beside an importer's ledger columns: the text of a count of the row that is none; null when all are right."""
TRUTH_COUNT = "a token count is true or false, not a number"
_NOTHING: Final = ("", "-", "\u2013", "\u2014", "n/a", "na", "null", "none", "nil", "nan", "undefined")
"""What stands, in small letters, in a cell of a table for a detail that is not stated."""
_DIGITS: Final = len(str((1 << 63) - 1))
"""A number with fewer is whole for the engine."""
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


def odd_within(value: Expr, schema: Schema) -> Expr:
    """Return the text of the first count of a JSON value with this schema that is none; null when all are right."""
    paths = frozenset(counts(schema))
    names = "|".join(sorted({re.escape(path[-1]) for path in paths}))
    # To read all counts a second time would take as long as the first: only rows in which one may be odd are.
    suspicious = value.cast("string").re_search(
        rf'"(?:{names})"\s*:\s*(?:["tf\[{{-]|\d{{{_DIGITS}}}|[\d.]+[eE])'
    )

    def first_odd(texts: Expr) -> Expr:
        return ibis.coalesce(*(odd_at(texts, path) for path in sorted(paths)))

    # An array of one, so that the object is spelled out once and not for every count.
    found = ibis.array([as_declared(value, as_texts(schema, paths))]).map(first_odd)[0]
    return ibis.cases((suspicious, found), else_=NO_TEXT)


def odd_at(texts: Expr, path: Path) -> Expr:
    """Return the text of the count at a path if it is none, or of the first such where the path leads to many."""
    for depth, key in enumerate(path):
        if key == ITEM:
            return _first_of(texts, path[depth + 1 :])
        texts = texts[key]
    return _odd(texts, texts.try_cast("int64"))


def _first_of(values: Expr, path: Path) -> Expr:
    def odd(value: Expr) -> Expr:
        return odd_at(value, path)

    return elements(values).map(odd).filter(_is_there)[0]


def _is_there(value: Expr) -> Expr:
    return value.notnull()


def _odd(text: Expr, number: Expr) -> Expr:
    # Of a row without fault only the condition is worked out.
    return ibis.cases((number.isnull() | (number < 0), text.strip().nullif("")), else_=NO_TEXT)


def odd_json(value: Expr, number: Expr) -> Expr:
    """Return a JSON value as text if a count should have been read of it and was not; null also where it is an object."""
    text = ibis.coalesce(value.unwrap_as("string"), value.cast("string"))
    return ibis.cases((value.cast("string").startswith("{"), NO_TEXT), else_=_odd(text, number))


def odd_jsons(value: Expr, number: Expr) -> Expr:
    """Return the same of a JSON value that is a count, or an array of counts of which the number is the sum."""
    is_array = value.cast("string").startswith("[")
    several = odd_at(value.try_cast("array<string>"), (ITEM,))
    return ibis.cases((is_array, several), else_=odd_json(value, number))


def odd_cell(text: Expr, number: Expr) -> Expr:
    """Return the text of a cell that a count should have been read of and was not; null: it is right, or says nothing."""
    said = text.strip()
    said = ibis.cases((~said.lower().isin(_NOTHING), said), else_=NO_TEXT)
    return ibis.cases((number.isnull() | (number < 0), said), else_=NO_TEXT)


def wrong_with(odd: Expr) -> Expr:
    """Return what is wrong with a count that is none, by its text."""
    number = odd.try_cast("float64")
    return ibis.cases(
        (odd.isin(("true", "false")), TRUTH_COUNT),
        ((number < 0) | (number > LARGEST_COUNT), NEGATIVE_COUNT),
        else_=NO_WHOLE_COUNT,
    )
