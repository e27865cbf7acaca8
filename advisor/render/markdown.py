"""The report as a comment for a pull request or a chat: the verdict, a small table, the rest folded away."""

import re
from collections.abc import Sequence
from typing import Final

from advisor.view_model import ReportView, Table

MARKER: Final = "<!-- token-cost-advisor -->"
"""First line of every comment, so that a later run finds its own comment and updates it."""

_ADVICE: Final = 5
_ROWS: Final = 10
_FOLDED_ROWS: Final = 50
_SPECIAL: Final = re.compile(r"[^\w .,;()%$+=/'?:-]|_|:(?!\s|$|\d+(?![\w:]))")
_NAMED: Final = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}
_ASCII: Final = 0x7F
_WEB: Final = re.compile(r"(?i)\bwww\.")


def render_markdown(view: ReportView) -> str:
    """The comment.

    Args:
        view: What to show.

    Returns:
        GitHub-flavoured Markdown in which no name from a log can format, link, mention or embed anything.
    """
    headline = view.headline
    lines = [MARKER, "", f"**{escape(headline.summary)}**", "", escape(headline.verdict), ""]
    warnings = [badge.text for badge in headline.badges if badge.tone == "warn"]
    lines += [f"- ⚠ {escape(text)}" for text in warnings]
    badge = view.reconciliation.badge
    lines += [*([] if badge.tone == "warn" else [f"- {escape(badge.text)}"]), ""]
    if view.finance:
        lines += [escape(view.finance.forecast.line), "", escape(view.finance.bridge.line), ""]
        lines += [escape(view.finance.plans), ""] if view.finance.plans else []
    lines += _advice(view)
    if view.costs:
        lines += [*_table(view.costs.table, ("kind", "amount", "change")), ""]
        lines += [f"- {escape(note)}" for note in view.costs.notes] + ([""] if view.costs.notes else [])
    lines += _workloads(view)
    for table in (view.costs.discounts, view.costs.commitments) if view.costs else ():
        if table:
            lines += _fold(table.caption, _table(table, [column.key for column in table.columns]))
    lines += _fold("Models and their two prices", _table(view.meters.asymmetry, _MODEL_KEYS))
    for one in (
        (view.finance.unusual_table, view.finance.units, *view.finance.allocations) if view.finance else ()
    ):
        if one:
            lines += _fold(one.caption, _table(one, [column.key for column in one.columns]))
    lines += _fold("Tokens and cost by meter", _meters(view))
    lines += _fold("Reconciliation with the bill", _reconciliation(view))
    lines += _fold("Data quality", _data(view))
    lines += _fold("Method", _method(view))
    lines.append(
        f"<sub>token-cost-advisor {escape(view.version)}. Computed from usage and prices; not an invoice.</sub>"
    )
    return "\n".join(lines) + "\n"


_MODEL_KEYS: Final = ("model", "requests", "cost", "share", "input", "output", "ratio")


def escape(text: str) -> str:
    """Text that Markdown and HTML show as it is: everything but plain characters becomes an entity or is escaped."""
    line = " ".join(text.split())
    safe = _WEB.sub(lambda match: match.group().replace(".", "&#46;"), _SPECIAL.sub(_entity, line))
    return re.sub(
        r"^([+=-]|\d+(?=[.)](?:\s|$)))", lambda match: "".join(f"&#{ord(c)};" for c in match.group()), safe
    )


def _entity(match: re.Match[str]) -> str:
    char = match.group()
    return _NAMED.get(char) or (char if ord(char) > _ASCII else f"&#{ord(char)};")


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _grid(head: Sequence[str], numeric: Sequence[bool], rows: Sequence[Sequence[str]]) -> list[str]:
    rule = _row(["---:" if number else "---" for number in numeric])
    return [
        _row([escape(title) for title in head]),
        rule,
        *(_row([escape(text) for text in row]) for row in rows),
    ]


