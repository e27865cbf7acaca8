"""What the error of the phase model does to money: the band of its times, carried through targets, replicas and bills.

Times are off by factors of which the calibration knows the 10th and 90th percentile. A slower decode means fewer requests in
flight under the same target, and more replicas, in whole steps: so bounds cannot be multiplied, and the fleet is sized
again for many draws of the two factors.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from pricing.calibration import Band, Calibration
from pricing.deployment import Floats
from pricing.deployment_grid import Grid
from pricing.fleet import Fleet, take
from pricing.fleet_load import WorkTable
from pricing.replica import Targets, fullest, replicas_needed

DRAWS: Final = 101
_TENTH: Final = 0.1
_PLASTIC: Final = 1.324717957244746
"""Draws lie where Roberts' R2 sequence puts them: even over both factors, and the same in every run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicaBand:
    """Replicas that a fleet may really need, redundancy not in them.

    Attributes:
        low, high: Of 80 % of the draws; high is None if the targets are met by no count in more than a tenth of them.
        missed_ratio: Draws in which a replica meets the targets with no number of requests in flight.
        ttft, tpot: The bands behind it, as factors on the estimates.
    """

    low: int
    high: int | None
    missed_ratio: float
    ttft: Band
    tpot: Band


def replica_bands(
    grid: Grid,
    rows: Sequence[int],
    sized: Sequence[Fleet],
    calibration: Calibration,
    targets: Targets,
    work: WorkTable,
) -> tuple[ReplicaBand, ...]:
    """The band of each of some fleets.

    Args:
        grid: Deployments.
        rows: Places of those of the fleets.
        sized: The fleets.
        calibration: With the bands.
        targets: What is promised.
        work: The load, at the percentile of the targets.

    Source: bands from residuals of models (or families) that the fit had not seen; both factors are taken as log-normal and
    independent, and the two ends may differ.
    """
    found: list[ReplicaBand] = []
    repeated = np.repeat(np.asarray(rows, dtype=np.intp), DRAWS)
    families = [calibration.family_of(fleet.deployment.accelerator) for fleet in sized]
    ttft = [calibration.band("serving.ttft", family) for family in families]
    tpot = [calibration.band("serving.tpot", family) for family in families]
    one, other = _even_draws(DRAWS)
    drawn = fullest(
        take(grid.setups, repeated),
        calibration,
        targets,
        ttft_factor=np.concatenate([_factors(band, one) for band in ttft]),
        tpot_factor=np.concatenate([_factors(band, other) for band in tpot]),
    )
    asked = work.at(drawn.computed_seconds, drawn.output_seconds)
    counts = np.maximum(replicas_needed(asked, drawn.concurrency), targets.least_replicas)
    counts = np.where(drawn.feasible, counts, np.inf).reshape(len(sized), DRAWS)
    for at, fleet in enumerate(sized):
        low, high = np.quantile(counts[at], [_TENTH, 1 - _TENTH], method="inverted_cdf")
        found.append(
            ReplicaBand(
                low=min(int(low), fleet.replicas) if np.isfinite(low) else fleet.replicas,
                high=max(int(high), fleet.replicas) if np.isfinite(high) else None,
                missed_ratio=float(np.isinf(counts[at]).mean()),
                ttft=ttft[at],
                tpot=tpot[at],
            )
        )
    return tuple(found)


def _even_draws(count: int) -> tuple[Floats, Floats]:
    at = np.arange(1, count + 1, dtype=np.float64)
    return (0.5 + at / _PLASTIC) % 1.0, (0.5 + at / _PLASTIC**2) % 1.0


def _factors(band: Band, shares: Floats) -> Floats:
    """Draws of a factor: logarithms normal on each side of the estimate, with the band's two ends at 10 and 90 %."""
    normal = NormalDist()
    scores = np.asarray([normal.inv_cdf(float(share)) for share in shares])
    end = normal.inv_cdf(1 - _TENTH)
    down, up = -np.log(min(band.low, 1.0)) / end, np.log(max(band.high, 1.0)) / end
    factors: Floats = np.exp(np.where(scores < 0, down, up) * scores)
    return factors
