"""A difference as Markdown for a pull request, as a table for a terminal, and as plain data for JSON."""

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, Final

from advisor.diff import Difference, Effects, MeterRow, Part, Row, Side
from advisor.diff_documents import gap
from advisor.document_money import maybe_money
from advisor.document_money import money as plain
from advisor.numbers import MISSING, count, money, share, shown_in, tokens
from advisor.render.markdown import escape
from advisor.variance_terms import FACTORS, Bridge, Driver
from advisor.variance_words import MEANINGS, NAMES
from advisor.wording import clean

_SHOWN_ROWS: Final = 20
_NAME_CHARS: Final = 60
_EFFECTS: Final = (
    ("volume", "Volume: more or fewer requests"),
    ("size", "Size: tokens per request"),
    ("price", "Price: rate per token"),
)
_HEAD: Final = ("", "Before", "After", "Change", "Volume", "Size", "Price")
Grid = list[tuple[str, ...]]


def render_markdown(difference: Difference) -> str:
    """Return the difference as Markdown that fits a comment of a pull request."""
    with shown_in(difference.currency):
        lines = [f"### {escape(_title(difference))}", ""]
        lines += [*_grid(_totals(difference)), "", *_grid(_why(difference)), ""]
        for name, rows in _tables(difference):
            lines += ["<details>", f"<summary>{name}</summary>", "", *_grid(rows), "", "</details>", ""]
        lines += [f"- {escape(note)}" for note in _notes(difference)]
    return "\n".join(lines).rstrip() + "\n"


def render_table(difference: Difference, aligned: Callable[[Grid], Sequence[str]]) -> str:
    """Return the difference as text for a terminal.

    Args:
        difference: What changed.
        aligned: Makes lines of a table's cells.
    """
    with shown_in(difference.currency):
        lines = [_title(difference), "", *aligned(_totals(difference)), "", *aligned(_why(difference))]
        for name, rows in _tables(difference):
            lines += ["", name, *aligned(rows)]
        notes = _notes(difference)
        lines += ["", *(f"- {note}" for note in notes)] if notes else []
    return "\n".join(lines) + "\n"


def data_of(difference: Difference) -> dict[str, Any]:
    """Return the difference as plain data: money as exact decimal strings, null where it is not known."""
    return {
        "schema_version": "1",
        "currency": difference.currency,
        "before": _side_data(difference.before),
        "after": _side_data(difference.after),
        "change": plain(difference.change),
        "drivers": _drivers_data(difference.drivers),
        "effects": _effects_data(difference.effects),
        "uncompared_before": plain(difference.uncompared_before),
        "uncompared_after": plain(difference.uncompared_after),
        "by_model": [_row_data(row) for row in difference.models],
        "by_workload": [_row_data(row) for row in difference.workloads],
        "by_meter": [
            {
                "meter": row.name,
                "before": {"units": row.before.units, "cost": plain(row.before.cost)},
                "after": {"units": row.after.units, "cost": plain(row.after.cost)},
                "change": plain(row.change),
                "effects": _effects_data(row.effects),
            }
            for row in difference.meters
        ],
        "notes": list(difference.notes),
    }


def _side_data(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "period": side.period,
        "requests": side.requests,
        "tokens": side.tokens,
        "cost": plain(side.total),
        "complete": side.complete,
    }


def _row_data(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "before": _part_data(row.before),
        "after": _part_data(row.after),
        "change": maybe_money(row.change),
        "effects": _effects_data(row.effects),
        "partial": row.partial,
    }


def _part_data(part: Part) -> dict[str, Any]:
    return {"requests": part.requests, "tokens": part.tokens, "cost": maybe_money(part.known_cost)}


def _effects_data(effects: Effects | None) -> dict[str, str] | None:
    return None if effects is None else {name: plain(getattr(effects, name)) for name, _ in _EFFECTS}


def _drivers_data(made: Bridge | None) -> dict[str, str] | None:
    return None if made is None else {str(driver): plain(made.terms[driver]) for driver in Driver}


def _title(difference: Difference) -> str:
    before, after = difference.before, difference.after
    ratio = _ratio(difference.change, _compared_before(difference))
    return f"LLM cost: {_total(before)} → {_total(after)} ({_signed(difference.change)}{ratio})"


def _compared_before(difference: Difference) -> Decimal:
    return difference.before.total - difference.uncompared_before


