"""The section that finance reads, as plain data."""

from dataclasses import dataclass

from advisor.charts import Series
from advisor.course import Course
from advisor.view_model import Table
from advisor.waterfall import Waterfall


@dataclass(frozen=True, slots=True, kw_only=True)
class CoursePart:
    """How months add up: spent, expected, and the range of it.

    Attributes:
        description: What is drawn, in words.
        wide: The chart.
        narrow: The same for narrow screens.
        range_name: What the band is called.
        limit: What the line across is called; empty: none is drawn.
        table: The numbers behind it.
    """

    description: str
    wide: Course
    narrow: Course
    range_name: str
    limit: str
    table: Table


@dataclass(frozen=True, slots=True, kw_only=True)
class ForecastPart:
    """What the bill will be, or why that is not said.

    Attributes:
        line: The whole of it in one sentence.
        table: Months with their range; None: there is no forecast.
        method: How it was made, and how wrong that was on days held back; empty without a forecast.
        notes: What a reader must know.
        chart: How the months add up; None: there is no forecast.
    """

    line: str
    table: Table | None
    method: str
    notes: tuple[str, ...]
    chart: CoursePart | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgePart:
    """Why the bill changed, or why that is not said.

    Attributes:
        line: The whole of it in one sentence.
        wide: From the earlier period to the later one; None: nothing can be drawn.
        narrow: The same for narrow screens.
        legend: What the colours are.
        drivers: The terms; None: there is no bridge.
        workloads: The same by workload.
        notes: What a reader must know.
    """

    line: str
    wide: Waterfall | None
    narrow: Waterfall | None
    legend: tuple[Series, ...]
    drivers: Table | None
    workloads: Table | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FinanceSection:
    """Finance's questions.

    Attributes:
        forecast: What it will be.
        budgets: What comes of the budgets that were given; None without any.
        bridge: Why it changed.
        unusual: Days that break their own pattern, in one sentence.
        unusual_table: The same as a table; None without any.
        units: What one unit costs; None: that is not known.
        allocations: Who pays, a table a label.
        plans: What usage of coding agents is worth; empty: the log has none.
    """

    forecast: ForecastPart
    budgets: Table | None
    bridge: BridgePart
    unusual: str
    unusual_table: Table | None
    units: Table | None
    allocations: tuple[Table, ...]
    plans: str
