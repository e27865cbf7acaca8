"""Rows of a cube by cell: one model in one workload, as logged."""

from typing import Any

from advisor.cube_changes import has_word, single_rows
from advisor.evidence import Cell


def rows_of(cube: Any, cell: Cell) -> Any:
    """Return which rows hold single requests of a cell; a provider or model of None is one that is not logged."""
    workload, provider, model = cell
    mine = single_rows(cube, workload)
    return mine & has_word(cube["provider"], (provider,)) & has_word(cube["model"], (model,))
