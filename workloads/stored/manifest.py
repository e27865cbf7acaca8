"""The manifest of a kept ledger: its inputs, what became of their rows, and the files that hold them."""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from workloads.account import FileRows
from workloads.ledger import DUPLICATE, IGNORED, RECORD, SKIPPED
from workloads.pages import PageEnd
from workloads.quarantine import SkippedRow
from workloads.sources import SourceError
from workloads.stored.place import MANIFEST

VERSION: Final = 1
_MOST_LINES: Final = 12
"""Lines of one file and reason that are kept; the others are only counted."""


class LedgerError(SourceError):
    """A kept ledger cannot be read or written; the message says which, why, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Skips:
    """Skipped rows of one input and reason."""

    reason: str
    rows: int
    lines: tuple[int | None, ...]
    """Where the first of them are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredInput:
    """One input, what it was when it was read, and what became of every row of it."""

    key: str
    """What makes it the same input at another time: its real path; of standard input its content."""
    shown: str
    """Its path as the user gave it; ``source_file`` of its rows."""
    size_bytes: int
    sha256: str
    stamp: tuple[int, int] | None
    """Nanoseconds of its last change (content, entry), as long as these prove that it is the same; None: they do not."""
    added_at: str
    options: Mapping[str, Any]
    """What the user said about how to read it."""
    importers: Mapping[str, str]
    """Formats that were found in it, and the version of the importer of each; of an unreadable one that of all (``*``)."""
    counts: tuple[FileRows, ...]
    skipped: tuple[Skips, ...]
    unreadable: str | None
    """Why no row could be read from it; None: it could."""
    pages: tuple[PageEnd, ...]

    @property
    def rows(self) -> dict[str, int]:
        """Rows by fate, before repeats over several inputs are looked for; and ``read``, their sum."""
        fates = {"records": RECORD, "skipped": SKIPPED, "duplicates": DUPLICATE, "ignored": IGNORED}
        told = {word: sum(c.rows for c in self.counts if c.fate == fate) for word, fate in fates.items()}
        return {"read": sum(told.values()), **told}


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """One Parquet file."""

    path: str
    """Below the ledger's folder, with ``/``."""
    day: str | None
    """UTC; None: its rows have no calendar time."""
    provider: str | None
    """In small letters, as in the path; None: the logs do not say."""
    rows: int
    size_bytes: int


@dataclass(frozen=True)
class Manifest:
    """All that a ledger is."""

    generation: int = 0
    """Grows by one with every change."""
    next_row: int = 0
    """Number of the next row: no two rows of a ledger ever have the same."""
    inputs: tuple[StoredInput, ...] = ()
    files: tuple[StoredFile, ...] = ()

    @cached_property
    def by_key(self) -> dict[str, StoredInput]:
        """Inputs by what makes them the same."""
        return {item.key: item for item in self.inputs}

    def changed(
        self,
        *,
        gone: Iterable[StoredInput],
        added: Iterable[StoredInput],
        dropped: Iterable[StoredFile],
        written: Iterable[StoredFile],
        rows: int,
    ) -> "Manifest":
        """Return the manifest after a change; ``rows`` is how many row numbers were given out."""
        without, unnamed = {item.key for item in gone}, set(dropped)
        inputs = [item for item in self.inputs if item.key not in without]
        files = [file for file in self.files if file not in unnamed]
        return replace(
            self,
            generation=self.generation + 1,
            next_row=self.next_row + rows,
            inputs=tuple(sorted([*inputs, *added], key=lambda item: (item.shown, item.key))),
            files=tuple(sorted([*files, *written], key=lambda file: file.path)),
        )


def skips_of(rows: Iterable[SkippedRow]) -> tuple[Skips, ...]:
    """Return skipped rows of one input by reason, in the order of their first lines."""
    lines: dict[str, list[int | None]] = {}
    counts: dict[str, int] = {}
    for row in rows:
        lines.setdefault(row.reason, []).append(row.line)
        counts[row.reason] = counts.get(row.reason, 0) + row.rows
    return tuple(
        Skips(reason=reason, rows=counts[reason], lines=tuple(found[:_MOST_LINES]))
        for reason, found in lines.items()
    )


def skipped_rows(item: StoredInput) -> list[SkippedRow]:
    """Return the skipped rows of an input: the first of each reason one by one, the last of these for all others."""
    out = []
    for skips in item.skipped:
        own = [SkippedRow(item.shown, line, skips.reason) for line in skips.lines]
        out += [*own[:-1], replace(own[-1], rows=skips.rows - len(own) + 1)]
    return out


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a ledger.

    Raises:
        LedgerError: When it cannot be read, or is of another version.
    """
    path = folder / MANIFEST
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        version = document["ledger_version"]
        if version != VERSION:
            raise LedgerError(
                f"{path}: a ledger of version {version}, and this advisor reads version {VERSION}; "
                "use the advisor that wrote it, or add its inputs to a new folder"
            )
        return Manifest(
            generation=document["generation"],
            next_row=document["next_row"],
            inputs=tuple(_input(item) for item in document["inputs"]),
            files=tuple(StoredFile(**item) for item in document["files"]),
        )
    except OSError as error:
        raise LedgerError(f"{path}: cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise LedgerError(
            f"{path}: damaged ({type(error).__name__}: {error}); restore it, or add the inputs to a new folder"
        ) from error


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Replace the manifest of a ledger in one step, which outlasts a loss of power.

    Raises:
        OSError: When it cannot be written; the old one is then as it was.
    """
    document = {
        "ledger_version": VERSION,
        "generation": manifest.generation,
        "next_row": manifest.next_row,
        "inputs": [_plain(item) for item in manifest.inputs],
        "files": [asdict(file) for file in manifest.files],
    }
    path = folder / MANIFEST
    draft = folder / f".{MANIFEST}.draft"
    try:
        with draft.open("w", encoding="utf-8") as out:
            json.dump(document, out, indent=0)
            out.flush()
            os.fsync(out.fileno())
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    sync(folder)


def sync(path: Path) -> None:
    """Have the system put a file or the entries of a folder on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _plain(item: StoredInput) -> dict[str, Any]:
    """Return an input as JSON has it; its own name is said once."""
    plain = asdict(item) | {"rows": item.rows}
    plain["counts"] = [[c.format, c.fate, c.reason, c.problem, c.rows] for c in item.counts]
    plain["pages"] = [[p.format, p.money, p.more, p.last] for p in item.pages]
    return plain


def _input(plain: dict[str, Any]) -> StoredInput:
    shown = plain["shown"]
    return StoredInput(
        key=plain["key"],
        shown=shown,
        size_bytes=plain["size_bytes"],
        sha256=plain["sha256"],
        stamp=None if plain["stamp"] is None else tuple(plain["stamp"]),
        added_at=plain["added_at"],
        options=plain["options"],
        importers=plain["importers"],
        counts=tuple(
            FileRows(file=shown, format=form, fate=fate, reason=reason, problem=problem, rows=rows)
            for form, fate, reason, problem, rows in plain["counts"]
        ),
        skipped=tuple(
            Skips(reason=skips["reason"], rows=skips["rows"], lines=tuple(skips["lines"]))
            for skips in plain["skipped"]
        ),
        unreadable=plain["unreadable"],
        pages=tuple(PageEnd(shown, *page) for page in plain["pages"]),
    )
