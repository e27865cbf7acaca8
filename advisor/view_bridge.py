"""The bridge between two periods as it is shown: a waterfall, its terms, and the workloads behind them."""

from datetime import date
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.charts import Series
from advisor.finance import Variance
from advisor.variance import Bridges
from advisor.variance_periods import Periods, length
from advisor.variance_terms import Bridge, Driver
from advisor.variance_words import MEANINGS, NAMES, listed, variance_notes
from advisor.view_finance_model import BridgePart
from advisor.view_model import Cell, Table, TableColumn
from advisor.waterfall import TOTAL, Rung, waterfall
from advisor.wording import name_cell, plural

_WIDE: Final = 980.0
_NARROW: Final = 342.0
_MORE: Final = "evaluate"
_LESS: Final = "none"
"""Words of the waterfall for its two colours."""
_LEGEND: Final = (Series(index=1, label="Dearer"), Series(index=0, label="Cheaper"))
_MOST_ROWS: Final = 20
_NAMED: Final = 2


def bridge_part(variance: Variance) -> BridgePart:
    """Return the bridge, or why there is none."""
    found, periods = variance.bridges, variance.periods
    if found is None or periods is None:
        return BridgePart(
            line=f"No comparison of two periods: {variance.reason}.",
            wide=None,
            narrow=None,
            legend=(),
            drivers=None,
            workloads=None,
            notes=(),
        )
    rungs = _rungs(found.whole, periods)
    drawn = len(rungs) > _NAMED
    return BridgePart(
        line=_line(found, periods),
        wide=waterfall(rungs, _WIDE) if drawn else None,
        narrow=waterfall(rungs, _NARROW) if drawn else None,
        legend=_LEGEND if drawn else (),
        drivers=_drivers(found.whole, periods),
        workloads=_workloads(found),
        notes=tuple(variance_notes(variance)),
    )


def signed(amount: Decimal) -> str:
    """Return a change to the cent, with its sign."""
    return f"{'+' if amount > 0 else ''}{numbers.money(amount)}".replace("-", "\N{MINUS SIGN}")


def _line(found: Bridges, periods: Periods) -> str:
    whole = found.whole
    part = (
        f", {'+' if whole.change > 0 else ''}{numbers.share(whole.change / whole.before)}"
        if whole.before
        else ""
    )
    ranked = sorted(whole.terms, key=lambda driver: -abs(whole.terms[driver]))
    named = [
        f"{NAMES[driver].lower()} {signed(whole.terms[driver])}" for driver in ranked if whole.terms[driver]
    ]
    why = f", most of it {' and '.join(named[:_NAMED])}" if named else ""
    return (
        f"{periods.rule[0].upper()}{periods.rule[1:]}: {numbers.money(whole.before)} to "
        f"{numbers.money(whole.after)} ({signed(whole.change)}{part}){why}."
    )


def _span(days: tuple[date, date]) -> str:
    return f"{numbers.day_range(*days)} ({plural(length(days), 'day')})"


def _rungs(whole: Bridge, periods: Periods) -> list[Rung]:
    """Return the bars; what adds comes first, so that no level is below both ends."""
    moved = sorted(
        (driver for driver in Driver if whole.terms[driver]), key=lambda driver: -whole.terms[driver]
    )
    rungs = [_total(_span(periods.before), whole.before)]
    level = whole.before
    for driver in moved:
        amount = whole.terms[driver]
        rungs.append(
            Rung(
                label=NAMES[driver],
                note=MEANINGS[driver],
                amount=signed(amount),
                before_usd=level,
                after_usd=level + amount,
                kind=_MORE if amount > 0 else _LESS,
                tip=f"{NAMES[driver]}: {signed(amount)}\n{MEANINGS[driver]}",
            )
        )
        level += amount
    return [*rungs, _total(_span(periods.after), whole.after)]


def _total(label: str, amount: Decimal) -> Rung:
    text = numbers.money(amount)
    return Rung(
        label=label,
        note="",
        amount=text,
        before_usd=Decimal(0),
        after_usd=amount,
        kind=TOTAL,
        tip=f"{label}: {text}",
    )


def _amount(amount: Decimal, *, change: bool = False) -> Cell:
    text = signed(amount) if change else numbers.money(amount)
    return Cell(text=text, exact=numbers.money_exact(amount), value=f"{amount:f}")


def _drivers(whole: Bridge, periods: Periods) -> Table:
    rows = [(Cell(text=_span(periods.before)), _amount(whole.before), Cell(text=""))]
    rows += [
        (Cell(text=NAMES[driver]), _amount(whole.terms[driver], change=True), Cell(text=MEANINGS[driver]))
        for driver in Driver
        if whole.terms[driver]
    ]
    return Table(
        slug="bridge",
        caption="What the change is made of",
        columns=(
            TableColumn(key="driver", title="Driver"),
            TableColumn(key="amount", title="Amount", number=True),
            TableColumn(key="meaning", title="Meaning", quiet=True),
        ),
        rows=tuple(rows),
        rest=(Cell(text=_span(periods.after)), _amount(whole.after), Cell(text="")),
        note="The terms add up exactly; as shown they are rounded one by one.",
    )


def _workloads(found: Bridges) -> Table:
    shown = [driver for driver in Driver if found.whole.terms[driver] or _moves(found, driver)]
    return Table(
        slug="bridge-workloads",
        caption="The change by workload",
        columns=(
            TableColumn(key="name", title="Workload"),
            TableColumn(key="before", title="Before", number=True),
            TableColumn(key="after", title="After", number=True),
            TableColumn(key="change", title="Change", number=True),
            *(
                TableColumn(key=driver.value, title=NAMES[driver], number=True, quiet=True)
                for driver in shown
            ),
        ),
        rows=tuple(
            (
                name_cell(one.name, brief=True),
                _amount(one.before),
                _amount(one.after),
                _amount(one.change, change=True),
                *(_amount(one.terms[driver], change=True) for driver in shown),
            )
            for one in listed(found, _MOST_ROWS)
        ),
    )


def _moves(found: Bridges, driver: Driver) -> bool:
    return any(one.terms[driver] for one in found.workloads)
