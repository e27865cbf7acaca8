"""A workbook that takes cells: texts that stay texts, numbers with a format, formulas with their value beside them."""

import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final

import xlsxwriter

from advisor.wording import clean

TEXT_LIMIT: Final = 2_000
_WIDEST: Final = 60
_NARROWEST: Final = 9
_MOST_LINES: Final = 12
_LINE_POINTS: Final = 15

_BY_SIZE: Final = "[>=0.995]#,##0.00_);[=0]0_);0.000000_)"
"""Cents from one up, and what is less with six decimals, whatever it becomes."""
_STYLES: Final[Mapping[str, Mapping[str, Any]]] = {
    "title": {"bold": True, "font_size": 16},
    "lead": {"bold": True},
    "strong": {"bold": True},
    "note": {"italic": True, "font_color": "#555555"},
    "text": {},
    "wrap": {"text_wrap": True, "valign": "top"},
    "head": {"bold": True, "bottom": 1, "bg_color": "#E8EEF4", "text_wrap": True, "valign": "top"},
    "head_right": {
        "bold": True,
        "bottom": 1,
        "bg_color": "#E8EEF4",
        "text_wrap": True,
        "valign": "top",
        "align": "right",
    },
    "money": {"num_format": _BY_SIZE},
    "signed": {"num_format": "#,##0.00_);-#,##0.00_);0.00_)"},
    "total": {"num_format": "#,##0.00####_)", "bold": True},
    "price": {"num_format": "0.00######_)"},
    "unit": {"num_format": "0.000000_)"},
    "count": {"num_format": "#,##0_)"},
    "ratio": {"num_format": "0.0%_)"},
    "factor": {"num_format": "0.00####_)"},
    "day": {"num_format": "yyyy-mm-dd", "align": "left"},
    "input_price": {
        "num_format": "0.00######_)",
        "bg_color": "#FFF6BF",
        "border": 1,
        "border_color": "#D8C76A",
    },
    "input_factor": {
        "num_format": "0.00####_)",
        "bg_color": "#FFF6BF",
        "border": 1,
        "border_color": "#D8C76A",
    },
}


@dataclass(frozen=True, slots=True)
class Cell:
    """What stands in a cell.

    Attributes:
        value: A text, a number, a day, or None for an empty cell; of a formula what it comes to.
        style: One of the styles of the book.
        formula: Without it, the value itself is the content.
    """

    value: str | float | date | None
    style: str = "text"
    formula: str = ""


def text(value: str | None) -> Cell:
    """A text, from a log or of ours."""
    return Cell(None if value is None else clean(value, TEXT_LIMIT))


def wrapped(value: str | None) -> Cell:
    """A long text."""
    return Cell(None if value is None else clean(value, TEXT_LIMIT), "wrap")


def number(value: Decimal | float | None, style: str = "count") -> Cell:
    """A number; what is not known is an empty cell, which is not 0."""
    return Cell(_finite(value), style)


def formula(words: str, value: Decimal | float | None, style: str = "money") -> Cell:
    """A live formula and what it comes to now, for readers that do not compute."""
    return Cell(_finite(value), style, f"={words}")


