"""Groups of files that are read by one query: same format, same columns, same dialect."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import ibis

from workloads import relations
from workloads.count_texts import ODD
from workloads.expressions import not_negative
from workloads.importers import TableImporter, TextImporter, table_importers, text_importers
from workloads.importers.generic import GenericTable
from workloads.json_plan import JsonPlan, Rows
from workloads.ledger import COLUMNS
from workloads.numbers import NumberStyle, style_of
from workloads.odd_counts import without_odd
from workloads.raw import FILE_COLUMN, PLACE_COLUMN, STEP_PREFIX, Lines
from workloads.shared import computed_once
from workloads.sources import CsvDialect, InputFile, Kind, Unreadable
from workloads.table import Table
from workloads.vocabulary import normal

Expr = Any
Connection = Any

_LENGTHS: Final = {"requests": 10**12, "ttft_seconds": 10**9, "duration_seconds": 10**9}
"""Columns in which a negative value, or one above this, is damage, and read as not stated."""


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the user says about the input.

    Attributes:
        format: Name of the one importer to use; None: recognise.
        mapping: Ledger target -> column, for tables with other names.
    """

    format: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    wide: bool = False
    """Whether counts are read as 128-bit integers: slower, and needed only to get past numbers that are damage."""

    def wants(self, name: str) -> bool:
        """Return whether an importer may be used."""
        return self.format in (None, name)


@dataclass(frozen=True, slots=True)
class Batch:
    """Files and the query that reads them."""

    files: tuple[InputFile, ...]
    raw: Callable[[Connection, Sequence[InputFile]], Expr]
    """The raw relation over some of the files."""
    read: Callable[[Expr], list[Rows]]
    """Ledger rows of the raw relation."""
    plan: JsonPlan | None = None
    """The plan, when the batch is made of JSON records of known formats."""
    wide: bool = False
    """Whether counts are 128-bit integers: what does not fit a ledger column becomes null there."""
    ordered: bool = False
    """Whether the query needs rows in the order of their files."""
    careful: "Callable[[Connection, tuple[InputFile, ...]], Batch] | None" = None
    """How to read files of it in which something is not as expected; None: this is how they are read already."""

    def ledger(self, raw: Expr) -> list[Expr]:
        """Return the ledger rows of a raw relation, with typed columns and provenance."""
        tables = []
        for rows in self.read(raw):
            columns = {
                name: value.try_cast(COLUMNS[name]) if self.wide else value.cast(COLUMNS[name])
                for name, value in rows.columns.items()
            }
            # A length that is negative is damage: that of a bucket is then not known, as 0 says.
            columns |= {name: not_negative(columns[name]) for name in ("bucket_seconds",) if name in columns}
            columns |= {
                name: ibis.cases(((columns[name] >= 0) & (columns[name] <= most), columns[name]))
                for name, most in _LENGTHS.items()
                if name in columns
            }
            if PLACE_COLUMN in rows.relation.columns:
                columns[PLACE_COLUMN] = rows.relation[PLACE_COLUMN]
            shown = _shown(rows.relation, self.files)
            tables.append(computed_once(rows.relation.select(source_file=shown, **columns)))
        return tables


def _shown(raw: Expr, files: Sequence[InputFile]) -> Expr:
    if len(files) == 1:
        return ibis.literal(files[0].shown)
    column = raw[FILE_COLUMN]
    renamed = [(column == str(file.path), file.shown) for file in files if str(file.path) != file.shown]
    return ibis.cases(*renamed, else_=column) if renamed else column


class ForeignTableError(Exception):
    """A Parquet file whose columns no importer recognises."""

    def __init__(self, shown: str, columns: Sequence[str]) -> None:
        """Keep the file and its columns."""
        super().__init__(f"no token counts among the columns {', '.join(columns)}")
        self.shown = shown


def generic_importer(options: ReadOptions) -> GenericTable:
    """Return the importer of any table, with the user's own column names."""
    return GenericTable({target: normal(column) for target, column in options.mapping.items()})


def importer_of_table(names: frozenset[str], options: ReadOptions) -> TableImporter | None:
    """Return the importer that reads a table with these columns (in normal form); None: none does.

    With a mapping the user has decided: the table is read by its columns' names.
    """
    generic = generic_importer(options)
    if not set(generic.mapping.values()) <= names:
        return None
    if not options.mapping:
        for importer in table_importers():
            if (
                importer.name != generic.name
                and options.wants(importer.name)
                and importer.claims_columns(names)
            ):
                return importer
    return generic if options.wants(generic.name) and generic.claims_columns(names) else None


def mapping_failure(options: ReadOptions, files: Sequence[InputFile]) -> str:
    """Return what is wrong with a mapping that no file can be read by, naming what could be meant."""
    columns = sorted({name for file in files for name in file.columns})
    asked = [f"{target}={column}" for target, column in options.mapping.items()]
    missing = [column for column in options.mapping.values() if normal(column) not in map(normal, columns)]
    what = f"no column {missing[0]!r}" if missing else "no token counts"
    return f"--map {' '.join(asked)}: {what} among the columns {', '.join(columns[:40]) or '(none)'}"


