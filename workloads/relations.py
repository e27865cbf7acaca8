"""Raw tables: what the engine sees of the input files, before any importer.

The readers' options cannot be bound as parameters, so SQL is written here and nowhere else; every text that comes from
outside (paths, column names) goes through ``quote`` or ``identifier``.
"""
# ruff: noqa: S608  (see above)

import contextlib
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import cache
from itertools import count
from pathlib import Path
from threading import RLock
from types import MappingProxyType
from typing import Any, Final

import ibis
from ibis.common.bases import Comparable

from workloads.dialects import DuckDB
from workloads.ledger import ROW_ID
from workloads.line_sizes import OBJECT_BYTES, UNPACKED, line_bytes
from workloads.raw import FILE_COLUMN
from workloads.room import bound_memory, is_remote, same_room
from workloads.schema import Schema, column_types, identifier, other_spelling, quote, spellings, structure
from workloads.sources import CsvDialect, InputFile

Connection = Any

LINE_DELIMITER: Final = "\\x02"
"""Stands in no text file: the whole line is one column."""

_LARGEST_EXACT: Final = (1 << 53) - 1
"""Up to here fractions hold every whole number, and no other is read as one of these."""
_numbers = count(1)


def connect(*, memory_limit: str | None = None) -> Connection:
    """Return an engine of its own, in process, in UTC, that never reaches out to load anything."""
    # Nested selects stay nested, so that what is computed once in an inner one is not computed again in the outer.
    ibis.options.sql.fuse_selects = False
    connection = ibis.duckdb.connect()
    connection.compiler = DuckDB()
    connection.raw_sql("SET TimeZone = 'UTC'")
    connection.raw_sql("SET autoinstall_known_extensions = false")
    connection.raw_sql("SET autoload_known_extensions = true")
    connection.raw_sql("SET enable_progress_bar = false")
    # Rows are stored in whatever order the cores finish: nothing below depends on it, except line numbers, which
    # are asked for with `in_order`.
    connection.raw_sql("SET preserve_insertion_order = false")
    bound_memory(connection, memory_limit)
    return connection


@cache
def _compare_one_at_a_time() -> None:
    """Let only one thread at a time compare expressions of ibis, or let go of one that was compared.

    ibis keeps what it compared in one table for all threads, by address: two threads at once could leave an entry behind,
    which then stands for another expression at the same address.
    """
    lock, compare, let_go = RLock(), Comparable.__eq__, Comparable.__del__

    def compare_alone(one: Any, other: Any) -> Any:
        with lock:
            return compare(one, other)

    def let_go_alone(one: Any) -> None:
        with lock:
            let_go(one)

    setattr(Comparable, "__eq__", compare_alone)  # noqa: B010  (a checker would have it that methods stay)
    setattr(Comparable, "__del__", let_go_alone)  # noqa: B010


def way_into(connection: Connection) -> Connection:
    """Return another way into the same engine, with all that is stored there: for a thread of its own."""
    _compare_one_at_a_time()
    if is_remote(connection):
        return connection.way_in()
    other = ibis.duckdb.from_connection(connection.con.cursor())
    other.compiler = connection.compiler
    same_room(connection, other)
    return other


@contextlib.contextmanager
def in_order(connection: Connection) -> Generator[None]:
    """Read files in the order of their rows while this lasts, so that rows can be numbered."""
    connection.raw_sql("SET preserve_insertion_order = true")
    try:
        yield
    finally:
        connection.raw_sql("SET preserve_insertion_order = false")


@contextlib.contextmanager
def as_written(connection: Connection) -> Generator[None]:
    """Join tables in the order that is written, the one on the right held in memory, while this lasts.

    The engine takes a table whose lists are spread out for as short as it was before.
    """
    if is_remote(connection):
        yield
        return
    connection.raw_sql("SET disabled_optimizers = 'join_order,build_side_probe_side'")
    try:
        yield
    finally:
        connection.raw_sql("SET disabled_optimizers = ''")


