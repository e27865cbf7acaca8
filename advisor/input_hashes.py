"""SHA-256 of the files that a report was made from, worked out beside the rest of a run."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from threading import Thread
from typing import Final

from advisor.data_report import Source
from advisor.provenance import InputHash
from workloads.account import StoredHash

MOST_BYTES: Final = 200 * 1_000_000
"""Of all inputs together; hashing more would be felt."""
MOST_FILES: Final = 200


def begin_hashes(
    sources: Sequence[Source], known: Sequence[StoredHash] = ()
) -> Callable[[], tuple[InputHash, ...]]:
    """Start to hash the files behind some sources.

    Hashing takes a thread of its own, which does not hold up Python while it works.

    Args:
        sources: What was read; members of an archive count as the archive, and what is no file (any more) is left out.
        known: Inputs of a kept ledger, which were hashed when they were read.

    Returns:
        What waits for the hashes: one a file, in order, without a hash where all files together are too large.
    """
    found = [InputHash(path=one.path, size_bytes=one.size_bytes, sha256=one.sha256) for one in known]
    names = {one.path for one in known}
    files = _files(source for source in sources if source.path not in names)
    thread = Thread(target=lambda: found.extend(_hashes(files)), daemon=True)
    thread.start()

    def wait() -> tuple[InputHash, ...]:
        thread.join()
        return tuple(found)

    return wait


def _files(sources: Iterable[Source]) -> list[str]:
    """Return the paths that are files, each once."""
    found: dict[str, None] = {}
    for source in sources:
        whole = Path(source.path)
        for path in (whole, *whole.parents):
            if _is_file(path):
                found[str(path)] = None
                break
    return list(found)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that no system would have
        return False


def _hashes(paths: Sequence[str]) -> Iterable[InputHash]:
    sizes = {path: size for path in paths if (size := _size(path)) is not None}
    small = sum(sizes.values()) <= MOST_BYTES and len(sizes) <= MOST_FILES
    for path, size in list(sizes.items())[:MOST_FILES]:
        yield InputHash(path=path, size_bytes=size, sha256=_sha256(path) if small else None)


def _size(path: str) -> int | None:
    try:
        return Path(path).stat().st_size
    except OSError:
        return None


def _sha256(path: str) -> str | None:
    try:
        with Path(path).open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None
