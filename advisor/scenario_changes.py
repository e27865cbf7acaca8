"""What the steps of a scenario do to a usage cube: pure functions from a cube to a cube.

Counts stay integers. A part of a column is rounded over the running sum of its rows and not row by row, so that the part of
the whole column is right to the unit however small its cells are.
"""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import pandas as pd

from pricing.meters import CACHE_WRITE_METERS, OUTPUT_METERS, Meter

Frame = Any
"""The usage cube: see ``workloads.cube.usage_cube``."""
Rows = Any
"""A boolean for each row of a cube."""

_PROMPT: Final = tuple(map(str, (Meter.INPUT_UNCACHED, Meter.CACHE_READ, *CACHE_WRITE_METERS)))
_ANSWER: Final = (*map(str, OUTPUT_METERS), "reasoning")
_TEXT: Final = (*_PROMPT, str(Meter.OUTPUT), "reasoning")
_COUNTS: Final = (*map(str, Meter), "reasoning", "requests")
"""What is divided and multiplied; ``records`` stay, for they only tell whether something with a price is there."""
_CONTEXT: Final = "context_tokens"


def grown(cube: Frame, rows: Rows, factor: Fraction) -> Frame:
    """Return a cube with a multiple of the requests in some rows, of the same size each."""
    return _scaled(cube, rows, _COUNTS, factor)


def trimmed(cube: Frame, rows: Rows, prompt: Fraction, answer: Fraction) -> Frame:
    """Return a cube with a part of prompts and answers taken away in some rows.

    A cell falls into a lower context tier when its largest prompt does.
    """
    out = _resized(_scaled(cube, rows, _PROMPT, 1 - prompt), rows, 1 - prompt)
    return _scaled(out, rows, _ANSWER, 1 - answer)


def moved(cube: Frame, rows: Rows, share: Fraction, change: Callable[[Frame], Frame]) -> Frame:
    """Return a cube in which a share of the requests of some rows is what ``change`` makes of it."""
    if not rows.any() or not share:
        return cube
    chosen = cube[rows]
    every = pd.Series(data=True, index=chosen.index)
    leaving = _scaled(chosen, every, _COUNTS, share)
    parts = [cube[~rows]]
    if share < 1:
        names = _in(cube, _COUNTS)
        parts.append(chosen.assign(**{name: chosen[name] - leaving[name] for name in names}))
    return pd.concat([part for part in (*parts, change(leaving)) if len(part)], ignore_index=True)


def on_model(
    cube: Frame,
    to: str,
    providers: Mapping[str | None, str | None],
    token_ratio: Fraction,
    *,
    charges_requests: bool,
) -> Frame:
    """Return a cube whose requests all went to another model.

    Args:
        cube: Rows.
        to: Name of the model.
        providers: By provider, as logged, who would sell it; None leaves it to the price book.
        token_ratio: Its tokens for one token of text.
        charges_requests: Whether it charges for every request.
    """
    every = pd.Series(data=True, index=cube.index)
    out = _resized(_scaled(cube, every, _TEXT, token_ratio), every, token_ratio)
    calls = str(Meter.REQUEST_CALLS)
    if charges_requests:
        out = out.assign(**{calls: out["requests"].astype("Int64")})
    elif calls in out.columns:
        out = out.assign(**{calls: pd.array([pd.NA] * len(out), dtype="Int64")})
    sellers = [providers.get(value if isinstance(value, str) else None) for value in out["provider"]]
    return out.assign(
        model=pd.Series(to, index=out.index, dtype=object),
        provider=pd.Series(sellers, index=out.index, dtype=object),
    )


def at_tier(cube: Frame, tier: str) -> Frame:
    """Return a cube whose requests were all sent at a service tier."""
    return cube.assign(service_tier=pd.Series(tier, index=cube.index, dtype=object))


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
    present = _in(out, _PROMPT)
    values = out.loc[rows, present].fillna(0).astype("Int64")
    left = values.sum(axis=1).astype("Int64")
    every = pd.Series(data=True, index=values.index)
    text, made = left, {read: part_of(left, every, read_share)}
    left = left - made[read]
    for name in present[2:]:
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


def part_of(column: pd.Series, rows: Rows, ratio: Fraction) -> pd.Series:
    """Return a column with a ratio of what some rows report; their sum is that ratio of their sum, to the nearest unit."""
    known = rows & column.notna()
    whole = done = 0
    parts: list[int] = []
    for value in column[known]:
        whole += int(value)
        until = (2 * whole * ratio.numerator + ratio.denominator) // (2 * ratio.denominator)
        parts.append(until - done)
        done = until
    out = column.copy()
    out[known] = pd.Series(parts, index=column.index[known], dtype=column.dtype)
    return out


def _scaled(cube: Frame, rows: Rows, names: Sequence[str], ratio: Fraction) -> Frame:
    if ratio == 1:
        return cube
    return cube.assign(**{name: part_of(cube[name], rows, ratio) for name in _in(cube, names)})


def _resized(cube: Frame, rows: Rows, ratio: Fraction) -> Frame:
    """Return a cube with other sizes of single requests, rounded up; they decide the context tier."""
    known = rows & cube[_CONTEXT].notna()
    if ratio == 1 or not known.any():
        return cube
    column = cube[_CONTEXT].copy()
    sizes = [-(-int(value) * ratio.numerator // ratio.denominator) for value in column[known]]
    column[known] = pd.Series(sizes, index=column.index[known], dtype=column.dtype)
    return cube.assign(**{_CONTEXT: column})


def _with_columns(cube: Frame, names: Sequence[str]) -> Frame:
    missing = {
        name: pd.array([pd.NA] * len(cube), dtype="Int64") for name in names if name not in cube.columns
    }
    return cube.assign(**missing)


def _in(frame: Frame, names: Sequence[str]) -> list[str]:
    return [name for name in names if name in frame.columns]
