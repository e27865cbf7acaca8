"""Everything that a run has computed, as one frozen value; every output is made from it and from nothing else.

Money is Decimal, exact, in the currency of ``CostReport`` (USD but where ``_usd`` says otherwise); tokens are integers; ratios are floats in 0..1; instants are timezone-aware UTC.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from advisor.cache_reuse import WorkloadReuse
from advisor.data_report import DataReport, Location, Problem, Source
from advisor.provenance import InputHash, Provenance
from advisor.recommendation import Advice
from advisor.reconciliation import Reconciliation
from pricing.meters import Meter
from workloads.phase_mix import PhaseClass, PhaseMix

if TYPE_CHECKING:  # the cube's modules are only needed once there is a cube
    from advisor.cost_lines import CostLines
    from advisor.finance import Finance
    from advisor.hosted_phases import HostedPhases
    from advisor.hosting import SelfHosting
    from advisor.what_if_model import CubeSummary
    from pricing.commitment_use import CommitmentUse
    from pricing.currency import Conversion
    from pricing.discounts import AppliedDiscount

__all__ = [
    "Analysis", "CostReport", "DataReport", "DaySlice", "Distribution", "InputHash", "Location", "ModelSlice", "PhaseClass",
    "PhaseMix", "PriceRow", "Problem", "Provenance", "ShapeBin", "Slice", "Source", "TierSlice", "Unpriced", "Workload",
]  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """Requests, tokens and cost of a part of the log (the whole, a day, a model, a workload)."""

    records: int
    requests: int
    tokens: Mapping[Meter, int]
    """By meter; a meter that no record of the slice reports is absent."""
    reasoning: int | None
    cost: Mapping[Meter, Decimal]
    """By meter, of what could be priced."""
    priced_requests: int
    priced_records: int = 0
    """Records that could be priced; buckets that do not say how many requests they hold count here only."""
    charged: Decimal | None = None
    """Money that the log states without tokens (lines of a cost export); never part of ``cost``."""
    list_cost: Decimal | None = None
    """Before discounts; None: nothing was negotiated, so that it is the total."""
    unconverted_usd: Decimal | None = None
    """USD, not part of the total, of days without an exchange rate; None: there are none."""

    @property
    def is_priced(self) -> bool:
        """Whether the money of some of it is known."""
        return self.charged is not None or self.priced_requests > 0 or self.priced_records > 0

    @property
    def total(self) -> Decimal:
        """Contracted cost, exact; of a cost export, which has no tokens to price, the money that it states."""
        if self.charged is not None and not self.tokens:
            return self.charged
        return sum(self.cost.values(), Decimal(0))

    @property
    def in_usd(self) -> Decimal | None:
        """The cost in USD of a part of which no day has an exchange rate; None for every other part."""
        return self.unconverted_usd if self.unconverted_usd and not self.total else None


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySlice:
    """One calendar day in the report's timezone; None gathers records without a time."""

    day: date | None
    whole: Slice
    by_model: Mapping[str, Decimal]
    """By model name; in USD on a day without an exchange rate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSlice:
    """One model of one provider, with the price asymmetry between its phases."""

    provider: str | None
    model: str
    whole: Slice
    input_usd_per_mtok: Decimal | None
    output_usd_per_mtok: Decimal | None
    """Standard rates of the newest price in the period; None when unpriced."""

    @property
    def price_ratio(self) -> float | None:
        """Output price over input price: how much dearer a decoded token is than a prefilled one."""
        if not self.input_usd_per_mtok or self.output_usd_per_mtok is None:
            return None
        return float(self.output_usd_per_mtok / self.input_usd_per_mtok)


@dataclass(frozen=True, slots=True, kw_only=True)
class TierSlice:
    """One service tier of one model: what of it has a price."""

    provider: str | None
    model: str
    service_tier: str
    whole: Slice
    counts_requests: bool
    """Whether all of it says how many requests it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpriced:
    """Usage that could not be priced: named and counted, never $0."""

    provider: str | None
    model: str
    requests: int
    tokens: Mapping[Meter, int]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Distribution:
    """Per-request sizes; exact, linear interpolation between order statistics."""

    mean: float
    p50: float
    p90: float
    p99: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A group of requests that a team would call one thing."""

    name: str
    labels: Mapping[str, str | None]
    models: tuple[str, ...]
    whole: Slice
    cost_mix: PhaseMix | None
    """None when nothing of it could be priced."""
    time_mix: PhaseMix | None
    """None when token counts are missing."""
    input_tokens: Distribution | None
    """None for buckets: per-request sizes cannot be known."""
    output_tokens: Distribution | None
    cache_read_ratio: float | None
    """Cache reads / whole prompt, over records that report a cache count; None when none does."""
    cache_coverage: float
    """Share of records that report a cache count."""
    ttft_seconds: Distribution | None
    duration_seconds: Distribution | None
    first_request: datetime | None
    last_request: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapeBin:
    """A cell of the phase map: requests of a workload with sizes in ``[low, high)`` on both axes."""

    workload: str
    input_low: float
    input_high: float
    output_low: float
    output_high: float
    requests: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceRow:
    """One rate that the report used."""

    provider: str | None
    model: str
    meter: Meter
    usd_per_unit: Decimal
    """USD per million tokens for token meters, USD per call (or unit) for fees."""
    rule: str
    """Which rules gave the rate: ``base``, ``batch``, ``context > 200,000`` ..."""
    valid_from: datetime | None
    valid_until: datetime | None
    source: str
    retrieved: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CostReport:
    """Money of the whole period."""

    currency: str
    total: Decimal
    """Contracted cost: after discounts, before commitments."""
    list_total: Decimal
    """At published prices."""
    by_meter: Mapping[Meter, Decimal]
    coverage: float
    """Requests priced / requests (1.0 when there are none)."""
    token_coverage: float
    unpriced: tuple[Unpriced, ...]
    recorded_total: Decimal | None
    """What the log itself says it cost, where it says so; None when no record does."""
    recorded_requests: int
    effective_total: Decimal | None = None
    """With what is owed for commitments; None: no commitment, so that it is the total."""
    free_models: tuple[str, ...] = ()
    """Models whose price is known to be $0 a token."""
    discounts: "tuple[AppliedDiscount, ...]" = ()
    commitments: "tuple[CommitmentUse, ...]" = ()
    conversion: "Conversion | None" = None
    """What the exchange did; None: the report is in USD because that was asked."""
    basis: str = "computed"
    """``computed`` from tokens and prices; ``reconciled``: and a bill agrees; ``recorded``: the log holds money only."""

    @property
    def complete(self) -> bool:
        """Whether every record could be priced."""
        return not self.unpriced


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The whole answer: what the log holds, what it cost, and which phase it went to. Parts come dearest first."""

    data: DataReport
    whole: Slice
    cost: CostReport
    cost_mix: PhaseMix | None
    time_mix: PhaseMix | None
    by_day: tuple[DaySlice, ...]
    """Ascending, without gaps filled; a record without a time is on the last row, with day None."""
    by_model: tuple[ModelSlice, ...]
    workloads: tuple[Workload, ...]
    workload_rule: str
    """How workloads were told apart, in words."""
    shapes: tuple[ShapeBin, ...]
    prices: tuple[PriceRow, ...]
    time_basis: str
    """The reference deployment behind every time share, in words."""
    provenance: Provenance
    period_days: float | None = field(default=None)
    """Days observed, from the first request to the last; None without times."""
    reconciliation: Reconciliation | None = None
    """Computed cost against a bill; None: no bill is given."""
    advice: Advice | None = None
    """What to do, in USD at list prices; None: nothing was looked for."""
    reuse: tuple[WorkloadReuse, ...] = ()
    """Of workloads of which the log tells what prompts have in common, dearest first."""
    self_host: "SelfHosting | None" = None
    finance: "Finance | None" = None
    """The answers to finance's questions; None: nobody asked them."""
    hosted: "HostedPhases | None" = None
    cost_lines: "CostLines | None" = None
    """The bill line by line; None: not asked for."""
    what_if: "CubeSummary | None" = None
    """What a page prices again; None: there is nothing, or too much for a page."""
    by_tier: tuple[TierSlice, ...] = ()
    """By provider, model and tier."""
