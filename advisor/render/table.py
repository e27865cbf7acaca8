"""The report as a summary for a terminal."""

from collections.abc import Sequence
from typing import Final

from advisor.charts import BarPart
from advisor.numbers import MISSING
from advisor.render.reconciliation import reconciliation_lines
from advisor.render.text import BLUE, BOLD, DIM, YELLOW, Paint, cells, columns, cut, pad, title, wrap
from advisor.view_model import Cell, ReportView, Table

_ADVICE: Final = 5
_BAR: Final = 12
_LEAST: Final = 40
_WITH_SHARE: Final = 56
_ROOMY: Final = 76
"""Columns from which the class is spelled out."""
_WITH_BARS: Final = 96


def render_table(view: ReportView, *, width: int, color: bool) -> str:
    """The summary: headline, workloads, models, data quality.

    Args:
        view: What to show.
        width: Columns of the terminal; no line is longer (40 at least).
        color: Whether ANSI colours may be used; without them the text says the same.

    Returns:
        Lines that end in a newline, free of control characters from the log.
    """
    width = max(width, _LEAST)
    paint = Paint(color=color)
    lines = [
        *_head(view, width, paint),
        *(wrap(view.finance.forecast.line, width) if view.finance else []),
        *(wrap(view.finance.bridge.line, width) if view.finance else []),
        *_advice(view, width, paint),
        *_costs(view, width, paint),
        *(reconciliation_lines(view, width, paint) if view.reconciliation.steps else []),
        *_workloads(view, width, paint),
        *_models(view, width, paint),
        *_data(view, width, paint),
    ]
    return "\n".join(lines) + "\n"


def _head(view: ReportView, width: int, paint: Paint) -> list[str]:
    headline = view.headline
    lines = [paint(line, BOLD) for line in wrap(headline.summary, width)]
    lines += [paint(line, DIM) for line in wrap(f"{view.title}, {view.subtitle}", width)]
    lines += ["", *wrap(headline.verdict, width), ""]
    for badge in headline.badges:
        mark, code = ("!", YELLOW) if badge.tone == "warn" else ("·", DIM)
        lines += [paint(line, code) for line in wrap(f"{mark} {badge.text}", width, "  ")]
    return lines


def _advice(view: ReportView, width: int, paint: Paint) -> list[str]:
    """What all of it saves together, and what saves most, a line each."""
    section = view.advice
    if section is None:
        return []
    lines = [*title("What to do", width, paint), *wrap(section.verdict, width)]
    cards = section.every_card
    for card in cards[:_ADVICE]:
        lines += wrap(f"· save {card.saves} {card.unit}: {card.title} ({card.workload})", width, "  ")
    if cards[_ADVICE:]:
        lines.append(paint(f"  and {len(cards) - _ADVICE} more", DIM))
    return lines + wrap(section.currency_note, width) if section.currency_note else lines


def _costs(view: ReportView, width: int, paint: Paint) -> list[str]:
    """List, contracted and effective cost, where they are not one."""
    if view.costs is None:
        return []
    lines = title("Costs", width, paint)
    rows = [tuple(cell.text for cell in row) for row in view.costs.table.picked("kind", "amount", "change")]
    lines += columns([("", "amount", "against list"), *rows], width, paint)
    for row in (
        view.costs.commitments.picked("name", "days", "committed", "unused") if view.costs.commitments else ()
    ):
        name, days, owed, unused = (cell.text for cell in row)
        lines += wrap(f"· {name}, {days}: {owed} owed, {unused} not used", width, "  ")
    return lines + [line for note in view.costs.notes for line in wrap(f"· {note}", width, "  ")]


def _workloads(view: ReportView, width: int, paint: Paint) -> list[str]:
    rows = list(view.workloads.table.picked("name", "cost", "mix"))
    if not rows:
        return []
    lines = title("Workloads", width, paint)
    roomy, bars = width >= _ROOMY, width >= _WITH_BARS
    money, shares, mixes = (
        max(map(len, column)) for column in zip(*(_figures(row) for row in rows), strict=True)
    )
    classes = max(len(_class(mix)) for _, _, mix in rows) if roomy else 0
    with_share = width >= _WITH_SHARE
    fixed = money + mixes + classes + (shares if with_share else 0) + (_BAR + 2 if bars else 0) + 8
    names = max(min(max(cells(name.text) for name, _, _ in rows), width - fixed), 8)
    for row in rows:
        cost, part, mix = _figures(row)
        share = [f"{part:>{shares}}"] if with_share else []
        bar = [_bar(row[2].bar, paint)] if bars else []
        kind = [_class(row[2])] if roomy else []
        line = "  ".join(
            [pad(row[0].text, names), f"{cost:>{money}}", *share, *bar, f"{mix:>{mixes}}", *kind]
        )
        lines.append(line.rstrip() if bars else cut(line.rstrip(), width))
    return [*lines, *_notes(view.workloads.table, width, paint)]


def _figures(row: Sequence[Cell]) -> tuple[str, str, str]:
    _, cost, mix = row
    return cost.text, cost.note, mix.text


def _class(mix: Cell) -> str:
    return f"{mix.note} ?" if mix.warning else mix.note


def _bar(parts: Sequence[BarPart], paint: Paint) -> str:
    """Prefill solid, decode light: readable without colour."""
    if not parts:
        return " " * _BAR
    first = next((part.width for part in parts if part.kind == "prefill"), 0.0)
    solid = round(first / 100 * _BAR)
    return paint("█" * solid, BLUE) + paint("░" * (_BAR - solid), YELLOW)


def _models(view: ReportView, width: int, paint: Paint) -> list[str]:
    table = view.meters.asymmetry
    if not table.rows:
        return []
    lines = title("Models", width, paint)
    rows = list(table.picked("model", "cost", "share", "input", "output", "ratio"))
    head = ("", "cost", "share", "in $/M", "out $/M", "out:in")
    grid = [head, *(tuple(cell.text for cell in row) for row in rows)]
    lines += columns(grid, width, paint)
    return [*lines, *_notes(table, width, paint)]


def _data(view: ReportView, width: int, paint: Paint) -> list[str]:
    total, *terms = view.data.terms
    parts = " + ".join(f"{term.value} {term.label}" for term in terms)
    lines = title("Data", width, paint)
    lines += wrap(f"{total.value} {total.label} = {parts}", width)
    for message, severity, rows, where in view.data.problems.picked(
        "message", "severity", "rows", "examples"
    ):
        mark = "·" if severity.value == "2" else "!"
        places = "" if where.text == MISSING else f", at {where.text}"
        lines += wrap(f"{mark} {message.text} ({rows.text}{places})", width, "  ")
    for model, requests, tokens, reason in view.data.unpriced.picked("model", "requests", "tokens", "reason"):
        text = f"! unpriced: {model.text}, {requests.text} requests, {tokens.text} tokens: {reason.text}"
        lines += wrap(text, width, "  ")
    return lines


def _notes(table: Table, width: int, paint: Paint) -> list[str]:
    return [paint(line, DIM) for line in wrap(table.note, width)] if table.note else []
