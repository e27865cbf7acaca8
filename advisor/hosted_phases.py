"""What a log's requests would do to a common deployment, phase by phase, and what they waited for where it was timed."""

from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from advisor.analysis import Analysis
from pricing.batch_sweep import SweepPoint, batch_sweep
from pricing.calibration import Band, calibration
from pricing.capacity import DoesNotFitError
from pricing.deployment import Load
from pricing.meters import CACHE_READ_METERS, INPUT_METERS, OUTPUT_METERS
from pricing.offers import OfferRange, offer_range
from pricing.reference_deployment import (
    LOCAL_NAME,
    REFERENCE_BATCH,
    REFERENCE_NAME,
    local_deployment,
    reference_deployment,
)
from pricing.techniques import Techniques, techniques
from pricing.units import SECONDS_PER_DAY, SECONDS_PER_HOUR, TOKENS_PER_MTOK
from workloads.latency import LatencyFit, latency_fits
from workloads.phase_mix import FEW_REQUESTS

if TYPE_CHECKING:
    import pandas as pd

_SEGMENT: Final = "neocloud"
_MOMENT_SECONDS: Final = 600.0
"""What is shorter tells sizes, not a rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Longest:
    """The workload with the longest prompts, and the size that one in a hundred of them exceeds."""

    workload: str
    tokens: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Modelled:
    """The log's mean request on the reference deployment.

    Attributes:
        name, local_name: The deployment, and the machine of a desk that it is compared with, in words.
        load: Of the mean request, what is computed, cached and written.
        requests_per_second: Of the log on average; None without times, or where they are too few.
        points: By batch.
        techniques: What each would do.
        longest: None where sizes of single requests are not known.
        price: Of an accelerator-hour; None if no offer of the time is known.
        n_gpus: Of the deployment.
        tpot_band, ttft_band: Of the calibration.
    """

    name: str
    local_name: str
    load: Load
    requests_per_second: float | None
    points: tuple[SweepPoint, ...]
    techniques: Techniques
    longest: Longest | None
    price: OfferRange | None
    n_gpus: int
    tpot_band: Band
    ttft_band: Band

    def usd_per_mtok(self, tokens_per_second: float) -> Decimal | None:
        """What a million tokens cost while the accelerators do nothing else; None without a price."""
        if self.price is None:
            return None
        hourly = self.price.median_usd_per_gpu_hour * self.n_gpus
        return hourly * TOKENS_PER_MTOK / (Decimal(repr(tokens_per_second)) * SECONDS_PER_HOUR)

    @property
    def replicas(self) -> int:
        """That the log's mean rate keeps busy; 0 without times."""
        if self.requests_per_second is None:
            return 0
        return max(-int(-self.requests_per_second // self.points[-1].requests_per_second), 1)

    @property
    def busy_batch(self) -> float | None:
        """Requests of the log in flight on average, on each of its replicas; None without times.

        Source: Little's law, rate x time in service, at the batch that gives this time.
        """
        if self.requests_per_second is None:
            return None
        rate = self.requests_per_second / self.replicas
        before = self.points[0]
        if rate <= before.requests_per_second:
            return rate / before.requests_per_second
        for point in self.points[1:]:
            if rate <= point.requests_per_second:
                part = (rate - before.requests_per_second) / (
                    point.requests_per_second - before.requests_per_second
                )
                return before.batch + part * (point.batch - before.batch)
            before = point
        return float(self.points[-1].batch)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedPhases:
    """Both phases of a log, modelled and timed; either may be missing, not both."""

    modelled: Modelled | None
    timed: tuple[LatencyFit, ...]


def with_hosted_phases(analysis: Analysis, sums: "pd.DataFrame | None") -> Analysis:
    """The analysis with what can be said about its phases on own accelerators.

    Args:
        analysis: Of a log.
        sums: See ``workloads.latency.latency_sums``.
    """
    modelled, timed = _modelled(analysis), latency_fits(sums)
    if modelled is None and not timed:
        return analysis
    return replace(analysis, hosted=HostedPhases(modelled=modelled, timed=timed))


def _modelled(analysis: Analysis) -> Modelled | None:
    load = mean_load(analysis)
    if load is None:
        return None
    fitted, deployment, longest = calibration(), reference_deployment(), _longest(analysis)
    family = fitted.family_of(deployment.accelerator)
    most = float(deployment.model.max_context)
    if load.context_tokens > most:
        return None
    reading = longest.tokens if longest else load.input_tokens + load.cached_tokens
    try:
        points = batch_sweep(deployment, load, fitted)
        found = techniques(
            deployment,
            load,
            fitted,
            batch=REFERENCE_BATCH,
            longest_tokens=min(reading, most),
            local=local_deployment(),
        )
    except DoesNotFitError:
        return None
    return Modelled(
        name=REFERENCE_NAME,
        local_name=LOCAL_NAME,
        load=load,
        requests_per_second=_rate(analysis),
        points=points,
        techniques=found,
        longest=longest,
        price=_price(deployment.accelerator.id, analysis.provenance.as_of.date()),
        n_gpus=deployment.layout.n_gpus,
        tpot_band=fitted.band("serving.tpot", family),
        ttft_band=fitted.band("serving.ttft", family),
    )


def mean_load(analysis: Analysis) -> Load | None:
    """The request that all are on average; None where requests or tokens are not counted."""
    tokens, requests = analysis.whole.tokens, analysis.whole.requests
    cached = sum(tokens.get(meter, 0) for meter in CACHE_READ_METERS)
    read = sum(tokens.get(meter, 0) for meter in INPUT_METERS) - cached
    written = sum(tokens.get(meter, 0) for meter in OUTPUT_METERS)
    if not requests or read < requests or written < requests:
        return None
    return Load(
        input_tokens=read / requests, cached_tokens=cached / requests, output_tokens=written / requests
    )


def _longest(analysis: Analysis) -> Longest | None:
    sized = [(one.input_tokens.p99, one.name) for one in analysis.workloads if one.input_tokens]
    if not sized:
        return None
    tokens, name = max(sized)
    return Longest(workload=name, tokens=max(tokens, 1.0))


def _rate(analysis: Analysis) -> float | None:
    """Requests a second; None where so few or so short a time that it is no rate."""
    seconds = (analysis.period_days or 0.0) * SECONDS_PER_DAY
    told = seconds >= _MOMENT_SECONDS and analysis.whole.requests >= FEW_REQUESTS
    return analysis.whole.requests / seconds if told else None


def _price(accelerator_id: str, day: date) -> OfferRange | None:
    return offer_range(accelerator_id, _SEGMENT, as_of=day) or offer_range(accelerator_id, as_of=day)
