"""What one step makes of a world.

A step never makes a price unknown: requests that would lose theirs (a model without a price for them, no batch price) stay
as they are, and the step says how many.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
import pandas as pd

from advisor import scenario_changes as changes
from advisor.columns import Columns, columns_of, frame_of
from advisor.cube_changes import at_tier, moved
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
            shorter = changes.trimmed(cube, rows, Fraction(step.prompt), Fraction(step.answer))
            return _kept_priced(world, rows, shorter, pricing)
        case Grow():
            return changes.grown(cube, rows, Fraction(step.factor)), ()


def _swapped(step: SwapModel, world: World, rows: Rows, pricing: Pricing) -> tuple[Frame, tuple[str, ...]]:
    providers = _sellers(step, world.cube[rows], pricing.book)
    there = (world.cube["model"] == step.to) | (world.listed.frame["model_resolved"] == step.to)
    rows = rows & ~there.fillna(value=False).astype(bool)
    pairs = [(provider, step.to) for provider in providers.values()]
    charges = bool(pricing.book.rate_keys(pairs).per_call)
    ratio = Fraction(step.token_ratio)

    def change(columns: Columns) -> Columns:
        return changes.on_model(columns, step.to, providers, ratio, charges_requests=charges)

    fits, notes = _fitting(
        world,
        rows,
        pricing.listed(frame_of(change(columns_of(world.cube, rows.to_numpy())))),
        f"no price of {step.to}",
    )
    return moved(world.cube, fits, Fraction(step.share), change), notes


def _sellers(step: SwapModel, part: Frame, book: PriceBook) -> dict[str | None, str | None]:
    """Return, for each provider of today, who would be paid for the new model; None: whoever the book says sells it.

    Raises:
        StepError: The book has no such model.
    """
    found: dict[str | None, str | None] = {}
    for provider in _texts(part["provider"]):
        asked = (step.to_provider,) if step.to_provider is not None else (provider, None)
        reasons: list[str] = []
        for seller in asked:
            try:
                book.find(seller, step.to)
            except PricingError as error:
                reasons.append(str(error))
            else:
                found[provider] = seller
                break
        else:
            near = book.suggest(step.to)
            hint = f"; near are {', '.join(near)}" if near else ""
            raise StepError(
                "to",
                f"{reasons[-1]}{hint}; `advisor prices` lists the models, to_provider names who sells it, --prices FILE adds "
                "your own",
            )
    return found


def _batched(step: Batch, world: World, rows: Rows, pricing: Pricing) -> tuple[Frame, tuple[str, ...]]:
    tiers = world.cube["service_tier"].fillna("").astype(str).str.lower()
    standard = rows & tiers.isin(STANDARD_NAMES)

    def change(columns: Columns) -> Columns:
        return at_tier(columns, _BATCH)

    listed = pricing.listed(frame_of(change(columns_of(world.cube, standard.to_numpy()))))
    applied = [
        index >= 0 and listed.sheets[index].service_tier_applied == _BATCH for index in listed.frame["sheet"]
    ]
    fits, notes = _fitting(world, standard, listed, "no batch price", applied)
    others = world.cube[rows & ~standard]
    if len(others):
        notes = (*notes, f"at another service tier already: {_counted(others)} left unchanged")
    return moved(world.cube, fits, Fraction(step.share), change), notes


def _kept_priced(world: World, rows: Rows, changed: Frame, pricing: Pricing) -> tuple[Frame, tuple[str, ...]]:
    """Return a changed cube, with the rows as they were that have no price any more."""
    fits, notes = _fitting(world, rows, pricing.listed(changed[rows]), "no price for them then")
    left = rows & ~fits
    if not left.any():
        return changed, notes
    return pd.concat([changed[~left], world.cube[left]], ignore_index=True), notes


def _fitting(
    world: World, rows: Rows, listed: PricedCube, why: str, applied: Sequence[bool] | None = None
) -> tuple[Rows, tuple[str, ...]]:
    """Return which rows have a price before and after a change, and notes on the others.

    What has no price today stays as well: what a change would save on it cannot be known.

    Args:
        world: Before the change.
        rows: Those that the step is for.
        listed: These rows, changed and priced.
        why: Why some do not fit, in words.
        applied: For each of them whether the change has an effect on its price; None: it has.
    """
    known = (world.listed.frame.loc[rows, "sheet"] >= 0).to_numpy()
    after = (listed.frame["sheet"] >= 0).to_numpy()
    works = after if applied is None else after & np.array(applied, dtype=bool)
    fits = rows.copy()
    fits[rows] = known & works
    notes: list[str] = []
    for reason, which in (("no price today", ~known), (why, known & ~works)):
        if which.any():
            left = world.cube[rows][which]
            models = ", ".join(sorted({str(name) for name in left["model"]})[:3])
            notes.append(f"{reason}: {_counted(left)} left unchanged ({models})")
    return fits, tuple(notes)


def _counted(part: Frame) -> str:
    requests = int(part["requests"].fillna(0).sum())
    return f"{requests:,} request{'' if requests == 1 else 's'}"


def _texts(column: pd.Series) -> list[str | None]:
    return [value if isinstance(value, str) else None for value in column.unique()]
