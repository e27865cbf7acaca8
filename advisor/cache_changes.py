"""What a cache makes of a cube: the text of prompts is told apart anew into plain, read and written."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pandas as pd

from advisor.cells import rows_of
from advisor.columns import Array, Columns, as_in, columns_of, frame_of, integers, rows_in
from advisor.cube_changes import has_word, tokens_in
from advisor.evidence import CacheShares, Cell, Evidence, Split
from advisor.recommendation import Change, Level
from pricing.meters import CACHE_WRITE_METERS, Meter

Model = tuple[str | None, str | None]
"""Provider and model as logged."""

_TEXT: Final = tuple(map(str, (Meter.INPUT_UNCACHED, Meter.CACHE_READ, *CACHE_WRITE_METERS)))
UNCACHED: Final = str(Meter.INPUT_UNCACHED)
READ: Final = str(Meter.CACHE_READ)
_SHORT: Final = str(Meter.CACHE_WRITE_5M)
LONG: Final = str(Meter.CACHE_WRITE_1H)
WRITES: Final = tuple(map(str, CACHE_WRITE_METERS))


def logged_models(evidence: Evidence, workload: str) -> set[Model]:
    """Return the models of a workload as logged; not those that requests could go to."""
    cube = evidence.cube
    pairs = cube.loc[cube["workload"] == workload, ["provider", "model"]].drop_duplicates()
    words = (
        [word if isinstance(word, str) else None for word in pair]
        for pair in pairs.itertuples(index=False, name=None)
    )
    return {(provider, model) for provider, model in words}


def cache_change(name: str, chosen: Mapping[Model, CacheShares]) -> Change:
    """Return the change of a workload's cube whose models cache as chosen."""

    def change(cube: Any, level: Level) -> Any:
        splits = [(model, one.splits[level], one) for model, one in chosen.items() if level in one.splits]
        if not splits:
            return cube
        workload = has_word(cube["workload"], (name,))
        columns = columns_of(cube)
        for (provider, model), split, shares in splits:
            mine = workload & has_word(cube["model"], (model,)) & has_word(cube["provider"], (provider,))
            columns = _cached(columns, mine.to_numpy(), split, str(shares.write_meter))
        return frame_of(columns, names=cube.columns)

    return change


def _cached(columns: Columns, mine: Array, split: Split, write_meter: str) -> Columns:
    """Tell the prompt text of some rows apart anew; never less of it is read than the log shows."""
    rows = rows_in(columns)
    wanted = (*_TEXT[:2], write_meter)
    old = {name: columns.get(name) for name in _TEXT if name in columns or name in wanted}
    counts = {
        name: np.zeros(rows, dtype="int64") if array is None else integers(array)[0]
        for name, array in old.items()
    }
    text = np.sum(list(counts.values()), axis=0)
    reads = np.maximum(counts[READ], (text * split.read_ratio).astype("int64"))
    written = np.minimum(text - reads, (text * split.written_ratio).astype("int64"))
    if write_meter == UNCACHED:
        written = written * 0
    new = dict.fromkeys(counts, np.zeros(rows, dtype="int64"))
    new |= {write_meter: written} if write_meter != UNCACHED else {}
    new |= {UNCACHED: text - reads - written, READ: reads}
    out = dict(columns)
    for name, array in old.items():
        values = np.where(mine, new[name], counts[name])
        if array is None:
            out[name] = values
        else:
            out[name] = as_in(array, values, integers(array)[1] & ~mine)
    return out


def only(cube: Any, rows: Any) -> Any:
    """Return some rows of a cube."""
    return cube[rows].reset_index(drop=True)


def uncached(cube: Any, rows: Any) -> Any:
    """Return the cube with what some rows read and write as plain input."""
    return _moved(cube, rows, {name: Fraction(1) for name in (READ, *WRITES)}, UNCACHED)


def reading(cube: Any, rows: Any, part: Fraction) -> Any:
    """Return the cube with a part of what some rows pay in full or write as read from a cache."""
    return _moved(cube, rows, dict.fromkeys((UNCACHED, *WRITES), part), READ) if part else cube


def shortened(cube: Any, cell: Cell, late: Fraction) -> Any:
    """Return the cube with a cell's writes for an hour as such for 5 minutes, and what is read late as well."""
    rows = rows_of(cube, cell)
    if not tokens_in(cube, rows, LONG):
        return cube
    return _moved(cube, rows, {LONG: Fraction(1), READ: late}, _SHORT)


def _moved(cube: Any, rows: Any, parts: Mapping[str, Fraction], target: str) -> Any:
    """Return the cube with parts of some columns (rounded up, in some rows) in another one."""
    new: dict[str, list[int | None]] = {}
    gained = [0] * len(cube)
    for name, part in parts.items():
        if name not in cube.columns:
            continue
        values: list[int | None] = []
        for place, (value, mine) in enumerate(zip(cube[name], rows, strict=True)):
            count = None if pd.isna(value) else int(value)
            gone = -(-count * part.numerator // part.denominator) if mine and count else 0
            gained[place] += gone
            values.append(None if count is None else count - gone)
        new[name] = values
    present = target in cube.columns
    old = cube[target] if present else pd.Series([None] * len(cube), index=cube.index, dtype="Int64")
    if not present and not any(gained):
        return cube
    new[target] = [
        (None if pd.isna(value) else int(value)) if not more else more + (0 if pd.isna(value) else int(value))
        for value, more in zip(old, gained, strict=True)
    ]
    kinds = {name: cube[name].dtype if name in cube.columns else "Int64" for name in new}
    return cube.assign(
        **{name: pd.Series(values, index=cube.index, dtype=kinds[name]) for name, values in new.items()}
    )
