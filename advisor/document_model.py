"""The JSON document: its fields. ``advisor schema`` prints the schema of these models.

Money is a decimal string, counts are integers, times are ISO 8601 UTC, ratios are floats in 0..1. A meter that no
record reports is absent.
"""

from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from advisor.document_advice import PlanDoc, RecommendationDoc, RejectedDoc
from advisor.document_bill import ReconciliationDoc, TierDoc
from advisor.document_finance import AnomaliesDoc, CheckDoc, ForecastDoc, VarianceDoc
from advisor.document_host import HostComparisonDoc, HostWayDoc
from advisor.document_latency import WaitsDoc
from advisor.document_reuse import ReuseDoc
from advisor.document_saved import SavedPart
from advisor.document_units import AllocationDoc, PlanUseDoc, UnitCostDoc

SCHEMA_VERSION: Final = "1"

Tokens = dict[str, int]
"""Meter -> count; ``reasoning`` is a subset of ``output``."""
Money = str
"""A decimal string, in the currency of ``cost`` but where a name ends in ``_usd`` or ``usd_per_mtok``."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ExampleDoc(_Model):
    """A place in an input."""

    file: str
    line: int | None


class ProblemDoc(_Model):
    """Something about the data that a reader must know."""

    code: str
    severity: Literal["error", "warning", "info"]
    message: str
    rows: int
    examples: list[ExampleDoc]
    amount_usd: Money | None = Field(description="The money that it is about; null where it is about none.")


class SourceDoc(_Model):
    """One input and what it was taken for."""

    path: str
    format: str
    rows: int


class DataDoc(_Model):
    """What was read: ``rows_read = records + skipped + duplicates + ignored``."""

    rows_read: int
    records: int
    requests: int = Field(description="Calls behind the records; a bucket carries many.")
    skipped: int
    duplicates: int
    ignored: int
    unmeasured: int = Field(description="Records without any token count: unknown, not zero.")
    first_request: str | None
    last_request: str | None
    timezone: str
    sources: list[SourceDoc]
    problems: list[ProblemDoc]


class UnpricedDoc(_Model):
    """Usage that is not in the total."""

    provider: str | None
    model: str
    requests: int
    tokens: Tokens
    reason: str


class DiscountDoc(_Model):
    """One negotiated discount and what it did."""

    source: str
    scope: str
    multiplier: Money
    list_usd: Money
    contracted_usd: Money


class CommitmentDoc(_Model):
    """What a commitment cost in one calendar month of the log, from ``first`` to ``last``."""

    name: str
    covers: Literal["spend", "throughput"]
    month: str
    first: str
    last: str
    partial: bool
    committed_usd: Money
    contracted_usd: Money = Field(description="Contracted cost of the usage that it covers.")
    effective_usd: Money = Field(description="What that usage costs with it.")
    unused_usd: Money | None
    utilisation_ratio: float | None
    tokens: int


class UnconvertedDoc(_Model):
    """Usage of a month without an exchange rate: it stays in USD and is in no total."""

    month: str
    amount_usd: Money


class FxDoc(_Model):
    """The exchange: rates are units of the currency per USD, by day or month."""

    source: str
    rates: dict[str, Money]
    unconverted: list[UnconvertedDoc]


class CostDoc(_Model):
    """Money of the whole period, in ``currency``."""

    currency: str
    total: Money = Field(description="Contracted cost: after discounts, before commitments.")
    list_total: Money = Field(description="At published prices.")
    effective_total: Money = Field(description="Contracted cost with what is owed for commitments.")
    discounts: list[DiscountDoc]
    commitments: list[CommitmentDoc]
    fx: FxDoc | None
    free_models: list[str] = Field(description="Models whose price is known to be $0 a token.")
    by_meter: dict[str, Money]
    basis: Literal["computed", "recorded", "reconciled"]
    coverage: float = Field(description="Requests priced / requests.")
    token_coverage: float
    complete: bool
    unpriced: list[UnpricedDoc]
    recorded_total: Money | None = Field(description="What the log itself says it cost, where it says so.")
    recorded_requests: int


class DayDoc(_Model):
    """One calendar day in the report's zone; null gathers records without a time."""

    day: str | None
    currency: str = Field(description="USD on a day without an exchange rate, which is in no total.")
    requests: int
    tokens: Tokens
    cost: Money | None = Field(description="Of what could be priced; null when nothing of the day could.")
    by_model: dict[str, Money]


