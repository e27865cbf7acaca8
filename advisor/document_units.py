"""Unit costs, allocation and flat plans in the document."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Money = str


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class UnitCostDoc(_Model):
    """What one unit costs, of what has a price; in the currency of ``cost``."""

    unit: str = Field(
        description="request, session, user, workload, 1k_tokens, 1M_tokens, 1M_prompt_tokens ..."
    )
    count: int = Field(description="Units; where the unit is tokens, single tokens.")
    cost: Money = Field(description="What they cost together.")
    mean: Money
    median: Money | None = Field(description="null: not asked for (--unit-costs), or no units of their own.")
    p95: Money | None
    basis: str


class AllocationRowDoc(_Model):
    """What one name pays."""

    name: str
    untagged: bool = Field(description="The row of what carries no label.")
    requests: int
    direct: Money
    shared: Money = Field(description="Of the money without a label; negative where it is given away.")
    total: Money
    percent: Money = Field(description="Of all; the rows add up to 100 where there is money at all.")
    unpriced_requests: int = Field(description="Without a price; in no amount.")


class AllocationDoc(_Model):
    """Money by one label: showback, not an invoice."""

    key: str
    sharing: Literal["none", "even", "proportional", "fixed"]
    rule: str
    untagged_ratio: float = Field(description="Part of the money that carries no label, before sharing.")
    total: Money
    rows: list[AllocationRowDoc]


class PlanDoc(_Model):
    """A flat plan."""

    name: str
    usd_per_month: Money


class PlanUseDoc(_Model):
    """Usage of coding agents at API prices, beside the flat plans that pay for it; the two are never added up."""

    formats: list[str]
    requests: int
    api_equivalent: Money = Field(description="What the API would have charged, in the currency of ``cost``.")
    months: int = Field(description="Calendar months that the usage lies in.")
    plans: list[PlanDoc]
    billed_usd: Money | None = Field(
        description="What the named plans cost in these months; null: none is named."
    )
    ratio: float | None = Field(description="API-equivalent / plans; null: no plan is named, or not in USD.")
