"""A load over time and a deployment: how many replicas, which hours are paid, and how much of them is work.

Replicas are the smallest count that meets the targets in the chosen percentile of the busy minutes. Everything is counted in
whole replicas and whole hours, since that is what is paid.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pricing.calibration import Calibration
from pricing.deployment import Deployment, Floats, Setups
from pricing.deployment_grid import Grid
from pricing.fleet_load import MINUTES_PER_HOUR, LoadSeries, percentile_of
from pricing.replica import Replicas, Targets, replicas_needed
from pricing.serving import serve
from pricing.units import SECONDS_PER_HOUR


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Replicas of one deployment under a load.

    Attributes:
        deployment: One replica.
        concurrency: Requests in flight of a full replica.
        ttft_seconds, tpot_seconds: There.
        replicas: That meet the targets at the percentile, without redundancy.
        peak_replicas: That would meet them in the busiest minute too.
        redundancy: Replicas beside those.
        hours: Of the period.
        replica_hours: All of these at all times.
        scaled_replica_hours: With as many in each hour as that hour's minutes need.
        busy_replica_hours: Work: what a full replica takes for all of it.
        computed_share, cached_share, output_share: Of that work.
        late_ratio: Requests that start in minutes above the percentile.
        hourly: Replicas that are on in each hour of the period, redundancy in them.
    """

    deployment: Deployment
    concurrency: float
    ttft_seconds: float
    tpot_seconds: float
    request_seconds: float
    replicas: int
    peak_replicas: int
    redundancy: int
    hours: int
    replica_hours: float
    scaled_replica_hours: float
    busy_replica_hours: float
    computed_share: float
    cached_share: float
    output_share: float
    late_ratio: float
    work_seconds: float
    """A minute's, at the percentile."""
    hourly: Floats

    @property
    def gpus_each(self) -> int:
        """Accelerators of one replica."""
        return self.deployment.layout.n_gpus

    @property
    def gpus(self) -> int:
        """Accelerators of all replicas, redundant ones too."""
        return self.gpus_each * (self.replicas + self.redundancy)

    @property
    def prefill_share(self) -> float:
        """Of the work: prompts, computed and cached."""
        return self.computed_share + self.cached_share

    @property
    def utilisation_ratio(self) -> float:
        """Work over paid time, with all replicas on at all times; work that takes longer than that is put off."""
        return min(self.busy_replica_hours / self.replica_hours, 1.0)

    @property
    def scaled_utilisation_ratio(self) -> float:
        """The same with replicas by the hour."""
        return min(self.busy_replica_hours / self.scaled_replica_hours, 1.0)


def fleets(
    grid: Grid,
    found: Replicas,
    rows: Sequence[int],
    series: LoadSeries,
    calibration: Calibration,
    targets: Targets,
) -> tuple[Fleet, ...]:
    """Size a fleet of each of some deployments exactly: every minute and hour is looked at.

    Args:
        grid: Deployments.
        found: One full replica of each of them.
        rows: Places of the deployments to size; all must be feasible.
        series: The load.
        calibration: Factors of the phase model.
        targets: What is promised.
    """
    cached = _cached_seconds(grid.setups, found, rows, calibration)
    return tuple(
        _fleet(grid.deployments[row], found, row, seconds, series, targets)
        for row, seconds in zip(rows, map(float, cached), strict=True)
    )


def _cached_seconds(setups: Setups, found: Replicas, rows: Sequence[int], calibration: Calibration) -> Floats:
    """What a cached token takes: new tokens look at it; it is not computed.

    The difference to prompts without it, whose answers read as many keys and values.
    """
    at = np.asarray(rows, dtype=np.intp)
    some = take(setups, at)
    bare = serve(
        replace(some, cached_tokens=np.zeros(len(at)), concurrency=found.concurrency[at]), calibration
    )
    without = bare.ttft_seconds + np.maximum(some.output_tokens - 1, 0.0) * bare.tpot_seconds
    saved = np.maximum(found.request_seconds[at] - without / found.concurrency[at], 0.0)
    most = found.computed_seconds[at] * some.input_tokens
    shares: Floats = np.minimum(saved, most) / np.maximum(some.cached_tokens, 1e-9)
    return np.where(some.cached_tokens > 0, shares, 0.0)


def take(setups: Setups, rows: Sequence[int] | NDArray[np.intp]) -> Setups:
    """Some rows of the columns."""
    at = np.asarray(rows, dtype=np.intp)
    columns: dict[str, Any] = {
        name: tuple(value[i] for i in at) if isinstance(value, tuple) else value[at]
        for name, value in ((name, getattr(setups, name)) for name in Setups.__dataclass_fields__)
    }
    return replace(setups, **columns)


def _fleet(
    deployment: Deployment, found: Replicas, row: int, cached: float, series: LoadSeries, targets: Targets
) -> Fleet:
    mean = series.mean_request()
    computed = float(found.computed_seconds[row]) - cached * mean.cached_tokens / mean.input_tokens
    output, concurrency = float(found.output_seconds[row]), float(found.concurrency[row])
    work = series.work_seconds(computed, cached, output)
    most = percentile_of(work, targets.percentile)
    counts = np.maximum(replicas_needed(work, concurrency), targets.least_replicas)
    needed = float(np.maximum(replicas_needed(np.asarray([most]), concurrency), targets.least_replicas)[0])
    hourly = _by_hour(series, np.minimum(counts, needed), targets) + targets.redundancy
    parts = (
        computed * float(series.computed_tokens.sum()),
        cached * float(series.cached_tokens.sum()),
        output * series.written_tokens,
    )
    return Fleet(
        deployment=deployment,
        concurrency=concurrency,
        ttft_seconds=float(found.ttft_seconds[row]),
        tpot_seconds=float(found.tpot_seconds[row]),
        request_seconds=float(found.request_seconds[row]),
        replicas=int(needed),
        peak_replicas=int(counts.max()),
        redundancy=targets.redundancy,
        hours=series.hours,
        replica_hours=float((needed + targets.redundancy) * series.hours),
        scaled_replica_hours=float(hourly.sum()),
        busy_replica_hours=sum(parts) / SECONDS_PER_HOUR,
        computed_share=parts[0] / sum(parts),
        cached_share=parts[1] / sum(parts),
        output_share=parts[2] / sum(parts),
        late_ratio=float(series.requests[work > most].sum()) / series.total_requests,
        work_seconds=most,
        hourly=hourly,
    )


def _by_hour(series: LoadSeries, counts: Floats, targets: Targets) -> Floats:
    """Replicas of every hour of the period: the most that one of its minutes needs."""
    hour = series.minutes // MINUTES_PER_HOUR
    starts = np.flatnonzero(np.diff(hour, prepend=hour[0] - 1))
    every = np.full(series.hours, float(targets.least_replicas))
    every[hour[starts] - hour[0]] = np.maximum.reduceat(counts, starts)
    return every
