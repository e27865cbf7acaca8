"""The difference while it is being explained: what is left of it in every cell, and the causes found so far."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.reconcile_cells import Cell, CellKey, Matched
from advisor.reconciliation import Cause

FRACTION: Final = Decimal("1e-12")
"""Finest part of a dollar in a cause that is estimated; what is finer stays unexplained."""
_MOST_NAMED: Final = 3


@dataclass(slots=True, kw_only=True)
class Gap:
    """What is left to explain of each cell. Every cause takes from it, so no dollar is explained twice."""

    matched: Matched
    left: dict[CellKey, Decimal]
    causes: list[Cause] = field(default_factory=list[Cause])

    @classmethod
    def of(cls, matched: Matched) -> "Gap":
        """Return the whole difference of all cells, with nothing explained."""
        return cls(matched=matched, left={at: cell.difference_usd for at, cell in matched.cells.items()})

    def explain(
        self,
        code: str,
        wanted: Mapping[CellKey, Decimal],
        evidence: str | Callable[[Decimal], str],
        rows: Callable[[Cell], int] = lambda cell: cell.rows,
    ) -> Decimal:
        """Take a cause's part out of what is left; return how much it took.

        Args:
            code: The cause.
            wanted: What the cause says of each cell. It gets no more than is left there, and nothing where what is
                left has the other sign.
            evidence: What it rests on, in words; or how to say it of the amount taken.
            rows: How many rows of a cell it rests on.
        """
        taken = {at: part for at, amount in wanted.items() if (part := _within(amount, self.left[at]))}
        if not taken:
            return Decimal(0)
        for at, part in taken.items():
            self.left[at] -= part
        total = sum(taken.values(), Decimal(0))
        self.note(
            code,
            total,
            evidence if isinstance(evidence, str) else evidence(total),
            sum(rows(self.matched.cells[at]) for at in taken),
        )
        return total

    def note(self, code: str, amount_usd: Decimal, evidence: str, rows: int) -> None:
        """Add a cause; one of the same code is joined with it."""
        for index, cause in enumerate(self.causes):
            if cause.code == code:
                told = cause.evidence if evidence in cause.evidence else f"{cause.evidence}; {evidence}"
                self.causes[index] = Cause(
                    code=code, amount_usd=cause.amount_usd + amount_usd, evidence=told, rows=cause.rows + rows
                )
                return
        self.causes.append(Cause(code=code, amount_usd=amount_usd, evidence=evidence, rows=rows))

    def by_model(self) -> dict[str, dict[CellKey, Cell]]:
        """Return the cells of each model that has both sides, models and days in order."""
        out: dict[str, dict[CellKey, Cell]] = {}
        for at in sorted(self.matched.cells, key=_order):
            cell = self.matched.cells[at]
            if cell.rows and cell.computed_usd > 0:
                out.setdefault(at[1], {})[at] = cell
        return dict(sorted(out.items()))

    def name(self, key: str) -> str:
        """Return how a model is called."""
        return self.matched.names.get(key, key)


def _order(at: CellKey) -> tuple[date, str]:
    return at[0] or date.min, at[1]


def _within(amount: Decimal, left: Decimal) -> Decimal:
    """Return the part of an amount that explains something of what is left."""
    if amount > 0 and left > 0:
        return min(amount, left)
    return max(amount, left) if amount < 0 and left < 0 else Decimal(0)


def day_words(days: Iterable[date]) -> str:
    """Return days as ``3 days (5 Jun, 7 Jun, 9 Jun 2026)``, runs as ranges."""
    ordered = sorted(days)
    runs: list[list[date]] = []
    for day in ordered:
        if runs and (day - runs[-1][-1]).days == 1:
            runs[-1].append(day)
        else:
            runs.append([day])
    told = [numbers.day_range(run[0], run[-1]) for run in runs[:_MOST_NAMED]]
    more = [f"{len(runs) - _MOST_NAMED} more"] if len(runs) > _MOST_NAMED else []
    count = f"{len(ordered):,} day{'s' if len(ordered) != 1 else ''}"
    return f"{count} ({', '.join([*told, *more])})"


def name_words(names: Iterable[str]) -> str:
    """Return names in order, the first few of them."""
    ordered = sorted(set(names))
    more = [f"{len(ordered) - _MOST_NAMED} more"] if len(ordered) > _MOST_NAMED else []
    return ", ".join([*ordered[:_MOST_NAMED], *more])
