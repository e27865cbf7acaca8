"""Groups of files that are read by one query: same format, same columns, same dialect."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import ibis

from workloads import relations
from workloads.expressions import TRUE
from workloads.importers import TableImporter, json_importers, table_importers
from workloads.importers.generic import GenericTable
from workloads.json_plan import UNRECOGNISED, JsonPlan, claimed, make_plan, read_plan
from workloads.ledger import COLUMNS, SKIPPED
from workloads.numbers import NumberStyle, style_of
from workloads.raw import Node, Table
from workloads.schema import Schema, merge, nest
from workloads.sources import InputFile, Kind, Unreadable, inspect
from workloads.vocabulary import normal

Expr = Any
Connection = Any

_MOST_NESTED = 2
"""Objects below are content, not usage."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the user says about the input.

    Attributes:
        format: Name of the one importer to use; None: recognise.
        mapping: Ledger target -> column, for tables with other names.
    """

    format: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Batch:
    """Files and the query that reads them."""

    files: tuple[InputFile, ...]
    raw: Callable[[Connection, Sequence[InputFile]], Expr]
    """The raw relation over some of the files."""
    read: Callable[[Expr], dict[str, Expr]]
    """Ledger columns of the raw relation."""
    plan: JsonPlan | None = None
    """The plan, when the batch is made of JSON records of known formats."""

    def ledger(self, raw: Expr) -> Expr:
        """Return the ledger rows of a raw relation, with typed columns and provenance."""
        columns = {name: value.cast(COLUMNS[name]) for name, value in self.read(raw).items()}
        return raw.select(source_file=_shown(raw, self.files), **columns)


def _shown(raw: Expr, files: Sequence[InputFile]) -> Expr:
    column = raw[relations.FILE_COLUMN]
    renamed = [(column == str(file.path), file.shown) for file in files if str(file.path) != file.shown]
    return ibis.cases(*renamed, else_=column) if renamed else column


def make_batches(files: Iterable[InputFile], options: ReadOptions) -> tuple[list[Batch], list[Unreadable]]:
    """Return the batches that read the files, and the files of no known format with the reason."""
    batches: list[Batch] = []
    failed: list[Unreadable] = []
    files = list(files)
    texts = [file for file in files if file.kind is Kind.JSON_LINES]
    documents = [file for file in files if file.kind is Kind.JSON_DOCUMENT]
    for group in ([texts] if texts else []) + [[file] for file in documents]:
        made, foreign = _json_batches(group, options)
        batches += made
        failed += foreign
    made, foreign = _table_batches([file for file in files if file.kind in (Kind.CSV, Kind.PARQUET)], options)
    return batches + made, failed + foreign


# ---- JSON


def _json_batches(files: Sequence[InputFile], options: ReadOptions) -> tuple[list[Batch], list[Unreadable]]:
    known = tuple(i for i in json_importers() if options.format in (None, i.name))
    if options.mapping:
        known = ()
    sampled = [file for file in files if file.records]
    unsampled = [file for file in files if not file.records]
    known_files = [file for file in sampled if claimed(file.records, known)]
    rest = [file for file in sampled if not claimed(file.records, known)]
    flat = _flat_groups(rest, options)
    if unsampled and (flat or not known_files):
        # Which of the formats the files without a sample have cannot be guessed: look into each.
        looked = [inspect(file.shown, file.path) for file in unsampled]
        failed = [item for item in looked if isinstance(item, Unreadable)]
        files = [*sampled, *(item for item in looked if isinstance(item, InputFile) and item.records)]
        failed += [
            Unreadable(item.shown, "JSON without objects") for item in looked if _without_objects(item)
        ]
        batches, more = _json_batches(files, options) if files else ([], [])
        return batches, failed + more
    batches = []
    foreign = [file for file in rest if not any(file in group for group in flat)]
    if known_files:
        plan = make_plan((record for file in known_files for record in file.records), known)
        # A session of which only the head was seen may hold usage further on: it is read as its neighbours.
        lines = [file for file in foreign if file.kind is Kind.JSON_LINES]
        batches.append(json_batch((*known_files, *unsampled, *lines), plan))
        foreign = [file for file in foreign if file not in lines]
    batches += [_flat_json_batch(group, options) for group in flat]
    return batches, [Unreadable(file.shown, describe_foreign(file)) for file in foreign]


def _without_objects(item: InputFile | Unreadable) -> bool:
    return isinstance(item, InputFile) and not item.records


def json_batch(files: tuple[InputFile, ...], plan: JsonPlan) -> Batch:
    """Return the batch that reads JSON records by a plan."""

    def raw(connection: Connection, some: Sequence[InputFile]) -> Expr:
        if files[0].kind is Kind.JSON_LINES:
            return relations.json_lines(connection, some, plan.schema)
        return relations.json_documents(connection, some[0], plan.schema)

    return Batch(files, raw, lambda table: read_plan(plan, table), plan)


def _flat_groups(files: Sequence[InputFile], options: ReadOptions) -> list[tuple[InputFile, ...]]:
    """Return the files whose objects read as rows of a table with recognisable names, by equal fields."""
    generic = _generic(options)
    if options.format not in (None, generic.name):
        return []
    groups: dict[Any, list[InputFile]] = {}
    for file in files:
        leaves = _leaves(file.records)
        if generic.claims_columns(frozenset(leaves)):
            one_by_one = file.shown if file.kind is Kind.JSON_DOCUMENT else ""
            groups.setdefault((one_by_one, tuple(sorted(leaves.items()))), []).append(file)
    return [tuple(group) for group in groups.values()]


def _flat_json_batch(files: tuple[InputFile, ...], options: ReadOptions) -> Batch:
    """Return a batch that reads JSON objects as rows of a table."""
    leaves = _leaves(files[0].records)
    generic = _generic(options)
    schema: Schema = {}
    for path in leaves.values():
        schema = merge(schema, nest(path, "VARCHAR"))

    def raw(connection: Connection, some: Sequence[InputFile]) -> Expr:
        if files[0].kind is Kind.JSON_LINES:
            records = relations.json_lines(connection, some, schema)
        else:
            records = relations.json_documents(connection, some[0], schema)
        columns = {name: Node(records, path).get().cast("string") for name, path in leaves.items()}
        return records.select(records[relations.FILE_COLUMN], **columns)

    def read(table: Expr) -> dict[str, Expr]:
        styles: dict[str, NumberStyle] = {}
        for name, path in leaves.items():
            style = style_of(value for file in files for value in _values(file.records, path))
            if style is not None:
                styles[name] = style
        columns = dict(generic.ledger_of_table(Table(table, {name: name for name in leaves}, styles)))
        return _unless_empty(columns, table, list(leaves)) | {"format": ibis.literal(generic.name)}

    return Batch(files, raw, read)


def _unless_empty(columns: dict[str, Expr], table: Expr, names: Sequence[str]) -> dict[str, Expr]:
    """Return the columns with rows of nothing but nulls (lines that are no such object) as skipped."""
    empty = TRUE
    for name in names:
        empty = empty & table[name].isnull()
    columns["fate"] = ibis.cases((empty, SKIPPED), else_=columns["fate"])
    columns["reason"] = ibis.cases((empty, UNRECOGNISED), else_=columns["reason"])
    return columns


def _leaves(records: Iterable[Mapping[str, Any]]) -> dict[str, tuple[str, ...]]:
    """Return the scalar fields of records: last key in normal form -> path; the outermost of equal names wins."""
    found: dict[str, tuple[str, ...]] = {}

    def visit(obj: Mapping[str, Any], path: tuple[str, ...]) -> None:
        for key, value in obj.items():
            if isinstance(value, Mapping) and len(path) < _MOST_NESTED:
                visit(value, (*path, key))
            elif not isinstance(value, (Mapping, list)):
                name = normal(key)
                if name not in found or len(found[name]) > len(path) + 1:
                    found[name] = (*path, key)

    for record in records:
        visit(record, ())
    return found


def _values(records: Iterable[Mapping[str, Any]], path: tuple[str, ...]) -> Iterable[str]:
    for record in records:
        value: Any = record
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if isinstance(value, str):
            yield value


# ---- tables


def _generic(options: ReadOptions) -> GenericTable:
    return GenericTable({target: normal(column) for target, column in options.mapping.items()})


def _table_importer(names: frozenset[str], options: ReadOptions) -> TableImporter | None:
    generic = _generic(options)
    if not options.mapping:
        for importer in table_importers():
            if importer.name == generic.name or options.format not in (None, importer.name):
                continue
            if importer.claims_columns(names):
                return importer
    return generic if options.format in (None, generic.name) and generic.claims_columns(names) else None


def _table_batches(files: Sequence[InputFile], options: ReadOptions) -> tuple[list[Batch], list[Unreadable]]:
    groups: dict[Any, list[InputFile]] = {}
    failed = []
    for file in files:
        groups.setdefault((file.kind, file.dialect), []).append(file)
    batches = []
    for (kind, dialect), group in groups.items():
        if kind is Kind.PARQUET:
            batches += [_parquet_batch(file, options) for file in group]
            continue
        header = relations.unique(dialect.header)
        names = {normal(name): name for name in reversed(header)}
        importer = _table_importer(frozenset(names), options)
        if importer is None:
            failed += [Unreadable(file.shown, describe_foreign(file)) for file in group]
            continue
        batches.append(_csv_batch(tuple(group), importer, header, names))
    return batches, failed


def _csv_batch(
    files: tuple[InputFile, ...], importer: TableImporter, header: Sequence[str], names: Mapping[str, str]
) -> Batch:
    dialect = files[0].dialect
    assert dialect is not None  # noqa: S101  (a CSV file has one)
    styles: dict[str, NumberStyle] = {}
    for index, name in enumerate(header):
        style = style_of(row[index] for file in files for row in file.cells)
        if style is not None:
            styles[normal(name)] = style

    def read(table: Expr) -> dict[str, Expr]:
        columns = dict(importer.ledger_of_table(Table(table, names, styles)))
        return columns | {"format": ibis.literal(importer.name)}

    return Batch(files, lambda connection, some: relations.csv_rows(connection, some, dialect), read)


def _parquet_batch(file: InputFile, options: ReadOptions) -> Batch:
    def read(table: Expr) -> dict[str, Expr]:
        names = {normal(name): name for name in reversed(table.columns) if name != relations.FILE_COLUMN}
        importer = _table_importer(frozenset(names), options)
        if importer is None:
            raise ForeignTableError(
                file.shown, [name for name in table.columns if name != relations.FILE_COLUMN]
            )
        columns = dict(importer.ledger_of_table(Table(table, names, {})))
        return columns | {"format": ibis.literal(importer.name)}

    return Batch((file,), relations.parquet_rows, read)


class ForeignTableError(Exception):
    """A Parquet file whose columns no importer recognises."""

    def __init__(self, shown: str, columns: Sequence[str]) -> None:
        """Keep the file and its columns."""
        super().__init__(f"no token counts among the columns {', '.join(columns)}")
        self.shown = shown


def describe_foreign(file: InputFile) -> str:
    """Return what a file of no known format holds, for a message."""
    if file.dialect is not None:
        return f"no token counts among the columns {', '.join(file.dialect.header[:40])}"
    keys = list(_leaves(file.records))
    if not keys:
        return "JSON without objects"
    return f"no token counts among the keys {', '.join(keys[:40])}"
