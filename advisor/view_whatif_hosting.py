"""Own accelerators in the panel that tries changes out: hours of work and hours that are paid, to be priced again."""

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from advisor.analysis import Analysis

if TYPE_CHECKING:  # only runs that compare have it
    from advisor.hosting import Way

_HOURS: Final = Decimal("0.000001")
_PERCENT: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class HostingFields:
    """What the fields start with.

    Attributes:
        name: Model and accelerators.
        usd_per_hour: Of one accelerator.
        utilisation: Percent of the paid hours that are work, one decimal.
    """

    name: str
    usd_per_hour: str
    utilisation: str


def hosting_fields(analysis: Analysis) -> HostingFields | None:
    """Return the fields; None where nothing was compared, or nothing is rented by the hour."""
    way = _way(analysis)
    if way is None or way.cost.usd_per_gpu_hour is None:
        return None
    accelerator = way.hosted.fleet.deployment.accelerator.name
    return HostingFields(
        name=f"{way.model} on {way.cost.gpus} x {accelerator}",
        usd_per_hour=f"{way.cost.usd_per_gpu_hour.normalize():f}",
        utilisation=f"{way.cost.utilisation_ratio * _PERCENT:.1f}",
    )


def hosting_data(analysis: Analysis) -> dict[str, Any] | None:
    """Return what the script prices: see ``pricing.gpu_billing.rented_bill``."""
    way, options = _way(analysis), None if analysis.self_host is None else analysis.self_host.options
    if way is None or options is None or way.cost.usd_per_gpu_hour is None:
        return None
    bill = way.cost.bill
    ratio = sum((Decimal(str(one.ratio)) for one in options.overheads), Decimal(1))
    return {
        "paid": f"{bill.paid_gpu_hours.quantize(_HOURS):f}",
        "busy": f"{bill.busy_gpu_hours.quantize(_HOURS):f}",
        "ratio": f"{ratio.quantize(_HOURS):f}",
        "fixed": f"{(bill.total_usd - bill.gpu_usd * ratio).quantize(_HOURS):f}",
    }


def _way(analysis: Analysis) -> "Way | None":
    """The way for the log as it is: what the panel changes is the API's side."""
    compared = None if analysis.self_host is None else analysis.self_host.today
    return None if compared is None else compared.best
