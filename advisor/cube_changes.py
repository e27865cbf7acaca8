"""What levers do to a cube: rows of a workload, and fewer tokens in them. Integers stay integers, of any size."""

from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor
from typing import Any, Final

import numpy as np
import pandas as pd

from pricing.meters import Meter

Frame = Any
Rows = Any
"""A boolean for each row of a cube."""

COUNTS: Final = (
    *map(str, Meter),
    "reasoning",
    "records",
    "requests",
    "requests_unknown",
    "unmeasured",
    "cache_records",
    "cache_read_known",
    "cache_input_known",
)
"""Sums over requests, which are divided when requests are."""
ESTIMATES: Final = ("decode_context", "prefill_context")
"""What grows with the square of a request, or as it does: no counts."""
_LARGEST: Final = 1 << 62

FEW_REQUESTS: Final = 30
"""Below this many single requests nothing is proposed."""


def has_word(column: pd.Series, words: Container[str | None]) -> Rows:
    """Return where a column of texts has one of some words; a missing text is None."""
    values = column.to_numpy(dtype=object)
    found = [(value if isinstance(value, str) else None) in words for value in values]
    return pd.Series(np.array(found, dtype=bool), index=column.index)


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
    return sum(int(value) for value in cube.loc[rows, column].dropna())


def requests_in(cube: Frame, rows: Rows) -> int:
    """Return the requests of some rows; where they are not known, the records."""
    known = tokens_in(cube, rows, "requests")
    return known or tokens_in(cube, rows, "records")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A count that is too large, and how far down it may be brought.

    It is stated twice, so that a cube on which an earlier step has cut already is not cut as far again.

    Attributes:
        least_ratio: Part of the count that is left, at least.
        least_per_request: Mean count of a request under which nothing more is cut.
    """

    least_ratio: Fraction
    least_per_request: Fraction

    def ratio(self, cube: Frame, rows: Rows, column: str) -> Fraction:
        """Return which part of a column's count is left in a cube."""
        tokens, requests = tokens_in(cube, rows, column), requests_in(cube, rows)
        if not tokens or not requests:
            return Fraction(1)
        return max(self.least_ratio, min(Fraction(1), self.least_per_request * requests / tokens))


def cut_by(cube: Frame, rows: Rows, column: str, share: Fraction) -> Cut:
    """Return the cut that takes a share off a column of the cube as it is logged."""
    tokens, requests = tokens_in(cube, rows, column), requests_in(cube, rows)
    return Cut(
        least_ratio=1 - share,
        least_per_request=(1 - share) * Fraction(tokens, requests) if requests else Fraction(0),
    )


def mapped(column: pd.Series, rows: Rows, function: Callable[[int], int]) -> pd.Series:
    """Return a column of integers with a function applied to what some rows report; its type stays."""
    known = (rows & column.notna()).to_numpy(dtype=bool)
    values = column.to_numpy(dtype=object, copy=True)
    values[known] = [function(int(value)) for value in values[known]]
    return pd.Series(values, index=column.index, dtype=column.dtype)


def multiplied(column: pd.Series, ratio: Fraction, *, up: bool) -> pd.Series:
    """Return a column of integers times a ratio, each rounded up or down; its type stays."""
    values = column.array
    if isinstance(values, pd.arrays.IntegerArray):
        counts, missing = values.to_numpy(dtype="int64", na_value=0), values.isna()
        if missing.all():
            return column
        # Fast where no product leaves 64 bits.
        if int(np.abs(counts).max()) * ratio.numerator < _LARGEST:
            products = counts * ratio.numerator
            parts = -(-products // ratio.denominator) if up else products // ratio.denominator
            return pd.Series(pd.arrays.IntegerArray(parts, missing), index=column.index)
    every = pd.Series(data=True, index=column.index)
    return mapped(column, every, lambda value: ceil(value * ratio) if up else floor(value * ratio))


def present(frame: Frame, names: Iterable[str]) -> list[str]:
    """Return those of some columns that a frame has."""
    return [name for name in names if name in frame.columns]


def part_of(frame: Frame, share: Fraction, leaving_out: Iterable[str] = ()) -> Frame:
    """Return a share of the requests of each row; counts are rounded down, and those left out are zero."""
    if share >= 1 and not leaving_out:
        return frame
    counts = {name: multiplied(frame[name], share, up=False) for name in present(frame, COUNTS)}
    none = {name: multiplied(frame[name], Fraction(0), up=False) for name in present(frame, leaving_out)}
    estimates = {name: frame[name] * float(share) for name in present(frame, ESTIMATES)}
    return frame.assign(**counts | none | estimates)


def less(cube: Frame, rows: Rows, leaving: Frame) -> Frame:
    """Return a cube without what leaves some of its rows."""
    names = present(cube, (*COUNTS, *ESTIMATES))
    return cube.assign(**{name: _without(cube[name], rows, leaving[name]) for name in names})


def _without(column: pd.Series, rows: Rows, leaving: pd.Series) -> pd.Series:
    values, mine = column.array, rows.to_numpy(dtype=bool)
    if isinstance(values, pd.arrays.IntegerArray):
        counts, missing = values.to_numpy(dtype="int64", na_value=0, copy=True), values.isna()
        counts[mine] -= leaving.to_numpy(dtype="int64", na_value=0)
        return pd.Series(pd.arrays.IntegerArray(counts, missing), index=column.index)
    out = column.copy()
    out[rows] = column[rows] - leaving
    return out


def lessened(cube: Frame, rows: Rows, column: str, ratio: Fraction) -> Frame:
    """Return a cube in which a column's count is a part of what it was in some rows; what goes is rounded down."""
    if column not in cube.columns or ratio >= 1:
        return cube
    return cube.assign(**{column: mapped(cube[column], rows, lambda value: value - int(value * (1 - ratio)))})


def scaled(cube: Frame, rows: Rows, column: str, factor: float) -> Frame:
    """Return a cube in which an estimate (no count) is multiplied in some rows."""
    if column not in cube.columns or factor == 1:
        return cube
    values = cube[column]
    return cube.assign(**{column: values.where(~rows, values * factor)})