def _finite(value: Decimal | float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(value)


class Sheet:
    """One sheet: cells go in row by row; columns become as wide as what is in them."""

    def __init__(self, book: "Book", name: str) -> None:
        """Add a sheet to a book."""
        self.name = name
        self._book = book
        self._sheet = book.add(name)
        self._widths: dict[int, int] = {}
        self._wrapped: dict[int, list[tuple[int, int]]] = {}

    def put(self, row: int, column: int, cell: Cell) -> None:
        """Write a cell; rows and columns count from 0."""
        style = self._book.style(cell.style)
        value = cell.value
        if cell.formula:
            self._sheet.write_formula(row, column, cell.formula, style, 0 if value is None else value)
        elif value is None:
            self._sheet.write_blank(row, column, None, style)
        elif isinstance(value, str):
            # Never ``write``, which takes =1+1 for a formula and an address for a link.
            self._sheet.write_string(row, column, value, style)
        elif isinstance(value, date):
            self._sheet.write_datetime(row, column, datetime.combine(value, datetime.min.time()), style)
        else:
            self._sheet.write_number(row, column, value, style)
        if cell.style in ("wrap", "head", "head_right"):
            self._wrapped.setdefault(row, []).append((column, len(str(value or ""))))
        if cell.style not in ("title", "lead", "note", "wrap"):
            self._widths[column] = max(self._widths.get(column, 0), _width(cell))

    def row(self, row: int, cells: Iterable[Cell], *, column: int = 0) -> None:
        """Write cells beside each other."""
        for offset, cell in enumerate(cells):
            self.put(row, column + offset, cell)

    def table(
        self,
        top: int,
        titles: Sequence[str],
        rows: Sequence[Sequence[Cell]],
        *,
        column: int = 0,
        main: bool = False,
    ) -> int:
        """Write a table, its titles in row ``top``; the main one of a sheet has filters and stays below its titles.

        Returns:
            The row after it.
        """
        numeric = (
            [not isinstance(cell.value, str) and cell.value is not None for cell in rows[0]] if rows else []
        )
        styles = ["head_right" if right else "head" for right in numeric] or ["head"] * len(titles)
        heads = [Cell(clean(title, TEXT_LIMIT), style) for title, style in zip(titles, styles, strict=True)]
        self.row(top, heads, column=column)
        for offset, cells in enumerate(rows, 1):
            self.row(top + offset, cells, column=column)
        if main:
            self._sheet.freeze_panes(top + 1, 0)
            if rows:
                self._sheet.autofilter(top, column, top + len(rows), column + len(titles) - 1)
        return top + len(rows) + 1

    def wide(self, column: int, width: int) -> None:
        """Set a column's width, in characters, whatever is in it."""
        self._widths[column] = width

    def chart(self, row: int, column: int, chart: Any) -> None:
        """Put a chart over cells."""
        self._sheet.insert_chart(row, column, chart)

    def finish(self) -> None:
        """Set the widths, and how it prints."""
        widths = {column: min(max(width, _NARROWEST), _WIDEST) for column, width in self._widths.items()}
        for column, width in widths.items():
            self._sheet.set_column(column, column, width)
        for row, cells in self._wrapped.items():
            # Not every reader makes room for wrapped texts by itself.
            lines = max(math.ceil(length / (widths.get(column, _NARROWEST) - 1)) for column, length in cells)
            if lines > 1:
                self._sheet.set_row(row, min(lines, _MOST_LINES) * _LINE_POINTS)
        self._sheet.set_landscape()
        self._sheet.set_paper(9)
        self._sheet.fit_to_pages(1, 0)


def _width(cell: Cell) -> int:
    if cell.style in ("head", "head_right"):
        return max(map(len, str(cell.value).split() or [""])) + 3
    if isinstance(cell.value, str):
        return len(cell.value) + 2
    return len(f"{cell.value:,.6f}") if isinstance(cell.value, float) and abs(cell.value) < 1 else 14


class Book:
    """An Excel workbook in memory."""

    def __init__(self, created: datetime) -> None:
        """Begin an empty book; the same content and moment give the same bytes."""
        self._bytes = io.BytesIO()
        options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
        self._workbook: Any = xlsxwriter.Workbook(self._bytes, options)
        self._workbook.set_properties({"title": "LLM token cost", "created": created.replace(tzinfo=None)})
        self._styles: dict[str, Any] = {}
        self._sheets: list[Sheet] = []

    def add(self, name: str) -> Any:
        """Add a bare worksheet."""
        return self._workbook.add_worksheet(name)

    def sheet(self, name: str) -> Sheet:
        """Add a sheet."""
        self._sheets.append(Sheet(self, name))
        return self._sheets[-1]

    def style(self, name: str) -> Any:
        """The format of a style."""
        if name not in self._styles:
            self._styles[name] = self._workbook.add_format({"valign": "top", **_STYLES[name]})
        return self._styles[name]

    def name(self, name: str, place: str) -> None:
        """Give a cell a name that formulas can use."""
        self._workbook.define_name(name, f"={place}")

    def day_chart(self, title: str, series: Sequence[Mapping[str, Any]]) -> Any:
        """A chart of stacked columns over days; each series has name, categories and values as Excel writes ranges."""
        chart = self._workbook.add_chart({"type": "column", "subtype": "stacked"})
        for one in series:
            chart.add_series(dict(one) | {"gap": 40})
        chart.set_x_axis({"text_axis": True, "num_format": "yyyy-mm-dd"})
        chart.set_title({"name": title, "name_font": {"size": 11}})
        chart.set_size({"width": 760, "height": 300})
        chart.set_legend({"position": "bottom"})
        return chart

    def close(self) -> bytes:
        """End the book; return the file."""
        for sheet in self._sheets:
            sheet.finish()
        self._workbook.close()
        return self._bytes.getvalue()
