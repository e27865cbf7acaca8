"""Tokens of requests that need not have been sent, taken out of a cube."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from advisor.cells import rows_of
from advisor.columns import REASONING
from advisor.cube_changes import Cut, requests_in, scaled, tokens_in
from advisor.evidence import Cell
from advisor.recommendation import Change, Level
from pricing.meters import Meter

Counts = Mapping[Meter, Fraction]

_SUBSETS: Final[Mapping[str, tuple[str, ...]]] = {str(Meter.OUTPUT): (REASONING,)}


def removal(cube: Any, counts: Mapping[Level, Mapping[Cell, Counts]]) -> Change:
    """Return the change that takes counts off cells of a cube, from each row by its size.

    A cube from which they have gone already does not lose them again.

    Args:
        cube: As it is logged.
        counts: What goes, by level; nothing where a level is missing.
    """
    cuts = {
        level: [
            (cell, str(meter), cut)
            for cell, gone in by_cell.items()
            for meter, count in gone.items()
            if (cut := _cut(cube, cell, str(meter), count)) is not None
        ]
        for level, by_cell in counts.items()
    }

    def change(changed: Any, level: Level) -> Any:
        for cell, column, cut in cuts.get(level, []):
            rows = rows_of(changed, cell)
            ratio = cut.ratio(changed, rows, column)
            changed = scaled(changed, rows, (column, *_SUBSETS.get(column, ())), ratio)
        return changed

    return change


def _cut(cube: Any, cell: Cell, column: str, count: Fraction) -> Cut | None:
    rows = rows_of(cube, cell)
    tokens, requests = tokens_in(cube, rows, column), requests_in(cube, rows)
    if not count or not tokens or not requests:
        return None
    left = max(Fraction(0), 1 - count / tokens)
    return Cut(least_ratio=left, least_per_request=left * Fraction(tokens, requests))