def make_table_batches(
    files: Iterable[InputFile], options: ReadOptions
) -> tuple[list[Batch], list[Unreadable]]:
    """Return the batches of CSV and Parquet files, and the files of no known format."""
    groups: dict[tuple[Kind, CsvDialect | None], list[InputFile]] = {}
    for file in files:
        groups.setdefault((file.kind, file.dialect), []).append(file)
    batches: list[Batch] = []
    failed: list[Unreadable] = []
    for (_, dialect), group in groups.items():
        if dialect is None:
            batches += [_parquet_batch(file, options) for file in group]
            continue
        header = dialect.columns
        names = {normal(name): name for name in reversed(header)}
        importer = importer_of_table(frozenset(names), options)
        if importer is None:
            columns = ", ".join(dialect.header[:40])
            failed += [
                Unreadable(file.shown, f"no token counts among the columns {columns}") for file in group
            ]
        else:
            batches.append(_csv_batch(tuple(group), dialect, importer, wide=options.wide))
    return batches, failed


def rows_of_table(
    importer: TableImporter,
    raw: Expr,
    names: Mapping[str, str],
    styles: Mapping[str, NumberStyle],
    *,
    wide: bool,
    kind: type[Table] = Table,
) -> Rows:
    """Return the ledger rows of a raw table; ``kind`` is how its engine reads columns."""
    # Asked twice: what the importer reads of which column is known only when it has read it.
    first = kind(raw, names, styles, wide)
    _ledger_of_table(importer, first, lambda made: made)
    table, columns = _ledger_of_table(
        importer, kind(raw, names, styles, wide, odd=first.odd).with_readings(first.asked), computed_once
    )
    odd = [table.step(ODD)] if table.has_step(ODD) else []
    return Rows(table.raw, {**without_odd(columns, *odd), "format": ibis.literal(importer.name)})


def _ledger_of_table(
    importer: TableImporter, table: Table, tidied: Callable[[Expr], Expr]
) -> tuple[Table, Mapping[str, Expr]]:
    if table.odd:
        # By itself, since the fate and the reason both ask for it.
        odd = ibis.coalesce(*(odd(table) for odd in table.odd.values()))
        table = replace(table, raw=tidied(table.raw.mutate(**{STEP_PREFIX + ODD: odd})).view())
    while steps := {name: step for name, step in importer.steps(table).items() if not table.has_step(name)}:
        made = table.raw.mutate(**{STEP_PREFIX + name: steps[name] for name in steps})
        table = replace(table, raw=tidied(made))
    return table, importer.ledger_of_table(table)


def _csv_batch(
    files: tuple[InputFile, ...], dialect: CsvDialect, importer: TableImporter, *, wide: bool
) -> Batch:
    header = dialect.columns
    names = {normal(name): name for name in reversed(header)}
    places = {name: header.index(column) for name, column in names.items()}
    cells = {name: [row[place] for file in files for row in file.cells] for name, place in places.items()}
    styles = {name: style for name in names if (style := style_of(cells[name])) is not None}

    def rows(raw: Expr) -> list[Rows]:
        return [rows_of_table(importer, raw, names, styles, wide=wide)]

    def careful(_: Connection, some: tuple[InputFile, ...]) -> Batch:
        return Batch(
            some, lambda connection, part: relations.csv_rows(connection, part, dialect), rows, wide=wide
        )

    asked = Table(ibis.table(dict.fromkeys([*header, FILE_COLUMN], "string")), names, styles)
    _ledger_of_table(importer, asked, lambda made: made)
    numbers = {names[name]: kind for name, kind in asked.plain_numbers(cells).items()}
    if wide or not numbers:
        return careful(None, files)
    # As numbers at first: to read a text of every cell, and a number of that, takes three times as long.
    return Batch(
        files,
        lambda connection, part: relations.csv_rows(connection, part, dialect, numbers),
        rows,
        careful=careful,
    )


def _parquet_batch(file: InputFile, options: ReadOptions) -> Batch:
    def read(raw: Expr) -> list[Rows]:
        columns = [name for name in raw.columns if name != FILE_COLUMN]
        names = {normal(name): name for name in reversed(columns)}
        importer = importer_of_table(frozenset(names), options)
        if importer is None:
            raise ForeignTableError(file.shown, columns)
        return [rows_of_table(importer, raw, names, {}, wide=options.wide)]

    raw = relations.parquet_rows if file.rows is None else relations.table_rows
    return Batch((file,), raw, read, wide=options.wide)


def make_text_batches(
    files: Iterable[InputFile], options: ReadOptions
) -> tuple[list[Batch], list[Unreadable]]:
    """Return the batches of text logs, and the texts of no known format."""
    groups: dict[str, tuple[TextImporter, list[InputFile]]] = {}
    failed: list[Unreadable] = []
    for file in files:
        importer = next(
            (i for i in text_importers() if options.wants(i.name) and i.claims_lines(file.lines)), None
        )
        if importer is None:
            failed.append(
                Unreadable(
                    file.shown, "neither JSON, nor a table with two or more columns, nor a known text log"
                )
            )
        else:
            groups.setdefault(importer.name, (importer, []))[1].append(file)
    return [_text_batch(tuple(group), importer) for importer, group in groups.values()], failed


def _text_batch(files: tuple[InputFile, ...], importer: TextImporter) -> Batch:
    def read(raw: Expr) -> list[Rows]:
        lines = Lines(raw)
        while steps := {
            name: step for name, step in importer.steps(lines).items() if not lines.has_step(name)
        }:
            lines = Lines(lines.raw.mutate(**{STEP_PREFIX + name: steps[name] for name in steps}))
        columns = dict(importer.ledger_of_lines(lines))
        return [Rows(lines.raw, columns | {"format": ibis.literal(importer.name)})]

    return Batch(files, relations.text_lines, read, ordered=True)
