"""What came of budgets: as Markdown for a pull request, as a table for a terminal, as plain data for JSON."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from advisor import numbers
from advisor.analysis import Analysis
from advisor.budget import Check
from advisor.document_outlook import check_docs
from advisor.render.markdown import escape
from advisor.view_budget import HEAD, fails, headline, row_of
from advisor.wording import clean, plural

MARKER: Final = "<!-- token-cost-advisor check -->"
"""First line of every comment, so that a later run finds its own comment and updates it."""
Grid = list[tuple[str, ...]]


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


def _grid(checks: Sequence[Check]) -> Grid:
    return [HEAD, *(row_of(check) for check in checks)]


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
