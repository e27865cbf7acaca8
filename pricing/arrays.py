"""Columns of a cube as arrays: whole numbers of any size, and texts by their places."""

from contextlib import suppress
from typing import Any, Final

import numpy as np
import pandas as pd

INT64_MAX: Final = 2**63 - 1

Array = Any
"""A numpy array; its element type is stated in comments, for the checkers cannot follow it."""


def integers(column: pd.Series) -> Array:
    """Whole numbers as machine integers, or as Python ints when they do not fit; null is 0."""
    if column.dtype == np.int64:
        return column.to_numpy()
    if str(column.dtype).lower() != "uint64":  # which pandas would wrap around silently
        with suppress(OverflowError, TypeError, ValueError), np.errstate(invalid="ignore"):
            return column.astype("Int64").to_numpy(dtype=np.int64, na_value=0)
    missing = column.isna().to_numpy()
    numbers = [0 if gone else _whole(value, column) for value, gone in zip(column, missing, strict=True)]
    kind = np.int64 if all(-INT64_MAX <= number <= INT64_MAX for number in numbers) else object
    return np.array(numbers, dtype=kind)


def _whole(value: Any, column: pd.Series) -> int:
    number = int(value)
    if number != value:
        raise ValueError(f"column {column.name}: {value!r} is not a whole number")
    return number


def codes(column: pd.Series) -> tuple[Array, list[Any]]:
    """Index of each text among the distinct ones, -1 for null; and the distinct ones, as Python texts."""
    places, names = pd.factorize(column)
    return places, [str(name) for name in names.tolist()]


def take(values: list[Any], index: Array, otherwise: Array | None) -> Array:
    """Values by index, and where there is none (or it is None) what stands in ``otherwise``."""
    table = np.empty(len(values) + 1, dtype=object)
    table[:-1] = values
    taken = table[index]
    if otherwise is None or (None not in values and (index >= 0).all()):
        return taken
    empty = np.array([value is None for value in values] + [True])[index]
    return np.where(empty, otherwise, taken)
