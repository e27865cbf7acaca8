"""What to do about a bill: recommendations, each with its evidence, and the plan that they add up to.

A lever says what it would change in the cube; what that saves is never estimated by the lever but found by pricing the
changed cube. Savings are ranges: the same change under low, expected and high assumptions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any

from pricing.meters import Phase

Frame = Any
"""The usage cube, a pandas frame: see ``workloads.cube.usage_cube``."""


class Level(StrEnum):
    """Which assumptions a change is made under."""

    LOW = "low"
    EXPECTED = "expected"
    HIGH = "high"


class Confidence(StrEnum):
    """What the saving rests on."""

    MEASURED = "measured"
    """Replayed or counted on this log."""
    MODELLED = "modelled"
    """Follows from this log and a stated rule."""
    ASSUMED = "assumed"
    """Rests on something that the log does not tell: only a bound."""


class Effort(StrEnum):
    """What it takes."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Risk(StrEnum):
    """What may happen to answers."""

    NONE = "none"
    """The model sees and writes the same."""
    EVALUATE = "evaluate"
    """Answers change: only after an evaluation."""


Change = Callable[[Frame, Level], Frame]
"""The cube, changed for one workload; rows of others stay as they are."""


def unchanged(cube: Frame, level: Level) -> Frame:
    """The change of a lever that was looked at and has nothing to change."""
    del level
    return cube


@dataclass(frozen=True, slots=True, kw_only=True)
class Saving:
    """USD of the period: what the changed cube costs less. Negative is a loss."""

    low: Decimal
    expected: Decimal
    high: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """One piece of evidence: a figure of this log, as it is shown."""

    label: str
    value: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What a lever would change; what it saves is found out by pricing.

    Attributes:
        lever: Name of the lever's module.
        workload: Name of the workload.
        title: What to do, in a few words.
        phase: Which phase it acts on; fees and discounts on all tokens act on both: None.
        change: What becomes of the cube.
        confidence: What the saving rests on.
        effort: What it takes.
        risk: What may happen to answers.
        evidence: Figures of this log.
        assumptions: What is taken for granted, with low and high where these differ.
        how: Steps.
        snippet: Code or configuration for the provider at hand; None where there is none.
        doubt: Why it may not be worth it, said where it is not; empty: the number says it.
    """

    lever: str
    workload: str
    title: str
    phase: Phase | None
    change: Change
    confidence: Confidence
    effort: Effort
    risk: Risk
    evidence: tuple[Fact, ...] = ()
    assumptions: tuple[str, ...] = ()
    how: tuple[str, ...] = ()
    snippet: str | None = None
    doubt: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """A proposal that saves money, with how much.

    Attributes:
        proposal: What to do.
        saving: Of the period, alone on the bill as it is.
        saving_per_month: The same for 30.4375 days; None under a day of log.
        touched_usd: Cost of the tokens that it acts on: no saving exceeds it.
        fits: Whether it acts on the phase that dominates its workload.
    """

    proposal: Proposal
    saving: Saving
    saving_per_month: Saving | None
    touched_usd: Decimal
    fits: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rejected:
    """A lever that was looked at and does not pay, with the number."""

    lever: str
    workload: str
    reason: str
    saving: Saving


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One step of the plan: what the cube costs after it, on what the steps before have left."""

    lever: str
    workload: str
    title: str
    risk: Risk
    saving_usd: Decimal
    alone_usd: Decimal
    after_usd: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftTokens:
    """What of the log's text is left after the plan: counts before and after."""

    computed: tuple[int, int]
    """Of prompts, what no cache has."""
    cached: tuple[int, int]
    output: tuple[int, int]
    requests: tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Levers applied one after the other to the same cube.

    Attributes:
        baseline_usd: The bill as it is, as far as it has prices.
        optimised_usd: After all steps.
        combined: Baseline less optimised, under low, expected and high assumptions.
        safe_usd: What is saved by steps without a risk to answers alone: never more than ``combined.expected``.
        overlap_usd: Sum of the savings alone, less the combined one: what adding up would have promised too much.
        steps: In their order, expected assumptions; a step that does not save on what it meets is dropped.
        left: What there is still to serve; None: nobody looked.
    """

    baseline_usd: Decimal
    optimised_usd: Decimal
    combined: Saving
    safe_usd: Decimal
    overlap_usd: Decimal
    steps: tuple[Step, ...]
    left: LeftTokens | None = None

    @property
    def ceiling_usd(self) -> Decimal:
        """What is saved if all of every assumption comes true at once: it never does, so nobody should be told it."""
        return max(self.combined.low, self.combined.expected, self.combined.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """All that is to be done: best first, what fits the dominant phase of its workload before what does not."""

    recommendations: tuple[Recommendation, ...]
    rejected: tuple[Rejected, ...]
    plan: Plan
