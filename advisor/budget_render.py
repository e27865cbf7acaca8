"""What came of budgets: as Markdown for a pull request, as a table for a terminal, as plain data for JSON."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from advisor import numbers
from advisor.analysis import Analysis
from advisor.budget import Check, Limit, Verdict
from advisor.document_outlook import check_docs
from advisor.render.markdown import escape
from advisor.view_model import Cell, Table, TableColumn
from advisor.wording import clean, plural

MARKER: Final = "<!-- token-cost-advisor check -->"
"""First line of every comment, so that a later run finds its own comment and updates it."""
_NAMES: Final = {
    Limit.MONTH: "cost a month",
    Limit.REQUEST: "cost a request",
    Limit.CHANGE: "change",
}
_MARKS: Final = {Verdict.KEPT: "kept", Verdict.BROKEN: "BROKEN", Verdict.UNKNOWN: "unknown"}
_HEAD: Final = ("Budget", "Limit", "Allowed", "Found", "Verdict", "What was looked at")
_NAME_CHARS: Final = 60
Grid = list[tuple[str, ...]]


def fails(checks: Sequence[Check]) -> bool:
    """Return whether a run fails: a limit is broken, or it is not known whether it is."""
    return any(check.verdict is not Verdict.KEPT for check in checks)


def headline(checks: Sequence[Check]) -> str:
    """Return the verdict on all limits in one sentence."""
    broken = sum(check.verdict is Verdict.BROKEN for check in checks)
    unknown = sum(check.verdict is Verdict.UNKNOWN for check in checks)
    if not broken and not unknown:
        return f"Budget kept: {'the limit holds' if len(checks) == 1 else f'all {len(checks)} limits hold'}."
    parts = [
        f"{number} of {plural(len(checks), 'limit')} {word}"
        for number, word in ((broken, "broken"), (unknown, "unknown"))
        if number
    ]
    return f"Budget {'broken' if broken else 'unknown'}: {', '.join(parts)}."


def render_markdown(analysis: Analysis, checks: Sequence[Check]) -> str:
    """Return the verdict as Markdown that fits a comment of a pull request."""
    with numbers.shown_in(analysis.cost.currency):
        head, *rows = _grid(checks)
        mark = "❌" if fails(checks) else "✅"
        lines = [MARKER, "", f"**{mark} {escape(headline(checks))}**", ""]
        lines += [f"| {' | '.join(head)} |", "|---|---|---:|---:|---|---|"]
        lines += [f"| {' | '.join(map(_cell, row))} |" for row in rows]
        lines += ["", *(f"- {escape(note)}" for note in _notes(analysis, checks))]
    return "\n".join(lines).rstrip() + "\n"


def _cell(text: str) -> str:
    return text[0] + escape(text[1:]) if text.startswith(("+", "-")) else escape(text)


def render_table(
    analysis: Analysis, checks: Sequence[Check], aligned: Callable[[Grid], Sequence[str]]
) -> str:
    """Return the verdict as text for a terminal.

    Args:
        analysis: What was computed.
        checks: What came of the limits.
        aligned: Makes lines of a table's cells.
    """
    with numbers.shown_in(analysis.cost.currency):
        lines = [headline(checks), "", *aligned(_grid(checks)), ""]
        lines += [f"- {note}" for note in _notes(analysis, checks)]
    return "\n".join(lines).rstrip() + "\n"


def data_of(analysis: Analysis, checks: Sequence[Check]) -> dict[str, Any]:
    """Return the verdict as plain data: money as decimal strings, null where it is not known."""
    return {
        "schema_version": "1",
        "currency": analysis.cost.currency,
        "passed": not fails(checks),
        "verdict": headline(checks),
        "checks": [one.model_dump() for one in check_docs(checks)],
        "notes": _notes(analysis, checks),
    }


def budget_table(checks: Sequence[Check]) -> Table | None:
    """Return what comes of budgets as a table of the report; None without any."""
    if not checks:
        return None
    titles = ("budget", "limit", "allowed", "found", "verdict", "basis")
    return Table(
        slug="budgets",
        caption=headline(checks),
        columns=tuple(
            TableColumn(key=key, title=title, number=key in ("allowed", "found"), quiet=key == "basis")
            for key, title in zip(titles, _HEAD, strict=True)
        ),
        rows=tuple(
            tuple(
                Cell(
                    text=text,
                    warning="over the limit" if check.verdict is Verdict.BROKEN and place == 0 else "",
                )
                for place, text in enumerate(_row(check))
            )
            for check in checks
        ),
    )


def _grid(checks: Sequence[Check]) -> Grid:
    return [_HEAD, *(_row(check) for check in checks)]


def _row(check: Check) -> tuple[str, ...]:
    least = "at least " if check.unpriced and check.limit is Limit.MONTH else ""
    return (
        clean(check.budget.name, _NAME_CHARS),
        _NAMES[check.limit],
        _amount(check.limit, check.allowed),
        numbers.MISSING if check.found is None else f"{least}{_amount(check.limit, check.found)}",
        _MARKS[check.verdict],
        check.basis,
    )


def _amount(limit: Limit, amount: Decimal) -> str:
    if limit is not Limit.CHANGE:
        return numbers.money(amount)
    return f"{'+' if amount > 0 else ''}{numbers.share(amount / 100)}"


def _notes(analysis: Analysis, checks: Sequence[Check]) -> list[str]:
    notes: list[str] = []
    if any(check.unpriced for check in checks):
        most = max(check.unpriced for check in checks)
        models = ", ".join(sorted({clean(item.model) for item in analysis.cost.unpriced})[:5])
        notes.append(
            f"{plural(most, 'request')} without a price ({models}): what that costs is not known; it can break a limit and "
            "cannot keep one. Give cards with --prices FILE, or accept it with --ignore-unpriced."
        )
    notes.append(
        f"Contracted cost in {analysis.cost.currency}, computed from usage and prices; not an invoice."
    )
    return notes
