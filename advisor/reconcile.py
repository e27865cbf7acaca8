"""Computed cost against a provider's own bill: the difference, taken apart into named causes and an unexplained rest.

Causes are looked for in a fixed sequence, the surest first. Each takes from a cell (a day and a model) no more than what
is left there, so that their sum and the rest are the difference, to the last digit.
"""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal, localcontext
from typing import Final

from advisor.reconcile_causes import (
    explain_failed,
    explain_failed_alone,
    explain_late_data,
    explain_missing,
    explain_named_tiers,
    explain_partial_days,
    explain_rounding,
    explain_unpriced,
)
from advisor.reconcile_cells import CellKey, Matched, match, meters_of
from advisor.reconcile_gap import Gap, name_words
from advisor.reconcile_ratio import DISCOUNT, explain_ratios
from advisor.reconciliation import (
    DEFAULT_TOLERANCE,
    NOT_RECONCILED,
    RECONCILED,
    Bill,
    Compared,
    Reconciliation,
    Usage,
)
from advisor.wording import plural
from pricing.meters import Meter
from workloads import charge_words

_DIGITS: Final = 100
"""Digits of every sum: more than any amount has, so that no order of rows makes a difference."""
_WRONG_UNIT: Final = ((Decimal(98), Decimal(102)), (Decimal("0.0098"), Decimal("0.0102")))
_LINES: Final = (
    (charge_words.TAX, "tax", "tax"),
    (charge_words.CREDIT, "credits", "credits, refunds or corrections"),
    (charge_words.DISCOUNT, DISCOUNT, "discounts"),
)
"""Kinds of lines that are causes by themselves: kind, cause, what such a line is called."""


def reconcile(usage: Usage, bill: Bill, tolerance_ratio: Decimal = DEFAULT_TOLERANCE) -> Reconciliation:
    """Return what became of the difference between a bill and the computed cost.

    Args:
        usage: The log's side, on UTC days.
        bill: The provider's side.
        tolerance_ratio: Part of the bill that may stay unexplained.
    """
    with localcontext(prec=_DIGITS):
        matched = match(usage, bill)
        gap = Gap.of(matched)
        _explain_lines(gap)
        explain_missing(gap)
        explain_unpriced(gap)
        explain_failed_alone(gap)
        explain_named_tiers(gap)
        explain_ratios(gap)
        explain_failed(gap)
        explain_partial_days(gap, usage)
        explain_late_data(gap)
        explain_rounding(gap)
        return _outcome(gap, usage, bill, tolerance_ratio)


def _explain_lines(gap: Gap) -> None:
    """Name what is in no cell: lines of the bill that are no usage, and usage that the bill is not for."""
    matched = gap.matched
    for kind, code, word in _LINES:
        lines = [line for line in matched.lines if line.kind == kind]
        total = _sum(line.amount_usd for line in lines)
        if total:
            rows = sum(line.rows for line in lines)
            gap.note(code, total, f"{plural(rows, 'line')} of the bill for {word}", rows)
    fees = [line for line in matched.lines if line.kind == charge_words.FEE]
    total = _sum(line.amount_usd for line in fees) - matched.fees_computed_usd
    if total:
        rows = sum(line.rows for line in fees)
        names = name_words((line.meter or line.model or "fees").replace("_", " ") for line in fees)
        gap.note(
            "fees", total, f"{plural(rows, 'line')} of the bill for other things than tokens: {names}", rows
        )
    outside = -_sum(row.cost_usd for row in matched.outside)
    if outside:
        names = name_words(row.provider or "no provider" for row in matched.outside)
        rows = sum(row.records for row in matched.outside)
        gap.note("other_providers", outside, f"the log's usage of {names}, which the bill is not from", rows)


def _sum(amounts: Iterable[Decimal]) -> Decimal:
    return sum(amounts, Decimal(0))


