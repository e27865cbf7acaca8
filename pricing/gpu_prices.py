"""What an accelerator-hour costs a fleet, and in which machines it is sold."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Literal

from pricing.layouts import Layout
from pricing.offers import Offer, OfferRange, PriceKind, Segment, offer_range, offers

FleetKind = Literal["on_demand", "spot", "reserved_1y", "given", "owned"]
"""How accelerators are taken; ``given``: at a price that the user names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuPrice:
    """The price of one accelerator for one hour.

    Attributes:
        low, usual, high: USD; all the same where one price is known.
        machine_gpus: Accelerators in machines that are let as a whole, ascending; empty: any number.
        listed: The offers behind it; None for a price that the user names.
    """

    accelerator_id: str
    kind: FleetKind
    low: Decimal
    usual: Decimal
    high: Decimal
    machine_gpus: tuple[int, ...] = ()
    listed: OfferRange | None = None

    @property
    def scales(self) -> bool:
        """Whether an hour that is not needed is not paid."""
        return self.kind in {"on_demand", "spot", "given"}

    def gpus_for(self, layout: Layout, replicas: int) -> int | None:
        """Accelerators that are paid for so many replicas; None if no machine holds one.

        A replica lives in one machine, or fills several whole ones; several replicas share a machine.
        """
        each = layout.n_gpus
        if not self.machine_gpus:
            return each * replicas
        counts = [-(-replicas // (size // each)) * size for size in self.machine_gpus if size >= each]
        if not counts and layout.shard.pp > 1:
            counts = [each * replicas for size in self.machine_gpus if each // layout.shard.pp == size]
        return min(counts, default=None)


def gpu_price(
    accelerator_id: str,
    segment: Segment | None,
    kind: PriceKind,
    *,
    as_of: date,
    among: Iterable[Offer] | None = None,
) -> GpuPrice | None:
    """The listed price of an accelerator, or None where no dated offer is known.

    Args:
        accelerator_id: As in the table of accelerators.
        segment: One kind of provider; None for all.
        kind: How it is taken.
        as_of: Later offers are not looked at.
        among: Offers to look through; None for the built-in ones.
    """
    listed = [one for one in (offers() if among is None else among) if one.accelerator_id == accelerator_id]
    found = offer_range(accelerator_id, segment, kind, as_of=as_of, among=listed)
    if found is None:
        return None
    sizes = {
        one.n_gpus
        for one in listed
        if one.price_kind == kind and segment in (None, one.segment) and one.date and one.date <= as_of
    }
    return GpuPrice(
        accelerator_id=accelerator_id,
        kind=kind,
        low=found.low_usd_per_gpu_hour,
        usual=found.median_usd_per_gpu_hour,
        high=found.high_usd_per_gpu_hour,
        machine_gpus=tuple(sorted(sizes)),
        listed=found,
    )


def given_price(accelerator_id: str, usd_per_gpu_hour: Decimal) -> GpuPrice:
    """A price that somebody was quoted."""
    return GpuPrice(
        accelerator_id=accelerator_id,
        kind="given",
        low=usd_per_gpu_hour,
        usual=usd_per_gpu_hour,
        high=usd_per_gpu_hour,
    )
