"""A scenario's outcome as plain data for JSON, and as text for a terminal."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from advisor.analysis import Slice
from advisor.document_money import money as plain
from advisor.numbers import MISSING, count, money, share, shown_in, tokens
from advisor.scenario import Stage
from advisor.whatif import WhatIf
from advisor.wording import clean
from pricing.meters import FEE_METERS
from pricing.rules import EXACT

Grid = list[tuple[str, ...]]
Sides = Mapping[str, tuple[Slice | None, Slice | None]]


def data_of(found: WhatIf) -> dict[str, Any]:
    """Return the outcome as plain data: money as exact decimal strings, null where it is not known."""
    stages = found.outcome.stages
    steps = [
        {
            "step": number,
            "do": stage.kind,
            "title": stage.title,
            **_stage(stage),
            "change": plain(EXACT.subtract(stage.cost, stages[number - 1].cost)),
            "notes": list(stage.notes),
        }
        for number, stage in enumerate(stages)
        if number
    ]
    return {
        "schema_version": "1",
        "scenario": found.outcome.name,
        "currency": found.currency,
        "baseline": _stage(stages[0]),
        "steps": steps,
        "result": _stage(stages[-1]),
        "change": plain(EXACT.subtract(stages[-1].cost, stages[0].cost)),
        "by_model": _parts(found.outcome.models),
        "by_workload": _parts(found.outcome.workloads),
        "assumptions": list(found.assumptions),
        "price_book": found.price_book,
    }


def _stage(stage: Stage) -> dict[str, Any]:
    return {
        "cost": plain(stage.cost) if stage.whole.is_priced else None,
        "requests": stage.whole.requests,
        "tokens": {str(meter): units for meter, units in stage.whole.tokens.items()},
        "cost_by_meter": {str(meter): plain(amount) for meter, amount in stage.whole.cost.items()},
        "complete": stage.complete,
        "unpriced_requests": stage.unpriced_requests,
    }


def _parts(sides: Sides) -> list[dict[str, Any]]:
    rows = [
        {
            "name": name,
            "before": _part(before),
            "after": _part(after),
            "change": _text(_change(before, after)),
        }
        for name, (before, after) in sides.items()
    ]
    return sorted(
        rows, key=lambda row: (row["change"] is None, -abs(Decimal(row["change"] or 0)), row["name"])
    )


def _part(part: Slice | None) -> dict[str, Any]:
    return {
        "requests": 0 if part is None else part.requests,
        "tokens": 0 if part is None else _tokens(part),
        "cost": _text(_cost(part)),
        "partial": _is_partial(part),
    }


def _is_partial(part: Slice | None) -> bool:
    """Whether some of a part has no price."""
    return part is not None and (
        part.priced_records < part.records or bool(part.unconverted_usd and part.total)
    )


def _cost(part: Slice | None) -> Decimal | None:
    """Return the cost of a part: 0 of one that is not there, None of one without a price."""
    if part is None or not part.records:
        return Decimal(0)
    return part.total if part.is_priced and part.in_usd is None else None


def _change(before: Slice | None, after: Slice | None) -> Decimal | None:
    old, new = _cost(before), _cost(after)
    return None if old is None or new is None else EXACT.subtract(new, old)


def _tokens(part: Slice) -> int:
    return sum(units for meter, units in part.tokens.items() if meter not in FEE_METERS)


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else plain(amount)


def render(found: WhatIf, aligned: Callable[[Grid], Sequence[str]]) -> str:
    """Return the outcome as text.

    Args:
        found: The outcome.
        aligned: Makes lines of a table's cells.
    """
    stages = found.outcome.stages
    with shown_in(found.currency):
        first, last = stages[0], stages[-1]
        change = EXACT.subtract(last.cost, first.cost)
        ratio = f", {_signed(change, share(abs(change) / first.cost))}" if first.cost else ""
        name = clean(found.outcome.name, 80)
        lines = [
            f"{name}: {_total(first)} → {_total(last)} ({_signed(change, money(abs(change)))}{ratio})",
            "",
            *aligned([("", "Step", "Requests", "Tokens", "Cost", "Change"), *_steps(stages)]),
        ]
        for title, sides in (("By model", found.outcome.models), ("By workload", found.outcome.workloads)):
            lines += ["", *aligned([(title, "Before", "After", "Change"), *_rows(sides)])]
        notes = [f"Step {number}: {note}." for number, stage in enumerate(stages) for note in stage.notes]
        if not last.complete:
            notes.append(f"{last.unpriced_requests:,} requests have no price and are in no amount.")
        notes += found.assumptions
        lines += ["", *(f"- {clean(note, 400)}" for note in notes)] if notes else []
    return "\n".join(lines) + "\n"


def _steps(stages: Sequence[Stage]) -> Grid:
    rows: Grid = []
    for number, stage in enumerate(stages):
        change = EXACT.subtract(stage.cost, stages[number - 1].cost) if number else None
        rows.append(
            (
                str(number or ""),
                clean(stage.title, 80),
                count(stage.whole.requests),
                tokens(_tokens(stage.whole)),
                _total(stage),
                "" if change is None else _signed(change, money(abs(change))),
            )
        )
    return rows


def _rows(sides: Sides) -> Grid:
    changes = [(name, _change(before, after)) for name, (before, after) in sides.items()]
    changes.sort(key=lambda row: (row[1] is None, -abs(row[1] or Decimal(0)), row[0]))
    return [
        (
            clean(name, 60),
            *(_amount(part) for part in sides[name]),
            MISSING if change is None else _signed(change, money(abs(change))),
        )
        for name, change in changes
    ]


def _amount(part: Slice | None) -> str:
    cost = _cost(part)
    if cost is None:
        return "unknown"
    return f"{'at least ' if _is_partial(part) else ''}{money(cost)}"


def _total(stage: Stage) -> str:
    if not stage.whole.is_priced:
        return "unknown"
    return f"{'' if stage.complete else 'at least '}{money(stage.cost)}"


def _signed(change: Decimal, text: str) -> str:
    return f"{'-' if change < 0 else '+' if change else ''}{text}"
