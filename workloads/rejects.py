"""Rows of tables that the engine could not fit to the header, each once, with what an open quote has swallowed."""

import re
from pathlib import Path
from typing import Any, Final

from workloads.packed import unpacked
from workloads.quarantine import SkippedRow

Connection = Any

BROKEN_ROW: Final = "the row does not fit the header"
_OPEN_QUOTE: Final = "UNQUOTED VALUE"
_QUOTE: Final = b'"'
_LONE: Final = re.compile(rb'(?<!")(?:"")*"(?!")')
"""A quote that ends a cell; doubled ones are part of its text."""


def rejected_rows(connection: Connection) -> list[SkippedRow]:
    """Return the CSV rows that the engine could not fit to the header, each once.

    Where a quote was not closed, the rows inside it follow, as one entry that says how many they are.
    """
    if "reject_errors" not in {name for (name,) in connection.raw_sql("SHOW TABLES").fetchall()}:
        return []
    found = connection.raw_sql(
        "SELECT DISTINCT s.file_path, e.line, e.error_type, e.byte_position FROM reject_errors e "
        "JOIN reject_scans s ON s.scan_id = e.scan_id AND s.file_id = e.file_id "
        "ORDER BY s.file_path, e.line, e.error_type <> 'UNQUOTED VALUE', e.error_type"
    ).fetchall()
    rows: dict[tuple[str, int], SkippedRow] = {}
    for path, line, kind, position in found:
        if (path, line) in rows:
            continue
        rows[path, line] = SkippedRow(path, line, f"{BROKEN_ROW}: {str(kind).lower()}")
        inside = _swallowed(Path(path), position - 1) if kind == _OPEN_QUOTE and position else 0
        if inside:
            why = f"inside the quote that is opened on line {line:,} and not closed at the end of its cell"
            rows[path, line + 1] = SkippedRow(path, line + 1, why, rows=inside)
    return list(rows.values())


def _swallowed(path: Path, start: int) -> int:
    """Return how many lines that are not blank lie behind the line of an open quote and inside it.

    The engine reads on behind the line on which the quote ends in the middle of a cell.
    """
    with unpacked(path) as raw:
        raw.seek(start + len(_QUOTE))
        lines = 0
        line = raw.readline()
        while line and not _LONE.search(line):
            line = raw.readline()
            lines += bool(line.strip())
        return lines
