"""A cube in which part of a model's requests goes to another model: priced there, never dearer than before."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

import pandas as pd

from advisor.cube_changes import (
    ESTIMATES,
    has_word,
    less,
    multiplied,
    part_of,
    present,
    single_rows,
)
from pricing.book import PriceBook
from pricing.cards import RateSheet
from pricing.frame import price_cube
from pricing.line_ups import TokenRatios
from pricing.meters import Meter, Phase

Frame = Any
Rows = Any

_TEXT: Final = (
    *(str(meter) for meter in Meter if meter.is_tokens and not str(meter).startswith(("audio", "image"))),
    "reasoning",
    "cache_read_known",
    "cache_input_known",
)
"""Counts of text, which a tokenizer decides."""


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
        mine = single_rows(cube, self.workload) & has_word(cube["model"], (model or self.source,))
        return mine & has_word(cube["provider"], (self.provider,))


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """A route that saves, and what is known of both of its ends.

    Attributes:
        route: From where to where.
        ratios: Tokens of the target for one token of the source.
        sheets: Rates of the source and of the target, for the median prompt of the workload.
        by_phase: USD of the source as it is.
        cached: Whether some of its prompts are read from a cache.
    """

    route: Route
    ratios: TokenRatios
    sheets: tuple[RateSheet, RateSheet]
    by_phase: Mapping[Phase, Decimal]
    cached: bool

    @property
    def cost_usd(self) -> Decimal:
        """What the requests of the source cost as they are."""
        return sum(self.by_phase.values(), Decimal(0))


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
    # Whole rows are compared: a part of one could leave out what has no price.
    whole = cube[rows]
    cheaper = _cheaper(whole, _translated(whole, route.target, ratio), book, as_of)
    moved = rows.copy()
    moved[rows] = cheaper
    leaving = part_of(whole[cheaper], share)
    arriving = _translated(leaving, route.target, ratio)
    if arriving.empty:
        return cube
    stays = cube[~moved] if share >= 1 else less(cube, moved, leaving)
    return pd.concat([stays, arriving], ignore_index=True) if len(stays) else arriving.reset_index(drop=True)


def _translated(frame: Frame, target: str, ratio: Fraction) -> Frame:
    counts = {
        name: multiplied(frame[name], ratio, up=True) for name in present(frame, (*_TEXT, "context_tokens"))
    }
    estimates = {name: frame[name] * float(ratio) ** 2 for name in present(frame, ESTIMATES)}
    same = {"model": target, "recorded": 0, "recorded_cost_usd": None}
    stated = {
        name: pd.Series(value, index=frame.index, dtype=frame[name].dtype)
        for name, value in same.items()
        if name in frame.columns
    }
    return frame.assign(**(counts | estimates | stated))


def _cheaper(before: Frame, after: Frame, book: PriceBook, as_of: datetime) -> list[bool]:
    """Return in which rows both are priced and the later one costs less; exact."""
    both: list[pd.DataFrame] = [before, after]
    priced = price_cube(pd.concat(both, ignore_index=True), book, as_of=as_of).frame
    names = [name for name in priced.columns if name.startswith("cost_")]
    costs = [sum(map(int, row)) for row in priced[names].itertuples(index=False, name=None)]
    known = (priced["sheet"] >= 0).tolist()
    rows = len(before)
    return [
        known[place] and known[rows + place] and costs[rows + place] < costs[place] for place in range(rows)
    ]
