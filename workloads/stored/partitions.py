"""The Parquet files of a kept ledger: written by day and provider, and read as one table.

SQL is written here as in ``relations``: every text that comes from outside goes through ``quote`` or ``literal_path``.
"""
# ruff: noqa: S608  (see above)

import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Final

from workloads.ledger import COLUMNS, LEDGER_ROW
from workloads.relations import literal_path
from workloads.schema import identifier, quote
from workloads.stored.manifest import Manifest, StoredFile, sync
from workloads.stored.place import ROWS, STAGING

Connection = Any

_SMALL_BYTES: Final = 64 << 20
_MOST_SMALL: Final = 8
"""Files of one day and provider that are smaller than that; with more of them they are made one."""
_MOST_ROWS: Final = 1 << 20
"""Of days that are written together."""
_NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
_INPUTS: Final = "ledger_gone_inputs"


def scan(folder: Path, files: Sequence[StoredFile]) -> str:
    """Return the SQL of a table with the rows of some files."""
    paths = ", ".join(literal_path(folder / file.path) for file in files)
    return f"read_parquet([{paths}], union_by_name = true, hive_partitioning = false)"


def rows_of(connection: Connection, folder: Path, files: Sequence[StoredFile], name: str) -> Any:
    """Return the rows of some files as a table of the engine with that name, which stays in them."""
    connection.raw_sql(f"CREATE OR REPLACE VIEW {identifier(name)} AS SELECT * FROM {scan(folder, files)}")
    return connection.table(name)


def with_rows_of(
    connection: Connection, folder: Path, files: Sequence[StoredFile], shown: Collection[str]
) -> list[StoredFile]:
    """Return the files that hold rows of some inputs."""
    if not files or not shown:
        return []
    _name_inputs(connection, shown)
    paths = ", ".join(literal_path(folder / file.path) for file in files)
    found = connection.raw_sql(
        f"SELECT DISTINCT filename FROM read_parquet([{paths}], filename = true, union_by_name = true, "
        f"hive_partitioning = false) WHERE source_file IN (SELECT shown FROM {_INPUTS})"
    ).fetchall()
    names = {name for (name,) in found}
    return [file for file in files if str(folder / file.path) in names]


def crowded(files: Sequence[StoredFile]) -> list[StoredFile]:
    """Return the small files of days and providers that have too many of them."""
    small: dict[tuple[str | None, str | None], list[StoredFile]] = {}
    for file in files:
        if file.size_bytes < _SMALL_BYTES:
            small.setdefault((file.day, file.provider), []).append(file)
    return [file for group in small.values() if len(group) > _MOST_SMALL for file in group]


def write_rows(
    connection: Connection,
    folder: Path,
    manifest: Manifest,
    *,
    fresh: str | None,
    columns: Sequence[str],
    merged: Sequence[StoredFile],
    gone: Collection[str],
) -> list[StoredFile]:
    """Write new rows, and those of merged files that stay, as one file a day and provider; return these, in place and on disk.

    Args:
        connection: The engine.
        folder: The ledger's.
        manifest: As it is before the change.
        fresh: SQL of the new rows, numbered from the manifest's next row; None: there are none.
        columns: Columns of the new rows.
        merged: Files whose rows are written again.
        gone: Inputs whose rows are left out of these.
    """
    staging = folder / STAGING
    shutil.rmtree(staging, ignore_errors=True)
    _name_inputs(connection, gone)
    written: list[dict[str, Any]] = []
    for days in _spans(connection, fresh, columns, merged):
        written += _copy(connection, folder, days, fresh, columns, merged)
    return _placed(folder, manifest.generation + 1, written)


def _copy(
    connection: Connection,
    folder: Path,
    days: Collection[str | None] | None,
    fresh: str | None,
    columns: Sequence[str],
    merged: Sequence[StoredFile],
) -> list[dict[str, Any]]:
    """Write the rows of some days (None: of all) into the staging folder; return what the engine says of each file."""
    parts = [] if fresh is None else [f"SELECT * FROM ({fresh}){_of(days, columns)}"]
    merged = [file for file in merged if days is None or file.day in days]
    if merged:
        stay = f"SELECT * FROM {scan(folder, merged)} WHERE source_file NOT IN (SELECT shown FROM {_INPUTS})"
        have = {row[0] for row in connection.raw_sql(f"DESCRIBE {stay}").fetchall()}
        columns = [name for name in (LEDGER_ROW, *COLUMNS) if name in {*columns, *have}]
        parts.append(stay)
    if not parts:
        return []
    query = (
        f"SELECT *, {_day(columns)} AS part_day, {_provider(columns)} AS part_provider "
        f"FROM ({' UNION ALL BY NAME '.join(parts)})"
    )
    written = connection.raw_sql(
        f"COPY ({query}) TO {quote(str(folder / STAGING))} (FORMAT parquet, COMPRESSION zstd, "
        "PARTITION_BY (part_day, part_provider), OVERWRITE_OR_IGNORE true, FILENAME_PATTERN 'part-{i}', RETURN_STATS true)"
    )
    names = [column[0] for column in written.description]
    return [dict(zip(names, row, strict=True)) for row in written.fetchall()]


