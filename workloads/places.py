"""Inputs that are no plain file: tables of a DuckDB file, Delta and Iceberg folders, Parquet in an object store.

The embedded engine reads them in place. What needs one of its extensions says so when the machine has none: nothing is
ever fetched unasked, and no connection is opened but to an address that the user named.
"""
# ruff: noqa: S608  (as in ``relations``: every text from outside goes through ``quote`` or ``identifier``)

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from workloads.schema import identifier, quote
from workloads.sniff import inspect_each
from workloads.sources import InputFile, Kind, SourceError, Unreadable, expand

Connection = Any

_STORES: Final = {
    "s3": "httpfs", "s3a": "httpfs", "gs": "httpfs", "gcs": "httpfs", "r2": "httpfs",
    "az": "azure", "azure": "azure", "abfss": "azure",
}  # fmt: skip
"""Scheme of an object store -> the extension that reads it."""
_CHAINS: Final = {"httpfs": ("aws", "s3"), "azure": ("azure", "azure")}
"""Extension -> the one that finds credentials where the cloud's own tools do, and the kind of secret that it makes."""
_SCHEME: Final = re.compile(r"([a-zA-Z][a-zA-Z0-9+.-]+)://")
_SECRET: Final = re.compile(r"//([^/@?]*?):[^/?]*@|([?&](?:\w*password|passfile)=)[^&]*", re.IGNORECASE)
_TABLE: Final = re.compile(r"^(?:duckdb:(?://)?)?(.+?)(?:\?table=([^&?]+))?$")
_MAGIC: Final = b"DUCK"
_MAGIC_AT: Final = 8


def masked(text: str) -> str:
    """Return a text without the passwords of the addresses in it.

    >>> masked("postgresql://me:secret@db/x?table=t"), masked("postgresql://db/x?password=secret&table=t")
    ('postgresql://me:***@db/x?table=t', 'postgresql://db/x?password=***&table=t')
    """
    return _SECRET.sub(lambda found: f"//{found[1]}:***@" if found[1] is not None else f"{found[2]}***", text)


def inspect_all(paths: Sequence[str]) -> tuple[list[InputFile], list[Unreadable]]:
    """Return the readable files and tables behind paths, and the unreadable ones.

    Raises:
        SourceError: When a path leads to nothing that is read.
    """
    places = [(path, place_of(path)) for path in paths]
    looked = inspect_each(expand([path for path, place in places if place is None]))
    tables = [place for _, place in places if place is not None]
    files = [item for item in looked if isinstance(item, InputFile)]
    return tables + files, [item for item in looked if isinstance(item, Unreadable)]


def place_of(given: str) -> InputFile | None:
    """Return what a path names if it is no plain file or folder of logs; None if it is.

    Raises:
        SourceError: When its address is of a kind that is not read.
    """
    scheme = _SCHEME.match(given)
    if scheme and scheme[1] != "duckdb":
        return _stored(given, scheme[1].lower())
    if given.startswith("duckdb:") or "?table=" in given or _is_duckdb(Path(given)):
        return _duckdb_table(given)
    folder = Path(given)
    if (folder / "_delta_log").is_dir():
        return _scanned(given, folder, "delta")
    if any((folder / "metadata").glob("*.metadata.json")):
        return _scanned(given, folder, "iceberg")
    return None


def _is_duckdb(path: Path) -> bool:
    try:
        if not path.is_file():  # opening a pipe would wait for who writes to it
            return False
        with path.open("rb") as raw:
            return raw.read(_MAGIC_AT + len(_MAGIC))[_MAGIC_AT:] == _MAGIC
    except OSError:
        return False


