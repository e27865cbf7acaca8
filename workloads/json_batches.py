"""Batches of JSON files: by plan, as rows of a known table, or as rows with recognisable names."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ibis

from workloads.batches import Batch, ReadOptions, generic_importer, importer_of_table, rows_of_table
from workloads.expressions import TRUE
from workloads.importers import JsonImporter, TableImporter, json_importers
from workloads.json_plan import UNRECOGNISED, Rows, claimed, make_plan
from workloads.ledger import SKIPPED
from workloads.numbers import NumberStyle, style_of
from workloads.planned import json_records, planned_batch
from workloads.raw import FILE_COLUMN, Node
from workloads.schema import Schema, is_name, merge, nest
from workloads.sniff import inspect
from workloads.sources import InputFile, Kind, Unreadable
from workloads.vocabulary import normal

Expr = Any
Connection = Any
Leaves = dict[str, tuple[str, ...]]
"""Field in normal form -> path in the record."""

_PAGES = ("data", "result")
"""Keys under which APIs put the rows of a page."""
_MOST_LARGE = 8
"""Large documents that are read whole to learn their format; the others are read as their neighbours."""
_MOST_NESTED = 2
"""Objects below are content, not usage."""


def make_json_batches(
    files: Sequence[InputFile], options: ReadOptions
) -> tuple[list[Batch], list[Unreadable]]:
    """Return the batches that read JSON files, and the files of no known format with the reason.

    A record is read by the importer that claims it as a whole; else as a row of a known table; else by the importer
    that claims an object inside it; else as a row with recognisable names.
    """
    files, unlooked = _with_large(files)
    sampled = [file for file in files if file.records]
    unsampled = [file for file in files if not file.records and file.kind is Kind.JSON_LINES]
    documents = [file for file in files if not file.records and file.kind is Kind.JSON_DOCUMENT]
    blank = [file for file in documents if file.path not in unlooked]
    unlooked_files = [file for file in documents if file.path in unlooked]
    known = tuple(
        importer for importer in json_importers() if options.wants(importer.name) and not options.mapping
    )
    planned: list[InputFile] = []
    tables: dict[Any, tuple[TableImporter, str | None, list[InputFile]]] = {}
    foreign: list[InputFile] = [*blank]
    for file in sampled:
        importer = (
            None if claimed(file.records, known, at_root=True) else _table_importer(file, known, options)
        )
        page = None
        if importer is None and not claimed(file.records, known):
            importer, page, file = _paged(file, known, options)  # noqa: PLW2901
        if importer is not None:
            key = (page, _table_key(file, importer))
            tables.setdefault(key, (importer, page, []))[2].append(file)
        elif claimed(file.records, known):
            planned.append(file)
        else:
            foreign.append(file)
    if unsampled and (tables or not planned):
        # Which of the formats the files without a sample have cannot be guessed: look into each.
        looked = [inspect(file.shown, file.path, deep=True) for file in unsampled]
        seen = [item for item in looked if isinstance(item, InputFile) and item.records]
        rest = [Unreadable(item.shown, _reason(item)) for item in looked if item not in seen]
        batches, more = (
            make_json_batches([*sampled, *seen, *documents], options)
            if sampled or seen or documents
            else ([], [])
        )
        return batches, rest + more
    batches = [
        _table_batch(tuple(group), importer, page, wide=options.wide)
        for importer, page, group in tables.values()
    ]
    if planned:
        # A session of which only the head was seen may hold usage further on: it is read as its neighbours.
        lines = [file for file in foreign if file.kind is Kind.JSON_LINES]
        foreign = [file for file in foreign if file not in lines]
        batches += _planned([*planned, *unsampled, *lines, *unlooked_files], known, wide=options.wide)
    else:
        foreign += unlooked_files
    return batches, [Unreadable(file.shown, describe_foreign(file)) for file in foreign]


def _with_large(files: Sequence[InputFile]) -> tuple[list[InputFile], frozenset[Path]]:
    """Return the files with a sample of the first documents that are one object, larger than a sample.

    And the paths of further such documents: they are read as their neighbours are.
    """
    large = [file for file in files if file.kind is Kind.JSON_DOCUMENT and not file.records]
    looked = {file.path: inspect(file.shown, file.path, deep=True) for file in large[:_MOST_LARGE]}
    seen = [item if isinstance(item := looked.get(file.path), InputFile) else file for file in files]
    return seen, frozenset(file.path for file in large[_MOST_LARGE:])


def _reason(item: InputFile | Unreadable) -> str:
    return item.reason if isinstance(item, Unreadable) else "JSON without objects"


def _planned(files: Sequence[InputFile], known: tuple[JsonImporter, ...], *, wide: bool) -> list[Batch]:
    """Return a batch for each set of formats that files were seen to hold, in each layout.

    A plan that holds every format of a mixed folder would be checked for every row of it.
    """
    groups: dict[object, list[InputFile]] = {}
    rest: list[InputFile] = []
    for file in files:
        parts = {(part.importer.name, part.path) for part in make_plan(file.records, known).parts}
        if parts:
            groups.setdefault((file.kind, file.is_array, frozenset(parts)), []).append(file)
        else:
            rest.append(file)
    # Nothing was seen of these: they are read as most of their neighbours are; what that misses is found later.
    for file in rest:
        alike = [group for group in groups.values() if _layout(group[0]) == _layout(file)]
        lines = [group for group in groups.values() if group[0].kind is Kind.JSON_LINES]
        max(alike or lines or groups.values(), key=len).append(file)
    batches = []
    for group in groups.values():
        plan = make_plan((record for file in group for record in file.records), known)
        batches.append(planned_batch(tuple(group), plan, wide=wide))
    return batches


def _layout(file: InputFile) -> tuple[Kind, bool]:
    return file.kind, file.is_array


# ---- rows of a table


def _table_importer(file: InputFile, known: tuple[Any, ...], options: ReadOptions) -> TableImporter | None:
    names = frozenset(normal(key) for record in file.records for key in record)
    importer = importer_of_table(names, options)
    generic = generic_importer(options)
    if importer is not None and importer.name != generic.name:
        return importer
    # Recognisable names are the last resort: an object inside that a format claims says more.
    if claimed(file.records, known) or not options.wants(generic.name):
        return None
    leaves = frozenset(_leaves(file.records))
    # Whoever names columns means these: a log that lacks one is another, or the name is wrong.
    return generic if set(generic.mapping.values()) <= leaves and generic.claims_columns(leaves) else None


def _paged(
    file: InputFile, known: tuple[Any, ...], options: ReadOptions
) -> tuple[TableImporter | None, str | None, InputFile]:
    """Return the importer of the rows in a saved page of an API, their key, and the file with the rows as its sample."""
    for key in _PAGES:
        lists = [record.get(key) for record in file.records]
        rows = tuple(
            row for found in lists if isinstance(found, list) for row in found if isinstance(row, dict)
        )
        # Objects one after another, also where each has a line: a row of a page is on no line of its own.
        inside = replace(file, records=rows, kind=Kind.JSON_DOCUMENT)
        importer = _table_importer(inside, known, options) if rows else None
        if importer is not None and importer.name != generic_importer(options).name:
            return importer, key, inside
    return None, None, file


def _table_key(file: InputFile, importer: TableImporter) -> Any:
    alone = file.shown if file.kind is Kind.JSON_DOCUMENT else ""
    return importer.name, alone, tuple(sorted(_fields(file.records, importer).items()))


def _fields(records: Iterable[Mapping[str, Any]], importer: TableImporter) -> Leaves:
    """Return the fields that are read as columns: the top-level keys of a known table, else every scalar."""
    if importer.name == generic_importer(ReadOptions()).name:
        return _leaves(records)
    fields: Leaves = {}
    # The log's own spelling first: the importer's keys are for fields that the first rows lack.
    for keys in (*records, importer.keys):
        for key in filter(_is_column, keys):
            fields.setdefault(normal(key), (key,))
    return fields


def _table_batch(
    files: tuple[InputFile, ...], importer: TableImporter, page: str | None, *, wide: bool
) -> Batch:
    """Return a batch that reads JSON objects as rows of a table; what is nested is a column of JSON text.

    With ``page`` the rows are the elements of the array under that key.
    """
    fields = _fields(files[0].records, importer)
    schema: Schema = {}
    for path in fields.values():
        schema = merge(schema, nest(path, "VARCHAR"))
    styles: dict[str, NumberStyle] = {}
    for name, path in fields.items():
        style = style_of(value for file in files for value in _values(file.records, path))
        if style is not None:
            styles[name] = style

    def raw(connection: Connection, some: Sequence[InputFile]) -> Expr:
        records = json_records(connection, some, {page: [schema]} if page else schema)
        at: tuple[str, ...] = ()
        if page:
            records, at = records.select(FILE_COLUMN, row=records[page].unnest()), ("row",)
        columns = {name: Node(records, (*at, *path)).get().cast("string") for name, path in fields.items()}
        return records.select(records[FILE_COLUMN], **columns)

    def read(table: Expr) -> list[Rows]:
        rows = rows_of_table(importer, table, {name: name for name in fields}, styles, wide=wide)
        return [Rows(rows.relation, _unless_empty(dict(rows.columns), rows.relation, list(fields)))]

    return Batch(files, raw, read, wide=wide)


def _unless_empty(columns: dict[str, Expr], table: Expr, names: Sequence[str]) -> dict[str, Expr]:
    """Return the columns with rows of nothing but nulls (lines that are no such object) as skipped."""
    empty = TRUE
    for name in names:
        empty = empty & table[name].isnull()
    # Always so; but asked for in every row, the fate is worked out once.
    empty &= columns["fate"].notnull()
    columns["fate"] = ibis.cases((empty, SKIPPED), else_=columns["fate"])
    columns["reason"] = ibis.cases((empty, UNRECOGNISED), else_=columns["reason"])
    return columns


def _is_column(key: str) -> bool:
    return is_name(key) and bool(normal(key))


def _leaves(records: Iterable[Mapping[str, Any]]) -> Leaves:
    """Return the scalar fields of records: last key in normal form -> path; the outermost of equal names wins."""
    found: Leaves = {}

    def visit(obj: Mapping[str, Any], path: tuple[str, ...]) -> None:
        for key, value in obj.items():
            if not _is_column(key):
                continue
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


def describe_foreign(file: InputFile) -> str:
    """Return what a JSON file of no known format holds, for a message."""
    keys = list(_leaves(file.records))
    return f"no token counts among the keys {', '.join(keys[:40])}" if keys else "JSON without objects"