def _total(side: Side) -> str:
    return f"{'' if side.complete else 'at least '}{money(side.total)}"


def _ratio(change: Decimal, before: Decimal) -> str:
    if not before:
        return ""
    part = change / before
    return f", {'+' if part > 0 else ''}{share(part)}"


def _signed(amount: Decimal | None) -> str:
    if amount is None:
        return MISSING
    return f"{'+' if amount > 0 else ''}{money(amount)}"


def _step(before: int, after: int, text: Callable[[int], str]) -> tuple[str, str, str]:
    return text(before), text(after), f"{'+' if after > before else ''}{text(after - before)}"


def _totals(difference: Difference) -> Grid:
    before, after = difference.before, difference.after
    return [
        ("", *(clean(side.name, _NAME_CHARS) for side in (before, after)), "Change"),
        ("Period", before.period, after.period, ""),
        ("Cost", _total(before), _total(after), _signed(difference.change)),
        ("Requests", *_step(before.requests, after.requests, count)),
        ("Tokens", *_step(before.tokens, after.tokens, tokens)),
    ]


def _why(difference: Difference) -> Grid:
    effects, made = difference.effects, difference.drivers
    rows = [("Why", "Amount")]
    if made is not None:
        told = [driver for driver in Driver if driver in FACTORS or made.terms[driver]]
        rows += [(f"{NAMES[driver]}: {MEANINGS[driver]}", _signed(made.terms[driver])) for driver in told]
        return [*rows, ("Change", _signed(difference.change))]
    rows += [
        (title, MISSING if effects is None else _signed(getattr(effects, name))) for name, title in _EFFECTS
    ]
    return [*rows, ("Change", _signed(difference.change))]


def _tables(difference: Difference) -> list[tuple[str, Grid]]:
    tables = [
        ("By model", [_line(row) for row in difference.models]),
        ("By workload", [_line(row) for row in difference.workloads]),
        ("By meter", [_meter_line(row) for row in difference.meters]),
    ]
    made: list[tuple[str, Grid]] = []
    for name, lines in tables:
        more = len(lines) - _SHOWN_ROWS
        title = f"{name} ({more:,} smaller ones left out)" if more > 0 else name
        made.append((title, [_HEAD, *lines[:_SHOWN_ROWS]]))
    return [(name, grid) for name, grid in made if len(grid) > 1]


def _line(row: Row) -> tuple[str, ...]:
    return (
        clean(row.name, _NAME_CHARS),
        *(_cost(part) for part in (row.before, row.after)),
        _signed(row.change),
        *_effect_cells(row.effects),
    )


def _meter_line(row: MeterRow) -> tuple[str, ...]:
    return (
        row.name,
        money(row.before.cost),
        money(row.after.cost),
        _signed(row.change),
        *_effect_cells(row.effects),
    )


def _cost(part: Part) -> str:
    known = part.known_cost
    if known is None:
        return "unknown"
    return f"{'' if part.complete else 'at least '}{money(known)}"


def _effect_cells(effects: Effects | None) -> tuple[str, ...]:
    return tuple(MISSING if effects is None else _signed(getattr(effects, name)) for name, _ in _EFFECTS)


def _notes(difference: Difference) -> list[str]:
    notes = list(difference.notes)
    unknown = [row for row in difference.models if row.change is None]
    if unknown:
        names = ", ".join(clean(row.name, _NAME_CHARS) for row in unknown[:3])
        more = f" and {len(unknown) - 3:,} more" if len(unknown) > 3 else ""  # noqa: PLR2004
        between = gap(difference)
        apart = f"; {_signed(between)} between the totals is theirs, and no change" if between else ""
        notes.append(f"Without a known cost on one side, so in no change: {names}{more}{apart}.")
    return notes


def _grid(rows: Grid) -> list[str]:
    head, *body = rows
    rule = "|".join("---" if index == 0 else "---:" for index in range(len(head)))
    lines = [f"| {' | '.join(map(escape, head))} |", f"|{rule}|"]
    return lines + [f"| {' | '.join(map(_cell, row))} |" for row in body]


def _cell(text: str) -> str:
    """Return a cell; a sign at its start is no list there, and stays readable."""
    return text[0] + escape(text[1:]) if text.startswith(("+", "-")) else escape(text)
