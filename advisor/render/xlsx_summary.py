"""The first sheet: what was spent, what the inputs make of it, and where it comes from."""

from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.analysis import Analysis
from advisor.document_money import money
from advisor.render.xlsx_book import Cell, Sheet, formula, number, text
from advisor.render.xlsx_charges import COST, LIST, METER, MODEL, NO_PRICE, QUANTITY
from advisor.render.xlsx_usage import Usage
from advisor.view_headline import headline
from advisor.view_reconcile import reconcile_badge
from advisor.wording import METER_LABELS, clean
from pricing.meters import Meter, Phase

_FIGURES: Final = 4
_WORDS: Final = 300


def summary(sheet: Sheet, analysis: Analysis, usage: Usage) -> None:
    """Fill the sheet; its totals are sums of the charges."""
    with numbers.shown_in(analysis.cost.currency):
        head = headline(analysis)
    sheet.put(0, 0, Cell("LLM token cost", "title"))
    sheet.put(1, 0, Cell(clean(head.summary, _WORDS), "lead"))
    sheet.put(2, 0, Cell(clean(head.verdict, _WORDS), "note"))
    row = _figures(
        sheet, analysis, usage, f"{analysis.cost.currency}, {numbers.period(analysis.period_days)}"
    )
    row = _meters(sheet, analysis, usage, row + 1)
    row = _models(sheet, analysis, usage, row + 1)
    _origin(sheet, analysis, row + 1)


def _figures(sheet: Sheet, analysis: Analysis, usage: Usage, basis: str) -> int:
    cost, charges = analysis.cost, usage.daily
    priced = analysis.whole.priced_requests
    has_lines = bool(analysis.cost_lines and analysis.cost_lines.lines)
    live, listed = (charges.total(COST), charges.total(LIST)) if has_lines else ("0", "0")
    owed = cost.effective_total
    rows = [
        (
            f"Cost ({basis})",
            formula(live, cost.total, "total"),
            "contracted; follows the inputs on Assumptions",
        ),
        ("As computed by advisor", number(cost.total, "total"), "with the inputs as they came"),
        ("What changed inputs make", formula("B5-B6", 0, "signed"), "0 until an input is changed"),
        (f"List cost ({basis})", formula(listed, cost.list_total, "total"), "at published prices"),
    ]
    if owed is not None:
        words = f"B5+({money(owed - cost.total)})"
        rows.append(
            (f"Effective cost ({basis})", formula(words, owed, "total"), "with commitments, as computed")
        )
    rows += [
        ("Requests", number(analysis.data.requests), ""),
        ("Requests with a price", number(priced), "the others are in no amount"),
        ("Share of requests with a price", number(cost.coverage, "ratio"), ""),
        ("Share of tokens with a price", number(cost.token_coverage, "ratio"), ""),
    ]  # fmt: skip
    count = f"B{_FIGURES + [label for label, _, _ in rows].index('Requests with a price') + 1}"
    each = formula(f"IF({count}=0,0,B5/{count})", cost.total / max(priced, 1), "unit")
    rows.append(("Cost of a request with a price", each, ""))
    for offset, (label, cell, note) in enumerate(rows):
        sheet.row(_FIGURES + offset, [Cell(label, "strong"), cell, Cell(note or None, "note")])
    end = _FIGURES + len(rows)
    sheet.put(end, 0, Cell(clean(reconcile_badge(analysis.reconciliation).text, _WORDS), "note"))
    return end + 1


def _meters(sheet: Sheet, analysis: Analysis, usage: Usage, top: int) -> int:
    whole = analysis.whole
    used = [meter for meter in Meter if whole.cost.get(meter) or whole.tokens.get(meter)]
    first, rows = top + 2, []
    priced = dict.fromkeys(used, 0)
    for line in () if analysis.cost_lines is None else analysis.cost_lines.lines:
        if line.meter is not None and line.meter in priced and line.quantity:
            priced[line.meter] += line.quantity
    last = first + max(len(used) - 1, 0)
    for offset, meter in enumerate(used):
        row = first + offset
        label = (METER, f"$A{row}")
        amount = whole.cost.get(meter, Decimal(0))
        share = amount / whole.total if whole.total else Decimal(0)
        rows.append(
            [
                Cell(METER_LABELS[meter]),
                Cell(_PHASES[meter.phase]),
                formula(usage.daily.sum_if(QUANTITY, label), priced[meter], "count"),
                formula(usage.daily.sum_if(COST, label), amount),
                formula(
                    f"IF(SUM($D${first}:$D${last})=0,0,D{row}/SUM($D${first}:$D${last}))", share, "ratio"
                ),
            ]
        )
    return sheet.table(top, ("Meter", "Phase", "Units with a price", "Cost", "Share of cost"), rows)


_PHASES: Final = {Phase.PREFILL: "prefill", Phase.DECODE: "decode", Phase.FEE: "fee"}


def _models(sheet: Sheet, analysis: Analysis, usage: Usage, top: int) -> int:
    totals: dict[str, tuple[int, Decimal, list[str]]] = {}
    priced = {one.model for one in analysis.by_model if one.whole.is_priced}
    for one in analysis.by_model:
        requests, amount, providers = totals.get(one.model, (0, Decimal(0), []))
        names = [*providers, *([one.provider] if one.provider else [])]
        totals[one.model] = (requests + one.whole.requests, amount + one.whole.total, names)
    rows = []
    for offset, (name, (requests, amount, providers)) in enumerate(totals.items()):
        group = (MODEL, f"$E{top + 2 + offset}")
        rows.append(
            [
                text(name),
                text(", ".join(providers)),
                number(requests),
                formula(usage.daily.sum_if(COST, group), amount) if name in priced else text(NO_PRICE),
                number(usage.models[name]),
            ]
        )
    return sheet.table(top, ("Model", "Provider", "Requests", "Cost", "Model no."), rows)


def _origin(sheet: Sheet, analysis: Analysis, top: int) -> None:
    made = analysis.provenance
    facts = (
        ("Made by", f"token-cost-advisor {made.version}"),
        ("Command", made.command),
        ("As of", made.as_of.isoformat()),
        ("Price book", f"{made.price_book} (SHA-256 {made.price_book_sha256})"),
        ("Days", f"calendar days in {analysis.data.timezone}"),
    )
    for offset, (label, words) in enumerate(facts):
        sheet.row(top + offset, [Cell(label, "strong"), Cell(clean(words, _WORDS), "note")])
