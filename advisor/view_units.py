"""Unit costs, allocation and flat plans as they are shown."""

from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.allocation import Allocation, AllocationRow
from advisor.allocation_plans import PlanUse
from advisor.analysis import Analysis
from advisor.unit_economics import UnitCost
from advisor.view_model import Cell, Table, TableColumn
from advisor.wording import clean, name_cell, plural

_NAMES: Final = {
    "request": "Request",
    "session": "Session",
    "user": "User",
    "accepted_outcome": "Accepted outcome",
    "accepted_outcome_all_requests": "Accepted outcome, all requests",
    "workload": "Workload",
    "1k_tokens": "1,000 tokens",
    "1M_tokens": "1 million tokens",
    "1M_prompt_tokens": "1 million prompt tokens",
    "1M_cached_tokens": "1 million cached tokens",
    "1M_answer_tokens": "1 million answer tokens",
}
_MOST_ROWS: Final = 40


def unit_table(analysis: Analysis, units: tuple[UnitCost, ...]) -> Table | None:
    """Return what one unit costs; None where that is not known."""
    if not units:
        return None
    spread = any(one.median is not None for one in units)
    return Table(
        slug="units",
        caption=f"What one unit costs ({numbers.period(analysis.period_days)})",
        columns=(
            TableColumn(key="unit", title="One"),
            TableColumn(key="mean", title="Mean", number=True),
            *(
                (
                    TableColumn(key="median", title="Median", number=True, hint="Half of them cost less"),
                    TableColumn(key="p95", title="P95", number=True, hint="Nineteen of twenty cost less"),
                )
                if spread
                else ()
            ),
            TableColumn(key="count", title="How many", number=True, quiet=True),
            TableColumn(key="basis", title="Of", quiet=True),
        ),
        rows=tuple(_unit_row(one, spread=spread) for one in units),
        note=""
        if spread
        else "Median, 95th percentile, sessions and users come with --unit-costs; the log's requests are then looked at one by one.",
    )


def _unit_row(one: UnitCost, *, spread: bool) -> tuple[Cell, ...]:
    ends = (_maybe(one.median), _maybe(one.p95)) if spread else ()
    return (
        Cell(text=_NAMES.get(one.unit, one.unit)),
        _money(one.mean),
        *ends,
        Cell(
            text=numbers.tokens(one.count) if "tokens" in one.unit else numbers.count(one.count),
            exact=numbers.count(one.count),
            value=str(one.count),
        ),
        Cell(text=one.basis),
    )


def _money(amount: Decimal) -> Cell:
    return Cell(text=numbers.money(amount), exact=numbers.money_exact(amount), value=f"{amount:f}")


def _maybe(amount: Decimal | None) -> Cell:
    return Cell(text=numbers.MISSING, value="-1") if amount is None else _money(amount)


def allocation_table(analysis: Analysis, one: Allocation) -> Table:
    """Return who pays, by one label."""
    shares = any(row.shared for row in one.rows)
    named = [row for row in one.rows if not row.untagged]
    single = [row for row in named if not row.gathered]
    shown = (*single[:_MOST_ROWS], *(row for row in one.rows if row.untagged))
    rest = (*single[_MOST_ROWS:], *(row for row in named if row.gathered))
    key = clean(one.key).replace("_", " ")
    return Table(
        slug=f"allocation-{one.key.replace('_', '-')}",
        caption=f"Who pays, by {key} (showback, {numbers.period(analysis.period_days)})",
        columns=(
            TableColumn(key="name", title=key.capitalize()),
            TableColumn(key="requests", title="Requests", number=True, quiet=True),
            TableColumn(key="direct", title="Own cost", number=True),
            *(
                (
                    TableColumn(key="shared", title="Shared cost", number=True, hint=one.sharing.words),
                    TableColumn(key="total", title="Total", number=True),
                )
                if shares
                else ()
            ),
            TableColumn(key="percent", title="Share", number=True),
        ),
        rows=tuple(_allocation_row(row, shares=shares) for row in shown),
        rest=_rest(rest, one, shares=shares),
        note=f"{one.sharing.words[0].upper()}{one.sharing.words[1:]}. Without a label: "
        f"{numbers.share(one.untagged_ratio)} of the cost.",
    )


def _allocation_row(row: AllocationRow, *, shares: bool) -> tuple[Cell, ...]:
    name = name_cell(row.name, brief=True)
    warning = f"{plural(row.unpriced, 'request')} without a price" if row.unpriced else ""
    amounts = (row.direct, row.shared, row.total) if shares else (row.direct,)
    return (
        Cell(text=name.text, exact=name.exact, warning=warning),
        Cell(text=numbers.count(row.requests), value=str(row.requests)),
        *(_money(amount) for amount in amounts),
        Cell(text=f"{row.percent:.2f} %", value=f"{row.percent:f}"),
    )


def _rest(rest: tuple[AllocationRow, ...], one: Allocation, *, shares: bool) -> tuple[Cell, ...] | None:
    """Return the sum of what is not listed; without any, that of all."""
    rows = rest or one.rows
    sums = (
        (sum((getattr(row, name) for row in rows), Decimal(0)))
        for name in (("direct", "shared", "total") if shares else ("direct",))
    )
    requests = sum(row.requests for row in rows)
    percent = sum((row.percent for row in rows), Decimal(0))
    names = sum(row.gathered or 1 for row in rest)
    return (
        Cell(text=f"{plural(names, 'more name')}" if rest else "All"),
        Cell(text=numbers.count(requests), value=str(requests)),
        *(_money(amount) for amount in sums),
        Cell(text=f"{percent:.2f} %", value=f"{percent:f}"),
    )


def plan_line(used: PlanUse | None) -> str:
    """Return what usage of coding agents is worth, in a sentence; empty where the log has none."""
    if used is None:
        return ""
    worth = (
        f"{plural(used.requests, 'request')} of coding agents ({', '.join(used.formats)}) are "
        f"{numbers.money(used.api_equivalent)} API-equivalent: what the API would have charged. "
        "Where a flat plan pays for them, nobody was charged that."
    )
    if not used.plans or used.billed_usd is None:
        return f"{worth} Name the plan with --plan NAME=USD to see both."
    named = ", ".join(clean(plan.name) for plan in used.plans)
    return (
        f"{worth} Plans ({named}) cost {numbers.money(used.billed_usd, 'USD')} for {plural(used.months, 'calendar month')}. "
        "The two are not added up."
    )
