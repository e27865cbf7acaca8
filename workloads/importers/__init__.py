"""Log formats. One module a source; each ends with ``IMPORTERS``, and nothing else needs to know of it.

An importer says which records are its own and maps them to ledger columns with a query. It never sees a price, and
it never loops over rows: the engine does.
"""

import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any, ClassVar

from workloads.raw import Envelope, Lines, Node
from workloads.schema import Schema
from workloads.table import Table

Expr = Any
Columns = Mapping[str, Expr]
"""Ledger column -> expression. ``fate`` and ``reason`` are always among them."""
Path = tuple[str, ...]
Chain = tuple[Path, ...]
"""Arrays to unfold, one inside the other: each path starts at the element of the array before."""


class Importer(ABC):
    """A log format."""

    name: ClassVar[str]
    """The word that users type after ``--format``."""
    title: ClassVar[str]
    """What the format is, in words."""
    spans_files: ClassVar[bool] = False
    """Whether rows of one file depend on other files (counters that go on in the next one), so that they are read together."""


class JsonImporter(Importer):
    """A format made of JSON objects, wherever in a record they lie."""

    core: ClassVar[Schema]
    """Schema of the object that the format is recognised by."""
    chains: ClassVar[tuple[Chain, ...]] = ((),)
    """What a ledger row is: the object itself, or each element of arrays inside it; several chains give rows each."""
    ordered: ClassVar[bool] = False
    """Whether the query needs the order of lines (``node.row``, ``node.file``)."""

    @abstractmethod
    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether this (sampled) object is one of the format's own."""

    @abstractmethod
    def owns(self, node: Node) -> Expr:
        """Return whether each record's object is one of the format's own: ``claims`` as an expression."""

    def steps(self, node: Node) -> Columns:
        """Return columns that ``ledger`` needs to be there first, reached as ``node.step(name)``; by default none.

        It is asked again with these in place, until it names no new one: a step may use those of the time before.
        A window over the result of another window needs this, and so does a costly expression that is used often.
        """
        del node
        return {}

    @abstractmethod
    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """Return the ledger columns of every object, or of every element at the end of a chain (``node.parent``)."""


class TableImporter(Importer):
    """A format made of rows with named columns: CSV, Parquet, or JSON objects that are such rows."""

    keys: ClassVar[tuple[str, ...]] = ()
    """Keys that are read from JSON rows even when the first rows lack them, as the source spells them."""

    @abstractmethod
    def claims_columns(self, names: frozenset[str]) -> bool:
        """Return whether a table with these column names (in normal form) is of this format."""

    def steps(self, table: Table) -> Columns:
        """Return columns that ``ledger_of_table`` needs to be there first, reached as ``table.step(name)``.

        It is asked again with these in place, until it names no new one: a step may use those of the time before.
        """
        del table
        return {}

    @abstractmethod
    def ledger_of_table(self, table: Table) -> Columns:
        """Return the ledger columns of every row."""


class TextImporter(Importer):
    """A format made of lines of text that are neither JSON nor a table."""

    @abstractmethod
    def claims_lines(self, lines: Sequence[str]) -> bool:
        """Return whether a file that begins with these lines is of this format."""

    def steps(self, lines: Lines) -> Columns:
        """Return columns that ``ledger_of_lines`` needs to be there first: see ``TableImporter.steps``."""
        del lines
        return {}

    @abstractmethod
    def ledger_of_lines(self, lines: Lines) -> Columns:
        """Return the ledger columns of every line."""


@cache
def importers() -> tuple[Importer, ...]:
    """Return every importer of this folder, sorted by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    modules = [import_module(f"{__name__}.{name}") for name in names]
    found: list[Importer] = [importer for module in modules for importer in module.IMPORTERS]
    return tuple(sorted(found, key=attrgetter("name")))


def json_importers() -> tuple[JsonImporter, ...]:
    """Return the importers that read JSON objects."""
    return tuple(importer for importer in importers() if isinstance(importer, JsonImporter))


def table_importers() -> tuple[TableImporter, ...]:
    """Return the importers that read tables."""
    return tuple(importer for importer in importers() if isinstance(importer, TableImporter))


def text_importers() -> tuple[TextImporter, ...]:
    """Return the importers that read lines of text."""
    return tuple(importer for importer in importers() if isinstance(importer, TextImporter))