def _stored(given: str, scheme: str) -> InputFile:
    if scheme in ("postgresql", "postgres"):
        raise SourceError(
            f"{scheme}://...: a table in PostgreSQL is read by `advisor analyze`, alone, and not here"
        )
    if scheme not in _STORES:
        raise SourceError(
            f"{masked(given.partition('?')[0])}: {scheme}:// is not read; download the file and give its path "
            f"(object stores: {', '.join(_STORES)})"
        )
    pattern = given if given.endswith((".parquet", ".pq")) else f"{given.rstrip('/')}/**/*.parquet"
    if Path(given).suffix.lower() in (".jsonl", ".json", ".csv", ".gz", ".tsv", ".log", ".txt"):
        raise SourceError(
            f"{given}: only Parquet is read from an object store; copy other files here and give their folder"
        )
    return _table(given, Path(), lambda connection: _from_store(connection, given, pattern, _STORES[scheme]))


def _duckdb_table(given: str) -> InputFile:
    found = _TABLE.match(given)
    path, table = (Path(found[1]), found[2]) if found else (Path(given), None)
    if not _is_duckdb(path):
        why = "no DuckDB file" if path.exists() else "no such file"
        raise SourceError(f"{path}: {why}; a table in one is named FILE.duckdb?table=NAME")
    return _table(given, path, lambda connection: _attached(connection, given, path, table))


def _scanned(given: str, folder: Path, extension: str) -> InputFile:
    def rows(connection: Connection) -> str:
        load_extension(connection, extension, given)
        return f"{extension}_scan({quote(str(folder))})"

    return _table(given, folder, rows)


def _table(shown: str, path: Path, rows: Callable[[Connection], str]) -> InputFile:
    return InputFile(shown=shown, path=path, kind=Kind.TABLE, rows=rows)


def _attached(connection: Connection, given: str, path: Path, table: str | None) -> str:
    """Return the name of a table in a file, which is opened for reading only."""
    name = f"file_{abs(hash(str(path.resolve())))}"
    try:
        connection.raw_sql(f"ATTACH IF NOT EXISTS {quote(str(path))} AS {identifier(name)} (READ_ONLY)")
    except Exception as error:
        raise SourceError(f"{given}: {str(error).splitlines()[0][:200]}") from error
    listing = " UNION ALL ".join(
        f"SELECT schema_name, {kind}_name FROM duckdb_{kind}s() WHERE database_name = {quote(name)} AND NOT internal"
        for kind in ("table", "view")
    )
    known = [
        (str(schema), str(found))
        for schema, found in connection.raw_sql(f"{listing} ORDER BY 1, 2").fetchall()
    ]
    fitting = [(schema, found) for schema, found in known if table in (None, found, f"{schema}.{found}")]
    if len(fitting) != 1:
        listed = ", ".join(found for _, found in known[:30]) or "none"
        what = "which table? Say FILE?table=NAME" if table is None or fitting else f"no table {table!r}"
        raise SourceError(f"{given}: {what}; the file has: {listed}")
    return ".".join(identifier(part) for part in (name, *fitting[0]))


def _from_store(connection: Connection, given: str, pattern: str, extension: str) -> str:
    load_extension(connection, extension, given)
    helper, kind = _CHAINS[extension]
    if _loads(connection, helper):
        connection.raw_sql(f"CREATE OR REPLACE SECRET advisor_store (TYPE {kind}, PROVIDER credential_chain)")
    return f"read_parquet({quote(pattern)}, union_by_name = true)"


def load_extension(connection: Connection, extension: str, given: str) -> None:
    """Load an extension of the embedded engine that is on this machine.

    Raises:
        SourceError: When it is not.
    """
    if not _loads(connection, extension):
        raise SourceError(
            f"{given}: this needs DuckDB's extension {extension!r}, which is not on this machine, and nothing is "
            f"downloaded unasked. Install it once: python -c \"import duckdb; duckdb.sql('INSTALL {extension}')\""
        )


def _loads(connection: Connection, extension: str) -> bool:
    import duckdb  # noqa: PLC0415  (only where the engine is in use)

    try:
        connection.raw_sql(f"LOAD {extension}")
    except duckdb.Error:
        return False
    return True
