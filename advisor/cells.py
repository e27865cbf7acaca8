"""Rows of a cube by cell: one model in one workload, as logged."""

from typing import Any

from advisor.cube_changes import single_rows
from advisor.evidence import Cell


def rows_of(cube: Any, cell: Cell) -> Any:
    """Return which rows hold single requests of a cell; a provider or model of None is one that is not logged."""
    workload, provider, model = cell
    out = single_rows(cube, workload)
    for column, word in (("provider", provider), ("model", model)):
        same = cube[column].isna() if word is None else (cube[column] == word).fillna(value=False)
        out = out & same.astype(bool)
    return out
