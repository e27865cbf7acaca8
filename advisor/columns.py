"""A cube as plain arrays, one a column: what is changed over and over is not wrapped in a table each time."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import ceil
from typing import Any, Final

import numpy as np
import pandas as pd

from pricing.meters import Meter

Frame = Any
Array = Any
"""An array of numpy or of pandas."""
Columns = dict[str, Array]
"""Arrays of one length, by the names of the cube's columns."""

REASONING: Final = "reasoning"
CONTEXT: Final = "context_tokens"
_OUTPUT: Final = str(Meter.OUTPUT)
_LARGEST: Final = 1 << 62


def columns_of(cube: Frame, rows: Array | None = None) -> Columns:
    """Return the columns of a cube, or of some of its rows."""
    arrays = {str(name): plain(column) for name, column in cube.items()}
    return arrays if rows is None else {name: array[rows] for name, array in arrays.items()}


def frame_of(*parts: Columns, names: pd.Index | None = None) -> Frame:
    """Return the table of some columns, one after the other.

    Args:
        parts: Without one that is empty; a column that one of them does not have is missing there.
        names: The index of the columns, where they are those of a cube.
    """
    first, *others = parts
    if any(part.keys() != first.keys() for part in others):
        return pd.concat([frame_of(part) for part in parts], ignore_index=True)
    joined = {name: _joined([part[name] for part in parts]) for name in first} if others else first
    if names is None or len(names) != len(joined):
        return pd.DataFrame(joined)
    return pd.DataFrame(joined, columns=names)


def rows_in(columns: Columns) -> int:
    """Return how many rows some columns have."""
    return len(next(iter(columns.values()), ()))


def plain(column: pd.Series) -> Array:
    """Return a column as an array of numpy where it is one."""
    array = column.array
    return column.to_numpy() if isinstance(array, pd.arrays.NumpyExtensionArray) else array


def filled(like: Array, value: Any) -> Array:
    """Return an array of the length and type of another one, with one value."""
    if isinstance(like, np.ndarray) and like.dtype == object:
        return np.full(len(like), value, dtype=object)
    return plain(pd.Series(value, index=range(len(like)), dtype=like.dtype))


def integers(array: Array) -> tuple[Array, Array]:
    """Return the values of an array, 0 where one is missing, and which are: machine integers where it has them."""
    if isinstance(array, pd.arrays.IntegerArray):
        return array.to_numpy(dtype="int64", na_value=0), array.isna()
    if array.dtype.kind == "i":
        return array, np.zeros(len(array), dtype=bool)
    missing = np.asarray(pd.isna(array), dtype=bool)
    values = [0 if gone else int(one) for one, gone in zip(array, missing, strict=True)]
    return np.array(values, dtype=object), missing


def as_in(like: Array, values: Array, missing: Array) -> Array:
    """Return integers as an array of the type of another one, and what is missing there as it is there."""
    if values.dtype != object:
        if isinstance(like, pd.arrays.IntegerArray):
            return pd.arrays.IntegerArray(values, missing)
        if like.dtype.kind == "i":
            return values
    whole = np.array(like, dtype=object)
    whole[~missing] = values[~missing]
    return plain(pd.Series(whole, dtype=like.dtype))


def sum_of(values: Array) -> int:
    """Return the sum of integers, of any size."""
    if values.dtype != object and len(values) and len(values) * int(np.abs(values).max()) >= _LARGEST:
        values = values.astype(object)
    return int(values.sum()) if len(values) else 0


def part(array: Array, rows: Array, ratio: Fraction) -> Array:
    """Return counts with a ratio of what some rows report; their sum is that ratio of their sum, to the nearest unit."""
    values, missing = integers(array)
    mine = rows & ~missing
    counts = np.where(mine, values, 0)
    most = 2 * sum_of(counts) * ratio.numerator + ratio.denominator
    # Machine integers while nothing can overflow, several times faster; else Python's, of any size.
    sums = np.cumsum(counts if most < _LARGEST else counts.astype(object))
    until = (2 * sums * ratio.numerator + ratio.denominator) // (2 * ratio.denominator)
    return as_in(array, np.where(mine, np.diff(until, prepend=0), values), missing)


def scaled_columns(columns: Columns, rows: Array, names: Iterable[str], ratio: Fraction) -> Columns:
    """Return columns with a ratio of some counts in some rows; reasoning stays a part of the output."""
    if ratio == 1:
        return dict(columns)
    return with_reasoning_inside(
        columns | {name: part(columns[name], rows, ratio) for name in names if name in columns}
    )


def resized_columns(columns: Columns, rows: Array, ratio: Fraction) -> Columns:
    """Return columns with other sizes of single requests, rounded up; they decide the context tier."""
    values, missing = integers(columns[CONTEXT])
    mine = rows & ~missing
    if ratio == 1 or not mine.any():
        return columns
    new = values.astype(object)
    new[mine] = [ceil(int(value) * ratio) for value in values[mine]]
    small = new if values.dtype == object else new.astype("int64")
    return columns | {CONTEXT: as_in(columns[CONTEXT], small, missing)}


def less(array: Array, rows: Array, leaving: Array) -> Array:
    """Return counts less what leaves some rows, one count for each."""
    values, missing = integers(array)
    gone, _ = integers(leaving)
    out = np.array(values, dtype=object if object in (values.dtype, gone.dtype) else "int64")
    out[rows] -= gone
    return as_in(array, out, missing)


def with_reasoning_inside(columns: Columns, whole: Columns | None = None) -> Columns:
    """Return columns in which no rounding has left more reasoning than output, nor in what they are a part of less them."""
    if _OUTPUT not in columns or REASONING not in columns:
        return columns
    (written, no_output), (thought, no_reasoning) = integers(columns[_OUTPUT]), integers(columns[REASONING])
    known: Array = np.logical_not(np.logical_or(no_output, no_reasoning))
    inside: Array = np.where(known, np.minimum(written, thought), thought)
    if whole is not None:
        left = integers(whole[REASONING])[0] - (integers(whole[_OUTPUT])[0] - written)
        inside = np.where(known, np.maximum(inside, left), inside)
    return columns | {REASONING: as_in(columns[REASONING], inside, no_reasoning)}


def _joined(arrays: Sequence[Array]) -> Array:
    if all(isinstance(array, np.ndarray) for array in arrays):
        return np.concatenate(arrays)
    if all(isinstance(array, pd.arrays.IntegerArray) for array in arrays):
        values, missing = zip(*map(integers, arrays), strict=True)
        return pd.arrays.IntegerArray(np.concatenate(values), np.concatenate(missing))
    return plain(pd.concat([pd.Series(array) for array in arrays], ignore_index=True))
