"""Coding agents on a flat plan: what their usage would cost by the API, beside what the plan costs, and never added to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Final

from advisor import slices as cut
from advisor.analysis import Source
from pricing.charges import exact_sum
from pricing.frame import PricedCube

AGENT_FORMATS: Final = frozenset(
    {
        "claude-code", "claude-code-analytics", "claude-code-otel", "codex", "cursor-csv", "gemini-cli", "gemini-cli-otel",
        "gemini-cli-stats", "opencode", "pi-agent",
    }
)  # fmt: skip
"""Formats of tools that are often paid by the seat."""
_WIDE: Final = Context(prec=28)


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatPlan:
    """A flat plan.

    Attributes:
        name: What it is called.
        usd_per_month: What it costs a calendar month.
    """

    name: str
    usd_per_month: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanUse:
    """What usage of coding agents is worth, and what plans cost.

    Attributes:
        formats: Of which logs.
        requests: Requests of them.
        api_equivalent: What the API would have charged for what has a price; no money that anybody was asked for.
        months: Calendar months that this usage lies in.
        plans: The plans that were named.
    """

    formats: tuple[str, ...]
    requests: int
    api_equivalent: Decimal
    months: int
    plans: tuple[SeatPlan, ...]

    @property
    def billed_usd(self) -> Decimal | None:
        """What the plans cost in these months; None: none was named."""
        return exact_sum(plan.usd_per_month * self.months for plan in self.plans) if self.plans else None

    @property
    def ratio(self) -> float | None:
        """API-equivalent / plans; None without a plan."""
        paid = self.billed_usd
        return float(_WIDE.divide(self.api_equivalent, paid)) if paid else None


def from_agents(sources: Sequence[Source]) -> bool:
    """Return whether some input is the log of a coding agent."""
    return any(source.format in AGENT_FORMATS for source in sources)


def plan_use(by_format: PricedCube, plans: Sequence[SeatPlan]) -> PlanUse | None:
    """Return what usage of coding agents is worth; None where the log has none.

    Args:
        by_format: A cube whose workloads are the formats of the log.
        plans: The plans that were named.
    """
    found = {
        key: part
        for key, part in cut.slices(by_format, ["workload", "day"]).items()
        if isinstance(key, tuple) and key[0] in AGENT_FORMATS
    }
    if not found:
        return None
    months = {(key[1].year, key[1].month) for key in found if hasattr(key[1], "year") and key[1] == key[1]}
    return PlanUse(
        formats=tuple(sorted({str(key[0]) for key in found})),
        requests=sum(part.requests for part in found.values()),
        api_equivalent=exact_sum(part.total for part in found.values()),
        months=max(len(months), 1),
        plans=tuple(plans),
    )
