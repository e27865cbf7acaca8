"""The section on the bill: does the computed cost agree with it, and what is the difference made of."""

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.analysis import Analysis
from advisor.charts import BarPart
from advisor.reconciliation import Compared, Reconciliation
from advisor.view_model import Badge, Cell, ReconcileSection, Step, Table, TableColumn
from advisor.wording import METER_LABELS, TEXT_LIMIT, clean, full, name_cell, plural, sentence
from pricing.meters import Meter

NO_BILL_BADGE: Final = Badge(text="No bill given", tone="quiet")
CAUSE_NAMES: Final = {
    "tax": "Tax",
    "credits": "Credits and refunds",
    "fees": "Fees beside tokens",
    "other_providers": "Other providers",
    "days_not_in_log": "Days missing in the log",
    "days_not_in_bill": "Days missing in the bill",
    "models_not_in_log": "Models missing in the log",
    "models_not_in_bill": "Models missing in the bill",
    "unpriced_models": "Models without a price",
    "failed_calls": "Failed calls",
    "tier": "Service tier",
    "region": "Region",
    "discount": "Discount",
    "partial_days": "Hours missing in the log",
    "late_data": "Late data",
    "rounding": "Rounding",
}
_USD: Final = "USD"
_CENT: Final = Decimal("0.005")
_NEARLY_ALL: Final = 0.9
_ROWS: Final = 10
_MOST_EVIDENCE: Final = 2 * TEXT_LIMIT


def reconcile_badge(found: Reconciliation | None) -> Badge:
    """Return the status in a few words, as every output carries it."""
    if found is None:
        return NO_BILL_BADGE
    if not found.is_reconciled:
        if not found.compared_usd:
            return Badge(text="Not reconciled: the bill and the log have nothing in common", tone="warn")
        if not found.bill_is_complete:
            return Badge(text="Not reconciled: pages or parts of the bill are missing", tone="warn")
        rest = numbers.money(found.unexplained_usd.copy_abs(), _USD)
        return Badge(text=f"Not reconciled: {rest}{_percent(found)} unexplained", tone="warn")
    exact = abs(found.unexplained_usd) < _CENT
    within = "Reconciled to the cent" if exact else f"Reconciled within {_share(found).removeprefix('< ')}"
    return Badge(text=within + _reach(found), tone="good")


def _share(found: Reconciliation) -> str:
    return numbers.share(found.unexplained_ratio)


def _percent(found: Reconciliation) -> str:
    return "" if found.unexplained_ratio is None else f" ({_share(found)})"


def _reach(found: Reconciliation) -> str:
    """How much of the two sides stands behind a good outcome, where it is not all."""
    if not found.covers_the_log:
        return ", for the bill's provider only"
    usage = sum((row.billed_usd for row in found.by_day), Decimal(0))
    part = float(found.compared_usd / usage) if usage else 1.0
    return f", on {numbers.share(part)} of the bill" if part < _NEARLY_ALL else ""


def reconcile_section(analysis: Analysis) -> ReconcileSection:
    """Return the section; without a bill it says how to give one."""
    found = analysis.reconciliation
    if found is None:
        return ReconcileSection(
            badge=NO_BILL_BADGE,
            verdict="",
            steps=(),
            zero=0,
            tables=(),
            notes=(),
            absent="No bill was given, so nothing here is checked against what the provider charges. Give the "
            "provider's cost export or cost page with --bill, or run advisor reconcile LOG --bill BILL.",
        )
    steps, zero = _steps(found)
    tables = (
        _table("reconcile-models", "Usage by model, what differs most first", "Model", found.by_model),
        _table("reconcile-days", "Usage by UTC day, what differs most first", "Day", found.by_day),
        _table(
            "reconcile-meters", "Usage and fees by meter, what differs most first", "Meter", found.by_meter
        ),
    )
    return ReconcileSection(
        badge=reconcile_badge(found),
        verdict=_verdict(found),
        steps=steps,
        zero=zero,
        tables=tuple(table for table in tables if table.rows),
        notes=tuple(sentence(note) for note in found.notes),
        absent="",
    )


def _verdict(found: Reconciliation) -> str:
    billed, computed = numbers.money(found.billed_usd, _USD), numbers.money(found.computed_usd, _USD)
    difference = found.difference_usd
    if _is_nothing(found, difference):
        gap = f"The bill is {billed}, as computed."
    else:
        word = "more" if difference > 0 else "less"
        gap = f"The bill is {billed}, {numbers.money(difference.copy_abs(), _USD)} {word} than the computed {computed}."
    if not found.compared_usd:
        return f"{gap} The two have no usage in common, so nothing could be checked."
    if _is_nothing(found, found.unexplained_usd):
        return f"{gap} " + (
            "The causes below explain all of it." if found.causes else "Nothing is left to explain."
        )
    rest = f"{numbers.money(found.unexplained_usd.copy_abs(), _USD)}{_percent(found)}"
    explained = "The causes below explain the rest of it." if found.causes else "No cause was found for it."
    limit = f"the tolerance is {numbers.share(found.tolerance_ratio)}"
    return f"{gap} {rest} of the bill stays unexplained; {limit}. {explained}"


