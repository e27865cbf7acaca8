"""What came of budgets, in words: the verdict, and a table of the report."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.budget import Check, Limit, Verdict
from advisor.view_model import Cell, Table, TableColumn
from advisor.wording import clean, plural

_NAMES: Final = {
    Limit.MONTH: "cost a month",
    Limit.REQUEST: "cost a request",
    Limit.CHANGE: "change",
}
_MARKS: Final = {Verdict.KEPT: "kept", Verdict.BROKEN: "BROKEN", Verdict.UNKNOWN: "unknown"}
HEAD: Final = ("Budget", "Limit", "Allowed", "Found", "Verdict", "What was looked at")
_NAME_CHARS: Final = 60


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
            for key, title in zip(titles, HEAD, strict=True)
        ),
        rows=tuple(
            tuple(
                Cell(
                    text=text,
                    warning="over the limit" if check.verdict is Verdict.BROKEN and place == 0 else "",
                )
                for place, text in enumerate(row_of(check))
            )
            for check in checks
        ),
    )


def row_of(check: Check) -> tuple[str, ...]:
    """Return a verdict as the cells of a row, in the order of ``HEAD``."""
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
