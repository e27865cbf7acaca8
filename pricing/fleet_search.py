"""The cheapest ways to host a load: models x accelerators x layouts x precisions, all worked out, the best sized exactly."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pricing.accelerators import Accelerator
from pricing.calibration import Calibration
from pricing.deployment import Floats
from pricing.deployment_grid import ONE_MACHINE, TWO_MACHINES, Grid, fitting
from pricing.fleet import Fleet, fleets
from pricing.fleet_error import ReplicaBand, replica_bands
from pricing.fleet_load import LoadSeries, work_table
from pricing.gpu_prices import GpuPrice
from pricing.memory import Engine
from pricing.open_model import OpenModel
from pricing.replica import Replicas, Targets, fullest, replicas_needed

_EACH_MODEL: Final = 4
"""Deployments of each model that are sized exactly."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hosted:
    """One way to host the load.

    Attributes:
        fleet: Sized exactly.
        price: Of one accelerator.
        band: What the error of the model does to the count.
    """

    fleet: Fleet
    price: GpuPrice
    band: ReplicaBand


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a model is hosted in no way."""

    model: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What a search found.

    Attributes:
        hosted: Cheapest first (listed price, all replicas always on); the best few of each model, and what is faster.
        refused: Models that nothing hosts, and why.
        looked_at: Deployments that hold at least one sequence.
        feasible: Of those, how many meet the targets.
    """

    hosted: tuple[Hosted, ...]
    refused: tuple[Refusal, ...]
    looked_at: int
    feasible: int


def search(
    models: Sequence[OpenModel],
    accelerators: Sequence[Accelerator],
    prices: Mapping[str, GpuPrice],
    loads: Mapping[str, LoadSeries] | LoadSeries,
    targets: Targets,
    calibration: Calibration,
    *,
    precision: str | None = None,
    engine: tuple[Engine, str] | None = None,
) -> Search:
    """Find what hosts a load under targets.

    Args:
        models: To host.
        accelerators: To host them on; those without a price are left out.
        prices: By accelerator.
        loads: What is to be served: one load, or one by model where tokenizers differ.
        targets: What is promised.
        calibration: Factors of the phase model.
        precision: Of weights and cache; None for the usual ones.
        engine: None for the usual one.
    """
    priced = [chip for chip in accelerators if chip.id in prices]
    hosted: list[Hosted] = []
    refused: list[Refusal] = []
    looked_at = feasible = 0
    for series, group in _by_load(models, loads):
        found = _search_one(group, priced, prices, series, targets, calibration, precision, engine)
        hosted += found.hosted
        refused += found.refused
        looked_at += found.looked_at
        feasible += found.feasible
    return Search(
        hosted=tuple(sorted(hosted, key=lambda one: _usual_usd(one.fleet, one.price))),
        refused=tuple(refused),
        looked_at=looked_at,
        feasible=feasible,
    )


def _by_load(
    models: Sequence[OpenModel], loads: Mapping[str, LoadSeries] | LoadSeries
) -> list[tuple[LoadSeries, list[OpenModel]]]:
    """Models that get the same load together."""
    if isinstance(loads, LoadSeries):
        return [(loads, list(models))] if models else []
    groups: dict[int, tuple[LoadSeries, list[OpenModel]]] = {}
    for model in models:
        series = loads[model.id]
        groups.setdefault(id(series), (series, []))[1].append(model)
    return list(groups.values())


