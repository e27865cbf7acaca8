"""What the steps of a scenario make of a usage cube, in the terms of ``advisor.cube_changes``."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pandas as pd

from advisor.columns import Columns
from advisor.cube_changes import ANSWER, COUNTS, part_of, present, resized, scaled, translated
from pricing.meters import CACHE_WRITE_METERS, Meter

Frame = Any
"""The usage cube: see ``workloads.cube.usage_cube``."""
Rows = Any
"""A boolean for each row of a cube."""

_PROMPT: Final = tuple(map(str, (Meter.INPUT_UNCACHED, Meter.CACHE_READ, *CACHE_WRITE_METERS)))


def grown(cube: Frame, rows: Rows, factor: Fraction) -> Frame:
    """Return a cube with a multiple of the requests in some rows, of the same size each."""
    return scaled(cube, rows, COUNTS, factor)


def trimmed(cube: Frame, rows: Rows, prompt: Fraction, answer: Fraction) -> Frame:
    """Return a cube with a part of prompts and answers taken away in some rows.

    A cell falls into a lower context tier when its largest prompt does.
    """
    out = resized(scaled(cube, rows, _PROMPT, 1 - prompt), rows, 1 - prompt)
    return scaled(out, rows, ANSWER, 1 - answer)


def on_model(
    columns: Columns,
    to: str,
    providers: Mapping[str | None, str | None],
    token_ratio: Fraction,
    *,
    charges_requests: bool,
) -> Columns:
    """Return columns whose requests all went to another model.

    Args:
        columns: Of a cube.
        to: Name of the model.
        providers: By provider, as logged, who would sell it; None leaves it to the price book.
        token_ratio: Its tokens for one token of text.
        charges_requests: Whether it charges for every request.
    """
    out = translated(columns, token_ratio)
    calls, rows = str(Meter.REQUEST_CALLS), len(out["model"])
    if charges_requests:
        out[calls] = pd.array(out["requests"], dtype="Int64")
    elif calls in out:
        out[calls] = pd.array([pd.NA] * rows, dtype="Int64")
    sellers = [providers.get(value if isinstance(value, str) else None) for value in out["provider"]]
    out["model"] = np.full(rows, to, dtype=object)
    out["provider"] = np.array(sellers, dtype=object)
    return out


def cached(
    cube: Frame, rows: Rows, read_share: Fraction, written_share: Fraction | None, write_meter: Meter
) -> Frame:
    """Return a cube in which a share of the prompt text of some rows is read from a cache.

    Args:
        cube: The cube.
        rows: Those with prompt text; where its count is not reported nothing changes.
        read_share: Of all prompt text: new, read and written.
        written_share: What is written to the cache; None: what is written today, as far as it fits.
        write_meter: What those writes are charged as.
    """
    plain, read = _PROMPT[:2]
    out = _with_columns(cube, (plain, read, *([str(write_meter)] if written_share is not None else [])))
    rows = rows & out[plain].notna()
    names = present(out, _PROMPT)
    values = out.loc[rows, names].fillna(0).astype("Int64")
    left = values.sum(axis=1).astype("Int64")
    every = np.ones(len(values), dtype=bool)
    text, made = left, {read: part_of(left, every, read_share)}
    left = left - made[read]
    for name in names[2:]:
        wanted = values[name]
        if written_share is not None:
            wanted = part_of(text, every, written_share) if name == str(write_meter) else wanted * 0
        made[name] = pd.concat([wanted, left], axis=1).min(axis=1).astype("Int64")
        left = left - made[name]
    made[plain] = left
    for name, column in made.items():
        # A meter that these rows neither had nor get stays unreported.
        changed = (column != 0) | out.loc[rows, name].notna()
        merged = out[name].astype("Int64")
        merged[changed.index[changed]] = column[changed]
        out = out.assign(**{name: merged})
    return out


def _with_columns(cube: Frame, names: Sequence[str]) -> Frame:
    missing = {
        name: pd.array([pd.NA] * len(cube), dtype="Int64") for name in names if name not in cube.columns
    }
    return cube.assign(**missing)
