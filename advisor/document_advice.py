"""The JSON document's sections on what to do: their fields.

Money is in USD at list prices, of the period but where a name says otherwise. A negative saving is a loss.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Money = str
Risk = Literal["none", "evaluate"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SavingDoc(_Model):
    """A saving under low, expected and high assumptions."""

    low: Money
    expected: Money
    high: Money


class FactDoc(_Model):
    """One piece of evidence, as it is shown."""

    label: str
    value: str


class RecommendationDoc(_Model):
    """Something to do that saves money, alone on the bill as it is."""

    lever: str
    workload: str
    title: str
    phase: Literal["prefill", "decode", "fee"] | None = Field(description="null: it acts on all tokens.")
    saving: SavingDoc
    saving_per_month: SavingDoc | None = Field(
        description="The same for 30.4375 days; null under a day of log."
    )
    touched_usd: Money = Field(description="Cost of the tokens that it acts on: no saving exceeds it.")
    confidence: Literal["measured", "modelled", "assumed"]
    effort: Literal["low", "medium", "high"]
    risk: Risk = Field(description="none: answers stay the same; evaluate: only after an evaluation.")
    fits: bool = Field(description="Whether it acts on the phase that dominates its workload.")
    evidence: list[FactDoc]
    assumptions: list[str]
    how: list[str]
    snippet: str | None


class RejectedDoc(_Model):
    """Something that was looked at and does not pay."""

    lever: str
    workload: str
    reason: str
    saving: SavingDoc


class StepDoc(_Model):
    """One step of the plan, on what the steps before it have left."""

    lever: str
    workload: str
    title: str
    risk: Risk
    saving: Money
    alone: Money = Field(description="What it would save without the other steps.")
    after: Money = Field(description="The bill after it.")


class TotalsDoc(_Model):
    """What the plan saves, by what has to be true for it; each has the one before in it."""

    no_risk: Money = Field(description="Steps that leave answers as they are, alone; expected assumptions.")
    after_evaluation: Money = Field(
        description="All steps, where an evaluation finds nothing against them; expected assumptions."
    )
    ceiling: Money = Field(
        description="Do not quote: all steps, if every assumption came true to the full. The limit, not an estimate."
    )


class PlanDoc(_Model):
    """The recommendations applied one after the other: their savings are never added up."""

    baseline: Money
    optimised: Money
    combined_saving: SavingDoc
    totals: TotalsDoc
    overlap: Money = Field(description="Savings alone added up, less the combined one.")
    steps: list[StepDoc]
