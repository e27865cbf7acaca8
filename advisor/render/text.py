"""Lines of text for a terminal: measured, cut, wrapped and painted, free of control characters from a log."""

import unicodedata
from collections.abc import Sequence
from typing import Final

from advisor.wording import clean

_TEXT_LIMIT: Final = 2_000
BOLD, DIM, RESET = "1", "2", "0"
BLUE, YELLOW = "34", "33"


class Paint:
    """Puts colours on text, where they are wanted."""

    def __init__(self, *, color: bool) -> None:
        """Paint, or leave everything plain."""
        self._color = color

    def __call__(self, text: str, code: str) -> str:
        """Return the text in a colour."""
        return f"\x1b[{code}m{text}\x1b[{RESET}m" if self._color and text else text


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return the lines of a table with aligned columns, however long they get."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]


def columns(rows: Sequence[Sequence[str]], width: int, paint: Paint) -> list[str]:
    """Return rows of cells as aligned lines; the first row is the head, the first column gives way when it is tight."""
    sizes = [max(cells(row[i]) for row in rows) for i in range(1, len(rows[0]))]
    names = max(min(max(cells(row[0]) for row in rows), width - sum(sizes) - 2 * len(sizes)), 8)
    lines: list[str] = []
    for index, row in enumerate(rows):
        rest = "".join(f"  {text:>{size}}" for text, size in zip(row[1:], sizes, strict=True))
        line = cut(f"{pad(row[0], names)}{rest}".rstrip(), width)
        lines.append(line if index else paint(line, DIM))
    return lines


def title(text: str, width: int, paint: Paint) -> list[str]:
    """Return the lines that open a section."""
    return ["", paint(cut(f"{text} {'─' * (width - len(text) - 1)}".rstrip(), width), DIM)]


def cells(text: str) -> int:
    """Columns that a terminal gives to the text."""
    return sum(_cell_width(char) for char in text)


def _cell_width(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in {"W", "F"} else 1


def cut(text: str, width: int) -> str:
    """Return the text, or its start and an ellipsis where it is wider."""
    if cells(text) <= width:
        return text
    kept, room = "", width - 1
    for char in text:
        room -= _cell_width(char)
        if room < 0:
            break
        kept += char
    return kept + "…"


def pad(text: str, width: int) -> str:
    """Return the text at exactly this width."""
    kept = cut(text, width)
    return kept + " " * (width - cells(kept))


def wrap(text: str, width: int, hang: str = "") -> list[str]:
    """Lines of at most ``width`` columns, broken at spaces where there are any; all but the first start with ``hang``."""
    lines: list[str] = []
    line = ""
    for word in clean(text, _TEXT_LIMIT).split(" "):
        if line and cells(line) + 1 + cells(word) > width:
            lines.append(line)
            line = hang + word
        else:
            line = f"{line} {word}" if line else word
        while cells(line) > width:
            head = cut(line, width + 1)[:-1]
            lines.append(head)
            line = hang + line[len(head) :]
    return [*lines, line]
