"""Numbers as spreadsheets and exports write them: ``1,234``, ``1.234,56``, ``59200.0``, ``1.2E+05``.

Which of ``.`` and ``,`` is the decimal mark is a property of a column, not of a cell: ``1.234`` alone could be either.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import ibis

Expr = Any

DECIMAL: Final = "decimal(38, 12)"
"""Type of money and of seconds."""
_PLAIN_COUNT: Final = re.compile(r"(\+?\d+(\.0*)?)?")
_PLAIN_DECIMAL: Final = re.compile(r"([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)?")
_PLAIN: Final = re.compile(r"[+-]?\d+")
_GROUPED: Final = re.compile(r"[+-]?[1-9]\d{0,2}([.,' \u00a0\u202f])\d{3}(?:\1\d{3})*")
_SPACES: Final = "['\u2019 \u00a0\u202f\u2009]"


@dataclass(frozen=True, slots=True)
class NumberStyle:
    """How the numbers of a column are written."""

    decimal: str = "."
    grouping: str = ","
    decided: bool = field(default=True, compare=False)
    """False when every dot of the column is followed by three digits: groups in counts, decimals in money."""

    @property
    def words(self) -> str:
        """The style in words, for messages."""
        return f"decimal mark '{self.decimal}', thousands '{self.grouping}'"


def style_of(cells: Iterable[str]) -> NumberStyle | None:
    """Return how a column's numbers are written; None when all are plain digits (nothing to decide).

    A cell with both marks decides (the last one is the decimal mark), and so does a mark that is not followed by
    groups of exactly three digits. A mark that only ever groups three digits groups.

    >>> style_of(["1,234", "12"]).decimal, style_of(["1.234,5"]).decimal, style_of(["59200.0"]).decimal
    ('.', ',', '.')
    >>> style_of(["1.234"]).decimal, style_of(["0.123"]).decimal
    (',', '.')
    >>> style_of(["12", "13"]) is None
    True
    """
    marks = [text for cell in cells if (text := cell.strip()) and not _PLAIN.fullmatch(text)]
    marks = [text for text in marks if any(mark in text for mark in ".,") or re.search(_SPACES, text)]
    if not marks:
        return None
    for text in marks:
        last_dot, last_comma = text.rfind("."), text.rfind(",")
        if last_dot >= 0 and last_comma >= 0:
            return NumberStyle(*((".", ",") if last_dot > last_comma else (",", ".")))
        mark = "." if last_dot >= 0 else ","
        if text.count(mark) == 1 and not _GROUPED.fullmatch(text):
            return NumberStyle(*((".", ",") if mark == "." else (",", ".")))
    groups_with_dot = any("." in text for text in marks)
    return NumberStyle(",", ".", decided=False) if groups_with_dot else NumberStyle(".", ",")


def is_plain_count(cell: str, style: NumberStyle | None) -> bool:
    """Return whether a cell of a column in this style is blank, or a whole number as any program reads it."""
    return (style is None or style.decimal == ".") and bool(_PLAIN_COUNT.fullmatch(cell.strip()))


def is_plain_decimal(cell: str, style: NumberStyle | None) -> bool:
    """Return whether a cell of a column in this style is blank, or a decimal number as any program reads it."""
    is_dot = style is None or not style.decided or style.decimal == "."
    return is_dot and bool(_PLAIN_DECIMAL.fullmatch(cell.strip()))


def parse_count(text: Expr, style: NumberStyle | None) -> Expr:
    """Return the whole number in a text column; null for a blank cell and for one that is no whole number."""
    # try_cast alone would round 1.5 to 2, so a mark sends the cell the long way.
    plain = ibis.cases((~text.contains("."), text.try_cast("int64")), else_=ibis.null("int64"))
    bare = _clean(text, style or NumberStyle())
    number = ibis.coalesce(
        bare.try_cast("decimal(38, 6)"), bare.try_cast("float64").try_cast("decimal(38, 6)")
    )
    whole = number.try_cast("int64")
    careful = ibis.cases((whole.cast("decimal(38, 6)") == number, whole), else_=ibis.null("int64"))
    # No coalesce: the engine computes what recurs inside one for every row, though hardly a row needs it.
    return ibis.cases((plain.notnull(), plain), else_=careful)


def parse_decimal(text: Expr, style: NumberStyle | None) -> Expr:
    """Return the decimal number in a text column (``$1,234.50``, ``(12.3)``); null where there is none."""
    style = style or NumberStyle()
    cleaned = _clean(text, style).try_cast(DECIMAL)
    if style.decimal != ".":
        return cleaned
    # Hardly a number needs to be cleaned, and that takes patterns.
    plain = text.try_cast(DECIMAL)
    return ibis.cases((plain.notnull(), plain), else_=cleaned)


def _clean(text: Expr, style: NumberStyle) -> Expr:
    bare = text.re_replace(r"[$€£\s'\x{2019}\x{00a0}\x{202f}\x{2009}]", "").replace(style.grouping, "")
    bare = bare.replace(",", ".") if style.decimal == "," else bare
    return bare.re_replace(r"^\((.*)\)$", r"-\1")
