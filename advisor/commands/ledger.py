"""``advisor ledger``: add to a kept ledger, show it, take inputs out of it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from advisor.cli import EXIT_NOTHING, EXIT_USAGE, Failure
from advisor.commands import parse
from advisor.commands.output import Progress, write
from advisor.commands.say import say
from advisor.render.text import aligned
from workloads.load import NothingReadableError
from workloads.sources import MappingError, SourceError
from workloads.stored.add import Added, add, remove
from workloads.stored.changes import Change, is_outdated
from workloads.stored.manifest import LedgerError, Manifest, StoredFile, read_manifest
from workloads.stored.place import MANIFEST, is_ledger

_MOST_SHOWN = 40
_NO_DAY = "no day"
_NO_PROVIDER = "(not stated)"


def run_add(paths: tuple[str, ...], folder: Path, **given: Any) -> None:
    """Add, and say what was done; every way to fail is one sentence and an exit code."""
    options = parse.load_options(
        format_name=given["format_name"],
        model=given["model"],
        provider=given["provider"],
        mapping=given["mapping"],
    )
    progress = Progress(wanted=given["progress"], quiet=given["quiet"])
    now = parse.instant("now", None)
    try:
        done = add(folder, paths, options, now, memory_limit=given["memory_limit"], progress=progress)
    except NothingReadableError as error:
        raise Failure(f"nothing was added: {error}.", EXIT_NOTHING) from error
    except (LedgerError, MappingError) as error:
        raise Failure(f"{error}.", EXIT_USAGE) from error
    except SourceError as error:
        raise Failure(f"nothing was added: {error}.", EXIT_NOTHING) from error
    finally:
        progress.done()
    for item in done.unreadable:
        say(f"{item.shown} gave no rows: {item.reason}", err=True)
    if not given["quiet"]:
        say("\n".join(_told(folder, done)))


def _told(folder: Path, done: Added) -> Iterator[str]:
    counts = {change: done.count(change) for change in Change}
    parts = ", ".join(f"{count:,} {change}" for change, count in counts.items() if count)
    moved = f"; {done.moved:,} known under another name before" if done.moved else ""
    yield f"{len(done.inputs):,} inputs given: {parts}{moved}"
    yield _size(folder, done.manifest)
    yield from _outdated(folder, done.manifest)


def run_show(folder: Path, json_file: str | None) -> None:
    """Show a ledger, or write its account as JSON."""
    manifest = _manifest(folder)
    if json_file:
        write(json_file, json.dumps(_document(manifest), indent=1) + "\n")
        return
    say("\n".join(_shown(folder, manifest)))


def run_remove(paths: tuple[str, ...], folder: Path, *, quiet: bool) -> None:
    """Take inputs out."""
    try:
        gone = remove(folder, paths)
    except LedgerError as error:
        raise Failure(f"{error}.", EXIT_USAGE) from error
    if not quiet:
        rows = sum(item.rows["read"] for item in gone)
        say(f"{len(gone):,} inputs with {rows:,} rows are taken out of {folder}")


def _manifest(folder: Path) -> Manifest:
    if not is_ledger(folder):
        raise Failure(
            f"{folder}: no ledger (there is no {MANIFEST}); `advisor ledger add PATH --to {folder}` makes one.",
            EXIT_USAGE,
        )
    try:
        return read_manifest(folder)
    except LedgerError as error:
        raise Failure(f"{error}.", EXIT_USAGE) from error


def _rows(manifest: Manifest) -> dict[str, int]:
    """Return the rows of all inputs by fate, before repeats over several inputs are looked for."""
    found: dict[str, int] = {}
    for item in manifest.inputs:
        for word, count in item.rows.items():
            found[word] = found.get(word, 0) + count
    return found


def _size(folder: Path, manifest: Manifest) -> str:
    days = sorted({file.day for file in manifest.files if file.day})
    span = f", {len(days):,} days from {days[0]} to {days[-1]}" if days else ""
    size = sum(file.size_bytes for file in manifest.files)
    rows = sum(file.rows for file in manifest.files)
    return f"{folder}: {len(manifest.inputs):,} inputs, {rows:,} rows{span}, {size / 1e6:,.1f} MB"


def _outdated(folder: Path, manifest: Manifest) -> Iterator[str]:
    old = [item.shown for item in manifest.inputs if is_outdated(item)]
    if old:
        first = ", ".join(old[:3]) + (" ..." if len(old) > len(old[:3]) else "")
        yield (
            f"{len(old):,} inputs were read by another version of their importers ({first}); "
            f"`advisor ledger add PATH --to {folder}` reads those again whose files it is given"
        )


def _shown(folder: Path, manifest: Manifest) -> Iterator[str]:
    yield _size(folder, manifest)
    rows = _rows(manifest)
    if rows:
        yield (
            f"{rows['read']:,} rows read = {rows['records']:,} records + {rows['skipped']:,} skipped + "
            f"{rows['duplicates']:,} duplicates + {rows['ignored']:,} ignored "
            "(records that repeat one another are told apart when the ledger is analysed)"
        )
    yield from _outdated(folder, manifest)
    yield ""
    head = ("input", "read", "records", "skipped", "MB", "added", "formats")
    lines = [
        (
            item.shown,
            f"{item.rows['read']:,}",
            f"{item.rows['records']:,}",
            f"{item.rows['skipped']:,}",
            f"{item.size_bytes / 1e6:,.1f}",
            item.added_at[:10],
            item.unreadable or ", ".join(item.importers),
        )
        for item in manifest.inputs[:_MOST_SHOWN]
    ]
    yield from aligned([head, *lines])
    if len(manifest.inputs) > _MOST_SHOWN:
        yield f"... and {len(manifest.inputs) - _MOST_SHOWN:,} more (--json - lists all)"
    yield ""
    days = _by_day(manifest)
    latest = [(file.day or _NO_DAY, file.provider or _NO_PROVIDER, f"{file.rows:,}") for file in days]
    yield from aligned([("day", "provider", "rows"), *latest[-_MOST_SHOWN:]])
    if len(latest) > _MOST_SHOWN:
        yield f"... and {len(latest) - _MOST_SHOWN:,} before them (--json - lists all)"


def _by_day(manifest: Manifest) -> list[StoredFile]:
    """Return one entry a day and provider, with the rows of all its files."""
    merged: dict[tuple[str | None, str | None], tuple[int, int]] = {}
    for file in manifest.files:
        rows, size = merged.get((file.day, file.provider), (0, 0))
        merged[file.day, file.provider] = (rows + file.rows, size + file.size_bytes)
    return [
        StoredFile(path="", day=day, provider=provider, rows=rows, size_bytes=size)
        for (day, provider), (rows, size) in sorted(
            merged.items(), key=lambda item: tuple(part or "" for part in item[0])
        )
    ]


def _document(manifest: Manifest) -> dict[str, Any]:
    return {
        "rows": _rows(manifest),
        "inputs": [
            {
                "path": item.shown,
                "size_bytes": item.size_bytes,
                "sha256": item.sha256,
                "added_at": item.added_at,
                "importers": dict(item.importers),
                "outdated": is_outdated(item),
                "rows": item.rows,
                "unreadable": item.unreadable,
            }
            for item in manifest.inputs
        ],
        "days": [
            {"day": file.day, "provider": file.provider, "rows": file.rows, "size_bytes": file.size_bytes}
            for file in _by_day(manifest)
        ],
    }
