"""A log as it is or as it would be, and how it is priced: list prices, multiples of them, then the user's own terms."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import pandas as pd

from advisor.scenario_model import Price, Step, multiple_of
from pricing.book import PriceBook
from pricing.frame import PricedCube, price_cube
from pricing.meters import Meter
from pricing.rules import EXACT

Frame = Any
Rows = Any

_SUGGESTED: Final = 12


class StepError(ValueError):
    """A step that does not fit the log: the key, the value seen, and what is allowed."""

    def __init__(self, key: str, message: str, number: int = 0, kind: str = "") -> None:
        """Keep where it stands."""
        super().__init__(message)
        self.key, self.number, self.kind = key, number, kind


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A log as it is, or as it would be.

    Attributes:
        cube: The usage cube.
        listed: The same at list prices, in USD; row by row.
        prices: Steps that multiply prices, in their order.
    """

    cube: Frame
    listed: PricedCube
    prices: tuple[Price, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Pricing:
    """How a cube is priced.

    Attributes:
        book: Prices.
        as_of: Moment of the report.
        settle: From list cost in USD to what is shown: discounts, currency.
    """

    book: PriceBook
    as_of: datetime
    settle: Callable[[PricedCube], PricedCube]

    def listed(self, cube: Frame) -> PricedCube:
        """Return a cube at list prices."""
        return price_cube(cube, self.book, as_of=self.as_of)

    def shown(self, world: World) -> PricedCube:
        """Return what a world costs."""
        listed = world.listed
        for step in world.prices:
            listed = multiplied(listed, step, rows_of(listed.frame, step))
        return self.settle(listed)


def multiplied(priced: PricedCube, step: Price, rows: Rows) -> PricedCube:
    """Return a priced cube in which some rows cost multiples, exactly."""
    meters = [meter for meter in Meter if f"cost_{meter}" in priced.frame.columns]
    factors = {meter: multiple_of(step, meter) for meter in meters}
    digits = max((max(0, -int(factor.as_tuple().exponent)) for factor in factors.values()), default=0)
    columns: dict[str, pd.Series] = {}
    for meter, factor in factors.items():
        inside, outside = int(EXACT.scaleb(factor, digits)), 10**digits
        costs = [
            int(cost) * (inside if chosen else outside)
            for cost, chosen in zip(priced.frame[f"cost_{meter}"], rows, strict=True)
        ]
        columns[f"cost_{meter}"] = pd.Series(costs, index=priced.frame.index, dtype=object)
    return replace(priced, frame=priced.frame.assign(**columns), exponent=priced.exponent + digits)


def selected(frame: Frame, step: Step) -> Rows:
    """Return which rows of a priced cube a step is for, after checking that it names something.

    Raises:
        StepError: A name is not in the cube, or no row has the names together.
    """
    for key, names, columns in _selectors(step):
        for name in names:
            if not any((frame[column] == name).any() for column in columns):
                raise StepError(
                    key, f"{name!r} is not in the log here, allowed: {_listed(frame, columns[-1])}"
                )
    rows = rows_of(frame, step)
    if not rows.any():
        raise StepError("", "no request has these names together")
    return rows


def rows_of(frame: Frame, step: Step) -> Rows:
    """Return which rows of a priced cube a step is for; names that nothing has (any more) choose nothing."""
    rows = pd.Series(data=True, index=frame.index)
    for _, names, columns in _selectors(step):
        rows &= pd.concat([frame[column].isin(names) for column in columns], axis=1).any(axis=1)
    return rows


def _selectors(step: Step) -> Iterator[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """Yield each key that narrows a step down, its names, and the columns that may have them."""
    for key, names, columns in (
        ("workload", step.workload, ("workload",)),
        ("model", step.model, ("model", "model_resolved")),
        ("provider", step.provider, ("provider", "provider_resolved")),
    ):
        if names is not None:
            yield key, names, columns


def _listed(frame: Frame, column: str) -> str:
    names = sorted({str(name) for name in frame[column].dropna()})
    more = f" and {len(names) - _SUGGESTED:,} more" if len(names) > _SUGGESTED else ""
    return ", ".join(names[:_SUGGESTED]) + more