def _is_nothing(found: Reconciliation, amount: Decimal) -> bool:
    """Return whether an amount is too small to speak of: under half a cent, unless the bill is itself tiny."""
    return abs(amount) < _CENT and (not amount or found.is_reconciled)


def _steps(found: Reconciliation) -> tuple[tuple[Step, ...], float]:
    amounts = [cause.amount_usd for cause in found.causes] + [found.unexplained_usd]
    low, high = min(*amounts, Decimal(0)), max(*amounts, Decimal(0))
    span = high - low or Decimal(1)
    zero = round(float(-low / span) * 100, 2)
    steps = [_total("Computed from the log", found.computed_usd)]
    steps += [
        Step(
            label=CAUSE_NAMES.get(cause.code, clean(cause.code)),
            amount=_signed(cause.amount_usd),
            exact=numbers.money_exact(cause.amount_usd, _USD),
            evidence=sentence(cause.evidence, _MOST_EVIDENCE),
            bar=_bar(cause.amount_usd, low, span, "cause"),
        )
        for cause in found.causes
    ]
    steps.append(
        Step(
            label="Unexplained",
            amount=_signed(found.unexplained_usd),
            exact=numbers.money_exact(found.unexplained_usd, _USD),
            kind="rest",
            evidence=f"{_share(found)} of the bill." if found.unexplained_ratio else "",
            bar=_bar(found.unexplained_usd, low, span, "rest"),
        )
    )
    read_as = f"Read as {', '.join(found.sources)}." if found.sources else ""
    steps.append(_total("Billed", found.billed_usd, read_as))
    return tuple(steps), zero


def _total(label: str, amount: Decimal, evidence: str = "") -> Step:
    return Step(
        label=label,
        amount=numbers.money(amount, _USD),
        exact=numbers.money_exact(amount, _USD),
        evidence=evidence,
        kind="total",
    )


def _signed(amount: Decimal) -> str:
    text = numbers.money(amount, _USD)
    return f"+{text}" if amount > 0 else text.replace("-", "\N{MINUS SIGN}")


def _bar(amount: Decimal, low: Decimal, span: Decimal, kind: str) -> tuple[BarPart, ...]:
    start, end = sorted((Decimal(0), amount))
    width = round(float((end - start) / span) * 100, 2)
    return (BarPart(x=round(float((start - low) / span) * 100, 2), width=width, kind=kind),) if width else ()


def _table(slug: str, caption: str, title: str, rows: Iterable[Compared]) -> Table:
    ranked = sorted(
        rows,
        key=lambda row: (-abs(row.unexplained_usd or Decimal(0)), -abs(row.difference_usd), -row.billed_usd),
    )
    columns = (
        TableColumn(key="key", title=title),
        TableColumn(key="computed", title="Computed", number=True),
        TableColumn(key="billed", title="Billed", number=True),
        TableColumn(key="difference", title="Difference", number=True),
        TableColumn(key="unexplained", title="Unexplained", number=True),
    )
    has_rest = any(row.unexplained_usd is not None for row in ranked)
    differing = sum(bool(row.difference_usd or row.unexplained_usd) for row in ranked)
    # Rows that agree are worth a line together; all of them, where nothing differs, the dearest few.
    kept = min(differing, _ROWS) if differing and differing < len(ranked) - 1 else _ROWS
    shown, others = ranked[:kept], ranked[kept:]
    rest = None
    if others:
        left = [row.unexplained_usd for row in others if row.unexplained_usd is not None]
        rest = _cells(
            Cell(text=plural(len(others), "other"), note="which agree" if kept >= differing else ""),
            Compared(
                key=None,
                computed_usd=sum((row.computed_usd for row in others), Decimal(0)),
                billed_usd=sum((row.billed_usd for row in others), Decimal(0)),
                unexplained_usd=sum(left, Decimal(0)) if has_rest else None,
            ),
        )
    width = len(columns) if has_rest else len(columns) - 1
    return Table(
        slug=slug,
        caption=caption,
        columns=columns[:width],
        rows=tuple(_cells(_head(row.key), row)[:width] for row in shown),
        rest=None if rest is None else rest[:width],
        note="",
    )


def _head(key: date | str | None) -> Cell:
    if key is None:
        return Cell(text="(not stated)")
    if isinstance(key, date):
        return Cell(text=numbers.day(key), value=key.isoformat())
    label = METER_LABELS.get(Meter(key)) if key in set(Meter) else None
    return Cell(text=label, exact=full(key)) if label else name_cell(key)


def _cells(head: Cell, row: Compared) -> tuple[Cell, ...]:
    return (
        head,
        _money(row.computed_usd),
        _money(row.billed_usd),
        _money(row.difference_usd, signed=True),
        _money(row.unexplained_usd or Decimal(0), signed=True),
    )


def _money(amount: Decimal, *, signed: bool = False) -> Cell:
    return Cell(
        text=(_signed(amount) if signed else numbers.money(amount, _USD)),
        exact=numbers.money_exact(amount, _USD),
        value=f"{amount:f}",
    )
