"""What came of budgets: as Markdown for a pull request, as a table for a terminal, as plain data for JSON."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from advisor import numbers
from advisor.analysis import Analysis
from advisor.budget import Check, Limit, Verdict
from advisor.document_money import maybe_money, money
from advisor.render.markdown import escape
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
        "checks": [
            {
                "budget": check.budget.name,
                "scope": {key: list(names) for key, names in check.budget.scope.items()},
                "limit": check.limit.value,
                "allowed": money(check.allowed),
                "found": maybe_money(check.found),
                "verdict": check.verdict.value,
                "basis": check.basis,
                "unpriced_requests": check.unpriced,
            }
            for check in checks
        ],
        "notes": _notes(analysis, checks),
    }


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
