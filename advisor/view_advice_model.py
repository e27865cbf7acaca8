"""What the section on what to do holds, as plain data: see ``advisor.view_model``."""

from dataclasses import dataclass

from advisor.charts import Series
from advisor.view_model import Badge, Card, Pair, Table
from advisor.waterfall import Waterfall


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceCard:
    """One recommendation."""

    title: str
    workload: str
    workload_exact: str | None
    saves: str
    """What it saves: ``$2,310``, ``up to $95.00``."""
    unit: str
    """``a month``, or ``in this period``."""
    exact: str
    """The saving of the period, with every digit."""
    range: str
    """Low to high in words; empty where both are what is expected."""
    phase: str
    phase_kind: str
    """``prefill``, ``decode``, ``fee``, or empty where it acts on all tokens."""
    confidence: str
    risk: str
    chips: tuple[Badge, ...]
    """Confidence, effort, risk, and a doubt where it does not fit its workload."""
    evidence: tuple[Pair, ...]
    how: tuple[str, ...]
    assumptions: tuple[str, ...]
    snippet: str
    """Lines of code or configuration; empty where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPart:
    """The steps, one after the other."""

    lead: str
    wide: Waterfall
    narrow: Waterfall
    legend: tuple[Series, ...]
    overlap: str
    totals: tuple[Card, ...]
    """Without a risk to answers, with that after an evaluation, and the ceiling."""
    table: Table


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceSection:
    """What to do."""

    verdict: str
    """What all of it saves together, or that nothing does."""
    notes: tuple[str, ...]
    """What the amounts are, and at which prices."""
    currency_note: str
    """Where the rest of the report is not in USD."""
    cards: tuple[AdviceCard, ...]
    more: tuple[AdviceCard, ...]
    """What comes after the best ones."""
    more_label: str
    left_out: str
    """Says how many more the document has; empty where all are shown."""
    plan: PlanPart | None
    rejected: Table | None
    rejected_more: Table | None
    rejected_label: str

    @property
    def every_card(self) -> tuple[AdviceCard, ...]:
        """All cards, best first."""
        return (*self.cards, *self.more)