def _advice(view: ReportView) -> list[str]:
    """What all of it saves together, then what saves most, a line each."""
    section = view.advice
    if section is None:
        return []
    items = [
        escape(
            f"Save {card.saves} {card.unit}: {card.title} ({card.workload}; {card.confidence}, {card.risk})"
        )
        for card in section.every_card
    ]
    items = [f"- {item}" for item in items]
    lines = [escape(section.verdict), "", *items[:_ADVICE], *([""] if items else [])]
    lines += _fold("More changes", items[_ADVICE:])
    if section.currency_note:
        lines += [escape(section.currency_note), ""]
    if section.plan:
        totals = "; ".join(f"{card.label.lower()} {card.value}" for card in section.plan.totals)
        lines += [escape(f"In this period: {totals}. {section.plan.overlap}"), ""]
    return lines


def _workloads(view: ReportView) -> list[str]:
    table = view.workloads.table
    rows = list(table.picked("name", "requests", "cost", "mix"))
    if not rows:
        return []
    body = [
        (
            name.text,
            requests.text,
            cost.text,
            cost.note,
            mix.text,
            f"{mix.note} (uncertain)" if mix.warning else mix.note,
        )
        for name, requests, cost, mix in rows
    ]
    head = ("Workload", "Requests", "Cost", "Share", "Prefill / decode", "Class by cost")
    numeric = (False, True, True, True, True, False)
    lines = [*_grid(head, numeric, body[:_ROWS]), ""]
    if body[_ROWS:]:
        lines += _fold("More workloads", _grid(head, numeric, body[_ROWS:]))
    return lines


def _table(table: Table, keys: Sequence[str]) -> list[str]:
    columns = {column.key: column for column in table.columns}
    rows = [[cell.text for cell in row] for row in table.picked(*keys)]
    if not rows:
        return []
    return _grid(
        [columns[key].title for key in keys], [columns[key].number for key in keys], rows[:_FOLDED_ROWS]
    )


def _meters(view: ReportView) -> list[str]:
    rows = [(row.label, row.tokens, row.tokens_share, row.cost, row.cost_share) for row in view.meters.rows]
    if not rows:
        return []
    head = ("Meter", "Tokens", "Share", "Cost", "Share")
    return [escape(view.meters.contrast), "", *_grid(head, (False, True, True, True, True), rows)]


def _reconciliation(view: ReportView) -> list[str]:
    section = view.reconciliation
    if not section.steps:
        return []
    rows = [(step.label, step.amount, step.evidence) for step in section.steps]
    lines = [
        escape(section.verdict),
        "",
        *_grid(("", "Amount", "What it rests on"), (False, True, False), rows),
    ]
    for table in section.tables:
        lines += ["", *_table(table, [column.key for column in table.columns])]
    return lines + ([""] if section.notes else []) + [f"- {escape(note)}" for note in section.notes]


def _data(view: ReportView) -> list[str]:
    total, *terms = view.data.terms
    equation = " + ".join(f"{term.value} {term.label}" for term in terms)
    lines = [escape(f"{total.value} {total.label} = {equation}"), ""]
    lines += [f"- {escape(fact)}" for fact in view.data.facts]
    for table, keys in (
        (view.data.unpriced, ("model", "requests", "tokens", "reason")),
        (view.data.problems, ("message", "severity", "rows", "examples")),
    ):
        grid = _table(table, keys)
        lines += ["", *grid] if grid else []
    return lines


def _method(view: ReportView) -> list[str]:
    pairs = (*view.method.bases, *view.method.provenance)
    lines = [f"- {escape(pair.term)}: {escape(pair.text)}" for pair in pairs]
    return lines + [f"- Assumed: {escape(text)}" for text in view.method.assumptions]


def _fold(title: str, body: Sequence[str]) -> list[str]:
    if not body:
        return []
    return ["<details>", f"<summary>{escape(title)}</summary>", "", *body, "", "</details>", ""]
