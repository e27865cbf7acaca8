"""A cube in which part of a model's requests goes to another model: priced there, never dearer than before."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from advisor.columns import Columns, columns_of, filled, frame_of
from advisor.cube_changes import has_word, moved, single_rows, translated
from advisor.recommendation import Change, Level
from pricing.book import PriceBook
from pricing.cards import RateSheet
from pricing.frame import row_costs
from pricing.line_ups import TokenRatios
from pricing.meters import Phase

Frame = Any
Rows = Any


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
        newer: Whether the target is a newer model of the same size; else it is a smaller one.
    """

    route: Route
    ratios: TokenRatios
    sheets: tuple[RateSheet, RateSheet]
    by_phase: Mapping[Phase, Decimal]
    cached: bool
    newer: bool = False

    @property
    def cost_usd(self) -> Decimal:
        """What the requests of the source cost as they are."""
        return sum(self.by_phase.values(), Decimal(0))


class Reroute:
    """Requests of one model on another one, where that costs less; which rows these are is found once for a cube."""

    def __init__(self, route: Route, book: PriceBook, as_of: datetime) -> None:
        """Take from where to where, and the prices of the moment."""
        self.route, self._book, self._as_of = route, book, as_of
        self._cheaper: dict[tuple[int, Fraction], tuple[Frame, Rows]] = {}

    def of(self, cube: Frame, share: Fraction, ratio: Fraction) -> Frame:
        """Return the cube with a share of the requests of each row on the target.

        Rows that the target has no price for, or that would cost more there, stay. Money that the log states stays with the
        rows that it was stated for.

        Args:
            cube: The cube, whatever earlier steps have done to it.
            share: Of the requests, 0..1.
            ratio: Tokens of the target for one token of the source.
        """
        return moved(
            cube, self._cheaper_rows(cube, ratio), share, lambda leaving: self._arriving(leaving, ratio)
        )

    def _arriving(self, leaving: Columns, ratio: Fraction) -> Columns:
        there = translated(leaving, ratio)
        there["model"] = filled(there["model"], self.route.target)
        for name, value in (("recorded", 0), ("recorded_cost_usd", None)):
            if name in there:
                there[name] = filled(there[name], value)
        return there

    def _cheaper_rows(self, cube: Frame, ratio: Fraction) -> Rows:
        """Return which rows may go. Whole ones are compared: a part of one could leave out what has no price."""
        key = id(cube), ratio
        if key not in self._cheaper:
            rows = self.route.rows(cube).to_numpy(copy=True)
            if rows.any():
                before = columns_of(cube, rows)
                rows[rows] = self._costs_less(before, self._arriving(before, ratio))
            # The cube is kept with it, or its id might be that of another one.
            self._cheaper[key] = cube, rows
        return self._cheaper[key][1]

    def _costs_less(self, before: Columns, after: Columns) -> Rows:
        """Return in which rows both are priced and the later one costs less; exact."""
        found = row_costs(frame_of(before, after), self._book, as_of=self._as_of)
        half = len(found.costs) // 2
        less = np.array(found.costs[half:] < found.costs[:half], dtype=bool)
        return found.known[:half] & found.known[half:] & less


def rerouted(move: Move, book: PriceBook, as_of: datetime, shares: Mapping[Level, Fraction]) -> Change:
    """Return the change that sends shares of a move's requests to its target: the more tokens the text has there, the lower.

    Args:
        move: From where to where.
        book: Prices.
        as_of: Whose prices count.
        shares: Of the requests, by level.
    """
    reroute, ratios = Reroute(move.route, book, as_of), move.ratios
    by_level = {Level.LOW: ratios.largest, Level.EXPECTED: ratios.usual, Level.HIGH: ratios.smallest}

    def change(cube: Frame, level: Level) -> Frame:
        return reroute.of(cube, shares[level], by_level[level])

    return change