class ModelDoc(_Model):
    """One model of one provider."""

    provider: str | None
    model: str
    requests: int
    tokens: Tokens
    cost: Money | None = Field(description="null: nothing of it could be priced or converted.")
    list_cost: Money | None
    unconverted_usd: Money | None = Field(description="Not in the cost: its days have no exchange rate.")
    cost_by_meter: dict[str, Money]
    input_usd_per_mtok: Money | None
    output_usd_per_mtok: Money | None
    output_input_price_ratio: float | None
    priced: bool


class DistributionDoc(_Model):
    """Sizes or times of single requests; quantiles interpolate linearly."""

    mean: float
    p50: float
    p90: float
    p99: float


class PhasesDoc(_Model):
    """A phase mix on one basis."""

    basis: Literal["cost", "gpu_time"]
    prefill: float
    decode: float
    prefill_share: float
    decode_share: float
    phase_class: Literal["prefill_dominated", "decode_dominated", "balanced"] = Field(alias="class")
    distance: float
    weak: str | None
    explanation: str

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class CacheDoc(_Model):
    """What the log says about prompt caching."""

    read_ratio: float | None = Field(
        description="Cache reads / whole prompt, over records that report a cache count."
    )
    coverage: float = Field(description="Share of records that report a cache count.")
    reuse: ReuseDoc | None = Field(
        default=None, description="null: the log does not tell what prompts have in common."
    )


class LatencyDoc(_Model):
    """The two numbers of latency, where the log has them."""

    ttft_seconds: DistributionDoc | None
    duration_seconds: DistributionDoc | None
    waits: WaitsDoc | None = Field(default=None, description="null: too few requests are timed.")


class WorkloadDoc(_Model):
    """A group of requests that a team would call one thing."""

    name: str
    models: list[str]
    requests: int
    tokens: Tokens
    cost: Money | None = Field(description="null: nothing of it could be priced or converted.")
    list_cost: Money | None
    unconverted_usd: Money | None = Field(description="Not in the cost: its days have no exchange rate.")
    cost_by_meter: dict[str, Money]
    phase_class: Literal["prefill_dominated", "decode_dominated", "balanced"] | None = Field(alias="class")
    basis: Literal["cost", "gpu_time"] | None
    prefill_share: float | None
    decode_share: float | None
    by_cost: PhasesDoc | None
    by_gpu_time: PhasesDoc | None
    input_tokens: DistributionDoc | None
    output_tokens: DistributionDoc | None
    cache: CacheDoc
    latency: LatencyDoc

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


class PriceDoc(_Model):
    """One rate that the report used; ``usd_per_mtok`` is USD per call (or unit) for fees."""

    provider: str | None
    model: str
    meter: str
    usd_per_mtok: Money
    rule: str
    valid_from: str | None
    valid_until: str | None
    source: str
    retrieved: str | None


class ProvenanceDoc(_Model):
    """What it takes to make the same report again."""

    version: str
    command: str
    as_of: str
    price_book: str
    price_book_sha256: str
    workload_rule: str
    time_basis: str
    assumptions: list[str]


class Document(SavedPart):
    """The whole answer of ``advisor analyze``."""

    schema_version: Literal["1"]
    data: DataDoc
    tokens: Tokens
    cost: CostDoc
    phases: list[PhasesDoc] = Field(description="The whole log, on each basis that could be computed.")
    by_day: list[DayDoc]
    by_model: list[ModelDoc]
    by_tier: list[TierDoc] = Field(default=[], description="What has a price, by model and service tier.")
    workloads: list[WorkloadDoc]
    recommendations: list[RecommendationDoc] = Field(description="Best first; in USD at list prices.")
    rejected: list[RejectedDoc] = Field(description="What was looked at and does not pay.")
    plan: PlanDoc | None = Field(description="The recommendations together; null: nothing was looked for.")
    reconciliation: ReconciliationDoc
    self_host: list[HostWayDoc] = Field(description="Ways to host the load, cheapest first.")
    self_host_comparison: HostComparisonDoc | None
    forecast: ForecastDoc | None = Field(default=None, description="null: saved before there were any.")
    variance: VarianceDoc | None = Field(default=None, description="null: saved before there were any.")
    anomalies: AnomaliesDoc | None = Field(default=None, description="Unusual days; null: nobody asked.")
    budgets: list[CheckDoc] = Field(default=[], description="What comes of the budgets that were given.")
    unit_economics: list[UnitCostDoc] = Field(default=[], description="Costs of one unit.")
    allocation: list[AllocationDoc] = Field(default=[], description="Who pays: by workload, and as asked.")
    plans: PlanUseDoc | None = Field(default=None, description="null: no log of a coding agent is in it.")
    prices: list[PriceDoc]
    provenance: ProvenanceDoc
