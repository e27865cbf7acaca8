"""What an importer's query is written against: a place in a JSON record, a record's envelope, the lines of a text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import ibis

from workloads.declared import as_declared
from workloads.expressions import TRUE
from workloads.ledger import COLUMNS
from workloads.schema import Schema, other_spelling
from workloads.times import is_bare_date, parse_instant

Expr = Any


ROW_COLUMN = "__row"
"""Number of a row in its file, for importers that need the order of lines."""
PLACE_COLUMN = "__place"
"""Number of a row in its file, from 0, that goes with it into the ledger; only of inputs that are read in order."""
STEP_PREFIX = "__step_"
FILE_COLUMN = "__file"
"""Path of the file that a raw row comes from."""


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


def time_columns(text: Expr) -> dict[str, Expr]:
    """Return ``started_at`` and ``usage_date`` of a text column: a bare date stays that date in every zone."""
    instant = parse_instant(text)
    return {
        "started_at": instant,
        "usage_date": ibis.cases((is_bare_date(text), instant.date()), else_=ibis.null("date")),
    }
