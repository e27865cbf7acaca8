"""What an importer's query is written against: a table whose columns are reached by their names."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import ibis

from workloads.count_texts import counts, odd_cell, odd_within
from workloads.declared import as_declared
from workloads.expressions import FALSE, NO_TEXT, trimmed
from workloads.numbers import (
    DECIMAL,
    NumberStyle,
    is_plain_count,
    is_plain_decimal,
    parse_count,
    parse_decimal,
)
from workloads.raw import STEP_PREFIX, Node, time_columns
from workloads.schema import Schema
from workloads.shared import computed_once

Expr = Any

_TEXT: Final = "__text_"
_JSON: Final = "__json_"
_COUNT: Final = "__count_"
_NUMBER: Final = "__number_"


@dataclass(frozen=True, slots=True)
class Table:
    """A raw table whose columns are reached by their names in normal form."""

    raw: Expr
    names: Mapping[str, str]
    """Normal form -> the column's own name."""
    styles: Mapping[str, NumberStyle]
    """How the numbers of a text column are written, by normal form; absent for typed columns."""
    wide: bool = False
    """Whether counts are 128-bit integers."""
    asked: dict[str, "Callable[[Table], Expr]"] = field(default_factory=dict)
    """Column that holds a reading -> how the reading is made; filled by those who read."""
    texts: set[str] = field(default_factory=set)
    """Columns whose texts were asked for as they are; filled by those who read."""
    odd: dict[str, "Callable[[Table], Expr]"] = field(default_factory=dict)
    """Count that was asked for -> how to tell its text where it is none; filled by those who read."""

    def with_readings(self, asked: Mapping[str, "Callable[[Table], Expr]"]) -> "Table":
        """Return the table with readings as columns of its own, from where they are then taken.

        An importer names a count in a dozen places, and the engine would parse it in each of them.
        """
        table = self
        first = [name for name in asked if name.startswith((_TEXT, _JSON))]
        for names in (first, [name for name in asked if name not in first]):
            made = {name: asked[name](table) for name in names}
            table = replace(table, raw=computed_once(table.raw.mutate(**made))) if made else table
        return table

    def _reading(self, column: str, make: "Callable[[Table], Expr]") -> Expr:
        if column in self.raw.columns:
            return self.raw[column]
        self.asked[column] = make
        return make(self)

    def has(self, name: str) -> bool:
        """Return whether the table has this column."""
        return name in self.names

    def first(self, names: Sequence[str]) -> str | None:
        """Return the first of the names that the table has."""
        return next((name for name in names if name in self.names), None)

    def is_text(self, name: str) -> bool:
        """Return whether the table has this column, and it is not one of numbers or times."""
        return name in self.names and self.raw[self.names[name]].type().is_string()

    def is_time(self, name: str) -> bool:
        """Return whether the table has this column, and its cells are instants or days."""
        return name in self.names and self.raw[self.names[name]].type().is_temporal()

    def is_blank(self, name: str) -> Expr:
        """Return whether a cell holds nothing."""
        if name in self.names and not self.is_text(name):
            return self.raw[self.names[name]].isnull()
        return self._text(name).isnull()

    def is_header(self, name: str) -> Expr:
        """Return whether a cell holds the name of its column."""
        return self._text(name) == self.names[name] if self.is_text(name) else FALSE

    def text(self, name: str) -> Expr:
        """Return a column as text, with blanks as null; a typed null when there is no such column."""
        self.texts.add(name)
        return self._text(name)

    def _text(self, name: str) -> Expr:
        if name not in self.names:
            return NO_TEXT

        def make(table: Table) -> Expr:
            return trimmed(table.raw[table.names[name]].cast("string"))

        return self._reading(_TEXT + name, make)

    def count(self, name: str) -> Expr:
        """Return a column of whole numbers; null where a cell is no whole number."""
        if name not in self.names:
            return ibis.null("int64")

        def make(table: Table) -> Expr:
            column = table.raw[table.names[name]]
            plain = not column.type().is_string()
            count = column.try_cast("int64") if plain else parse_count(column, table.styles.get(name))
            return count.cast("decimal(38, 0)") if table.wide else count

        self.odd[name] = lambda table: _odd(table.raw[table.names[name]], table.count(name))
        return self._reading(_COUNT + name, make)

    def number(self, name: str) -> Expr:
        """Return a column of decimal numbers (money, seconds)."""
        if name not in self.names:
            return ibis.null(DECIMAL)

        def make(table: Table) -> Expr:
            column = table.raw[table.names[name]]
            if not column.type().is_string():
                return column.try_cast(DECIMAL)
            style = table.styles.get(name)
            return parse_decimal(column, style if style is None or style.decided else None)

        return self._reading(_NUMBER + name, make)

    def json(self, name: str) -> Expr:
        """Return a column of JSON texts (or JSON values) as JSON, to be reached into; null where it is no JSON."""
        if name not in self.names:
            return ibis.null("json")

        def make(table: Table) -> Expr:
            column = table.raw[table.names[name]]
            if column.type().is_json():
                return column
            if column.type().is_nested():  # maps and structs of a Parquet file
                return column.cast("json")
            return column.cast("string").try_cast("json")

        return self._reading(_JSON + name, make)

    def object(self, name: str, schema: Schema) -> Expr:
        """Return a column of JSON texts as an object with these fields: read once, where JSON is read at every step."""
        if name in self.names and any(counts(schema)):
            self.odd[name] = lambda table: odd_within(table.json(name), schema)
        return self._reading("__object_" + name, lambda table: as_declared(table.json(name), schema))

    def plain_numbers(self, cells: Mapping[str, Sequence[str]]) -> dict[str, str]:
        """Return the columns that were asked for as nothing but plain numbers, and look like them, each with its type.

        Args:
            cells: Some cells of each column.
        """
        found: dict[str, str] = {}
        for prefix, kind, plain in ((_NUMBER, DECIMAL, is_plain_decimal), (_COUNT, "bigint", is_plain_count)):
            for name, style in ((name, self.styles.get(name)) for name in self.names):
                asked = prefix + name in self.asked and name not in self.texts
                if asked and all(plain(cell, style) for cell in cells[name]):
                    found[name] = kind
        return found

    def step(self, name: str) -> Expr:
        """Return a column that the importer's ``steps`` gave."""
        return self.raw[STEP_PREFIX + name]

    def has_step(self, name: str) -> bool:
        """Return whether the importer's ``steps`` gave this column."""
        return STEP_PREFIX + name in self.raw.columns

    def node(self, name: str) -> Node:
        """Return the object that a step holds."""
        return Node(self.raw, (STEP_PREFIX + name,))

    def unreadable(self, name: str) -> Expr:
        """Return whether a cell holds something and it is no whole number."""
        if name in self.names and self.raw[self.names[name]].type().is_signed_integer():
            return FALSE
        return self._text(name).notnull() & self.count(name).isnull()

    def time(self, name: str) -> dict[str, Expr]:
        """Return the time columns of a column that holds instants, bare dates or epochs."""
        if name not in self.names:
            return {}
        column = self.raw[self.names[name]]
        if column.type().is_timestamp():
            return {"started_at": column.cast("timestamp")}
        if column.type().is_date():
            return {"started_at": column.cast("timestamp"), "usage_date": column}

        def started_at(table: Table) -> Expr:
            return time_columns(table.text(name))["started_at"]

        def usage_date(table: Table) -> Expr:
            return time_columns(table.text(name))["usage_date"]

        made = {"started_at": started_at, "usage_date": usage_date}
        return {part: self._reading(f"__{part}_{name}", make) for part, make in made.items()}


def _odd(cell: Expr, count: Expr) -> Expr:
    if cell.type().is_numeric():
        return ibis.cases((count < 0, cell.cast("string")), else_=NO_TEXT)
    return odd_cell(cell.cast("string"), count)