def _spans(
    connection: Connection, fresh: str | None, columns: Sequence[str], merged: Sequence[StoredFile]
) -> list[list[str | None] | None]:
    """Return days that are written together: the engine holds their rows until their files are full.

    One span for everything (None) where that is little.
    """
    rows: dict[str | None, int] = {}
    for file in merged:
        rows[file.day] = rows.get(file.day, 0) + file.rows
    if fresh is not None:
        of_days = f"SELECT {_day(columns)} AS part_day, count(*) FROM ({fresh}) GROUP BY part_day"
        for day, count in connection.raw_sql(of_days).fetchall():
            rows[day] = rows.get(day, 0) + count
    if sum(rows.values()) <= _MOST_ROWS:
        return [None] if rows else []
    spans: list[list[str | None]] = []
    size = _MOST_ROWS
    for day in sorted(rows, key=lambda day: day or ""):
        if size + rows[day] > _MOST_ROWS:
            spans.append([])
            size = 0
        spans[-1].append(day)
        size += rows[day]
    return list(spans)


def _of(days: Collection[str | None] | None, columns: Sequence[str]) -> str:
    """Return the condition that a row is of one of the days."""
    if days is None:
        return ""
    named = ", ".join(quote(day) for day in days if day is not None) or "NULL"
    untimed = f" OR {_day(columns)} IS NULL" if None in days else ""
    return f" WHERE {_day(columns)} IN ({named}){untimed}"


def _placed(folder: Path, generation: int, written: Sequence[dict[str, Any]]) -> list[StoredFile]:
    """Move files from the staging folder to where they belong, and wait until they are on the disk."""
    placed = []
    numbers: dict[Path, int] = {}
    for row in written:
        day, provider = (row["partition_keys"][key] for key in ("part_day", "part_provider"))
        parts = (ROWS, f"day={day or _NO_VALUE}", f"provider={provider or _NO_VALUE}")
        parent = folder.joinpath(*parts)
        parent.mkdir(parents=True, exist_ok=True)
        numbers[parent] = numbers.get(parent, 0) + 1
        name = f"{generation:06}-{numbers[parent]}.parquet"
        draft = Path(row["filename"])
        sync(draft)
        draft.replace(parent / name)
        placed.append(
            StoredFile(
                path="/".join((*parts, name)),
                day=day,
                provider=provider,
                rows=int(row["count"]),
                size_bytes=int(row["file_size_bytes"]),
            )
        )
    for parent in {*numbers, *(parent.parent for parent in numbers), folder / ROWS, folder}:
        if parent.is_dir():
            sync(parent)
    shutil.rmtree(folder / STAGING, ignore_errors=True)
    return placed


def sweep(folder: Path, manifest: Manifest) -> None:
    """Remove what the manifest does not name: what a stopped run has left, and what was replaced."""
    shutil.rmtree(folder / STAGING, ignore_errors=True)
    named = {folder / file.path for file in manifest.files}
    for path in (folder / ROWS).rglob("*.parquet"):
        if path not in named:
            path.unlink(missing_ok=True)
    for parent in sorted((folder / ROWS).glob("*/*"), reverse=True) + sorted((folder / ROWS).glob("*")):
        if parent.is_dir() and not any(parent.iterdir()):
            parent.rmdir()


def _name_inputs(connection: Connection, shown: Collection[str]) -> None:
    names = ", ".join(f"({quote(name)})" for name in sorted(shown)) or "('')"  # no input is called that
    connection.raw_sql(f"CREATE OR REPLACE TABLE {_INPUTS} AS SELECT * FROM (VALUES {names}) AS t (shown)")


def _day(columns: Sequence[str]) -> str:
    """Return the day of a row in UTC as text: the stated one, else that of its time."""
    days = [
        expr
        for name, expr in (("usage_date", "usage_date"), ("started_at", "CAST(started_at AS DATE)"))
        if name in columns
    ]
    return f"CAST(coalesce({', '.join(days)}) AS VARCHAR)" if days else "CAST(NULL AS VARCHAR)"


def _provider(columns: Sequence[str]) -> str:
    """Return a name of a row's provider that every file system takes, and takes for the same."""
    if "provider" not in columns:
        return "CAST(NULL AS VARCHAR)"
    plain = f"left(regexp_replace(lower({identifier('provider')}), '[^a-z0-9.-]+', '_', 'g'), 60)"
    return f"nullif({plain}, '')"
