"""Self-hosting in the document: the fields of each way to host the log's load, and of the comparison."""

from pydantic import BaseModel, ConfigDict, Field


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class HostCostDoc(_Model):
    """One way to take a fleet's accelerators."""

    kind: str = Field(description="on_demand, spot, reserved_1y, given (a price of the user's) or owned.")
    replicas_by_the_hour: bool = Field(
        description="Replicas follow the load hour by hour; else all are always on."
    )
    gpus: int
    usd_per_gpu_hour: str | None
    usd: str = Field(description="For the period of the log.")
    usd_per_month: str
    busy_usd: str
    idle_usd: str
    overheads_usd: dict[str, str]
    utilisation_ratio: float = Field(description="Work over paid accelerator time.")


class HostPriceDoc(_Model):
    """What an accelerator-hour costs, of which offers."""

    low_usd: str
    usual_usd: str
    high_usd: str
    segments: list[str]
    providers: list[str]
    oldest: str | None
    newest: str | None


class HostTokensDoc(_Model):
    """USD per million tokens by the time that each kind keeps the accelerators busy; null: there are no such tokens."""

    computed_input: str | None
    cached_input: str | None
    output: str | None
    computed_input_busy: str | None = Field(description="Without idle hours and overheads.")
    cached_input_busy: str | None
    output_busy: str | None
    blended: str = Field(
        description="All money over all tokens; not comparable with a price of input or output."
    )


class HostEvenDoc(_Model):
    """Where the fleet meets the API bill."""

    volume_ratio: float | None = Field(description="Of the log's volume; null: at none.")
    utilisation_ratio: float | None = Field(description="Above 1: not even full accelerators are cheaper.")


class HostWayDoc(_Model):
    """One way to host the load; ``usd`` is of the period of the log."""

    model: str
    accelerator: str
    layout: str
    precision: str
    engine: str
    narrower_than_published: bool
    replicas: int
    redundancy: int
    replicas_at_peak: int
    gpus: int
    requests_in_flight: int = Field(description="Of one full replica.")
    ttft_ms: float
    tpot_ms: float
    usd: dict[str, str | None] = Field(
        description="low, expected, high: with the model's error (80 %); high is null where no count may meet the targets."
    )
    usd_per_month: dict[str, str | None]
    usd_at_prices: dict[str, str] = Field(description="low and high: at the lowest and highest listed price.")
    gpu_hour: HostPriceDoc
    utilisation_ratio: float
    prefill_ratio: float = Field(description="Of the work.")
    late_request_ratio: float = Field(
        description="Requests that start in busier minutes than are served on target."
    )
    costs: list[HostCostDoc]
    usd_per_mtok: HostTokensDoc
    output_usd_per_mtok_at_utilisation: dict[str, str] = Field(
        description="By utilisation ratio: an output token of these accelerators, were they so busy."
    )
    break_even: HostEvenDoc
    answer: str = Field(description="host, stay, straddles or unknown: against the API bill.")
    token_ratio: float = Field(description="Tokens of this model for one of the log.")
    token_ratio_measured: bool = Field(description="Else the same text is taken to be counted alike.")


class HostTargetsDoc(_Model):
    """What is promised."""

    ttft_ms: float | None
    tpot_ms: float | None
    percentile: float
    redundancy: int


class HostRefusedDoc(_Model):
    """A model that nothing hosts."""

    model: str
    reason: str


class HostSideDoc(_Model):
    """A load, in the log's tokens, the API bill for it, and the cheapest way to host it."""

    api_usd: str = Field(description="Of the period.")
    answer: str = Field(description="host, stay, straddles or unknown.")
    best: HostWayDoc | None
    hours: int
    busy_minutes: int
    requests: int
    computed_tokens: int
    cached_tokens: int
    output_tokens: int
    requests_in_busiest_minute: float
    requests_in_minute_at_percentile: float
    spread_evenly: bool
    refused: list[HostRefusedDoc]
    deployments_that_fit: int
    deployments_on_target: int


class HostComparisonDoc(_Model):
    """The log's API bill against the ways to host its load."""

    answer: str = Field(description="After the levers on the API: host, stay, straddles or unknown.")
    verdict: str
    today: HostSideDoc | None = Field(description="The log as it is; null: it has no load over time.")
    after_levers: HostSideDoc | None = Field(description="What the levers on the API leave of load and bill.")
    targets: HostTargetsDoc
    chosen_by: str
    workloads: list[str] = Field(description="What it is about; empty: all of the log.")
    assumptions: list[str]
