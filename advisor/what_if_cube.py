"""A priced cube, summed into the fewest parts that the steps of a scenario treat alike.

``advisor.scenario_steps`` changes cells; a page has no room for them. Two cells are one part when every step that a page offers
does the same to both: same rates today, as batch jobs and at every target, the same meters in use, and the same limit to what a
cache writes. Where a step cuts at a limit, percentages are whole: cells within the same percent are cut at the same step.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import numpy as np
import pandas as pd

from advisor.analysis import Analysis
from advisor.log_cuts import Pair, log_cuts
from advisor.terms import Terms
from advisor.what_if_cells import PROMPT, Cells
from advisor.what_if_ladders import Ladders
from advisor.what_if_model import NOTHING, CubeSummary, Part, Prices, Situation, Swap
from advisor.what_if_targets import swaps_of
from pricing.book import PriceBook
from pricing.cards import STANDARD_NAMES
from pricing.frame import PricedCube
from pricing.meters import CACHE_WRITE_METERS

MOST_PARTS: Final = 2_500
_WORKLOADS: Final = (12, 4, 0)
_PERCENT: Final = 100


def with_what_if(analysis: Analysis, priced: PricedCube, book: PriceBook, as_of: datetime) -> Analysis:
    """Return an analysis with the summary of its cube: see ``cube_summary``."""
    return replace(analysis, what_if=cube_summary(priced, book, as_of))


def cube_summary(priced: PricedCube, book: PriceBook, as_of: datetime) -> CubeSummary | None:
    """Return a cube in few parts; None where nothing has a price, or where even few are too many for a page.

    Args:
        priced: At list prices in USD.
        book: Prices.
        as_of: Moment of the report: records without a time are priced then.
    """
    frame = priced.frame
    known = frame[(frame["sheet"] >= 0) & ~frame["charge_only"].astype(bool)]
    if known.empty:
        return None
    cells = Cells.of(known, as_of)
    dearest = cells.dearest()
    swaps = swaps_of(dearest, book, log_cuts(_models(frame), book, Terms()))
    ladders = Ladders(book=book, meters=cells.meters)
    situation_of, situations = _situations(cells, swaps, ladders, book)
    for listed in _WORKLOADS:
        workloads = cells.workloads(listed)
        parts = _parts(cells, situation_of, workloads, ladders.lowest(situations, swaps))
        if len(parts) <= MOST_PARTS:
            break
    else:
        return None
    return CubeSummary(
        meters=tuple(map(str, cells.meters)),
        rates=tuple(ladders.rates),
        ladders=tuple(ladders.found),
        situations=tuple(situations),
        parts=parts,
        workloads=tuple(workloads),
        swaps=swaps,
        list_usd=priced.to_usd(sum(cells.costs)),
    )


def _models(frame: pd.DataFrame) -> list[Pair]:
    """Return provider and model of all cells, those without a price too: what the log was cut for."""
    pairs = frame[["provider", "model"]].drop_duplicates()
    return [
        (provider if isinstance(provider, str) else None, model)
        for provider, model in pairs.itertuples(index=False, name=None)
        if isinstance(model, str)
    ]


def _situations(
    cells: Cells, swaps: Sequence[Swap], ladders: Ladders, book: PriceBook
) -> tuple[list[int], list[Situation]]:
    """Return the place of each cell's situation, and the situations."""
    pairs = cells.pairs()
    starts = book.rate_keys([*pairs, *((one.target.provider, one.target.model) for one in swaps)]).breakpoints
    epochs = np.searchsorted(
        np.array(starts, dtype=object), np.array(cells.instants, dtype=object), side="right"
    )
    resolved = list(zip(cells.text("provider_resolved"), cells.text("model_resolved"), strict=True))
    tiers, regions, sheets = cells.text("service_tier"), cells.text("region"), cells.frame["sheet"].tolist()
    most: dict[Any, int] = {}
    keys = list(zip(pairs, resolved, tiers, regions, sheets, epochs.tolist(), strict=True))
    for key, size in zip(keys, cells.context, strict=True):
        most[key] = max(most.get(key, 0), int(size))
    places: dict[Any, int] = {}
    kept: dict[Any, int] = {}
    found: list[Situation] = []
    for index, key in enumerate(keys):
        if key in places:
            continue
        names = _Names(pair=pairs[index], resolved=resolved[index])
        made = _situation(
            names, swaps, _pricer(ladders, cells.instants[index], tiers[index], regions[index], most[key])
        )
        content = (made.prices, tuple(made.swaps.items()))
        if content not in kept:
            kept[content] = len(found)
            found.append(made)
        places[key] = kept[content]
    return [places[key] for key in keys], found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """What steps can call some requests: as logged, and as priced."""

    pair: Pair
    resolved: tuple[str | None, str | None]

    def are_for(self, swap: Swap) -> bool:
        """Whether a swap is for these requests: as ``scenario_world.rows_of`` and ``scenario_steps`` choose them."""
        names = {self.pair[1], self.resolved[1]}
        payees = {self.pair[0], self.resolved[0]}
        return (
            swap.model in names
            and (swap.provider is None or swap.provider in payees)
            and swap.target.model not in names
        )


