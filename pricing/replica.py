"""What one replica does while it keeps its promises: the most requests in flight, and the seconds that tokens take it.

The most requests in flight under the targets are looked for on a grid; there a replica is full, and its time is shared by
what asks for it: writing (its decode steps, shared by the batch), prompts that are computed (the rest).
"""

from dataclasses import dataclass, fields, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pricing.calibration import Calibration
from pricing.deployment import Floats, Setups
from pricing.serving import Points, serve
from pricing.units import MILLISECONDS_PER_SECOND, SECONDS_PER_MINUTE

CONCURRENCIES: Final = tuple(float(2**power) for power in range(11))
"""Requests in flight of one replica that are tried: 1 to 1,024."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """What users are promised.

    Attributes:
        ttft_ms: Until the first token, which 95 % of the requests of a served minute meet; None: no promise.
        tpot_ms: Between tokens; None: no promise.
        percentile: Of the busy minutes that are served so; in the others requests wait longer.
        redundancy: Replicas beside those that are needed.
        least_replicas: That are on at any time.
    """

    ttft_ms: float | None = 3_000.0
    tpot_ms: float | None = 50.0
    percentile: float = 95.0
    redundancy: int = 0
    least_replicas: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Replicas:
    """One replica of each deployment at its fullest under the targets, as columns.

    Attributes:
        feasible: Whether any number of requests in flight meets the targets.
        concurrency: The best that does; 1 where none does.
        ttft_seconds, tpot_seconds: There.
        request_seconds: Time of a full replica that one mean request takes.
        computed_seconds, output_seconds: Of that, for one token computed of a prompt and one token written.
    """

    feasible: NDArray[np.bool_]
    concurrency: Floats
    ttft_seconds: Floats
    tpot_seconds: Floats
    request_seconds: Floats
    computed_seconds: Floats
    output_seconds: Floats


def fullest(
    setups: Setups,
    calibration: Calibration,
    targets: Targets,
    *,
    ttft_factor: Floats | float = 1.0,
    tpot_factor: Floats | float = 1.0,
) -> Replicas:
    """Find what each replica does at its fullest.

    Args:
        setups: One row a deployment, each of one replica; its concurrency is not looked at.
        calibration: Factors of the phase model.
        targets: What is promised.
        ttft_factor: What measured times to the first token are over the estimate, to see what an error changes.
        tpot_factor: The same of the time between tokens.
    """
    grid = np.asarray(CONCURRENCIES)
    rows = len(setups.layers)
    points = serve(_on_grid(setups, grid), calibration)
    shape = (rows, len(grid))
    ttft = points.ttft_seconds.reshape(shape) * _column(ttft_factor)
    tpot = points.tpot_seconds.reshape(shape) * _column(tpot_factor)
    output = setups.output_tokens[:, None]
    # Little's law, as in serving: so many in flight over the time that one takes
    whole = (ttft + np.maximum(output - 1, 0.0) * tpot) / grid[None, :]
    # what does not fit waits for whole answers: it is in flight for nobody
    holds = grid[None, :] <= np.maximum(setups.sequences, 1.0)[:, None]
    meets = holds & (ttft <= _seconds(targets.ttft_ms)) & (tpot <= _seconds(targets.tpot_ms))
    best = np.argmin(np.where(meets, whole, np.inf), axis=1)
    at = np.arange(rows), best
    decode = _step_share(points, shape)[at] * _flat(tpot_factor) * setups.output_tokens
    request = whole[at]
    decode = np.minimum(decode, request)
    return Replicas(
        feasible=np.asarray(meets.any(axis=1)),
        concurrency=grid[best],
        ttft_seconds=ttft[at],
        tpot_seconds=tpot[at],
        request_seconds=request,
        computed_seconds=(request - decode) / setups.input_tokens,
        output_seconds=decode / setups.output_tokens,
    )


def replicas_needed(
    work_seconds_per_minute: Floats, concurrency: Floats | float, sigmas: float = 1.645
) -> Floats:
    """Replicas for a minute's work, whole ones, with room for requests that come together.

    Requests in flight are as many as fill the replicas on average, and vary as counts of independent arrivals do: their
    square root is one standard deviation, and 1.645 of them are exceeded 5 % of the time.

    Source: Little's law; in-flight requests of Poisson arrivals are Poisson (M/G/infinity, e.g. Harchol-Balter,
    Performance Modeling and Design of Computer Systems, chapter 15: square-root staffing).
    Ignores: bursts within a minute beyond that, such as retries and jobs that start together.
    """
    full = work_seconds_per_minute / SECONDS_PER_MINUTE
    return np.ceil(full + sigmas * np.sqrt(full / concurrency) - 1e-9)


def _on_grid(setups: Setups, grid: Floats) -> Setups:
    """Every deployment at every number of requests in flight: rows of one deployment stand together."""
    columns = {
        field.name: np.repeat(getattr(setups, field.name), len(grid))
        for field in fields(setups)
        if field.name not in {"family", "engine", "concurrency"}
    }
    return replace(
        setups,
        **columns,
        family=tuple(name for name in setups.family for _ in grid),
        engine=tuple(name for name in setups.engine for _ in grid),
        concurrency=np.tile(grid, len(setups.layers)),
    )


def _step_share(points: Points, shape: tuple[int, int]) -> Floats:
    """What writing one token takes of a replica: a step, shared by the requests that are decoded together."""
    return (points.decode_step_seconds / points.batch).reshape(shape)


def _seconds(milliseconds: float | None) -> float:
    return float("inf") if milliseconds is None else milliseconds / MILLISECONDS_PER_SECOND


def _column(factor: Floats | float) -> Floats:
    return np.asarray(factor, dtype=np.float64).reshape(-1, 1)


def _flat(factor: Floats | float) -> Floats:
    return np.asarray(factor, dtype=np.float64).reshape(-1)
