"""Finance's questions in the document: what it will be, and why it changed."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Money = str


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SpanDoc(_Model):
    """Money of some days: what is spent, and what it is expected to come to, with the 80 % range."""

    first_day: str
    last_day: str
    spent: Money = Field(description="What the log holds of it; exact.")
    low: Money
    expected: Money = Field(description="Spent and forecast together; an estimate, rounded to the cent.")
    high: Money


class BacktestDoc(_Model):
    """How wrong the method was about days of this log that it was not shown."""

    horizon_days: int
    origins: int = Field(description="How many times it was tried.")
    error_ratio: float = Field(description="Mean size of the errors, as parts of what was forecast.")


class PriceStepDoc(_Model):
    """An announced change of prices that is in the forecast."""

    day: str
    ratio: float = Field(description="What the usage of the last week costs then, over what it costs before.")
    models: list[str]


class RunRateDoc(_Model):
    """The month as if its other days cost what the whole days so far did on average: arithmetic, no forecast."""

    month: str
    days_used: int
    spent: Money
    month_end: Money


class ForecastDoc(_Model):
    """What the bill will be, in the currency of ``cost``; contracted cost of what has a price."""

    available: bool
    reason: str | None = Field(description="Why there is none; null where there is one.")
    first_day: str | None = Field(description="First whole day that it is made from.")
    last_day: str | None = Field(description="Last whole day that it is made from.")
    days_used: int = Field(description="Whole days between them.")
    empty_days: int = Field(description="Days among them of which the log holds nothing; they count as 0.")
    partial_days: list[str] = Field(description="Days that are cut off; no forecast is made from them.")
    range_share: float = Field(description="Part of outcomes that the range is meant to hold.")
    method: str
    month_end: SpanDoc | None = Field(description="The month that the first day to come lies in.")
    months: list[SpanDoc] = Field(description="The three months after it.")
    three_months: SpanDoc | None = Field(description="These together.")
    backtest: BacktestDoc | None
    price_changes: list[PriceStepDoc]
    run_rate: RunRateDoc | None
    notes: list[str]


class PeriodDoc(_Model):
    """One of two periods that are compared."""

    first_day: str
    last_day: str
    days: int
    cost: Money = Field(description="Of what has a price.")
    requests: int


class TermsDoc(_Model):
    """What a change is made of; the terms add up to it exactly."""

    volume: Money = Field(
        description="More or fewer requests (tokens, where the log does not count requests)."
    )
    model_mix: Money = Field(description="Requests that went to other models of their workload.")
    service_tier: Money = Field(description="Requests that went to other service tiers of their model.")
    tokens_per_request: Money
    cache_share: Money = Field(description="What part of prompts was read from and written to caches.")
    price: Money = Field(description="What a token really cost: price lists, context tiers, discounts.")
    new_workloads: Money
    ended_workloads: Money


class BridgeDoc(_Model):
    """A workload in both periods."""

    name: str
    before: Money
    after: Money
    change: Money
    terms: TermsDoc


class VarianceDoc(_Model):
    """Why the bill changed between two periods of the log, in the currency of ``cost``."""

    available: bool
    reason: str | None = Field(description="Why there is none; null where there is one.")
    basis: str = Field(description="Which periods are compared, in words.")
    method: str
    before: PeriodDoc | None
    after: PeriodDoc | None
    change: Money | None
    terms: TermsDoc | None
    workloads: list[BridgeDoc] = Field(
        description="Largest change first; beyond the first hundred they are one, so that they add up to the whole."
    )
    notes: list[str]


class AnomalyDoc(_Model):
    """A day that breaks its own pattern."""

    day: str
    workload: str | None = Field(description="null: all usage of the day.")
    cost: Money
    expected: Money = Field(description="What days like it cost; an estimate.")
    score: float = Field(description="Distance in robust standard deviations; negative: below.")
    driver: str | None = Field(
        description="What most of the difference is, a name of the terms of ``variance``."
    )
    leading_workload: str | None = Field(description="Which moved most, of a day of all usage.")
    reference_day: str = Field(description="The day of the same weekday that the driver is told against.")


class AnomaliesDoc(_Model):
    """Unusual days, most money first."""

    available: bool
    reason: str | None
    least: Money = Field(description="What a day has to be off by to count.")
    found: list[AnomalyDoc]
    more: int = Field(description="How many others there are.")


class CheckDoc(_Model):
    """A limit of a budget and what the log has to say to it."""

    budget: str
    scope: dict[str, list[str]] = Field(description="Key -> names; empty: all usage.")
    limit: Literal["monthly_cost", "cost_per_request", "change_percent"]
    allowed: Money
    found: Money | None = Field(description="So far, or as forecast; null: not known.")
    verdict: Literal["kept", "broken", "unknown"]
    basis: str
    unpriced_requests: int