_Pricer = Callable[[Pair, Decimal], Prices]


def _pricer(
    ladders: Ladders, at: datetime, tier: str | None, region: str | None, most_tokens: int
) -> _Pricer:
    standard = (tier or "").lower() in STANDARD_NAMES

    def prices(pair: Pair, ratio: Decimal) -> Prices:
        most = int(most_tokens * max(ratio, Decimal(1))) + 1
        batch = ladders.place(pair, at, tier, region, most, batch=True) if standard else NOTHING
        return Prices(plain=ladders.place(pair, at, tier, region, most), batch=batch)

    return prices


def _situation(names: _Names, swaps: Sequence[Swap], prices: _Pricer) -> Situation:
    return Situation(
        prices=prices(names.pair, Decimal(1)),
        swaps={
            place: prices((swap.target.provider, swap.target.model), swap.target.token_ratio)
            for place, swap in enumerate(swaps)
            if names.are_for(swap)
        },
    )


def _parts(
    cells: Cells, situation_of: Sequence[int], workloads: Sequence[str], lowest: int | None
) -> tuple[Part, ...]:
    places = {name: place for place, name in enumerate(workloads)}
    workload = [places.get(name or "", NOTHING) for name in cells.text("workload")]
    context = (
        np.where(cells.context > lowest, cells.context, 0) if lowest is not None else [0] * len(workload)
    )
    used = [tuple(row) for row in (cells.counts != 0).T]
    keys = zip(workload, situation_of, context, cells.cacheable.tolist(), used, _limits(cells), strict=True)
    members: dict[Any, list[int]] = {}
    for index, key in enumerate(keys):
        members.setdefault(key, []).append(index)
    return tuple(
        Part(
            workload=key[0],
            situation=key[1],
            context_tokens=int(key[2]),
            cacheable=bool(key[3]),
            counts=tuple(int(number) for number in cells.counts[:, rows].sum(axis=1)),
        )
        for key, rows in members.items()
    )


def _limits(cells: Cells) -> list[tuple[int, ...]]:
    """Return at which percent of the prompt each kind of write, with those before it, ends: rounded up."""
    at = {meter: index for index, meter in enumerate(cells.meters)}
    text = cells.counts[[at[meter] for meter in PROMPT]].sum(axis=0)
    until = np.cumsum(cells.counts[[at[meter] for meter in CACHE_WRITE_METERS]], axis=0)
    return [
        tuple(-(-int(one) * _PERCENT // int(whole)) if whole and any(column) else 0 for one in column)
        for whole, column in zip(text, until.T, strict=True)
    ]
