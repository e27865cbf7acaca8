"""How long the lines of files are, which the engine must be told before it reads them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from workloads.sources import InputFile

OBJECT_BYTES: Final = 1 << 25
"""Room for a line or a document that is given in any case."""
_WINDOW_BYTES: Final = 1 << 16
_PACKED_BYTES: Final = 1 << 28
UNPACKED: Final = 8
"""A packed document may be this many times larger than its file."""


def line_bytes(files: Sequence[InputFile]) -> int:
    """Return a size that no line of the files exceeds, at the cost of a few reads a gigabyte."""
    return max(OBJECT_BYTES, *(_line_bytes_of(file.path) for file in files))


def _line_bytes_of(path: Path) -> int:
    size = path.stat().st_size
    if path.suffix == ".gz":
        return _PACKED_BYTES if size > OBJECT_BYTES // UNPACKED else 0
    longest = 0
    if size <= OBJECT_BYTES:
        return longest
    step = OBJECT_BYTES // 2
    with path.open("rb") as raw:
        # A line longer than the engine's default holds at least one of these windows as a whole.
        for start in range(step, size, step):
            raw.seek(start)
            ahead = 0
            while (window := raw.read(_WINDOW_BYTES)) and b"\n" not in window:
                ahead += len(window)
            if ahead:
                longest = max(longest, step + ahead + _WINDOW_BYTES)
    return longest
