"""The JSON document's sections on the bill: their fields."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Money = str


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class CauseDoc(_Model):
    """A named part of the difference."""

    cause: str
    amount_usd: Money = Field(description="Above zero where the bill is the larger.")
    evidence: str
    rows: int = Field(description="Lines of the bill, or records of the log, that it rests on.")


class ComparedDayDoc(_Model):
    """Usage of one UTC day on both sides; null: what can only be compared over the whole period."""

    day: str | None
    computed_usd: Money
    billed_usd: Money
    difference_usd: Money
    unexplained_usd: Money | None


class ComparedModelDoc(_Model):
    """Usage of one model on both sides."""

    model: str
    computed_usd: Money
    billed_usd: Money
    difference_usd: Money
    unexplained_usd: Money | None


class ComparedMeterDoc(_Model):
    """Usage of one meter on both sides; null: lines that name none."""

    meter: str | None
    computed_usd: Money
    billed_usd: Money
    difference_usd: Money


class ReconciliationDoc(_Model):
    """Computed cost against a bill: ``difference_usd = sum of the causes + unexplained_usd``, exactly."""

    status: Literal["reconciled", "not_reconciled", "no_bill"]
    badge: str = Field(description="The status in words, as every output carries it.")
    tolerance_ratio: float | None = Field(description="Part of the bill that may stay unexplained.")
    computed_usd: Money | None
    billed_usd: Money | None
    difference_usd: Money | None = Field(description="Billed less computed.")
    causes: list[CauseDoc] = Field(description="In the order in which they are looked for.")
    unexplained_usd: Money | None
    unexplained_ratio: float | None = Field(description="Of the bill, without the sign.")
    compared_usd: Money | None = Field(
        description="Billed usage for which the log has usage on the same day and of the same model."
    )
    by_day: list[ComparedDayDoc] = Field(description="Usage only: taxes, credits and fees are causes.")
    by_model: list[ComparedModelDoc]
    by_meter: list[ComparedMeterDoc] = Field(description="Empty when the bill names no meters.")
    bill_formats: list[str]
    notes: list[str]


class TierDoc(_Model):
    """One service tier of one model: what of it has a price, and nothing else."""

    provider: str | None
    model: str
    service_tier: str
    requests: int | None = Field(description="null: some of it does not say how many requests it is.")
    tokens: dict[str, int]
    cost_by_meter: dict[str, Money]
