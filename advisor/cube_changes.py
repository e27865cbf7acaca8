"""What changes do to a usage cube: which rows they are for, a part of a count, a part of the requests, another size.

Counts stay integers, of any size. A part of a column is rounded over the running sum of its rows and not row by row, so that
the part of the whole column is right to the unit however small its cells are.
"""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pandas as pd

from advisor.columns import (
    REASONING,
    Columns,
    columns_of,
    filled,
    frame_of,
    integers,
    less,
    part,
    plain,
    resized_columns,
    rows_in,
    scaled_columns,
    sum_of,
    with_reasoning_inside,
)
from pricing.meters import OUTPUT_METERS, Meter

Frame = Any
"""The usage cube: see ``workloads.cube.usage_cube``."""
Rows = Any
"""A boolean for each row of a cube."""

COUNTS: Final = (*map(str, Meter), REASONING, "requests")
"""What is divided and multiplied as requests are; ``records`` stay, for they only tell whether anything is there."""
ANSWER: Final = (*map(str, OUTPUT_METERS), REASONING)
TEXT: Final = (
    *(str(meter) for meter in Meter if meter.is_tokens and not str(meter).startswith(("audio", "image"))),
    REASONING,
)
"""Counts of text, which a tokenizer decides."""

FEW_REQUESTS: Final = 30
"""Below this many single requests nothing is proposed."""


def has_word(column: pd.Series, words: Container[str | None], *, any_case: bool = False) -> Rows:
    """Return where a column of texts has one of some words; a missing text is None.

    Args:
        column: Of few different texts.
        words: In lower case if ``any_case``.
        any_case: Whether texts in capitals count too.
    """
    codes, values = pd.factorize(column.array)
    names = np.asarray(values, dtype=object)  # the engine's own texts are slow to walk over
    found = [isinstance(name, str) and (name.lower() if any_case else name) in words for name in names]
    return pd.Series(np.array([*found, None in words], dtype=bool)[codes], index=column.index)


def single_rows(cube: Frame, workload: str) -> Rows:
    """Return which rows hold single requests of a workload; sizes of requests in buckets are not known."""
    mine = has_word(cube["workload"], (workload,))
    if "bucketed" not in cube.columns:
        return mine
    return mine & ~cube["bucketed"].fillna(value=False).astype(bool)


def tokens_in(cube: Frame, rows: Rows, column: str) -> int:
    """Return the sum of a column over some rows; what is not reported adds nothing, nor does a column that is missing."""
    if column not in cube.columns:
        return 0
    return sum_of(integers(plain(cube[column]))[0][np.asarray(rows, dtype=bool)])


def requests_in(cube: Frame, rows: Rows) -> int:
    """Return the requests of some rows; where they are not known, the records."""
    known = tokens_in(cube, rows, "requests")
    return known or tokens_in(cube, rows, "records")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A count that is too large, and how far down it may be brought.

    It is stated twice, so that a cube on which an earlier step has cut already is not cut as far again.

    Attributes:
        least_ratio: Part of the count that stays.
        least_per_request: Mean of a request under which it is not brought.
    """

    least_ratio: Fraction
    least_per_request: Fraction

    def ratio(self, cube: Frame, rows: Rows, column: str) -> Fraction:
        """Return which part of a column's count is left in a cube."""
        tokens, requests = tokens_in(cube, rows, column), requests_in(cube, rows)
        if not tokens or not requests:
            return Fraction(1)
        ratio = max(self.least_ratio, min(Fraction(1), self.least_per_request * requests / tokens))
        # Less than one token is what rounding has left over.
        return ratio if tokens * (1 - ratio) >= 1 else Fraction(1)


def cut_by(cube: Frame, rows: Rows, column: str, share: Fraction) -> Cut:
    """Return the cut that takes a share off a column of the cube as it is logged."""
    tokens, requests = tokens_in(cube, rows, column), requests_in(cube, rows)
    return Cut(
        least_ratio=1 - share,
        least_per_request=(1 - share) * Fraction(tokens, requests) if requests else Fraction(0),
    )


