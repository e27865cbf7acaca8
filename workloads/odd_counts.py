"""Counts in JSON that are none: true or false, a word, a number that is too large.

The engine would read true as 1, and the others as nothing at all. Where a sample has one, this count is read as text in
every record, and a record with an odd one is skipped with its reason.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, NO_WHOLE_COUNT
from workloads.expressions import NO_TEXT
from workloads.ledger import SKIPPED
from workloads.raw import Node
from workloads.schema import Schema

Expr = Any
Path = tuple[str, ...]

TRUTH_COUNT = "a token count is true or false, not a number"
ODD_MARK: Final = "__odd_count"
"""Column with what is wrong with a record's counts; null where nothing is."""
HUGE: Final = 1 << 63
"""The least whole number that the engine does not hold as one of its own."""


def odd_counts(value: Any, schema: Schema, path: Path = ()) -> Iterator[Path]:
    """Yield where a sampled object has something else than a number of the engine's own for a whole number."""
    for key in value.keys() & schema.keys():
        inner, kind = value[key], schema[key]
        if kind == "BIGINT":
            if isinstance(inner, bool | str) or _is_huge(inner):
                yield (*path, key)
        elif isinstance(inner, dict) and isinstance(kind, Mapping):
            yield from odd_counts(inner, kind, (*path, key))


def _is_huge(value: Any) -> bool:
    return isinstance(value, int | float) and not abs(value) < HUGE


def odd_count(odd: Iterable[Path], raw: Expr) -> Expr:
    """Return what is wrong with a count that was read as text because a sample had an odd one there; else null."""
    return ibis.coalesce(*(_wrong_with(Node(raw, path).get()) for path in sorted(odd)))


def _wrong_with(count: Expr) -> Expr:
    return ibis.cases(
        (count.isnull() | (count.strip() == "") | count.try_cast("int64").notnull(), NO_TEXT),
        (count.isin(("true", "false")), TRUTH_COUNT),
        (count.try_cast("float64").notnull(), NEGATIVE_COUNT),
        else_=NO_WHOLE_COUNT,
    )


def without_odd(columns: Mapping[str, Expr], records: Expr) -> Mapping[str, Expr]:
    """Return the columns with records that have something odd for a count as skipped."""
    if ODD_MARK not in records.columns:
        return columns
    mark = records[ODD_MARK]
    return {
        **columns,
        "fate": ibis.cases((mark.notnull(), SKIPPED), else_=columns["fate"]),
        "reason": ibis.coalesce(mark, columns["reason"]),
    }
