"""Rows of the tables of hardware, open models and offers: a CSV file, or a TOML file with the same columns.

An empty cell is a value that nobody stated. It stays None, and is never 0.
"""

import csv
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Final

from pricing.errors import TableFileError

DATA_DIR: Final = Path(__file__).parent / "data"
VERIFIED: Final = ("yes", "part", "memory")
"""How far a row was held against its source: all of it, part of it (the note says which), or not at all."""


@dataclass(frozen=True, slots=True)
class Row:
    """One row, read cell by cell; a cell that is missing or no number is an error that names file, row and column."""

    cells: Mapping[str, str]
    where: str

    def text(self, column: str) -> str:
        """A cell that must be filled in."""
        found = self.cells.get(column, "").strip()
        if not found:
            raise TableFileError(f"{self.where}: {column} is empty; every row needs it.")
        return found

    def text_or_empty(self, column: str) -> str:
        """A cell that may be left out."""
        return self.cells.get(column, "").strip()

    def number(self, column: str) -> float:
        """A number that must be there, 0 or more."""
        return self._number(column, self.text(column))

    def number_or_none(self, column: str) -> float | None:
        """A number of 0 or more; None if nobody stated it."""
        found = self.text_or_empty(column)
        return self._number(column, found) if found else None

    def count(self, column: str) -> int:
        """A whole number that must be there."""
        return self._count(column, self.number(column))

    def count_or_none(self, column: str) -> int | None:
        """A whole number; None if nobody stated it."""
        found = self.number_or_none(column)
        return None if found is None else self._count(column, found)

    def at_least(self, column: str, least: float) -> None:
        """Refuse a number that is too small to mean anything."""
        if (found := self.number(column)) < least:
            raise TableFileError(f"{self.where}: {column} is {found:g}; at least {least:g} is needed.")

    def money(self, column: str) -> Decimal:
        """An amount of money, exactly as written, more than 0."""
        found = self.text(column)
        try:
            amount = Decimal(found)
        except InvalidOperation:
            amount = Decimal("NaN")
        if not amount.is_finite() or amount <= 0:
            raise TableFileError(
                f"{self.where}: {column} is {found!r}; an amount above 0 like 2.35 is needed."
            )
        return amount

    def day_or_none(self, column: str) -> date | None:
        """A day; None if nobody stated it."""
        found = self.text_or_empty(column)
        try:
            return date.fromisoformat(found) if found else None
        except ValueError:
            raise TableFileError(
                f"{self.where}: {column} is {found!r}; a day like 2026-10-31 is needed."
            ) from None

    def one_of(self, column: str, allowed: Iterable[str]) -> str:
        """A word out of a closed list."""
        found = self.text(column)
        if found not in (words := tuple(allowed)):
            raise TableFileError(f"{self.where}: {column} is {found!r}; allowed are {', '.join(words)}.")
        return found

    def words(self, column: str) -> tuple[str, ...]:
        """The parts of a cell that are separated by semicolons."""
        return tuple(part for part in map(str.strip, self.text_or_empty(column).split(";")) if part)

    def _number(self, column: str, found: str) -> float:
        try:
            number = float(found)
        except ValueError:
            number = -1.0
        if not 0 <= number < float("inf"):
            raise TableFileError(f"{self.where}: {column} is {found!r}; a number of 0 or more is needed.")
        return number

    def _count(self, column: str, number: float) -> int:
        if not number.is_integer():
            raise TableFileError(f"{self.where}: {column} is {number}; a whole number is needed.")
        return int(number)


def read_rows(path: Path, columns: Iterable[str]) -> tuple[Row, ...]:
    """Read a table.

    Args:
        path: A CSV file with a header, or a TOML file with one array of tables (``[[row]]``).
        columns: What a row may have; another column is a spelling mistake.

    Raises:
        TableFileError: If the file cannot be read, or has a column that is not known.
    """
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise TableFileError(f"{path}: cannot be read ({error}); a CSV or TOML file is needed.") from error
    rows = _toml_rows(path, text) if path.suffix.lower() == ".toml" else _csv_rows(path, text)
    known = tuple(columns)
    for row in rows:
        if strange := sorted(set(row.cells) - set(known)):
            raise TableFileError(
                f"{row.where}: unknown column {', '.join(map(repr, strange))}; allowed are {', '.join(known)}."
            )
    return rows


def _csv_rows(path: Path, text: str) -> tuple[Row, ...]:
    reader = csv.DictReader(text.splitlines(keepends=True), restkey="(beyond the header)", restval="")
    try:
        return tuple(
            Row(
                {key: value for key, value in cells.items() if isinstance(value, str)},
                f"{path.name}:{reader.line_num}",
            )
            if "(beyond the header)" not in cells
            else _too_long(path, reader.line_num)
            for cells in reader
        )
    except csv.Error as error:
        raise TableFileError(f"{path}:{reader.line_num}: not a table ({error}).") from error


def _too_long(path: Path, line: int) -> Row:
    raise TableFileError(
        f"{path.name}:{line}: more cells than the header has; quote a cell that holds a comma."
    )


def _toml_rows(path: Path, text: str) -> tuple[Row, ...]:
    try:
        parsed = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TableFileError(f"{path.name}: not TOML ({error}).") from error
    tables = [table for value in parsed.values() if isinstance(value, list) for table in value]
    if not tables or not all(isinstance(table, dict) for table in tables):
        raise TableFileError(f"{path.name}: no rows; write one [[row]] table for each.")
    return tuple(
        Row({str(key): _cell(value) for key, value in table.items()}, f"{path.name}, row {number}")
        for number, table in enumerate(tables, start=1)
    )


def _cell(value: object) -> str:
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)
