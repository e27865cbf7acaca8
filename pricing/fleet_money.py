"""What a fleet costs: by how its accelerators are taken, by the token, and where it meets another bill.

Hours are paid whether they are used or not, so a price of tokens has the idle ones in it and says how much of it they are.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

import numpy as np

from pricing.deployment import Floats
from pricing.fleet import Fleet
from pricing.fleet_load import LoadSeries
from pricing.gpu_billing import (
    HOURS_PER_MONTH,
    GpuBill,
    Overhead,
    Ownership,
    owned_bill,
    rented_bill,
    token_prices,
)
from pricing.gpu_prices import FleetKind, GpuPrice
from pricing.replica import replicas_needed
from pricing.units import SECONDS_PER_MINUTE, TOKENS_PER_MTOK

Level = Literal["low", "usual", "high"]
_MOST_STEPS: Final = 4_000
UTILISATIONS: Final = tuple(Decimal(one) / 100 for one in (10, 20, 40, 60, 80, 100))


@dataclass(frozen=True, slots=True, kw_only=True)
class PhasePrices:
    """USD per million tokens by the time that each kind of token keeps the accelerators busy; None without such tokens.

    Attributes:
        computed, cached, output: All money, idle hours and overheads in the same proportion.
        computed_busy, cached_busy, output_busy: Busy hours alone: what full accelerators would cost.
        blended: All money over all tokens; compare it with nothing but another blended price of the same mix.
    """

    computed: Decimal | None
    cached: Decimal | None
    output: Decimal | None
    computed_busy: Decimal | None
    cached_busy: Decimal | None
    output_busy: Decimal | None
    blended: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetCost:
    """A fleet's money for the period of the load.

    Attributes:
        kind: How the accelerators are taken.
        scaled: Whether replicas follow the hours.
        gpus: That are paid at most at a time.
        usd_per_gpu_hour: None for owned ones.
        month_factor: Months in the period are its reciprocal.
        utilisation_ratio: Busy over paid accelerator-seconds.
    """

    kind: FleetKind
    scaled: bool
    gpus: int
    usd_per_gpu_hour: Decimal | None
    bill: GpuBill
    month_factor: Decimal
    utilisation_ratio: float

    @property
    def usd(self) -> Decimal:
        """Everything, for the period."""
        return self.bill.total_usd

    @property
    def usd_per_month(self) -> Decimal:
        """For 730.5 hours of the same."""
        return self.usd * self.month_factor


def fleet_cost(
    fleet: Fleet,
    price: GpuPrice | Ownership,
    *,
    level: Level = "usual",
    scaled: bool = False,
    overheads: Sequence[Overhead] = (),
) -> FleetCost | None:
    """The bill of a fleet; None where no machine that is sold holds a replica.

    Args:
        fleet: The fleet.
        price: Of one accelerator: by the hour, or what owning it takes.
        level: Which of the listed prices.
        scaled: Replicas by the hour (only of what can be given back).
        overheads: What else it takes.
    """
    month = HOURS_PER_MONTH / fleet.hours
    if isinstance(price, Ownership):
        paid = Decimal(fleet.gpus * fleet.hours)
        bill = owned_bill(
            price, fleet.gpus, _busy(fleet, paid), period_hours=fleet.hours, overheads=overheads
        )
        return _cost("owned", fleet.gpus, None, bill, month)
    gpus = price.gpus_for(fleet.deployment.layout, fleet.replicas + fleet.redundancy)
    if gpus is None:
        return None
    usd = {"low": price.low, "usual": price.usual, "high": price.high}[level]
    by_hour = scaled and price.scales
    paid = Decimal(_scaled_gpu_hours(fleet, price) if by_hour else gpus * fleet.hours)
    bill = rented_bill(usd, paid, _busy(fleet, paid), period_hours=fleet.hours, overheads=overheads)
    return _cost(price.kind, gpus, usd, bill, month, scaled=by_hour)


def _cost(
    kind: FleetKind,
    gpus: int,
    usd_per_gpu_hour: Decimal | None,
    bill: GpuBill,
    month: Decimal,
    *,
    scaled: bool = False,
) -> FleetCost:
    return FleetCost(
        kind=kind,
        scaled=scaled,
        gpus=gpus,
        usd_per_gpu_hour=usd_per_gpu_hour,
        bill=bill,
        month_factor=month,
        utilisation_ratio=float(bill.utilisation_ratio or 0),
    )


def _busy(fleet: Fleet, paid: Decimal) -> Decimal:
    """Hours of work; what does not fit into the paid ones is put off and never counted twice."""
    return min(Decimal(str(fleet.busy_replica_hours * fleet.gpus_each)), paid)


def _scaled_gpu_hours(fleet: Fleet, price: GpuPrice) -> int:
    counts, hours = np.unique(fleet.hourly, return_counts=True)
    return sum(
        (price.gpus_for(fleet.deployment.layout, int(count)) or 0) * int(many)
        for count, many in zip(counts, hours, strict=True)
    )


def phase_prices(fleet: Fleet, cost: FleetCost, series: LoadSeries) -> PhasePrices:
    """Prices of tokens.

    Source: money in proportion to the accelerator time of each phase; cached tokens are paid for the attention that new
    ones give them.
    """
    busy, everything = cost.bill.busy_usd, cost.usd
    tokens = {
        "computed": float(series.computed_tokens.sum()),
        "cached": float(series.cached_tokens.sum()),
        "output": series.written_tokens,
    }
    shares = {"computed": fleet.computed_share, "cached": fleet.cached_share, "output": fleet.output_share}

    def price(kind: str, usd: Decimal) -> Decimal | None:
        if not tokens[kind]:
            return None
        return usd * Decimal(str(shares[kind])) * TOKENS_PER_MTOK / Decimal(str(tokens[kind]))

    blended = token_prices(everything, series.input_tokens, series.written_tokens, fleet.prefill_share)
    return PhasePrices(
        computed=price("computed", everything),
        cached=price("cached", everything),
        output=price("output", everything),
        computed_busy=price("computed", busy),
        cached_busy=price("cached", busy),
        output_busy=price("output", busy),
        blended=blended.per_mtok_all if blended else Decimal(0),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """Where a fleet with all replicas always on meets another bill of the same tokens.

    Attributes:
        volume_ratio: Of the load's volume, from which the fleet costs no more, whatever more comes; None: at no volume.
        utilisation_ratio: Busy over paid time from which it costs no more; above 1: at none.
    """

    volume_ratio: float | None
    utilisation_ratio: float | None


def break_even(fleet: Fleet, cost: FleetCost, price: GpuPrice, other_usd: Decimal) -> BreakEven:
    """Compare a fleet at other volumes with a bill that is proportional to the volume.

    The fleet costs whole replicas (and whole machines): steps. With each step the volume that the count before could serve
    is held against the cost of the count after it, so the answer is the volume from which the bill is never lower again.

    Args:
        fleet: The fleet, at a volume of 1.
        cost: Its money.
        price: Of one accelerator.
        other_usd: The other bill for the same period, at a volume of 1.
    """
    overheads = cost.usd - cost.bill.gpu_usd
    left = other_usd - overheads
    used = cost.bill.busy_usd
    utilisation = float(used / left) if left > 0 else None
    if other_usd <= 0:
        return BreakEven(volume_ratio=None, utilisation_ratio=None)
    counts = np.arange(1, _MOST_STEPS + 1, dtype=np.float64)
    gpus = np.asarray(
        [price.gpus_for(fleet.deployment.layout, int(count) + fleet.redundancy) or 0 for count in counts]
    )
    usd = gpus * float(cost.bill.gpu_usd / cost.gpus) + float(overheads)
    most = _volumes(fleet, counts)
    # after the last step at which the fleet is dearer, it is dearer no more
    dearer = np.flatnonzero(usd[1:] > most[:-1] * float(other_usd))
    if len(dearer) and dearer[-1] == _MOST_STEPS - 2:
        return BreakEven(volume_ratio=None, utilisation_ratio=utilisation)
    step = int(dearer[-1]) + 1 if len(dearer) else 0
    return BreakEven(
        volume_ratio=float(usd[step] / float(other_usd)),
        utilisation_ratio=utilisation,
    )


def usd_at(fleet: Fleet, cost: FleetCost, price: GpuPrice, volume: float) -> Decimal | None:
    """What the fleet costs for the same period at a multiple of its volume, all replicas always on."""
    work = np.asarray([fleet.work_seconds * volume])
    count = int(replicas_needed(work, fleet.concurrency)[0])
    gpus = price.gpus_for(fleet.deployment.layout, max(count, 1) + fleet.redundancy)
    return None if gpus is None else cost.bill.gpu_usd / cost.gpus * gpus + cost.usd - cost.bill.gpu_usd


def _volumes(fleet: Fleet, counts: Floats) -> Floats:
    """The most of the load's volume that so many replicas serve: needed replicas, turned around."""
    lo = np.zeros(len(counts))
    one = max(fleet.work_seconds, 1e-12)
    hi = counts * SECONDS_PER_MINUTE / one
    for _ in range(60):
        middle = (lo + hi) / 2
        fits = replicas_needed(middle * one, fleet.concurrency) <= counts
        lo, hi = np.where(fits, middle, lo), np.where(fits, hi, middle)
    return lo
