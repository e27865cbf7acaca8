"""The meters section: tokens against money, and the price asymmetry between reading and writing."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.analysis import Analysis, ModelSlice
from advisor.charts import plain_bar
from advisor.view_costs import kept_in_usd
from advisor.view_model import Cell, MeterRow, MeterSection, Table, TableColumn
from advisor.view_workloads import SHOWN
from advisor.wording import METER_LABELS, name_cell, plural
from pricing.meters import Meter, Phase

MARKET_RATIO: Final = "5.0"
"""The median over the priced models of the market of output price / input price."""

_MODEL_COLUMNS: Final = (
    TableColumn(key="model", title="Model"),
    TableColumn(key="requests", title="Requests", number=True),
    TableColumn(key="cost", title="Cost", number=True),
    TableColumn(key="share", title="Share of spend", number=True),
    TableColumn(key="input", title="Input, $/M", number=True, hint="Standard rate, USD per million tokens"),
    TableColumn(key="output", title="Output, $/M", number=True, hint="Standard rate, USD per million tokens"),
    TableColumn(key="ratio", title="Out : in", number=True, hint="Output price over input price"),
    TableColumn(key="decode", title="Output part of its bill", number=True),
)


def meter_section(analysis: Analysis) -> MeterSection:
    """Every meter that was used, and the models with their two prices."""
    used = [m for m in Meter if analysis.whole.tokens.get(m) or analysis.whole.cost.get(m)]
    rows = tuple(_meter_row(meter, analysis) for meter in used)
    return MeterSection(
        rows=rows, contrast=_contrast(analysis), asymmetry=model_table(analysis), note=_asymmetry_note()
    )


def _asymmetry_note() -> str:
    return (
        f"A written token costs more than a read one: over the market the median output price is {MARKET_RATIO} times "
        "the input price. That is why token counts and money tell different stories."
    )


def _meter_row(meter: Meter, analysis: Analysis) -> MeterRow:
    units = analysis.whole.tokens.get(meter, 0)
    amount = analysis.whole.cost.get(meter)
    all_tokens = sum(n for m, n in analysis.whole.tokens.items() if m.is_tokens)
    total = analysis.whole.total
    units_part = units / all_tokens if meter.is_tokens and all_tokens else 0.0
    cost_part = amount / total if amount and total else Decimal(0)
    return MeterRow(
        label=METER_LABELS[meter],
        kind=meter.phase.value,
        tokens=numbers.tokens(units),
        tokens_exact=numbers.count(units),
        tokens_share=numbers.share(units_part) if meter.is_tokens else "",
        tokens_bar=plain_bar(units_part, meter.phase.value),
        cost=numbers.MISSING if amount is None else numbers.money(amount),
        cost_exact="No price known" if amount is None else numbers.money_exact(amount),
        cost_share=numbers.MISSING if amount is None or not total else numbers.share(cost_part),
        cost_bar=plain_bar(float(cost_part), meter.phase.value),
    )


def _contrast(analysis: Analysis) -> str:
    whole = analysis.whole
    all_tokens = sum(n for m, n in whole.tokens.items() if m.is_tokens)
    written = sum(n for m, n in whole.tokens.items() if m.phase is Phase.DECODE)
    spent = sum((c for m, c in whole.cost.items() if m.phase is Phase.DECODE), Decimal(0))
    if not all_tokens or not whole.total:
        return "Without tokens or money on both sides there is nothing to compare."
    return f"Output is {numbers.share(written / all_tokens)} of the tokens and {numbers.share(spent / whole.total)} of the money."


def model_table(analysis: Analysis) -> Table:
    """Models, dearest first, the tail as one row."""
    shown, rest = analysis.by_model[:SHOWN], analysis.by_model[SHOWN:]
    total = analysis.whole.total
    return Table(
        slug="models",
        caption="Price asymmetry by model",
        columns=_MODEL_COLUMNS,
        rows=tuple(_model_row(model, total) for model in shown),
        rest=_rest_row(rest, total) if rest else None,
        note=f"The {SHOWN} dearest are listed; {plural(len(rest), 'more model')} share one row."
        if rest
        else "",
    )


def _model_row(row: ModelSlice, total: Decimal) -> tuple[Cell, ...]:
    provider = name_cell(row.provider, limit=24).text if row.provider else "provider not stated"
    written = sum((c for m, c in row.whole.cost.items() if m.phase is Phase.DECODE), Decimal(0))
    own = row.whole.total
    priced = row.whole.is_priced
    cost = Cell(text=numbers.money(own), exact=numbers.money_exact(own), value=f"{own:.6f}")
    return (
        name_cell(row.model, note=provider),
        Cell(text=numbers.count(row.whole.requests), value=str(row.whole.requests)),
        (kept_in_usd(row.whole) or cost) if priced else Cell(text="unpriced", value="-1"),
        Cell(text=_part(own, total) if priced else numbers.MISSING, value=f"{own:.6f}"),
        _rate(row.input_usd_per_mtok),
        _rate(row.output_usd_per_mtok),
        Cell(text=numbers.ratio(row.price_ratio), value=f"{row.price_ratio or -1:.4f}"),
        Cell(
            text=_part(written, own) if priced else numbers.MISSING,
            value=f"{float(written / own) if own else -1:.6f}",
        ),
    )


def _rest_row(rest: Sequence[ModelSlice], total: Decimal) -> tuple[Cell, ...]:
    amount = sum((row.whole.total for row in rest), Decimal(0))
    requests = sum(row.whole.requests for row in rest)
    head = (
        Cell(text=f"{len(rest):,d} other models"),
        Cell(text=numbers.count(requests), value=str(requests)),
        Cell(text=numbers.money(amount), exact=numbers.money_exact(amount), value=f"{amount:.6f}"),
        Cell(text=_part(amount, total)),
    )
    return (*head, *(Cell(text="") for _ in _MODEL_COLUMNS[len(head) :]))


def _part(amount: Decimal, total: Decimal) -> str:
    return numbers.share(amount / total) if total else numbers.MISSING


def _rate(usd: Decimal | None) -> Cell:
    return Cell(text=numbers.rate(usd), value="-1" if usd is None else f"{usd:f}")
