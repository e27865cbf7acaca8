"""Bill and log brought together: cells of one day and one model, with what is computed and what is billed in each.

Only usage is in cells. Taxes, credits, discounts and fees are lines of their own; usage of providers that the bill is
not from is set aside.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Final

from advisor.bill_names import name_key
from advisor.reconciliation import Bill, BillLine, Usage, UsageRow
from pricing.meters import FEE_METERS, Meter
from workloads.charge_words import FEE, USAGE

UNNAMED: Final = ""
"""Key of lines that name no model."""
POOL: Final = "(by day only)"
"""Key of what the two sides call by names that cannot be brought together."""
_ALIKE: Final = (Decimal("0.4"), Decimal("2.5"))
"""Leftovers of both sides are taken for one another when their totals are within this ratio."""
_TOTALS_ALIKE: Final = Decimal("0.001")

CellKey = tuple[date | None, str]
"""Day (None: compared over the whole period) and key of the model."""


@dataclass(slots=True, kw_only=True)
class Cell:
    """One day and model, on both sides."""

    computed_usd: Decimal = Decimal(0)
    billed_usd: Decimal = Decimal(0)
    records: int = 0
    unpriced_records: int = 0
    rows: int = 0
    """Lines of the bill."""
    rounding_usd: Decimal = Decimal(0)
    failed_usd: Decimal = Decimal(0)
    """Computed cost of records that the log marks as failed."""
    failed_unmeasured: int = 0
    """Failed records without token counts."""
    billed_by_tier: dict[str, Decimal] = field(default_factory=dict[str, Decimal])
    computed_by_tier: dict[str, Decimal] = field(default_factory=dict[str, Decimal])
    billed_in_us_usd: Decimal = Decimal(0)
    """Billed at the provider's surcharge for one region (lines that say ``us``, not where a data centre is)."""

    @property
    def difference_usd(self) -> Decimal:
        """Billed less computed."""
        return self.billed_usd - self.computed_usd


@dataclass(frozen=True, slots=True, kw_only=True)
class Matched:
    """Both sides, with everything where it belongs."""

    cells: Mapping[CellKey, Cell]
    names: Mapping[str, str]
    """Key of a model -> how the log, or else the bill, calls it."""
    inside: tuple[UsageRow, ...]
    """Usage that the bill may be for."""
    outside: tuple[UsageRow, ...]
    """Usage of providers that the bill is not from."""
    lines: tuple[BillLine, ...]
    """Lines that are no usage."""
    fees_computed_usd: Decimal
    """Computed fees that stand against the bill's fee lines, and are in no cell."""
    notes: tuple[str, ...]


def match(usage: Usage, bill: Bill) -> Matched:
    """Return the cells of a bill and a log, with what belongs into none.

    Args:
        usage: The log's side.
        bill: The bill.
    """
    lines, notes = _without_totals(bill.lines)
    usage_lines = [line for line in lines if line.kind == USAGE]
    rest = tuple(line for line in lines if line.kind != USAGE)
    keys = {_key(line.model) for line in usage_lines}
    inside, outside = _split_by_provider(usage.rows, usage_lines, keys)
    fees = any(line.kind == FEE for line in rest)
    billed_names = _names((line.model for line in usage_lines), "lines that name no model")
    names = {**billed_names, **_names((row.model for row in inside), "records that name no model")}
    cells: dict[CellKey, Cell] = {}
    for line in usage_lines:
        _add_line(cells.setdefault((line.day, _key(line.model)), Cell()), line)
    for row in inside:
        _add_row(cells.setdefault((row.day, _key(row.model)), Cell()), row, with_fees=not fees)
    for row in usage.failed:
        cell = cells.get((row.day, _key(row.model)))
        if cell is not None:
            cell.failed_usd += row.cost_usd
            cell.failed_unmeasured += row.records if row.unmeasured else 0
    return Matched(
        cells=_dated(_pooled(cells)),
        names={**names, POOL: "models under names that cannot be matched"},
        inside=tuple(inside),
        outside=outside,
        lines=rest,
        fees_computed_usd=_fees(inside) if fees else Decimal(0),
        notes=(*bill.notes, *notes),
    )


def _key(model: str | None) -> str:
    return UNNAMED if model is None else name_key(model)


def _names(models: Iterable[str | None], otherwise: str) -> dict[str, str]:
    """Return a name for every key; of several the first in the alphabet, so that the order of rows never matters."""
    names: dict[str, str] = {}
    for model in models:
        key, name = _key(model), model or otherwise
        names[key] = min(names.get(key, name), name)
    return names


def _fees(rows: Iterable[UsageRow]) -> Decimal:
    return sum((row.cost.get(meter, Decimal(0)) for row in rows for meter in FEE_METERS), Decimal(0))


