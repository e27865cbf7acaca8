"""Spend over time, by model: the days as a chart and as a table."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.analysis import Analysis, DaySlice
from advisor.charts import Column, Series, stacked_columns
from advisor.view_model import Cell, DaySection, Table, TableColumn
from advisor.wording import BRIEF_LIMIT, clean, full, plural

TOP_MODELS: Final = 6
_OTHER: Final = -1
_WIDE: Final = (980.0, 300.0)
_NARROW: Final = (342.0, 240.0)
_MOST_DAYS: Final = 124
_MOST_WEEKS_DAYS: Final = 1_100


@dataclass(slots=True)
class _Slot:
    """Days gathered into one column."""

    requests: int = 0
    priced: int = 0
    total: Decimal = Decimal(0)
    by_model: dict[str, Decimal] = field(default_factory=lambda: defaultdict(Decimal))
    usd: Decimal = Decimal(0)
    """USD, not part of the total, of days without an exchange rate."""


def day_section(analysis: Analysis) -> DaySection:
    """Spend over time by model; the grain grows with the period so that columns stay readable."""
    dated = [row for row in analysis.by_day if row.day is not None]
    if not dated:
        return _absent("day", "No request in the log carries a time, so spend by day cannot be shown.")
    legend, order = _models(analysis.by_day)
    grain = _grain(dated)
    slots = _slots(dated, grain)
    table = _table(slots, legend, order, grain, analysis.cost.currency)
    if not any(slot.priced for _, slot in slots if slot):
        return _absent(grain, "No request could be priced, so there is no spend to draw.", table)
    if not any(slot.total for _, slot in slots if slot):
        return _absent(grain, "Every price in the log is $0, so there is no spend to draw.", table)
    columns = tuple(_column(start, slot, legend, order, grain) for start, slot in slots)
    palette = [series.index for series in legend]
    return DaySection(
        heading=f"Spend by {grain}",
        grain=grain,
        wide=stacked_columns(columns, palette, grain, _WIDE),
        narrow=stacked_columns(columns, palette, grain, _NARROW),
        legend=legend,
        description=_describe(slots, grain),
        notes=_notes(slots, grain, analysis.by_day),
        table=table,
        absent="",
    )


def _absent(grain: str, why: str, table: Table | None = None) -> DaySection:
    return DaySection(
        heading=f"Spend by {grain}",
        grain=grain,
        wide=None,
        narrow=None,
        legend=(),
        description="",
        notes=(),
        table=table,
        absent=why,
    )


def _notes(
    slots: Sequence[tuple[date, _Slot | None]], grain: str, rows: Sequence[DaySlice]
) -> tuple[str, ...]:
    notes: list[str] = []
    if grain != "day":
        notes.append(
            f"Days are gathered into {grain}s because the period is long; the first and the last may be partial."
        )
    empty = sum(slot is None for _, slot in slots)
    if empty:
        notes.append(f"The log holds nothing for {plural(empty, grain)}, shaded on the chart.")
    left = sum((slot.usd for _, slot in slots if slot is not None), Decimal(0))
    if left:
        notes.append(f"{numbers.money(left, 'USD')} of days without an exchange rate is not on the chart.")
    unpriced = sum(
        slot is not None and slot.requests > 0 and not slot.priced and not slot.usd for _, slot in slots
    )
    if unpriced:
        notes.append(f"For {plural(unpriced, grain)} no request could be priced: unknown, not $0.")
    return (*notes, *_undated(rows))


def _undated(rows: Sequence[DaySlice]) -> tuple[str, ...]:
    lost = next((row.whole for row in rows if row.day is None), None)
    if lost is None or not lost.requests:
        return ()
    return (
        f"{plural(lost.requests, 'request')} without a time ({numbers.money(lost.total)}) are not on the chart.",
    )


def _models(rows: Sequence[DaySlice]) -> tuple[tuple[Series, ...], Mapping[str, int]]:
    """Legend and, for each model, its place in it."""
    totals: dict[str, Decimal] = defaultdict(Decimal)
    for row in rows:
        for model, amount in ({} if row.whole.in_usd is not None else row.by_model).items():
            totals[model] += amount
    ranked = sorted(totals, key=lambda model: (-totals[model], model))
    top = ranked[:TOP_MODELS]
    order = {model: min(place, len(top)) for place, model in enumerate(ranked)}
    legend = [
        Series(index=i, label=clean(model, 36), full=full(model, BRIEF_LIMIT)) for i, model in enumerate(top)
    ]
    rest = len(ranked) - len(top)
    if rest:
        legend.append(Series(index=_OTHER, label=plural(rest, "other model")))
    return tuple(legend), order


def _grain(rows: Sequence[DaySlice]) -> str:
    days = [row.day for row in rows if row.day is not None]
    span = (max(days) - min(days)).days + 1
    if span <= _MOST_DAYS:
        return "day"
    return "week" if span <= _MOST_WEEKS_DAYS else "month"


def _start(day: date, grain: str) -> date:
    if grain == "week":
        return day - timedelta(days=day.weekday())
    return day.replace(day=1) if grain == "month" else day


def _next(day: date, grain: str) -> date:
    if grain == "month":
        return (day + timedelta(days=32)).replace(day=1)
    return day + timedelta(days=7 if grain == "week" else 1)


def _slots(rows: Sequence[DaySlice], grain: str) -> list[tuple[date, _Slot | None]]:
    """Every slot of the axis, None for those without any record."""
    found: dict[date, _Slot] = {}
    for row in rows:
        if row.day is None:
            continue
        slot = found.setdefault(_start(row.day, grain), _Slot())
        slot.requests += row.whole.requests
        if row.whole.in_usd is not None:
            slot.usd += row.whole.in_usd
            continue
        slot.priced += row.whole.is_priced
        slot.total += row.whole.total
        for model, amount in row.by_model.items():
            slot.by_model[model] += amount
    slots: list[tuple[date, _Slot | None]] = []
    at = min(found)
    while at <= max(found):
        slots.append((at, found.get(at)))
        at = _next(at, grain)
    return slots


def _values(slot: _Slot, legend: Sequence[Series], order: Mapping[str, int]) -> tuple[Decimal, ...]:
    values = [Decimal(0)] * len(legend)
    for model, amount in slot.by_model.items():
        values[order[model]] += amount
    return tuple(values)


def _when(start: date, grain: str) -> str:
    if grain == "month":
        return f"{numbers.MONTHS[start.month - 1]} {start.year}"
    return f"week of {numbers.day(start)}" if grain == "week" else numbers.day(start)


def _column(
    start: date, slot: _Slot | None, legend: Sequence[Series], order: Mapping[str, int], grain: str
) -> Column:
    if slot is None:
        return Column(start=start, values=None, tip=f"{_when(start, grain)}: no requests in the log")
    values = _values(slot, legend, order)
    spent = (
        numbers.money(slot.total)
        if slot.priced
        else numbers.money(slot.usd, "USD")
        if slot.usd
        else "cost unknown"
    )
    lines = [f"{_when(start, grain)}: {spent}, {plural(slot.requests, 'request')}"]
    lines += [f"{s.label}  {numbers.money(v)}" for s, v in zip(legend, values, strict=True) if v]
    return Column(start=start, values=values, tip="\n".join(lines))


def _describe(slots: Sequence[tuple[date, _Slot | None]], grain: str) -> str:
    filled = [(start, slot) for start, slot in slots if slot is not None]
    high = max(filled, key=lambda item: item[1].total)
    low = min(filled, key=lambda item: item[1].total)
    if len(filled) == 1:
        return f"One {grain}, {_when(high[0], grain)}: {numbers.money(high[1].total)}."
    mean = sum((slot.total for _, slot in filled), Decimal(0)) / len(filled)
    return (
        f"Mean {numbers.money_short(mean)} per {grain} with data; highest {numbers.money_short(high[1].total)} "
        f"({_when(high[0], grain)}), lowest {numbers.money_short(low[1].total)} ({_when(low[0], grain)})."
    )


def _table(
    slots: Sequence[tuple[date, _Slot | None]],
    legend: Sequence[Series],
    order: Mapping[str, int],
    grain: str,
    currency: str,
) -> Table:
    columns = (
        TableColumn(key="when", title=grain.capitalize()),
        TableColumn(key="requests", title="Requests", number=True),
        TableColumn(key="cost", title="Cost", number=True),
        *(TableColumn(key=f"series-{i}", title=s.label, number=True) for i, s in enumerate(legend)),
    )
    return Table(
        slug="days",
        caption=f"Spend by {grain} and model, {currency}",
        columns=columns,
        rows=tuple(_table_row(start, slot, legend, order) for start, slot in slots),
    )


def _table_row(
    start: date, slot: _Slot | None, legend: Sequence[Series], order: Mapping[str, int]
) -> tuple[Cell, ...]:
    when = Cell(text=start.isoformat())
    unknown = Cell(text=numbers.MISSING, value="-1")
    if slot is None:
        return (when, *(unknown for _ in range(len(legend) + 2)))
    amounts = (slot.total, *_values(slot, legend, order))
    requests = Cell(text=numbers.count(slot.requests), value=str(slot.requests))
    if slot.usd and not slot.priced:
        left = Cell(text=numbers.money(slot.usd, "USD"), value="-1", warning="no exchange rate")
        return (when, requests, left, *(unknown for _ in legend))
    return (
        when,
        requests,
        *(_amount(a) if slot.priced else unknown for a in amounts),
    )


def _amount(value: Decimal) -> Cell:
    return Cell(text=numbers.money(value), exact=numbers.money_exact(value), value=f"{value:.6f}")
