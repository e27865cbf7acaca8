"""The comparison with a bill for a terminal."""

from decimal import Decimal

from advisor.render.text import BOLD, DIM, YELLOW, Paint, cells, columns, cut, pad, title, wrap
from advisor.view_model import ReportView, Step, Table

_LEAST = 40
_INDENT = "    "
_SHOWN = 5


def render_reconciliation(view: ReportView, *, width: int, color: bool) -> str:
    """The comparison: badge, the way from computed to billed, then models, days and meters that differ most.

    Args:
        view: What to show.
        width: Columns of the terminal; no line is longer (40 at least).
        color: Whether ANSI colours may be used.

    Returns:
        Lines that end in a newline.
    """
    width = max(width, _LEAST)
    paint = Paint(color=color)
    lines = reconciliation_lines(view, width, paint)
    for table in view.reconciliation.tables:
        lines += _table(table, width, paint)
    for note in view.reconciliation.notes:
        lines += ["", *wrap(f"! {note}", width, "  ")]
    return "\n".join(lines).lstrip("\n") + "\n"


def reconciliation_lines(view: ReportView, width: int, paint: Paint) -> list[str]:
    """Return badge, verdict and steps; nothing but the way to a bill without one."""
    section = view.reconciliation
    code = YELLOW if section.badge.tone == "warn" else BOLD
    lines = [*title("Bill", width, paint), *[paint(line, code) for line in wrap(section.badge.text, width)]]
    if not section.steps:
        return [*lines, *wrap(section.absent, width)]
    lines += [*wrap(section.verdict, width), ""]
    amounts = max(cells(step.amount) for step in section.steps)
    names = min(max(cells(step.label) for step in section.steps), width - amounts - 2)
    for step in section.steps:
        lines += _step(step, names, amounts, width, paint)
    return lines


def _step(step: Step, names: int, amounts: int, width: int, paint: Paint) -> list[str]:
    line = f"{pad(step.label, names)}  {step.amount:>{amounts}}"
    first = paint(line, BOLD if step.kind == "total" else YELLOW if step.kind == "rest" else "0")
    if not step.evidence:
        return [first]
    room = width - len(_INDENT)
    return [first, *[paint(_INDENT + text, DIM) for text in wrap(step.evidence, room)]]


def _table(table: Table, width: int, paint: Paint) -> list[str]:
    differ = [row for row in table.rows if any(Decimal(cell.value) for cell in row[3:])]
    if not differ:
        return []
    head = tuple(column.title if index else "" for index, column in enumerate(table.columns))
    rows = [tuple(cell.text for cell in row) for row in differ[:_SHOWN]]
    lines = [*title(table.caption, width, paint), *columns([head, *rows], width, paint)]
    if len(table.rows) > len(rows) or table.rest:
        agree = len(differ) <= _SHOWN and (table.rest is None or table.rest[0].note)
        word = "the others agree" if agree else "the others differ less"
        lines.append(paint(cut(word, width), DIM))
    return lines
