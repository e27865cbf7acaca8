"""ReportView: the whole report as plain data, every number rounded and labelled, the exact value beside it.

Renderers read this and nothing else; they add up nothing and format no number.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.charts import BarPart, Series, StackedColumns
from advisor.phase_map import PhaseMap

if TYPE_CHECKING:  # it is built of what is below
    from advisor.view_advice_model import AdviceSection
    from advisor.view_finance_model import FinanceSection
    from advisor.view_hosting_model import HostingSection
    from advisor.view_reuse_model import ReuseSection
    from advisor.view_whatif import WhatIfSection


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One cell of a table."""

    text: str
    exact: str | None = None
    """The exact value or the full text, where ``text`` is rounded or cut."""
    value: str = ""
    """What the column sorts by; the text when empty."""
    note: str = ""
    """A second, quieter line."""
    warning: str = ""
    """A reason for doubt, shown with the cell."""
    bar: tuple[BarPart, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableColumn:
    """One column of a table."""

    key: str
    title: str
    number: bool = False
    """Right-aligned, with tabular figures."""
    quiet: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table with its caption."""

    slug: str
    caption: str
    columns: tuple[TableColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    """Cells in the order of the columns; the first is the row's header."""
    rest: tuple[Cell, ...] | None = None
    """The row that stands for everything not listed."""
    note: str = ""

    def picked(self, *keys: str) -> Iterator[tuple[Cell, ...]]:
        """The rows, the rest included, with only these columns."""
        at = [[column.key for column in self.columns].index(key) for key in keys]
        for row in (*self.rows, *((self.rest,) if self.rest else ())):
            yield tuple(row[index] for index in at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Badge:
    """A short statement about how far to trust the numbers: ``good``, ``warn`` or ``quiet``."""

    text: str
    tone: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One number with its name."""

    label: str
    value: str
    note: str = ""
    exact: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseShare:
    """One phase of the bill: ``prefill``, ``decode`` or ``fee``."""

    kind: str
    name: str
    meaning: str
    share: str
    money: str
    exact: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Headline:
    """What a reader in a hurry takes away."""

    qualifier: str
    """``at least`` when some of the usage has no price, else empty."""
    amount: str
    exact: str | None
    period: str
    verdict: str
    """Which phase dominates and what that means, in plain English."""
    summary: str
    """Amount, period and requests on one line."""
    badges: tuple[Badge, ...]
    cards: tuple[Card, ...]
    bar: tuple[BarPart, ...]
    phases: tuple[PhaseShare, ...]
    outlook: tuple[Card, ...] = ()
    """The course of spend: against the time before, and what is expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CostSection:
    """List, contracted and effective cost, and what made them differ."""

    table: Table
    discounts: Table | None
    commitments: Table | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DaySection:
    """Spend over time; without charts, ``absent`` says why."""

    heading: str
    grain: str
    wide: StackedColumns | None
    narrow: StackedColumns | None
    legend: tuple[Series, ...]
    description: str
    notes: tuple[str, ...]
    table: Table | None
    absent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassNote:
    """What a class of workloads means and which levers act on its phase."""

    kind: str
    name: str
    tally: str
    meaning: str
    levers: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadSection:
    """The workloads, dearest first."""

    table: Table
    reasons: Table
    classes: tuple[ClassNote, ...]
    rule: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MapSection:
    """The phase map; without charts, ``absent`` says why."""

    wide: PhaseMap | None
    narrow: PhaseMap | None
    legend: tuple[Series, ...]
    description: str
    notes: tuple[str, ...]
    absent: str
    table: Table | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MeterRow:
    """Tokens and money of one meter, each as its part of the whole."""

    label: str
    kind: str
    tokens: str
    tokens_exact: str
    tokens_share: str
    tokens_bar: tuple[BarPart, ...]
    cost: str
    cost_exact: str
    cost_share: str
    cost_bar: tuple[BarPart, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeterSection:
    """Tokens against money, and why they differ."""

    rows: tuple[MeterRow, ...]
    contrast: str
    asymmetry: Table
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DataSection:
    """What was read and what is wrong with it."""

    terms: tuple[Card, ...]
    """rows read, then the four terms that add up to it."""
    facts: tuple[str, ...]
    problems: Table
    sources: Table
    unpriced: Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One line on the way from the computed to the billed amount."""

    label: str
    amount: str
    exact: str
    evidence: str = ""
    kind: str = "cause"
    """``total`` (computed, billed), ``cause``, or ``rest`` (unexplained)."""
    bar: tuple[BarPart, ...] = ()
    """From zero to the amount; empty for totals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReconcileSection:
    """Computed cost against a bill; without one, ``absent`` says how to give it."""

    badge: Badge
    verdict: str
    steps: tuple[Step, ...]
    zero: float
    """Where zero is on the steps' bars."""
    tables: tuple[Table, ...]
    """By model, day and meter, where the bill has them; what differs most comes first."""
    notes: tuple[str, ...]
    absent: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A term and what is said about it."""

    term: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodSection:
    """How the numbers were made."""

    bases: tuple[Pair, ...]
    assumptions: tuple[str, ...]
    provenance: tuple[Pair, ...]
    glossary: tuple[Pair, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportView:
    """Everything that any rendering of the report shows."""

    title: str
    subtitle: str
    headline: Headline
    advice: "AdviceSection | None"
    """None where nothing was looked for."""
    whatif: "WhatIfSection | None"
    """None where the page has nothing to price again."""
    costs: CostSection | None
    """None where the three costs are one."""
    days: DaySection
    finance: "FinanceSection | None"
    """None where nobody asked finance's questions."""
    workloads: WorkloadSection
    reuse: "ReuseSection | None"
    """None where the log does not tell what prompts have in common."""
    phase_map: MapSection
    meters: MeterSection
    hosting: "HostingSection | None"
    reconciliation: ReconcileSection
    data: DataSection
    prices: Table
    method: MethodSection
    version: str