def _without_totals(lines: tuple[BillLine, ...]) -> tuple[list[BillLine], list[str]]:
    """Return the lines without those that name no model and repeat the sum of the day's others."""
    named: dict[tuple[date | None, str | None], Decimal] = {}
    bare: dict[tuple[date | None, str | None], Decimal] = {}
    for line in lines:
        if line.kind == USAGE:
            sums = named if line.model else bare
            at = (line.day, line.provider)
            sums[at] = sums.get(at, Decimal(0)) + line.amount_usd
    doubled = {
        at
        for at, total in bare.items()
        if at in named and total and abs(named[at] - total) <= abs(total) * _TOTALS_ALIKE
    }
    # One day where a line happens to be as large as the others is no proof; all days are.
    if not doubled or doubled != set(bare) or len(doubled) < min(len(named), 2):
        return list(lines), []
    kept = [line for line in lines if line.model or line.kind != USAGE]
    return kept, ["Lines that repeat the total of a day beside its models are left out of the bill."]


def _split_by_provider(
    rows: Iterable[UsageRow], lines: Iterable[BillLine], keys: set[str]
) -> tuple[list[UsageRow], tuple[UsageRow, ...]]:
    """Return the rows that the bill may be for, and those of other providers."""
    rows = list(rows)
    billed = {line.provider for line in lines}
    known = {row.provider for row in rows}
    if None in billed or not billed & known:
        return rows, ()

    def is_inside(row: UsageRow) -> bool:
        return row.provider in billed or (not row.stated and _key(row.model) in keys)

    return [row for row in rows if is_inside(row)], tuple(row for row in rows if not is_inside(row))


def _add_line(cell: Cell, line: BillLine) -> None:
    cell.billed_usd += line.amount_usd
    cell.rows += line.rows
    cell.rounding_usd += line.rounding_usd
    if line.tier:
        cell.billed_by_tier[line.tier] = cell.billed_by_tier.get(line.tier, Decimal(0)) + line.amount_usd
    if (line.region or "").lower() == "us":
        cell.billed_in_us_usd += line.amount_usd


def _add_row(cell: Cell, row: UsageRow, *, with_fees: bool) -> None:
    cost = row.cost_usd if with_fees else row.cost_usd - _fees([row])
    cell.computed_usd += cost
    cell.records += row.records
    cell.unpriced_records += row.unpriced_records
    if row.tier:
        cell.computed_by_tier[row.tier] = cell.computed_by_tier.get(row.tier, Decimal(0)) + cost


def _dated(cells: Mapping[CellKey, Cell]) -> dict[CellKey, Cell]:
    """Return the cells with every model on days, or, where one side has some of it without a day, on no day."""
    whole = {key for (day, key), cell in cells.items() if day is None and (cell.computed_usd or cell.rows)}
    return _moved(cells, {at: (None if at[1] in whole else at[0], at[1]) for at in cells})


def _pooled(cells: Mapping[CellKey, Cell]) -> dict[CellKey, Cell]:
    """Return the cells with the leftovers of both sides in one pool, where they may well be the same."""
    billed: dict[str, Decimal] = {}
    computed: dict[str, Decimal] = {}
    for (_, key), cell in cells.items():
        if cell.rows:
            billed[key] = billed.get(key, Decimal(0)) + cell.billed_usd
        if cell.records:
            computed[key] = computed.get(key, Decimal(0)) + cell.computed_usd
    only_billed, only_computed = set(billed) - set(computed), set(computed) - set(billed)
    ungrouped = set(billed) == {UNNAMED}
    left, right = (
        sum((sums[key] for key in keys), Decimal(0))
        for sums, keys in ((billed, only_billed), (computed, only_computed))
    )
    alike = left > 0 and right > 0 and _ALIKE[0] <= left / right <= _ALIKE[1]
    if not (ungrouped or alike):
        return dict(cells)
    pool = only_billed | only_computed
    return _moved(cells, {at: (at[0], POOL if at[1] in pool else at[1]) for at in cells})


def _moved(cells: Mapping[CellKey, Cell], to: Mapping[CellKey, CellKey]) -> dict[CellKey, Cell]:
    out: dict[CellKey, Cell] = {}
    for at, cell in cells.items():
        _merge(out.setdefault(to[at], Cell()), cell)
    return out


def _merge(into: Cell, cell: Cell) -> None:
    into.computed_usd += cell.computed_usd
    into.billed_usd += cell.billed_usd
    into.records += cell.records
    into.unpriced_records += cell.unpriced_records
    into.rows += cell.rows
    into.rounding_usd += cell.rounding_usd
    into.failed_usd += cell.failed_usd
    into.failed_unmeasured += cell.failed_unmeasured
    into.billed_in_us_usd += cell.billed_in_us_usd
    for name, amount in cell.billed_by_tier.items():
        into.billed_by_tier[name] = into.billed_by_tier.get(name, Decimal(0)) + amount
    for name, amount in cell.computed_by_tier.items():
        into.computed_by_tier[name] = into.computed_by_tier.get(name, Decimal(0)) + amount


def meters_of(usage: Iterable[UsageRow]) -> dict[Meter, Decimal]:
    """Return the computed cost by meter."""
    out: dict[Meter, Decimal] = {}
    for row in usage:
        for meter, amount in row.cost.items():
            out[meter] = out.get(meter, Decimal(0)) + amount
    return out