def part_of(column: pd.Series, rows: Rows, ratio: Fraction) -> pd.Series:
    """Return a column with a ratio of what some rows report; their sum is that ratio of their sum, to the nearest unit."""
    return pd.Series(part(plain(column), np.asarray(rows, dtype=bool), ratio), index=column.index)


def replaced(column: pd.Series, rows: Rows, values: Sequence[int | None]) -> pd.Series:
    """Return a column of integers with other values in some rows; its type stays."""
    whole = column.to_numpy(dtype=object, copy=True)
    whole[np.asarray(rows, dtype=bool)] = values
    return pd.Series(whole, index=column.index, dtype=column.dtype)


def scaled(cube: Frame, rows: Rows, names: Iterable[str], ratio: Fraction) -> Frame:
    """Return a cube with a ratio of some counts in some rows; reasoning stays a part of the output."""
    if ratio == 1:
        return cube
    mine = np.asarray(rows, dtype=bool)
    return _like(cube, scaled_columns(columns_of(cube), mine, names, ratio))


def resized(cube: Frame, rows: Rows, ratio: Fraction) -> Frame:
    """Return a cube with other sizes of single requests, rounded up; they decide the context tier."""
    return _like(cube, resized_columns(columns_of(cube), np.asarray(rows, dtype=bool), ratio))


def translated(columns: Columns, ratio: Fraction) -> Columns:
    """Return columns whose text is counted by another tokenizer: so many of its tokens for one of today."""
    every = np.ones(rows_in(columns), dtype=bool)
    return resized_columns(scaled_columns(columns, every, TEXT, ratio), every, ratio)


def at_tier(columns: Columns, tier: str | None) -> Columns:
    """Return columns whose requests were all sent at a service tier; None: at the standard one."""
    return columns | {"service_tier": filled(columns["service_tier"], tier)}


def moved(
    cube: Frame,
    rows: Rows,
    share: Fraction,
    change: Callable[[Columns], Columns],
    leaving_out: Iterable[str] = (),
) -> Frame:
    """Return a cube in which a share of the requests of some rows is what ``change`` makes of it; they come last.

    Args:
        cube: The cube.
        rows: Those whose requests are divided.
        share: Of the requests, 0..1.
        change: From the requests that leave to what becomes of them, row by row.
        leaving_out: Counts that stay where they are.
    """
    mine = np.asarray(rows, dtype=bool)
    if not mine.any() or share <= 0:
        return cube
    whole = columns_of(cube)
    chosen = {name: array[mine] for name, array in whole.items()}
    every = np.ones(int(mine.sum()), dtype=bool)
    stay = set(leaving_out) & whole.keys()
    parts = {
        name: part(chosen[name], every, Fraction(0) if name in stay else share)
        for name in COUNTS
        if name in whole
    }
    leaving = with_reasoning_inside(chosen | parts, chosen)
    if share < 1 or stay:
        left = whole | {name: less(whole[name], mine, leaving[name]) for name in parts}
    else:
        left = {name: array[~mine] for name, array in whole.items()}
    sides = [side for side in (left, change(leaving)) if rows_in(side)]
    return frame_of(*sides, names=cube.columns)


def without(cube: Frame, rows: Rows, leaving: Frame) -> Frame:
    """Return a cube less what leaves some of its rows, one row for each."""
    mine, whole, gone = np.asarray(rows, dtype=bool), columns_of(cube), columns_of(leaving)
    names = present(cube, COUNTS)
    return _like(cube, whole | {name: less(whole[name], mine, gone[name]) for name in names})


def present(frame: Frame, names: Iterable[str]) -> list[str]:
    """Return those of some columns that a frame has."""
    return [name for name in names if name in frame.columns]


def _like(cube: Frame, columns: Columns) -> Frame:
    return frame_of(columns, names=cube.columns).set_axis(cube.index, axis=0)