def _outcome(gap: Gap, usage: Usage, bill: Bill, tolerance_ratio: Decimal) -> Reconciliation:
    cells = gap.matched.cells
    billed = _sum(cell.billed_usd for cell in cells.values()) + _sum(
        line.amount_usd for line in gap.matched.lines
    )
    compared = _sum(cell.billed_usd for cell in cells.values() if cell.rows and cell.computed_usd)
    unexplained = _sum(gap.left.values())
    # Of a bill with missing pages nothing is proven, however well the rest agrees.
    is_sound = bill.is_complete and compared > 0 and abs(unexplained) <= tolerance_ratio * abs(billed)
    return Reconciliation(
        status=RECONCILED if is_sound else NOT_RECONCILED,
        tolerance_ratio=tolerance_ratio,
        computed_usd=_sum(row.cost_usd for row in usage.rows),
        billed_usd=billed,
        causes=tuple(gap.causes),
        unexplained_usd=unexplained,
        compared_usd=compared,
        by_day=_by_day(gap),
        by_model=_by_model(gap),
        by_meter=_by_meter(gap.matched, bill),
        sources=bill.sources,
        bill_is_complete=bill.is_complete,
        notes=(*gap.matched.notes, *_doubts(gap, compared)),
    )


def _by_day(gap: Gap) -> tuple[Compared, ...]:
    """Return the days in order; what is compared over the whole period comes last."""
    days = {at[0] for at in gap.matched.cells}
    ordered = sorted(days, key=lambda day: (day is None, day or date.min))
    return tuple(_added_up(gap, day, [at for at in gap.matched.cells if at[0] == day]) for day in ordered)


def _by_model(gap: Gap) -> tuple[Compared, ...]:
    """Return the models, the dearest bill first."""
    keys = {at[1] for at in gap.matched.cells}
    rows = [_added_up(gap, gap.name(key), [at for at in gap.matched.cells if at[1] == key]) for key in keys]
    return tuple(sorted(rows, key=lambda row: (-row.billed_usd, -row.computed_usd, str(row.key))))


def _added_up(gap: Gap, key: date | str | None, members: Iterable[CellKey]) -> Compared:
    members = list(members)
    cells = [gap.matched.cells[at] for at in members]
    return Compared(
        key=key,
        computed_usd=_sum(cell.computed_usd for cell in cells),
        billed_usd=_sum(cell.billed_usd for cell in cells),
        unexplained_usd=_sum(gap.left[at] for at in members),
    )


def _by_meter(matched: Matched, bill: Bill) -> tuple[Compared, ...]:
    """Return the meters, in their own order; nothing when most of the bill names none."""
    lines = [line for line in bill.lines if line.kind in (charge_words.USAGE, charge_words.FEE)]
    named = _sum(line.amount_usd for line in lines if line.meter)
    if named * 2 < _sum(line.amount_usd for line in lines) or not named:
        return ()
    computed = meters_of(matched.inside)
    billed: dict[str | None, Decimal] = {}
    for line in lines:
        billed[line.meter] = billed.get(line.meter, Decimal(0)) + line.amount_usd
    keys = [str(meter) for meter in Meter if computed.get(meter) or str(meter) in billed]
    return tuple(
        Compared(
            key=key,
            computed_usd=computed.get(Meter(key), Decimal(0)) if key else Decimal(0),
            billed_usd=billed.get(key, Decimal(0)),
        )
        for key in (*keys, *([None] if billed.get(None) else []))
    )


def _doubts(gap: Gap, compared: Decimal) -> list[str]:
    if not compared:
        return ["The bill and the log have no day and model in common: nothing could be compared."]
    both = [cell for cell in gap.matched.cells.values() if cell.rows and cell.computed_usd]
    ratio = compared / _sum(cell.computed_usd for cell in both)
    if any(low <= ratio <= high for low, high in _WRONG_UNIT):
        return ["The bill is 100 times the computed cost, or a hundredth of it: are its amounts in cents?"]
    return []
