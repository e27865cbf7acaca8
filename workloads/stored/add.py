"""Adding inputs to a kept ledger, and taking them out: one change at a time, and each is there as a whole or not at all."""

import contextlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from workloads import relations
from workloads.ledger import COLUMNS, LEDGER_ROW, RECORD
from workloads.load import LoadOptions, read_files
from workloads.reading import Reading, settled
from workloads.sniff import inspect_each
from workloads.sources import InputFile, Unreadable
from workloads.stored.changes import Change, FoundInput, find_inputs, key_of, kin_of, moved_from
from workloads.stored.lock import nobody_reads, writing
from workloads.stored.manifest import (
    LedgerError,
    Manifest,
    StoredFile,
    StoredInput,
    read_manifest,
    skips_of,
    write_manifest,
)
from workloads.stored.partitions import crowded, sweep, with_rows_of, write_rows
from workloads.stored.place import is_ledger
from workloads.stored.versions import ANY, version_of

Connection = Any
Progress = Callable[[str], None]

_SLICE_BYTES: Final = 4 << 30
_SLICE_FILES: Final = 10_000
"""Inputs of one change: with more of them there are several, so that what is done stays done."""
_ROW_ORDER: Final = "log_row"
"""Made anew when the ledger is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """What a run did to a ledger."""

    inputs: tuple[FoundInput, ...]
    """All that were given."""
    moved: int
    """Inputs that are known under another name now."""
    unreadable: tuple[Unreadable, ...]
    """Those that gave no rows; what cannot even be opened is not among the inputs."""
    manifest: Manifest

    def count(self, change: Change) -> int:
        """Return how many inputs were that to the ledger."""
        return sum(found.change is change for found in self.inputs)


def add(
    folder: Path,
    paths: Sequence[str],
    options: LoadOptions,
    now: datetime,
    *,
    memory_limit: str | None = None,
    progress: Progress = lambda _: None,
) -> Added:
    """Add to a ledger what is new or has changed behind some paths; the ledger is made when there is none.

    Args:
        folder: The ledger's.
        paths: Files, folders, globs or ``-``.
        options: How new inputs are read.
        now: The present moment, timezone-aware.
        memory_limit: Memory of the engine.
        progress: Called with a few words at the start of each step.

    Raises:
        LedgerError: When the ledger cannot be read or written, or somebody else is writing; it is then as it was after the
            last whole change.
        SourceError: When a path leads to no file.
        NothingReadableError: When the inputs are new and no row of any can be read.
    """
    told = _told(options)
    with _changing(folder) as before:
        manifest = before
        progress("looking for what is new")
        found, closed = find_inputs(manifest, paths, told, now)
        todo = [item for item in found if item.change is not Change.SAME]
        moved = tuple(moved_from(manifest, found))
        entries: list[StoredInput] = []
        for number, slice_ in enumerate(_slices(todo)):
            part = slice_
            progress(f"reading {len(part):,} of {len(todo):,} inputs" if len(todo) > 1 else "reading")
            connection = relations.connect(memory_limit=memory_limit)
            try:
                reading = read_files(connection, _looked(part), options)
                kin = kin_of(manifest, part, {count.format for count in reading.counts}, now)
                if kin:
                    part = sorted([*part, *kin], key=lambda item: item.shown)
                    reading = read_files(connection, _looked(part), options)
                made = _entries(part, reading, told, now)
                if len(made) == len(found) and all(item.unreadable for item in made):
                    _raise_unreadable(connection, reading)
                progress("writing the ledger")
                gone = [manifest.by_key[item.key] for item in part if item.key in manifest.by_key]
                manifest = _commit(
                    connection, folder, manifest, reading, made, [*gone, *(moved if not number else ())]
                )
            finally:
                connection.disconnect()
            entries += made
    return Added(
        inputs=tuple(found),
        moved=len(moved),
        unreadable=(
            *closed,
            *(Unreadable(item.shown, item.unreadable) for item in entries if item.unreadable),
        ),
        manifest=manifest,
    )


def remove(folder: Path, paths: Sequence[str]) -> list[StoredInput]:
    """Take inputs out of a ledger, with their rows; return them.

    Args:
        folder: The ledger's.
        paths: Inputs as they were given, or as the ledger shows them; a folder stands for all inputs below it. They need
            not be there any more.

    Raises:
        LedgerError: When the ledger cannot be read or written, or has no such input.
    """
    if not is_ledger(folder):
        raise LedgerError(f"{folder}: no ledger (it has no manifest); `advisor ledger add` makes one")
    with _changing(folder) as manifest:
        gone: dict[str, StoredInput] = {}
        for given in paths:
            key = key_of(given)
            below = (key + "/", key + "::")
            fitting = {
                item.key: item
                for item in manifest.inputs
                if given == item.shown or item.key == key or item.key.startswith(below)
            }
            if not fitting:
                raise LedgerError(
                    f"{given}: no input of {folder}; `advisor ledger show {folder}` lists what it has"
                )
            gone |= fitting
        connection = relations.connect()
        try:
            _commit(connection, folder, manifest, Reading(), [], list(gone.values()))
        finally:
            connection.disconnect()
    return list(gone.values())


@contextlib.contextmanager
def _changing(folder: Path) -> Generator[Manifest]:
    """Yield the manifest of a ledger that nobody else writes to; what does not belong to it is swept out before and after."""
    import duckdb  # noqa: PLC0415  (only where the engine is in use)

    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not is_ledger(folder) and any(not path.name.startswith(".") for path in folder.iterdir()):
            raise LedgerError(f"{folder}: the folder is not empty and no ledger; name another with --to DIR")
        with writing(folder):
            if not is_ledger(folder):
                write_manifest(folder, Manifest())
            manifest = read_manifest(folder)
            try:
                if nobody_reads(folder):
                    sweep(folder, manifest)
                yield manifest
            finally:
                if nobody_reads(folder):
                    sweep(folder, read_manifest(folder))
    except (OSError, duckdb.IOException, duckdb.OutOfMemoryException) as error:
        why = getattr(error, "strerror", None) or str(error).strip().splitlines()[0][:300]
        raise LedgerError(
            f"{folder}: cannot be written: {why}; the ledger is as it was after its last whole change"
        ) from error


def _commit(
    connection: Connection,
    folder: Path,
    manifest: Manifest,
    reading: Reading,
    entries: Sequence[StoredInput],
    gone: Sequence[StoredInput],
) -> Manifest:
    """Make one change: write the rows, then name them and no longer those that they replace."""
    shown = {item.shown for item in gone}
    holding = with_rows_of(connection, folder, manifest.files, shown)
    merged = list(dict.fromkeys([*holding, *crowded(manifest.files)]))
    fresh, columns, numbers = _fresh(connection, manifest, reading)
    written: list[StoredFile] = write_rows(
        connection, folder, manifest, fresh=fresh, columns=columns, merged=merged, gone=shown
    )
    after = manifest.changed(gone=gone, added=entries, dropped=merged, written=written, rows=numbers)
    write_manifest(folder, after)
    return after


def _fresh(connection: Connection, manifest: Manifest, reading: Reading) -> tuple[str | None, list[str], int]:
    """Return SQL of the new records, their columns, and how many row numbers they may take."""
    rows = reading.rows
    if rows is None:
        return None, [], 0
    names = [name for name in COLUMNS if name in rows.columns and name not in ("fate", "reason", _ROW_ORDER)]
    columns = {name: rows[name] for name in names}
    numbered = rows.mutate(**{LEDGER_ROW: relations.row_id(rows) + manifest.next_row}).filter(
        rows.fate == RECORD
    )
    columns = {name: numbered[name] for name in (LEDGER_ROW, *names)}
    columns["source_file"] = numbered.source_file.cast("string")
    numbers = sum(count.rows for count in reading.counts)
    return connection.compile(numbered.select(**columns)), list(columns), numbers


def _entries(
    part: Sequence[FoundInput], reading: Reading, told: dict[str, Any], now: datetime
) -> list[StoredInput]:
    """Return what the manifest says of inputs that were just read."""
    reasons = {item.shown: item.reason for item in reading.unreadable}
    counts: dict[str, list[Any]] = {}
    skipped: dict[str, list[Any]] = {}
    pages: dict[str, list[Any]] = {}
    for by_file, items in ((counts, reading.counts), (skipped, reading.skipped), (pages, reading.pages)):
        for item in items:
            by_file.setdefault(item.file, []).append(item)
    made = []
    for found in part:
        own = tuple(counts.get(found.shown, ()))
        formats = {count.format for count in own if count.format} or {ANY}
        made.append(
            StoredInput(
                key=found.key,
                shown=found.shown,
                size_bytes=found.size_bytes,
                sha256=found.sha256,
                stamp=found.stamp,
                added_at=f"{now:%Y-%m-%dT%H:%M:%SZ}",
                options=told,
                importers={name: version_of(name) for name in sorted(formats)},
                counts=own,
                skipped=skips_of(skipped.get(found.shown, ())),
                unreadable=reasons.get(found.shown),
                pages=tuple(pages.get(found.shown, ())),
            )
        )
    return made


def _looked(part: Sequence[FoundInput]) -> tuple[list[InputFile], list[Unreadable]]:
    looked = inspect_each([(item.shown, item.path) for item in part])
    return (
        [item for item in looked if isinstance(item, InputFile)],
        [item for item in looked if isinstance(item, Unreadable)],
    )


def _raise_unreadable(connection: Connection, reading: Reading) -> None:
    settled(connection, replace(reading, rows=None))


def _told(options: LoadOptions) -> dict[str, Any]:
    """Return what the user said about how to read, as far as it decides the rows."""
    told = {
        "format": options.read.format,
        "map": dict(options.read.mapping),
        "provider": options.provider,
        "model": options.model,
    }
    return {name: value for name, value in told.items() if value}


def _slices(todo: Sequence[FoundInput]) -> Iterator[list[FoundInput]]:
    part: list[FoundInput] = []
    size = 0
    for item in todo:
        if part and (size + item.size_bytes > _SLICE_BYTES or len(part) >= _SLICE_FILES):
            yield part
            part, size = [], 0
        part.append(item)
        size += item.size_bytes
    if part:
        yield part