def _search_one(
    models: Sequence[OpenModel],
    accelerators: Sequence[Accelerator],
    prices: Mapping[str, GpuPrice],
    series: LoadSeries,
    targets: Targets,
    calibration: Calibration,
    precision: str | None,
    engine: tuple[Engine, str] | None,
) -> Search:
    load = series.mean_request()
    hosted: list[Hosted] = []
    refused: list[Refusal] = []
    looked_at = feasible = 0
    left = list(models)
    work = work_table(series, targets.percentile)
    for layouts in (ONE_MACHINE, TWO_MACHINES):
        grid = fitting(
            left, accelerators, load, calibration, precision=precision, engine=engine, layouts=layouts
        )
        if not grid.deployments:
            continue
        full = fullest(grid.setups, calibration, targets)
        asked = work.at(full.computed_seconds, full.output_seconds)
        counts = np.maximum(replicas_needed(asked, full.concurrency), targets.least_replicas)
        usd = _usd_an_hour(grid, full, counts, prices, targets)
        looked_at, feasible = looked_at + len(usd), feasible + int(np.isfinite(usd).sum())
        rows = _shortlist(grid, usd, full.tpot_seconds)
        sized = fleets(grid, full, rows, series, calibration, targets) if rows else ()
        bands = replica_bands(grid, rows, sized, calibration, targets, work) if rows else ()
        hosted += [
            Hosted(fleet=fleet, price=prices[fleet.deployment.accelerator.id], band=band)
            for fleet, band in zip(sized, bands, strict=True)
        ]
        fitted = {one.model.id for one in grid.deployments}
        done = {one.fleet.deployment.model.id for one in hosted}
        refused += [
            Refusal(model=one.id, reason=_why_not(grid, full, one, targets))
            for one in left
            if one.id in fitted and one.id not in done
        ]
        left = [one for one in left if one.id not in fitted]
        if not left:
            break
    refused += [
        Refusal(
            model=one.id,
            reason="it fits on none of the accelerators with a price, even on two machines of eight",
        )
        for one in left
    ]
    return Search(hosted=tuple(hosted), refused=tuple(refused), looked_at=looked_at, feasible=feasible)


def _usd_an_hour(
    grid: Grid, full: Replicas, counts: Floats, prices: Mapping[str, GpuPrice], targets: Targets
) -> Floats:
    """For ranking: dollars an hour as floats; infinite where a target is missed or no machine holds a replica."""
    usd = np.full(len(counts), np.inf)
    for row in np.flatnonzero(full.feasible):
        one = grid.deployments[row]
        price = prices[one.accelerator.id]
        gpus = price.gpus_for(one.layout, int(counts[row]) + targets.redundancy)
        if gpus is not None:
            usd[row] = gpus * float(price.usual)
    return usd


def _shortlist(grid: Grid, usd: Floats, tpot: Floats) -> list[int]:
    """The cheapest few of each model, and those that nothing cheaper is as fast as."""
    rows: list[int] = []
    seen: dict[str, int] = {}
    fastest = np.inf
    for row in map(int, np.lexsort((tpot, usd))):
        if not np.isfinite(usd[row]):
            break
        model = grid.deployments[row].model.id
        is_faster = tpot[row] < fastest
        if is_faster or seen.get(model, 0) < _EACH_MODEL:
            rows.append(row)
            seen[model] = seen.get(model, 0) + 1
        fastest = min(fastest, float(tpot[row]))
    return rows


def _why_not(grid: Grid, full: Replicas, model: OpenModel, targets: Targets) -> str:
    rows = [at for at, one in enumerate(grid.deployments) if one.model.id == model.id]
    if any(full.feasible[at] for at in rows):
        return "no machine that is sold holds a replica"
    best = min(rows, key=lambda at: float(full.ttft_seconds[at] + full.tpot_seconds[at]))
    ttft, tpot = full.ttft_seconds[best] * 1_000, full.tpot_seconds[best] * 1_000
    one = grid.deployments[best]
    asked = " and ".join(
        f"{name} {value:,.0f} ms"
        for name, value in (("TTFT", targets.ttft_ms), ("TPOT", targets.tpot_ms))
        if value is not None
    )
    return (
        f"no deployment meets {asked}; the nearest, {one.precision} on {one.layout.n_gpus} x {one.accelerator.name}, has "
        f"TTFT {ttft:,.0f} ms and TPOT {tpot:,.1f} ms with one request in flight"
    )


def _usual_usd(fleet: Fleet, price: GpuPrice) -> float:
    gpus = price.gpus_for(fleet.deployment.layout, fleet.replicas + fleet.redundancy) or 0
    return gpus * float(price.usual)