def _view(connection: Connection, query: str) -> Any:
    name = f"raw_{next(_numbers)}"
    connection.raw_sql(f"CREATE VIEW {identifier(name)} AS {query}")
    return connection.table(name)


def store(
    connection: Connection,
    name: str,
    expr: Any,
    meanwhile: Callable[[], None] = lambda: None,
    words: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> Any:
    """Return an expression's rows as a stored (in-memory, spillable) table of that name, replacing an older one.

    Args:
        connection: The engine.
        name: The table's name.
        expr: What to store.
        meanwhile: Called right before the engine starts to work.
        words: Columns of text that hold few values, and all of these: they are stored as numbers. Rows that are added
            later must keep to them.
    """
    if is_remote(connection):
        return connection.store(name, expr)
    query = connection.compile(expr)
    if words:
        # In order, so that sorting by the column is sorting by the text.
        lists = {column: ", ".join(map(quote, sorted(set(values)))) for column, values in words.items()}
        casts = [
            f"CAST({identifier(column)} AS ENUM ({values})) AS {identifier(column)}"
            for column, values in lists.items()
        ]
        query = f"SELECT * REPLACE ({', '.join(casts)}) FROM ({query})"
    meanwhile()
    connection.raw_sql(f"CREATE OR REPLACE TABLE {identifier(name)} AS {query}")
    return connection.table(name)


def add(connection: Connection, name: str, expr: Any) -> None:
    """Add an expression's rows to a stored table with the same columns."""
    connection.raw_sql(f"INSERT INTO {identifier(name)} {connection.compile(expr)}")


def row_id(rows: Any) -> Any:
    """Return the number of each row of a stored table, or of one with columns beside it."""
    return rows[ROW_ID] if ROW_ID in rows.columns else rows.rowid()


def literal_path(path: Path) -> str:
    """Return a path as SQL text that the engine will not take for a pattern."""
    return quote("".join(f"[{mark}]" if mark in "[*?" else mark for mark in str(path)))


def _paths(files: Sequence[InputFile]) -> str:
    return "[" + ", ".join(literal_path(file.path) for file in files) + "]"


def json_lines(
    connection: Connection, files: Sequence[InputFile], schema: Schema, *, strict: bool = False
) -> Any:
    """Return one row a line, read with a declared schema; a line that is no JSON object reads as nulls.

    With ``strict`` the query fails for such a line, and for a field of another type than declared.
    """
    errors = f"ignore_errors = {str(not strict).lower()}"
    options = f"format = 'newline_delimited', {errors}, maximum_object_size = {line_bytes(files)}"
    if len(parts := spellings(schema)) > 1:
        return _json_objects(connection, files, parts, options, strict=strict)
    return _json_fields(connection, files, schema, options)


def json_documents(
    connection: Connection, files: Sequence[InputFile], schema: Schema, *, strict: bool = False
) -> Any:
    """Return one row an object of JSON documents: arrays all, or none (one object, or objects one after another).

    With ``strict`` the query fails for a field of another type than declared; else it reads as null.
    """
    size = max(OBJECT_BYTES, *(file.path.stat().st_size * UNPACKED + 1 for file in files))
    layout = "array" if files[0].is_array else "unstructured"
    options = f"format = {quote(layout)}, maximum_object_size = {size}"
    parts = spellings(schema)
    if strict and len(parts) == 1:
        return _json_fields(connection, files, schema, options)
    return _json_objects(connection, files, parts, options, strict=strict)


def _json_fields(connection: Connection, files: Sequence[InputFile], schema: Schema, options: str) -> Any:
    return _view(
        connection,
        f"SELECT * FROM read_json({_paths(files)}, records = true, columns = {column_types(schema)}, "
        f"filename = {quote(FILE_COLUMN)}, {options})",
    )


def _json_objects(
    connection: Connection, files: Sequence[InputFile], parts: Sequence[Schema], options: str, *, strict: bool
) -> Any:
    """Return one row an object; names that differ in case only from one before are read under another name."""
    others = parts[1:]
    # The strict one fails for a missing key, too, so for nearly all: no other is strict about names that differ in case.
    read = "from_json_strict" if strict else "from_json"
    reads = [f"{read}(json, {quote(structure(part))}) AS j{i}" for i, part in enumerate(parts)]
    renamed = [
        f"j{i}.{identifier(key)} AS {identifier(other_spelling(key))}"
        for i, part in enumerate(others, 1)
        for key in part
    ]
    columns = ", ".join(["j0.*", *renamed, identifier(FILE_COLUMN)])
    return _view(
        connection,
        f"SELECT {columns} FROM (SELECT {', '.join(reads)}, filename AS {identifier(FILE_COLUMN)} "
        f"FROM read_json_objects({_paths(files)}, filename = true, {options}))",
    )


def csv_rows(
    connection: Connection,
    files: Sequence[InputFile],
    dialect: CsvDialect,
    numbers: Mapping[str, str] = MappingProxyType({}),
) -> Any:
    """Return one row a data row, every column as text; structurally broken rows go to the engine's rejects.

    Columns among ``numbers`` are read in the types named there; a ``bigint`` is then whole for sure. The query fails for
    a cell that does not fit, and for a broken row.
    """
    # As fractions first: read as whole ones, 1.5 would become 2.
    types = {name: "DOUBLE" if kind == "bigint" else kind for name, kind in numbers.items()}
    names = ", ".join(f"{quote(name)}: {quote(types.get(name, 'VARCHAR'))}" for name in dialect.columns)
    whole = [_whole(identifier(name)) for name, kind in numbers.items() if kind == "bigint"]
    replaced = f"REPLACE ({', '.join(whole)}) " if whole else ""
    return _view(
        connection,
        f"SELECT * {replaced}"
        f"FROM read_csv({_paths(files)}, columns = {{{names}}}, header = true, auto_detect = false, "
        f"delim = {quote(dialect.delimiter)}, quote = '\"', escape = '\"', skip = {dialect.skip_lines}, "
        f"filename = {quote(FILE_COLUMN)}, store_rejects = {str(not numbers).lower()}, null_padding = false, "
        f"max_line_size = {line_bytes(files)})",
    )


def _whole(column: str) -> str:
    exact = f"{column} = floor({column}) AND {column} BETWEEN 0 AND {_LARGEST_EXACT}"
    return (
        f"CASE WHEN {column} IS NULL THEN NULL WHEN {exact} THEN CAST({column} AS BIGINT) "
        f"ELSE error('no whole number') END AS {column}"
    )


def parquet_rows(connection: Connection, files: Sequence[InputFile]) -> Any:
    """Return the rows of Parquet files with equal columns."""
    return _view(
        connection,
        f"SELECT * FROM read_parquet({_paths(files)}, filename = {quote(FILE_COLUMN)}, union_by_name = true)",
    )


def table_rows(connection: Connection, files: Sequence[InputFile]) -> Any:
    """Return the rows of one table, see ``workloads.places``."""
    (file,) = files
    rows = file.rows(connection) if file.rows else literal_path(file.path)
    return _view(connection, f"SELECT *, {quote(str(file.path))} AS {identifier(FILE_COLUMN)} FROM {rows}")


def text_lines(connection: Connection, files: Sequence[InputFile], encoding: str = "utf-8") -> Any:
    """Return every line of text files: ``line`` (1-based, per file), ``text`` (null when blank) and the file.

    Lines are numbered by the order of reading: store the result inside ``in_order``.
    """
    options = (
        f"columns = {{'text': 'VARCHAR'}}, delim = '{LINE_DELIMITER}', quote = '', escape = '', header = false, "
        f"auto_detect = false, strict_mode = false, max_line_size = {line_bytes(files)}, "
        f"filename = {quote(FILE_COLUMN)}, encoding = {quote(encoding)}"
    )
    each = " UNION ALL ".join(
        f"SELECT row_number() OVER () AS line, nullif(trim(text), '') AS text, {identifier(FILE_COLUMN)} "
        f"FROM read_csv({_paths([file])}, {options})"
        for file in files
    )
    return _view(connection, each)
