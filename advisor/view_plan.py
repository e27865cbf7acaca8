"""The plan: a waterfall from the bill as it is to the bill after all steps, and its numbers."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.analysis import Analysis
from advisor.charts import Series
from advisor.recommendation import Plan, Risk, Step
from advisor.view_advice_model import PlanPart
from advisor.view_model import Card, Cell, Table, TableColumn
from advisor.view_savings import MONTH, RISKS, USD, monthly, signed
from advisor.waterfall import TOTAL, Rung, waterfall
from advisor.wording import clean, name_cell, plural

_WIDE: Final = 980.0
_NARROW: Final = 342.0
_MOST_STEPS: Final = 10
_TITLE_LIMIT: Final = 120
_SERIES: Final = {Risk.NONE: 0, Risk.EVALUATE: 1}
_CENT: Final = Decimal("0.005")


def plan_part(analysis: Analysis, plan: Plan) -> PlanPart | None:
    """Return the plan as it is shown; None without a step."""
    if not plan.steps:
        return None
    rungs = _rungs(plan)
    return PlanPart(
        lead="The bill at list prices, what each step takes off what the steps before it have left, and what remains. "
        f"Amounts of this period ({numbers.period(analysis.period_days)}).",
        wide=waterfall(rungs, _WIDE),
        narrow=waterfall(rungs, _NARROW),
        legend=tuple(
            Series(index=_SERIES[risk], label=RISKS[risk].capitalize())
            for risk in Risk
            if any(step.risk is risk for step in plan.steps)
        ),
        overlap=_overlap(plan),
        totals=_totals(analysis, plan),
        table=_table(plan),
    )


def _rungs(plan: Plan) -> tuple[Rung, ...]:
    shown = plan.steps if len(plan.steps) <= _MOST_STEPS else plan.steps[: _MOST_STEPS - 1]
    rungs = [_total("The bill as it is", plan.baseline_usd)]
    before = plan.baseline_usd
    for step in shown:
        rungs.append(_rung(step, before))
        before = step.after_usd
    rest = plan.steps[len(shown) :]
    if rest:
        rungs.append(_rest(rest, before))
    return (*rungs, _total("What remains", plan.optimised_usd))


def _total(label: str, amount: Decimal) -> Rung:
    text = numbers.money(amount, USD)
    return Rung(
        label=label,
        note="",
        amount=text,
        before_usd=Decimal(0),
        after_usd=amount,
        kind=TOTAL,
        tip=f"{label}: {text}",
    )


def _rung(step: Step, before: Decimal) -> Rung:
    title, workload = clean(step.title, _TITLE_LIMIT), clean(step.workload)
    saved = numbers.money(step.saving_usd, USD)
    return Rung(
        label=title,
        note=workload,
        amount=signed_exactly(-step.saving_usd),
        before_usd=before,
        after_usd=step.after_usd,
        kind=step.risk.value,
        tip=f"{title}\n{workload}: {saved} here, {numbers.money(step.alone_usd, USD)} alone\n{RISKS[step.risk]}",
    )


def _rest(steps: Sequence[Step], before: Decimal) -> Rung:
    label = plural(len(steps), "smaller step")
    after = steps[-1].after_usd
    amount = signed_exactly(after - before)
    kinds = {step.risk for step in steps}
    return Rung(
        label=label,
        note="see the numbers below",
        amount=amount,
        before_usd=before,
        after_usd=after,
        kind=(Risk.EVALUATE if Risk.EVALUATE in kinds else Risk.NONE).value,
        tip=f"{label}: {amount}",
    )


def signed_exactly(amount: Decimal) -> str:
    """Return an amount to the cent; a true minus sign before what is taken off."""
    return numbers.money(amount, USD).replace("-", "\N{MINUS SIGN}")


def _overlap(plan: Plan) -> str:
    size = numbers.money(plan.overlap_usd.copy_abs(), USD)
    if abs(plan.overlap_usd) < _CENT:
        return "The steps do not overlap: together they save what they would save one by one."
    if plan.overlap_usd > 0:
        return f"Added up they would promise {size} more than they save together."
    return f"Together they save {size} more than they would add up to: one step makes another worth more."


def _totals(analysis: Analysis, plan: Plan) -> tuple[Card, ...]:
    safe, together = plan.safe_usd, plan.combined.expected
    return (
        _card(analysis, "Without a risk to answers", safe, none="" if safe else "no step is without one"),
        _card(analysis, "After an evaluation", together, none="" if together > safe else "no step needs one"),
        _card(
            analysis, "Ceiling (do not quote)", plan.ceiling_usd, more="if every assumption held to the full"
        ),
    )


def _card(analysis: Analysis, label: str, amount: Decimal, *, none: str = "", more: str = "") -> Card:
    factor, unit = monthly(analysis.period_days)
    note = unit if unit != MONTH else f"{signed(amount * factor)} {unit}"
    return Card(
        label=label,
        value=signed(amount),
        exact=numbers.money_exact(amount, USD),
        note=none or (f"{note}, {more}" if more else note),
    )


def _table(plan: Plan) -> Table:
    columns = (
        TableColumn(key="step", title="Step"),
        TableColumn(key="workload", title="Workload"),
        TableColumn(key="risk", title="Risk", quiet=True),
        TableColumn(key="saving", title="Saves, USD", number=True, hint="On what the steps before have left"),
        TableColumn(key="alone", title="Alone, USD", number=True, hint="On the bill as it is"),
        TableColumn(key="after", title="Left to pay, USD", number=True),
    )
    rows = tuple(
        (
            name_cell(step.title, limit=_TITLE_LIMIT),
            name_cell(step.workload, brief=True),
            Cell(text=RISKS[step.risk]),
            *(_money(amount) for amount in (step.saving_usd, step.alone_usd, step.after_usd)),
        )
        for step in plan.steps
    )
    return Table(slug="plan", caption="The plan, step by step", columns=columns, rows=rows)


def _money(amount: Decimal) -> Cell:
    return Cell(text=signed_exactly(amount), exact=numbers.money_exact(amount, USD), value=f"{amount:f}")
