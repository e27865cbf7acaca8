"""What one step makes of a world.

A step never makes a price unknown: requests that would lose theirs (a model without a price for them, no batch price) stay
as they are, and the step says how many.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import pandas as pd

from advisor import scenario_changes as changes
from advisor.scenario_model import Batch, Cache, Grow, Price, Step, SwapModel, Trim
from advisor.scenario_world import Pricing, StepError, World, selected
from pricing.book import PriceBook
from pricing.cards import STANDARD_NAMES
from pricing.errors import PricingError
from pricing.frame import PricedCube
from pricing.meters import Meter

Frame = Any
Rows = Any

_BATCH: Final = "batch"


def taken(step: Step, world: World, pricing: Pricing) -> tuple[World, tuple[str, ...]]:
    """Return the world after a step, and what the step left as it was.

    Raises:
        StepError: The step names something that the world, or the price book, does not have.
    """
    rows = selected(world.listed.frame, step)
    if isinstance(step, Price):
        return replace(world, prices=(*world.prices, step)), ()
    cube, notes = _changed(step, world, rows, pricing)
    cube = cube.reset_index(drop=True)
    return replace(world, cube=cube, listed=pricing.listed(cube)), notes


def _changed(
    step: SwapModel | Batch | Cache | Trim | Grow, world: World, rows: Rows, pricing: Pricing
) -> tuple[Frame, tuple[str, ...]]:
    cube = world.cube
    match step:
        case SwapModel():
            return _swapped(step, world, rows, pricing)
        case Batch():
            return _batched(step, world, rows, pricing)
        case Cache():
            written = None if step.written_share is None else Fraction(step.written_share)
            meter = Meter(f"cache_write_{step.lifetime}")
            return _kept_priced(
                world, rows, changes.cached(cube, rows, Fraction(step.read_share), written, meter), pricing
            )
        case Trim():
            return changes.trimmed(cube, rows, Fraction(step.prompt), Fraction(step.answer)), ()
        case Grow():
            return changes.grown(cube, rows, Fraction(step.factor)), ()


def _swapped(step: SwapModel, world: World, rows: Rows, pricing: Pricing) -> tuple[Frame, tuple[str, ...]]:
    _check_model(step, world.cube[rows], pricing.book)
    there = (world.cube["model"] == step.to) | (world.listed.frame["model_resolved"] == step.to)
    rows = rows & ~there.fillna(value=False).astype(bool)
    pairs = [(provider, step.to) for provider in _texts(world.cube.loc[rows, "provider"])]
    charges = bool(pricing.book.rate_keys(pairs).per_call)
    ratio = Fraction(step.token_ratio)

    def change(frame: Frame) -> Frame:
        return changes.on_model(frame, step.to, ratio, charges_requests=charges)

    fits, notes = _fitting(world, rows, pricing.listed(change(world.cube[rows])), f"no price of {step.to}")
    return changes.moved(world.cube, fits, Fraction(step.share), change), notes


def _check_model(step: SwapModel, part: Frame, book: PriceBook) -> None:
    reasons: list[str] = []
    for provider in _texts(part["provider"]):
        try:
            book.find(provider, step.to)
        except PricingError as error:
            reasons.append(str(error))
        else:
            return
    near = book.suggest(step.to)
    hint = f"; near are {', '.join(near)}" if near else ""
    raise StepError(
        "to", f"{reasons[0]}{hint}; `advisor prices` lists the models, --prices FILE adds your own"
    )


def _batched(step: Batch, world: World, rows: Rows, pricing: Pricing) -> tuple[Frame, tuple[str, ...]]:
    tiers = world.cube["service_tier"].fillna("").astype(str).str.lower()
    standard = rows & tiers.isin(STANDARD_NAMES)

    def change(frame: Frame) -> Frame:
        return changes.at_tier(frame, _BATCH)

    listed = pricing.listed(change(world.cube[standard]))
    applied = [
        index >= 0 and listed.sheets[index].service_tier_applied == _BATCH for index in listed.frame["sheet"]
    ]
    fits, notes = _fitting(world, standard, listed, "no batch price", applied)
    others = _requests(world.cube[rows & ~standard])
    if others:
        notes = (*notes, f"{others:,} requests are at another service tier already and stay there")
    return changes.moved(world.cube, fits, Fraction(step.share), change), notes


def _kept_priced(world: World, rows: Rows, changed: Frame, pricing: Pricing) -> tuple[Frame, tuple[str, ...]]:
    """Return a changed cube, with the rows as they were that have no price any more."""
    fits, notes = _fitting(world, rows, pricing.listed(changed[rows]), "no price for what would be cached")
    left = rows & ~fits
    if not left.any():
        return changed, notes
    return pd.concat([changed[~left], world.cube[left]], ignore_index=True), notes


def _fitting(
    world: World, rows: Rows, listed: PricedCube, why: str, applied: Sequence[bool] | None = None
) -> tuple[Rows, tuple[str, ...]]:
    """Return which rows have their price after a change too (or had none before), and a note on the others.

    Args:
        world: Before the change.
        rows: Those that the step is for.
        listed: These rows, changed and priced.
        why: Why some do not fit, in words.
        applied: For each of them whether the change has an effect on its price; None: it has.
    """
    fits = rows.copy()
    priced = (listed.frame["sheet"] >= 0).to_numpy()
    before = (world.listed.frame.loc[rows, "sheet"] < 0).to_numpy()
    fits[rows] = (priced | before) if applied is None else applied
    left = world.cube[rows & ~fits]
    if left.empty:
        return fits, ()
    models = ", ".join(sorted({str(name) for name in left["model"]})[:3])
    return fits, (f"{why}: {_requests(left):,} requests stay as they are ({models})",)


def _requests(part: Frame) -> int:
    return int(part["requests"].fillna(0).sum())


def _texts(column: pd.Series) -> list[str | None]:
    return [value if isinstance(value, str) else None for value in column.unique()]
