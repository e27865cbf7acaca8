"""Counts in JSON that are none: true or false, a word, an object, a number that is too large.

The engine would read true as 1, and the others as nothing at all. Where a record has one, this count is read as text in
every record, and a row with an odd one is skipped with its reason.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import ibis

from workloads.count_texts import ODD, odd_at, wrong_with
from workloads.expressions import NO_TEXT, is_true
from workloads.ledger import IGNORED, SKIPPED
from workloads.raw import Node
from workloads.schema import ITEM, MapOf, Path

Connection = Any
Expr = Any

_NO_USAGE: Final = "without usage"
"""How every reason ends for which a row is set aside because nothing was counted."""
HUGE: Final = 1 << 63
"""The least whole number that the engine does not hold as one of its own."""


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


def odd_text(odd: Iterable[Path], node: Node) -> Expr:
    """Return the text of one of the counts at some paths below an object, all read as text, that is none; else null."""
    return ibis.coalesce(*(_odd_below(node, path) for path in sorted(odd)))


def negative_text(paths: Iterable[Path], node: Node) -> Expr:
    """Return the least of the numbers at some paths below an object, none of them in an array, where it is negative."""
    least = ibis.least(0, *(node.get(*path) for path in sorted(paths)))
    return ibis.cases((least < 0, least.cast("string")), else_=NO_TEXT)


def _odd_below(node: Node, path: Path) -> Expr:
    here = path.index(ITEM) if ITEM in path else len(path)
    return odd_at(node.get(*path[:here]), path[here:])


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
    asked = {name: _odd_below(Node(raw), path).notnull().any() for name, path in named.items()}
    (found,) = connection.execute(raw.agg(**asked)).to_dict("records")
    return frozenset(path for name, path in named.items() if found[name] is True)


def without_odd(columns: Mapping[str, Expr], *odd: Expr) -> Mapping[str, Expr]:
    """Return the ledger columns with rows that have something odd for a count as skipped.

    Args:
        columns: An importer's; ``odd_count``, if it is among them, is what the importer has found itself.
        odd: Texts of counts of the row that are none; null when all are right.
    """
    left = {name: value for name, value in columns.items() if name != ODD}
    odd = (*odd, columns[ODD]) if ODD in columns else odd
    if not odd:
        return left
    fate, reason, text = columns["fate"], columns["reason"], ibis.coalesce(*odd)
    # What is no request stays what it is; but that nothing was counted is not true where a count is odd.
    aside = (fate == IGNORED) & ~is_true(reason.endswith(_NO_USAGE))
    skipped = text.notnull() & ~aside
    return {
        **left,
        "fate": ibis.cases((skipped, SKIPPED), else_=fate),
        "reason": ibis.cases((skipped, wrong_with(text)), else_=reason),
    }
