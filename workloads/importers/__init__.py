"""Log formats. One module a source; each ends with ``IMPORTERS``, and nothing else needs to know of it.

An importer says which records are its own and maps them to ledger columns with a query. It never sees a price, and
it never loops over rows: the engine does.
"""

import pkgutil
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Any, Protocol, runtime_checkable

from workloads.raw import Envelope, Node, Table
from workloads.schema import Schema

Expr = Any
Columns = Mapping[str, Expr]
"""Ledger column -> expression."""


@runtime_checkable
class JsonImporter(Protocol):
    """A format made of JSON objects, wherever in a record they lie."""

    @property
    def name(self) -> str:
        """The word that users type after ``--format``."""
        ...

    @property
    def title(self) -> str:
        """What the format is, in words."""
        ...

    @property
    def core(self) -> Schema:
        """Schema of the object that carries the usage."""
        ...

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether this (sampled) object is one of the format's own."""
        ...

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """Return the ledger columns of every record, and ``mine``: whether the record is of this format."""
        ...


@runtime_checkable
class TableImporter(Protocol):
    """A format made of rows with named columns (CSV, Parquet)."""

    @property
    def name(self) -> str:
        """The word that users type after ``--format``."""
        ...

    @property
    def title(self) -> str:
        """What the format is, in words."""
        ...

    def claims_columns(self, names: frozenset[str]) -> bool:
        """Return whether a table with these column names (in normal form) is of this format."""
        ...

    def ledger_of_table(self, table: Table) -> Columns:
        """Return the ledger columns of every row."""
        ...


Importer = JsonImporter | TableImporter


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
