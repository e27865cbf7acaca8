"""A cube in which part of a model's requests goes to another model: priced there, never dearer than before."""

from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from math import ceil
from typing import Any, Final

import pandas as pd

from advisor.cube_changes import mapped, single_rows
from pricing.book import PriceBook
from pricing.frame import PricedCube, price_cube
from pricing.meters import Meter

Frame = Any
Rows = Any

_TEXT: Final = (
    *(str(meter) for meter in Meter if meter.is_tokens and not str(meter).startswith(("audio", "image"))),
    "reasoning",
    "cache_read_known",
    "cache_input_known",
)
"""Counts of text, which a tokenizer decides."""
_COUNTS: Final = (
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
_ESTIMATES: Final = ("decode_context", "prefill_context")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """From one model of a workload to another of the same provider.

    Attributes:
        workload: Name.
        provider: As logged.
        source: Model, as logged.
        target: Model, as the provider's requests would name it.
    """

    workload: str
    provider: str | None
    source: str
    target: str

    def rows(self, cube: Frame, model: str | None = None) -> Rows:
        """Return which rows hold single requests to the source, or to another model of the same provider."""
        mine = single_rows(cube, self.workload) & (cube["model"] == (model or self.source)).fillna(
            value=False
        )
        same = cube["provider"].isna() if self.provider is None else cube["provider"] == self.provider
        return (mine & same.fillna(value=False)).astype(bool)


def rerouted(
    cube: Frame, route: Route, share: Fraction, ratio: Fraction, book: PriceBook, as_of: datetime
) -> Frame:
    """Return the cube with a share of the requests of each row on the target.

    Rows that the target has no price for, or that would cost more there, stay. Counts of the requests that move are rounded
    down, their tokens up; money that the log states stays with the rows that it was stated for.

    Args:
        cube: The cube, whatever earlier steps have done to it.
        route: From where to where.
        share: Of the requests, 0..1.
        ratio: Tokens of the target for one token of the source.
        book: Prices.
        as_of: Moment of the report.
    """
    rows = route.rows(cube)
    if not rows.any() or share <= 0:
        return cube
    leaving = _part(cube[rows], share)
    arriving = _translated(leaving, route.target, ratio)
    cheaper = _cheaper(_price(leaving, book, as_of), _price(arriving, book, as_of))
    moved = rows.copy()
    moved[rows] = cheaper
    arriving = arriving[cheaper]
    if arriving.empty:
        return cube
    stays = cube[~moved] if share >= 1 else _less(cube, moved, leaving[cheaper])
    return pd.concat([stays, arriving], ignore_index=True) if len(stays) else arriving.reset_index(drop=True)


def _part(frame: Frame, share: Fraction) -> Frame:
    every = pd.Series(data=True, index=frame.index)
    if share >= 1:
        return frame
    counts = {
        name: mapped(frame[name], every, lambda value: int(value * share)) for name in _in(frame, _COUNTS)
    }
    estimates = {name: frame[name] * float(share) for name in _in(frame, _ESTIMATES)}
    return frame.assign(**counts, **estimates)


def _translated(frame: Frame, target: str, ratio: Fraction) -> Frame:
    every = pd.Series(data=True, index=frame.index)
    names = _in(frame, (*_TEXT, "context_tokens"))
    counts = {name: mapped(frame[name], every, lambda value: ceil(value * ratio)) for name in names}
    estimates = {name: frame[name] * float(ratio) ** 2 for name in _in(frame, _ESTIMATES)}
    out = frame.assign(**counts, **estimates)
    model = pd.Series(target, index=frame.index, dtype=frame["model"].dtype)
    unstated = {"recorded": 0, "recorded_cost_usd": None}
    stated = {
        name: pd.Series(value, index=frame.index, dtype=frame[name].dtype)
        for name, value in unstated.items()
        if name in frame.columns
    }
    return out.assign(model=model, **stated)


def _less(cube: Frame, rows: Rows, leaving: Frame) -> Frame:
    """Return the cube without what leaves its rows."""
    out = cube.copy()
    for name in _in(cube, (*_COUNTS, *_ESTIMATES)):
        out.loc[rows, name] = cube.loc[rows, name] - leaving[name]
    return out


def _price(frame: Frame, book: PriceBook, as_of: datetime) -> PricedCube:
    return price_cube(frame.reset_index(drop=True), book, as_of=as_of)


def _cheaper(before: PricedCube, after: PricedCube) -> Any:
    """Return in which rows both are priced and the later one costs less; exact."""
    scale = 10 ** max(before.exponent, after.exponent)
    costs = [
        [
            sum(map(int, row)) * scale // 10**one.exponent
            for row in _costs(one).itertuples(index=False, name=None)
        ]
        for one in (before, after)
    ]
    priced = (before.frame["sheet"] >= 0) & (after.frame["sheet"] >= 0)
    return [bool(known) and new < old for known, old, new in zip(priced, costs[0], costs[1], strict=True)]


def _costs(priced: PricedCube) -> pd.DataFrame:
    return priced.frame[[name for name in priced.frame.columns if name.startswith("cost_")]]


def _in(frame: Frame, names: tuple[str, ...]) -> list[str]:
    return [name for name in names if name in frame.columns]
