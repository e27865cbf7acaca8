"""Which inputs a kept ledger has already, and which are new to it, have grown, or have changed."""

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import IO, Any, Final

from workloads.importers import importers
from workloads.places import place_of
from workloads.sources import SourceError, Unreadable, expand
from workloads.stored.manifest import LedgerError, Manifest, StoredInput
from workloads.stored.place import is_ledger
from workloads.stored.versions import version_of

_CHUNK_BYTES: Final = 1 << 20
_STDIN: Final = "-"
_SETTLED: Final = timedelta(seconds=2)
"""A file that was changed so short a time ago may change again without its times telling."""


class Change(StrEnum):
    """What an input is to a ledger."""

    SAME = "unchanged"
    NEW = "new"
    GREW = "grown"
    CHANGED = "changed"
    REREAD = "read again"
    """The same content, by another importer's version or with other options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundInput:
    """An input that is there now."""

    change: Change
    key: str
    shown: str
    path: Path
    size_bytes: int
    sha256: str
    stamp: tuple[int, int] | None


def find_inputs(
    manifest: Manifest, paths: Sequence[str], options: Mapping[str, Any], now: datetime
) -> tuple[list[FoundInput], list[Unreadable]]:
    """Return what is behind paths, each with what it is to the ledger; and what cannot be opened, of which it keeps what it has.

    A file is looked into before it is read, never after: what is appended meanwhile is then taken for new the next time.

    Raises:
        SourceError: When a path leads to no file, or to none that can be opened.
        LedgerError: When an input is no file.
    """
    for given in paths:
        if place_of(given) is not None or is_ledger(Path(given)):
            raise LedgerError(
                f"{given}: a table or a ledger is no file to add; `advisor analyze {given}` reads it"
            )
    taken = {item.shown: item.key for item in manifest.inputs}
    found: list[FoundInput] = []
    closed: list[Unreadable] = []
    for shown, path in expand(paths):
        try:
            found.append(_look(manifest, shown, path, options, now, taken))
        except OSError as error:
            closed.append(Unreadable(shown, f"cannot be read: {error.strerror or error}"))
    if not found:
        raise SourceError("; ".join(f"{item.shown}: {item.reason}" for item in closed[:5]))
    return found, closed


def _look(
    manifest: Manifest,
    shown: str,
    path: Path,
    options: Mapping[str, Any],
    now: datetime,
    taken: dict[str, str],
) -> FoundInput:
    stat = path.stat()
    key = shown if shown == _STDIN else key_of(shown)
    old = manifest.by_key.get(key)
    stamp = (stat.st_mtime_ns, stat.st_ctime_ns)
    if old is not None and old.stamp == stamp and old.size_bytes == stat.st_size:
        change, size, sha256 = Change.SAME, old.size_bytes, old.sha256
    else:
        size, sha256, began = _digests(path, old.size_bytes if old else 0)
        if shown == _STDIN:
            key = f"{_STDIN}:{sha256}"
            old = manifest.by_key.get(key)
        change = _change(old, size, sha256, began)
    if change is Change.SAME and old is not None and not _read_alike(old, options):
        change = Change.REREAD
    shown = old.shown if old is not None else shown
    if taken.setdefault(shown, key) != key:  # two inputs that the user calls the same, from two folders
        shown = key
    settled = max(stamp) < (now - _SETTLED).timestamp() * 1e9
    return FoundInput(
        change=change,
        key=key,
        shown=shown,
        path=path,
        size_bytes=size,
        sha256=sha256,
        stamp=stamp if settled else None,
    )


def _change(old: StoredInput | None, size: int, sha256: str, began: str) -> Change:
    if old is None:
        return Change.NEW
    if sha256 == old.sha256:
        return Change.SAME
    return Change.GREW if size > old.size_bytes and began == old.sha256 else Change.CHANGED


def _read_alike(old: StoredInput, options: Mapping[str, Any]) -> bool:
    return dict(old.options) == dict(options) and not is_outdated(old)


def is_outdated(item: StoredInput) -> bool:
    """Return whether an input was read by another version of an importer than this program has."""
    return any(version_of(name) != version for name, version in item.importers.items())


def kin_of(
    manifest: Manifest, part: Sequence[FoundInput], formats: Collection[str], now: datetime
) -> list[FoundInput]:
    """Return inputs of the ledger that are to be read again with some others, since rows depend on all of them together.

    Those whose files are gone cannot be: their rows stay as they are.

    Args:
        manifest: The ledger's.
        part: What was just read.
        formats: Formats that were found in it.
        now: The present moment.
    """
    spanning = {item.name for item in importers() if item.spans_files} & {*formats}
    here = {item.key for item in part}
    kin = [
        item
        for item in manifest.inputs
        if item.key not in here and spanning & {*item.importers} and Path(item.key).is_file()
    ]
    taken = {item.shown: item.key for item in manifest.inputs}
    found = [_look(manifest, item.shown, Path(item.key), item.options, now, taken) for item in kin]
    return [replace(item, change=Change.REREAD) for item in found]


def moved_from(manifest: Manifest, found: Sequence[FoundInput]) -> Iterator[StoredInput]:
    """Yield inputs of the ledger that are found under another name now, and no longer under their own."""
    here = {item.key for item in found if item.change is Change.SAME}
    by_content = {item.sha256 for item in found if item.change is Change.NEW}
    for item in manifest.inputs:
        if item.sha256 in by_content and item.key not in here and not item.key.startswith(_STDIN):
            is_there = Path(item.key.partition("::")[0]).exists()
            if not is_there:
                yield item


def key_of(given: str) -> str:
    """Return what makes a path the same input at another time."""
    whole, mark, member = (given, "", "") if Path(given).exists() else given.partition("::")
    return os.path.realpath(whole) + mark + member


def _digests(path: Path, at: int) -> tuple[int, str, str]:
    """Return the size of a file, the SHA-256 of all of it and of its first ``at`` bytes."""
    digest, began = hashlib.sha256(), ""
    with path.open("rb") as stream:
        size = _digest(stream, digest, at)
        began = digest.hexdigest()
        size += _digest(stream, digest, None)
    return size, digest.hexdigest(), began


def _digest(stream: IO[bytes], digest: Any, most: int | None) -> int:
    size = 0
    while most is None or size < most:
        chunk = stream.read(_CHUNK_BYTES if most is None else min(_CHUNK_BYTES, most - size))
        if not chunk:
            break
        digest.update(chunk)
        size += len(chunk)
    return size
