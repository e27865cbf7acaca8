"""The sheets of days and of workloads, each over the charges that they add up: quantities times the prices of the inputs."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final

from advisor.analysis import Analysis, Slice
from advisor.cost_lines import CostLine
from advisor.render.xlsx_book import Book, Cell, Sheet, formula, number, text
from advisor.render.xlsx_charges import (
    COST,
    GROUP,
    MODEL,
    OTHERS,
    TOP,
    Charges,
    charges_sheet,
    costs_of,
    merged,
)
from advisor.render.xlsx_prices import Prices
from advisor.wording import CLASS_NAMES, clean
from pricing.meters import INPUT_METERS, OUTPUT_METERS
from pricing.rules import EXACT

DAILY_CHARGES: Final = "Daily charges"
WORKLOAD_CHARGES: Final = "Workload charges"
MOST_WORKLOADS: Final = 1_000
"""With a row of their own; Excel adds up a few million cells at once, no more."""
_CHART_MODELS: Final = 6
_ZERO: Final = Decimal(0)


@dataclass(frozen=True, slots=True)
class Usage:
    """What the sheets of usage have written."""

    daily: Charges
    models: Mapping[str, int]
    """Model -> its number on the sheets."""


def usage_sheets(book: Book, analysis: Analysis, prices: Prices) -> Usage:
    """Write Daily, Allocation and the charges under both."""
    lines = () if analysis.cost_lines is None else analysis.cost_lines.lines
    models = {
        name: index for index, name in enumerate(dict.fromkeys(row.model for row in analysis.by_model), 1)
    }
    daily, allocation = book.sheet("Daily"), book.sheet("Allocation")
    days = {row.day: index for index, row in enumerate(analysis.by_day, 1)}
    workloads = {row.name: index for index, row in enumerate(analysis.workloads[:MOST_WORKLOADS], 1)}
    rest = len(workloads) + 1
    by_day = charges_sheet(
        book,
        DAILY_CHARGES,
        "Day",
        merged(lines, workload=""),
        models,
        prices,
        lambda line: days.get(line.day, 0),
    )
    by_workload = charges_sheet(
        book,
        WORKLOAD_CHARGES,
        "Workload",
        merged(lines, day=None, rest=workloads),
        models,
        prices,
        lambda line: workloads.get(line.workload, rest),
    )
    _daily(book, daily, analysis, by_day, models, lines)
    _allocation(allocation, analysis, by_workload, len(workloads))
    return Usage(daily=by_day, models=models)


def _daily(
    book: Book,
    sheet: Sheet,
    analysis: Analysis,
    charges: Charges,
    models: Mapping[str, int],
    lines: Sequence[CostLine],
) -> None:
    currency = analysis.cost.currency
    priced = {row.model for row in analysis.by_model if row.whole.is_priced}
    shown = [(name, index) for name, index in models.items() if name in priced][:_CHART_MODELS]
    sheet.put(0, 0, Cell(f"Cost by day in {currency}, calendar days in {analysis.data.timezone}", "lead"))
    sheet.row(1, [Cell("Model no.", "note"), *[Cell(None)] * 5, *(number(index) for _, index in shown)])
    by_model = _sums(lines, lambda line: (line.day, line.model))
    rows = []
    for offset, day in enumerate(analysis.by_day):
        row = TOP + 1 + offset
        group = (GROUP, f"$A{row}")
        part = day.whole
        rows.append(
            [
                number(offset + 1),
                Cell(day.day, "day") if day.day else text("(no time)"),
                number(part.requests),
                number(_tokens(part)),
                *costs_of(part, charges, group),
                *(
                    formula(
                        charges.sum_if(COST, group, (MODEL, f"{chr(ord('G') + index)}$2")),
                        by_model.get((day.day, name), _ZERO),
                    )
                    for index, (name, _) in enumerate(shown)
                ),
            ]
        )
    titles = (
        "Day no.",
        "Day",
        "Requests",
        "Tokens",
        "List cost",
        "Cost",
        *(clean(name) for name, _ in shown),
    )
    end = sheet.table(TOP - 1, titles, rows, main=True)
    dated = sum(day.day is not None for day in analysis.by_day)
    if shown and dated:
        series = [
            {
                "name": f"=Daily!${letter}${TOP}",
                "categories": f"=Daily!$B${TOP + 1}:$B${TOP + dated}",
                "values": f"=Daily!${letter}${TOP + 1}:${letter}${TOP + dated}",
            }
            for letter in (chr(ord("G") + index) for index in range(len(shown)))
        ]
        sheet.chart(end + 1, 1, book.day_chart(f"Cost by day ({currency}), dearest models", series))


def _allocation(sheet: Sheet, analysis: Analysis, charges: Charges, own: int) -> None:
    currency = analysis.cost.currency
    words = f"Who pays: cost in {currency}; {clean(analysis.workload_rule, 300)}"
    sheet.put(0, 0, Cell(words, "lead"))
    total = analysis.cost.total
    rows = []
    for offset, row in enumerate(analysis.workloads[:own]):
        mix = row.cost_mix or row.time_mix
        kind = "" if mix is None else CLASS_NAMES[mix.phase_class]
        rows.append(_workload(offset, row.name, kind, row.whole, charges, total))
    others = [row.whole for row in analysis.workloads[own:]]
    if others:
        rows.append(_workload(own, f"{OTHERS}: {len(others):,}", "", _together(others), charges, total))
    titles = (
        "Workload no.", "Workload", "Class by cost", "Requests", "Input tokens", "Output tokens", "List cost", "Cost",
        "Share of cost", "Cost of a request",
    )  # fmt: skip
    end = sheet.table(TOP - 1, titles, rows, main=True)
    sheet.row(end, [Cell(None), Cell("Total", "strong")])
    sheet.put(end, 7, formula(charges.total(COST), total, "total"))
    sheet.put(end, 8, formula(f"SUM(I{TOP + 1}:I{max(end, TOP + 1)})", 1 if total else 0, "ratio"))


def _workload(offset: int, name: str, kind: str, part: Slice, charges: Charges, total: Decimal) -> list[Cell]:
    row = TOP + 1 + offset
    share = part.total / total if total else _ZERO
    each = part.total / part.requests if part.requests else _ZERO
    ratios = [
        formula(f"IF({charges.total(COST)}=0,0,H{row}/{charges.total(COST)})", share, "ratio"),
        formula(f"IF(D{row}=0,0,H{row}/D{row})", each, "unit"),
    ]
    return [
        number(offset + 1),
        text(name),
        text(kind),
        number(part.requests),
        number(sum(part.tokens.get(meter, 0) for meter in INPUT_METERS)),
        number(sum(part.tokens.get(meter, 0) for meter in OUTPUT_METERS)),
        *costs_of(part, charges, (GROUP, f"$A{row}")),
        *(ratios if part.is_priced else [Cell(None), Cell(None)]),
    ]


def _together(parts: Sequence[Slice]) -> Slice:
    first = parts[0]
    meters = {meter for part in parts for meter in part.tokens}
    listed = [part.total if part.list_cost is None else part.list_cost for part in parts]
    return replace(
        first,
        requests=sum(part.requests for part in parts),
        tokens={meter: sum(part.tokens.get(meter, 0) for part in parts) for meter in meters},
        cost={meter: sum((part.cost.get(meter, _ZERO) for part in parts), _ZERO) for meter in meters},
        charged=sum((part.charged or _ZERO for part in parts), _ZERO) if first.charged is not None else None,
        list_cost=sum(listed, _ZERO),
    )


def _tokens(part: Slice) -> int:
    return sum(count for meter, count in part.tokens.items() if meter.is_tokens)


def _sums(lines: Iterable[CostLine], key_of: Callable[[CostLine], Any]) -> dict[Any, Decimal]:
    sums: dict[Any, Decimal] = {}
    for line in lines:
        key = key_of(line)
        sums[key] = EXACT.add(sums.get(key, _ZERO), line.cost)
    return sums
