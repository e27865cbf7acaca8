"""Copies of inputs that the engine cannot read as they are: stdin, other encodings, archive members."""

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import IO, Final

_folders: list[str] = []

_CHUNK_BYTES: Final = 1 << 20
_ALWAYS_BYTES: Final = 1 << 30
"""What is unpacked whatever it is packed into."""
_MOST_RATIO: Final = 250
"""Logs unpack to 10 to 60 times their packed size; what unpacks to far more is made to fill a disk."""
_MOST_BYTES: Final = 64 << 30


class BombError(OSError):
    """What is unpacked is far larger than any log would be; the message says how large."""


def copies_folder() -> str:
    """Return the folder of this process for copies, which nobody else can read; it is made at the first call."""
    if not _folders:
        _folders.append(tempfile.mkdtemp(prefix="advisor-"))
        atexit.register(remove_copies)
    return _folders[0]


def remove_copies() -> None:
    """Remove the folder with all copies, if one was made."""
    while _folders:
        shutil.rmtree(Path(_folders.pop()), ignore_errors=True)


def copy_unpacked(source: IO[bytes], target: IO[bytes], packed_bytes: int, before_bytes: int = 0) -> int:
    """Copy what comes out of a packed file, as long as it could be a log.

    Args:
        source: The unpacked content.
        target: Where it goes.
        packed_bytes: Size of the packed file.
        before_bytes: What has come out of the same file already.

    Returns:
        All bytes that have come out of the file.

    Raises:
        BombError: When more comes out than out of any log.
    """
    limit = min(_MOST_BYTES, max(_ALWAYS_BYTES, packed_bytes * _MOST_RATIO))
    size = before_bytes
    while chunk := source.read(_CHUNK_BYTES):
        size += len(chunk)
        if size > limit:
            raise BombError(
                f"{packed_bytes:,} bytes unpack to more than {limit:,}: no log does; if it is one, unpack it yourself"
            )
        target.write(chunk)
    return size
