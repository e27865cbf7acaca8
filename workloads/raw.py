"""What an importer's query is written against: a place in a JSON record, a record's envelope, a table of text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import ibis

from workloads.declared import as_declared
from workloads.expressions import FALSE, NO_TEXT, TRUE, trimmed
from workloads.ledger import COLUMNS
from workloads.numbers import NumberStyle, parse_count, parse_decimal
from workloads.schema import Schema, other_spelling
from workloads.shared import computed_once
from workloads.times import is_bare_date, parse_instant

Expr = Any


ROW_COLUMN = "__row"
"""Number of a row in its file, for importers that need the order of lines."""
PLACE_COLUMN = "__place"
"""Number of a row in its file, from 0, that goes with it into the ledger; only of inputs that are read in order."""
STEP_PREFIX = "__step_"
FILE_COLUMN = "__file"
"""Path of the file that a raw row comes from."""
_TEXT = "__text_"
_JSON = "__json_"


@dataclass(frozen=True, slots=True)
class Node:
    """An object inside a record, reached from the record's root by a path of keys."""

    root: Expr
    path: tuple[str, ...] = ()
    parent: "Node | None" = None
    """The object that holds the array of which this is an element; None for an object of the record itself."""
    declared: Schema | None = None
    """Schema of the record as this object's format declares it; another format's may differ."""
    own: str = ""
    """Prefix of the columns that hold fields of the record in this format's types, where they differ."""

    def get(self, *keys: str) -> Expr:
        """Return the field below this object; null where the record has no such field."""
        value, kind = self.root, self.declared
        for depth, key in enumerate((*self.path, *keys)):
            # On the way only what is JSON: all of an object would be converted for one field of it.
            value = as_declared(value, kind) if depth and value.type().is_json() else value
            value = value[key] if depth else self._column(key)
            kind = kind.get(key) if isinstance(kind, Mapping) else None
        return as_declared(value, kind)

    def _column(self, key: str) -> Expr:
        names = (self.own + key, key, other_spelling(key))
        return self.root[next(name for name in names if name in self.root.columns)]

    def exists(self) -> Expr:
        """Return whether the record has this object."""
        return self.get().notnull() if self.path else TRUE

    def step(self, name: str) -> Expr:
        """Return a column that the importer's ``steps`` gave."""
        return self.root[self.step_name(name)]

    def has_step(self, name: str) -> bool:
        """Return whether the importer's ``steps`` gave this column."""
        return self.step_name(name) in self.root.columns

    def step_name(self, name: str) -> str:
        """Return the name of a step's column: one importer may read objects at several places of a record."""
        return STEP_PREFIX + self.own + name

    @property
    def row(self) -> Expr:
        """Number of the record in its file; only for importers that are ``ordered``."""
        return self.root[ROW_COLUMN]

    @property
    def file(self) -> Expr:
        """File of the record."""
        return self.root[FILE_COLUMN]


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of text files."""

    raw: Expr

    @property
    def text(self) -> Expr:
        """The line; null when blank."""
        return self.raw["text"]

    @property
    def row(self) -> Expr:
        """Number of the line in its file, from 1."""
        return self.raw["line"]

    @property
    def file(self) -> Expr:
        """File of the line."""
        return self.raw[FILE_COLUMN]

    def step(self, name: str) -> Expr:
        """Return a column that the importer's ``steps`` gave."""
        return self.raw[STEP_PREFIX + name]

    def has_step(self, name: str) -> bool:
        """Return whether the importer's ``steps`` gave this column."""
        return STEP_PREFIX + name in self.raw.columns


@dataclass(frozen=True, slots=True)
class Envelope:
    """What the record says around the object that carries the usage: time, team, session, status."""

    fields: Mapping[str, Expr]
    """Ledger column, ``time`` or ``custom_id`` -> expression; only what the log was seen to have."""

    def get(self, name: str, kind: str = "string") -> Expr:
        """Return a field of the envelope; a typed null when the log has none."""
        return self.fields[name] if name in self.fields else ibis.null(kind)

    def labels(self) -> dict[str, Expr]:
        """Return what is a ledger column already."""
        return {name: value for name, value in self.fields.items() if name in COLUMNS}

    def started_at(self, *others: Expr) -> dict[str, Expr]:
        """Return the time columns: the envelope's own time, else the first of the others that is there.

        Args:
            others: Text columns with the object's own times, best first.
        """
        texts = [self.fields["time"], *others] if "time" in self.fields else list(others)
        text = ibis.coalesce(*texts) if len(texts) > 1 else texts[0]
        return time_columns(text)


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
        return self.text(name).isnull()

    def text(self, name: str) -> Expr:
        """Return a column as text, with blanks as null; a typed null when there is no such column."""
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

        return self._reading("__count_" + name, make)

    def number(self, name: str) -> Expr:
        """Return a column of decimal numbers (money, seconds)."""
        if name not in self.names:
            return ibis.null("decimal(38, 12)")

        def make(table: Table) -> Expr:
            column = table.raw[table.names[name]]
            if not column.type().is_string():
                return column.try_cast("decimal(38, 12)")
            style = table.styles.get(name)
            return parse_decimal(column, style if style is None or style.decided else None)

        return self._reading("__number_" + name, make)

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

        def make(table: Table) -> Expr:
            return as_declared(table.json(name), schema)

        return self._reading("__object_" + name, make)

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
        return self.text(name).notnull() & self.count(name).isnull()

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


def time_columns(text: Expr) -> dict[str, Expr]:
    """Return ``started_at`` and ``usage_date`` of a text column: a bare date stays that date in every zone."""
    instant = parse_instant(text)
    return {
        "started_at": instant,
        "usage_date": ibis.cases((is_bare_date(text), instant.date()), else_=ibis.null("date")),
    }
