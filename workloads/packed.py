"""Files that may be packed with gzip, whatever their names say."""

import gzip
from pathlib import Path
from typing import IO, Final, cast

_GZIP_MAGIC: Final = b"\x1f\x8b"


def is_packed(path: Path) -> bool:
    """Return whether a file is gzip."""
    with path.open("rb") as raw:
        return raw.read(len(_GZIP_MAGIC)) == _GZIP_MAGIC


def unpacked(path: Path) -> IO[bytes]:
    """Return a file opened for reading, unpacked when it is gzip."""
    return cast("IO[bytes]", gzip.open(path)) if is_packed(path) else path.open("rb")
