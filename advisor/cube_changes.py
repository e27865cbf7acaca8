"""What changes do to a usage cube: which rows they are for, a part of a count, a part of the requests, another size.

Counts stay integers, of any size. A part of a column is rounded over the running sum of its rows and not row by row, so that
the part of the whole column is right to the unit however small its cells are.
"""

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Any, Final

import numpy as np
import pandas as pd

from pricing.meters import OUTPUT_METERS, Meter

Frame = Any
"""The usage cube: see ``workloads.cube.usage_cube``."""
Rows = Any
"""A boolean for each row of a cube."""

REASONING: Final = "reasoning"
CONTEXT: Final = "context_tokens"
COUNTS: Final = (*map(str, Meter), REASONING, "requests")
"""What is divided and multiplied as requests are; ``records`` stay, for they only tell whether anything is there."""
ANSWER: Final = (*map(str, OUTPUT_METERS), REASONING)
TEXT: Final = (
    *(str(meter) for meter in Meter if meter.is_tokens and not str(meter).startswith(("audio", "image"))),
    REASONING,
)
"""Counts of text, which a tokenizer decides."""
_LARGEST: Final = 1 << 62
_Array = Any

FEW_REQUESTS: Final = 30
"""Below this many single requests nothing is proposed."""


def has_word(column: pd.Series, words: Container[str | None]) -> Rows:
    """Return where a column of texts has one of some words; a missing text is None."""
    codes, names = pd.factorize(column.to_numpy(dtype=object))
    found = [isinstance(name, str) and name in words for name in names]
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
    return _sum(_integers(cube[column])[0][np.asarray(rows, dtype=bool)])


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
    values, missing = _integers(column)
    mine = np.asarray(rows, dtype=bool) & ~missing
    counts = np.where(mine, values, 0)
    most = 2 * _sum(counts) * ratio.numerator + ratio.denominator
    # Machine integers while nothing can overflow, several times faster; else Python's, of any size.
    sums = np.cumsum(counts if most < _LARGEST else counts.astype(object))
    until = (2 * sums * ratio.numerator + ratio.denominator) // (2 * ratio.denominator)
    return _column(np.where(mine, np.diff(until, prepend=0), values), missing, column)


def replaced(column: pd.Series, rows: Rows, values: Sequence[int | None]) -> pd.Series:
    """Return a column of integers with other values in some rows; its type stays."""
    whole = column.to_numpy(dtype=object, copy=True)
    whole[np.asarray(rows, dtype=bool)] = values
    return pd.Series(whole, index=column.index, dtype=column.dtype)


def scaled(cube: Frame, rows: Rows, names: Iterable[str], ratio: Fraction) -> Frame:
    """Return a cube with a ratio of some counts in some rows; reasoning stays a part of the output."""
    if ratio == 1:
        return cube
    out = cube.assign(**{name: part_of(cube[name], rows, ratio) for name in present(cube, names)})
    return _with_reasoning_inside(out)


def resized(cube: Frame, rows: Rows, ratio: Fraction) -> Frame:
    """Return a cube with other sizes of single requests, rounded up; they decide the context tier."""
    column = cube[CONTEXT]
    known = (np.asarray(rows, dtype=bool)) & column.notna().to_numpy()
    if ratio == 1 or not known.any():
        return cube
    sizes = [ceil(int(value) * ratio) for value in column[known]]
    return cube.assign(**{CONTEXT: replaced(column, known, sizes)})


def translated(cube: Frame, ratio: Fraction) -> Frame:
    """Return a cube whose text is counted by another tokenizer: so many of its tokens for one of today."""
    every = np.ones(len(cube), dtype=bool)
    return resized(scaled(cube, every, TEXT, ratio), every, ratio)


def moved(
    cube: Frame,
    rows: Rows,
    share: Fraction,
    change: Callable[[Frame], Frame],
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
    chosen = cube[mine]
    every = np.ones(len(chosen), dtype=bool)
    stay = set(leaving_out)
    parts = {
        name: part_of(chosen[name], every, Fraction(0) if name in stay else share)
        for name in present(cube, COUNTS)
    }
    leaving = _with_reasoning_inside(chosen.assign(**parts), chosen)
    left = cube[~mine] if share >= 1 and not stay else without(cube, mine, leaving)
    return pd.concat([part for part in (left, change(leaving)) if len(part)], ignore_index=True)


def without(cube: Frame, rows: Rows, leaving: Frame) -> Frame:
    """Return a cube less what leaves some of its rows, one row for each."""
    mine = np.asarray(rows, dtype=bool)
    return cube.assign(**{name: _less(cube[name], mine, leaving[name]) for name in present(cube, COUNTS)})


def present(frame: Frame, names: Iterable[str]) -> list[str]:
    """Return those of some columns that a frame has."""
    return [name for name in names if name in frame.columns]


def _less(column: pd.Series, mine: _Array, leaving: pd.Series) -> pd.Series:
    values, missing = _integers(column)
    out = values.astype(_integers(leaving)[0].dtype) if values.dtype != object else values.copy()
    out[mine] = out[mine] - _integers(leaving)[0]
    return _column(out, missing, column)


def _with_reasoning_inside(cube: Frame, whole: Frame | None = None) -> Frame:
    """Return a cube in which no rounding has left more reasoning than output, nor in what it is a part of less it."""
    output = str(Meter.OUTPUT)
    if not {output, REASONING} <= set(cube.columns):
        return cube
    (written, no_output), (thought, no_reasoning) = _integers(cube[output]), _integers(cube[REASONING])
    known = ~(no_output | no_reasoning)
    inside: _Array = np.where(known, np.minimum(written, thought), thought)
    if whole is not None:
        left = _integers(whole[REASONING])[0] - (_integers(whole[output])[0] - written)
        inside = np.where(known, np.maximum(inside, left), inside)
    return cube.assign(**{REASONING: _column(inside, no_reasoning, cube[REASONING])})


def _integers(column: pd.Series) -> tuple[_Array, _Array]:
    """Return the values of a column, 0 where one is missing, and which are: machine integers where it has them."""
    values = column.array
    if isinstance(values, pd.arrays.IntegerArray):
        return values.to_numpy(dtype="int64", na_value=0), values.isna()
    if column.dtype.kind == "i":
        return column.to_numpy(dtype="int64"), np.zeros(len(column), dtype=bool)
    missing = column.isna().to_numpy()
    return np.array(
        [0 if gone else int(one) for one, gone in zip(column, missing, strict=True)], object
    ), missing


def _column(values: _Array, missing: _Array, like: pd.Series) -> pd.Series:
    """Return a column of the type of another one."""
    if isinstance(like.array, pd.arrays.IntegerArray) and values.dtype != object:
        return pd.Series(pd.arrays.IntegerArray(values, missing.copy()), index=like.index)
    whole = like.to_numpy(dtype=object, copy=True)
    whole[~missing] = values[~missing]
    return pd.Series(whole, index=like.index, dtype=like.dtype)


def _sum(values: _Array) -> int:
    """Return the sum of integers, of any size."""
    if values.dtype != object and len(values) and len(values) * int(np.abs(values).max()) >= _LARGEST:
        values = values.astype(object)
    return int(values.sum()) if len(values) else 0
