"""Counts in JSON that are none: true or false, a word, an object, a number that is too large.

The engine would read true as 1, and the others as nothing at all. Where a record has one, this count is read as text in
every record, and a row with an odd one is skipped with its reason.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, NO_WHOLE_COUNT
from workloads.declared import elements
from workloads.expressions import NO_TEXT
from workloads.ledger import SKIPPED
from workloads.raw import Node
from workloads.schema import ITEM, MapOf, Path, Schema, inside, replaced

Connection = Any
Expr = Any

TRUTH_COUNT = "a token count is true or false, not a number"
HUGE: Final = 1 << 63
"""The least whole number that the engine does not hold as one of its own."""
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


def odd_counts(value: Any, kind: Any, path: Path = ()) -> Iterator[Path]:
    """Yield where a sampled value has something else than a number of the engine's own for a whole number."""
    if kind == "BIGINT":
        if path[-1] != ITEM and (isinstance(value, bool | str | dict | list) or _is_huge(value)):
            yield path
    elif isinstance(kind, Mapping) and isinstance(value, dict):
        for key in value.keys() & kind.keys():
            yield from odd_counts(value[key], kind[key], (*path, key))
    elif isinstance(kind, list) and isinstance(value, list):
        for item in value:
            yield from odd_counts(item, kind[0], (*path, ITEM))
    elif isinstance(kind, MapOf) and isinstance(value, dict):
        for item in value.values():
            yield from odd_counts(item, kind.value, (*path, ITEM, "f2"))


def _is_huge(value: Any) -> bool:
    return isinstance(value, int | float) and not abs(value) < HUGE


def wrong_count(odd: Iterable[Path], node: Node) -> Expr:
    """Return what is wrong with one of the counts at some paths below an object, all read as text; null: nothing."""
    return ibis.coalesce(*(_first_wrong(node, path) for path in sorted(odd)), NO_TEXT)


def _first_wrong(node: Node, path: Path) -> Expr:
    if ITEM not in path:
        return _wrong_with(node.get(*path))
    here = path.index(ITEM)
    return _first_in(node.get(*path[:here]), path[here + 1 :])


def _first_in(values: Expr, path: Path) -> Expr:
    """Return what is wrong with the first count that is odd below the elements of an array."""

    def wrong(value: Expr) -> Expr:
        for depth, key in enumerate(path):
            if key == ITEM:
                return _first_in(value, path[depth + 1 :])
            value = value[key]
        return _wrong_with(value)

    return elements(values).map(wrong).filter(_is_there)[0]


def _is_there(value: Expr) -> Expr:
    return value.notnull()


def _wrong_with(count: Expr) -> Expr:
    return ibis.cases(
        (count.isnull() | (count.strip() == "") | count.try_cast("int64").notnull(), NO_TEXT),
        (count.isin(("true", "false")), TRUTH_COUNT),
        (count.try_cast("float64").notnull(), NEGATIVE_COUNT),
        else_=NO_WHOLE_COUNT,
    )


def find_odd(connection: Connection, raw: Expr, paths: Iterable[Path]) -> frozenset[Path]:
    """Return the paths at which some record has an odd count.

    Args:
        connection: The engine.
        raw: The records, with these counts as texts.
        paths: Of the counts.
    """
    named = {f"odd_{number}": path for number, path in enumerate(sorted(paths))}
    if not named:
        return frozenset()
    asked = {name: _first_wrong(Node(raw), path).notnull().any() for name, path in named.items()}
    (found,) = connection.execute(raw.agg(**asked)).to_dict("records")
    return frozenset(path for name, path in named.items() if found[name] is True)


def without_odd(columns: Mapping[str, Expr], wrong: Expr | None) -> Mapping[str, Expr]:
    """Return the columns with rows that have something odd for a count as skipped; ``wrong`` as in ``wrong_count``."""
    if wrong is None:
        return columns
    return {
        **columns,
        "fate": ibis.cases((wrong.notnull(), SKIPPED), else_=columns["fate"]),
        "reason": ibis.coalesce(wrong, columns["reason"]),
    }
