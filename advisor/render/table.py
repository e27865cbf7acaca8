"""The report as a summary for a terminal."""

import unicodedata
from collections.abc import Sequence
from typing import Final

from advisor.charts import BarPart
from advisor.numbers import MISSING
from advisor.view_model import Cell, ReportView, Table
from advisor.wording import clean

_BAR: Final = 12
_LEAST: Final = 40
_WITH_SHARE: Final = 56
_ROOMY: Final = 76
"""Columns from which the class is spelled out."""
_WITH_BARS: Final = 96
_TEXT_LIMIT: Final = 2_000
_BOLD, _DIM, _RESET = "1", "2", "0"
_BLUE, _YELLOW = "34", "33"


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
    paint = _Paint(color=color)
    lines = [
        *_head(view, width, paint),
        *_workloads(view, width, paint),
        *_models(view, width, paint),
        *_data(view, width, paint),
    ]
    return "\n".join(lines) + "\n"


class _Paint:
    def __init__(self, *, color: bool) -> None:
        self._color = color

    def __call__(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[{_RESET}m" if self._color and text else text


def _head(view: ReportView, width: int, paint: _Paint) -> list[str]:
    headline = view.headline
    lines = [paint(line, _BOLD) for line in _wrap(headline.summary, width)]
    lines += [paint(line, _DIM) for line in _wrap(f"{view.title}, {view.subtitle}", width)]
    lines += ["", *_wrap(headline.verdict, width), ""]
    for badge in headline.badges:
        mark, code = ("!", _YELLOW) if badge.tone == "warn" else ("·", _DIM)
        lines += [paint(line, code) for line in _wrap(f"{mark} {badge.text}", width, "  ")]
    return lines


def _workloads(view: ReportView, width: int, paint: _Paint) -> list[str]:
    rows = list(view.workloads.table.picked("name", "cost", "mix"))
    if not rows:
        return []
    lines = _title("Workloads", width, paint)
    roomy, bars = width >= _ROOMY, width >= _WITH_BARS
    money, shares, mixes = (
        max(map(len, column)) for column in zip(*(_figures(row) for row in rows), strict=True)
    )
    classes = max(len(_class(mix)) for _, _, mix in rows) if roomy else 0
    with_share = width >= _WITH_SHARE
    fixed = money + mixes + classes + (shares if with_share else 0) + (_BAR + 2 if bars else 0) + 8
    names = max(min(max(_cells(name.text) for name, _, _ in rows), width - fixed), 8)
    for row in rows:
        cost, part, mix = _figures(row)
        share = [f"{part:>{shares}}"] if with_share else []
        bar = [_bar(row[2].bar, paint)] if bars else []
        kind = [_class(row[2])] if roomy else []
        line = "  ".join(
            [_pad(row[0].text, names), f"{cost:>{money}}", *share, *bar, f"{mix:>{mixes}}", *kind]
        )
        lines.append(line.rstrip() if bars else _cut(line.rstrip(), width))
    return [*lines, *_notes(view.workloads.table, width, paint)]


def _figures(row: Sequence[Cell]) -> tuple[str, str, str]:
    _, cost, mix = row
    return cost.text, cost.note, mix.text


def _class(mix: Cell) -> str:
    return f"{mix.note} ?" if mix.warning else mix.note


def _bar(parts: Sequence[BarPart], paint: _Paint) -> str:
    """Prefill solid, decode light: readable without colour."""
    if not parts:
        return " " * _BAR
    first = next((part.width for part in parts if part.kind == "prefill"), 0.0)
    solid = round(first / 100 * _BAR)
    return paint("█" * solid, _BLUE) + paint("░" * (_BAR - solid), _YELLOW)


def _models(view: ReportView, width: int, paint: _Paint) -> list[str]:
    table = view.meters.asymmetry
    if not table.rows:
        return []
    lines = _title("Models", width, paint)
    rows = list(table.picked("model", "cost", "share", "input", "output", "ratio"))
    head = ("", "cost", "share", "in $/M", "out $/M", "out:in")
    grid = [head, *(tuple(cell.text for cell in row) for row in rows)]
    lines += _grid(grid, width, paint)
    return [*lines, *_notes(table, width, paint)]


def _grid(grid: Sequence[Sequence[str]], width: int, paint: _Paint) -> list[str]:
    sizes = [max(_cells(row[i]) for row in grid) for i in range(1, len(grid[0]))]
    names = max(min(max(_cells(row[0]) for row in grid), width - sum(sizes) - 2 * len(sizes)), 8)
    lines: list[str] = []
    for index, row in enumerate(grid):
        rest = "".join(f"  {text:>{size}}" for text, size in zip(row[1:], sizes, strict=True))
        line = _cut(f"{_pad(row[0], names)}{rest}".rstrip(), width)
        lines.append(line if index else paint(line, _DIM))
    return lines


def _data(view: ReportView, width: int, paint: _Paint) -> list[str]:
    total, *terms = view.data.terms
    parts = " + ".join(f"{term.value} {term.label}" for term in terms)
    lines = _title("Data", width, paint)
    lines += _wrap(f"{total.value} {total.label} = {parts}", width)
    for message, severity, rows, where in view.data.problems.picked(
        "message", "severity", "rows", "examples"
    ):
        mark = "·" if severity.value == "2" else "!"
        places = "" if where.text == MISSING else f", at {where.text}"
        lines += _wrap(f"{mark} {message.text} ({rows.text}{places})", width, "  ")
    for model, requests, tokens, reason in view.data.unpriced.picked("model", "requests", "tokens", "reason"):
        text = f"! unpriced: {model.text}, {requests.text} requests, {tokens.text} tokens: {reason.text}"
        lines += _wrap(text, width, "  ")
    return lines


def _title(text: str, width: int, paint: _Paint) -> list[str]:
    return ["", paint(f"{text} {'─' * (width - len(text) - 1)}", _DIM)]


def _notes(table: Table, width: int, paint: _Paint) -> list[str]:
    return [paint(line, _DIM) for line in _wrap(table.note, width)] if table.note else []


def _cells(text: str) -> int:
    """Columns that a terminal gives to the text."""
    return sum(_cell_width(char) for char in text)


def _cell_width(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def _cut(text: str, width: int) -> str:
    if _cells(text) <= width:
        return text
    kept, room = "", width - 1
    for char in text:
        room -= _cell_width(char)
        if room < 0:
            break
        kept += char
    return kept + "…"


def _pad(text: str, width: int) -> str:
    cut = _cut(text, width)
    return cut + " " * (width - _cells(cut))


def _wrap(text: str, width: int, hang: str = "") -> list[str]:
    """Lines of at most ``width`` columns, broken at spaces where there are any; all but the first start with ``hang``."""
    lines: list[str] = []
    line = ""
    for word in clean(text, _TEXT_LIMIT).split(" "):
        if line and _cells(line) + 1 + _cells(word) > width:
            lines.append(line)
            line = hang + word
        else:
            line = f"{line} {word}" if line else word
        while _cells(line) > width:
            head = _cut(line, width + 1)[:-1]
            lines.append(head)
            line = hang + line[len(head) :]
    return [*lines, line]
