"""One writer at a time, and no file taken away from under a reader.

The system holds the locks and lets go of them when their process ends, however it ends: a lock file that lies about is
harmless, and is never removed.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Generator
from pathlib import Path
from typing import IO, Final

from workloads.stored.manifest import LedgerError

if sys.platform != "win32":
    import fcntl

_WRITER: Final = ".writer.lock"
_READERS: Final = ".readers.lock"


@contextlib.contextmanager
def writing(folder: Path) -> Generator[None]:
    """Be the only writer of a ledger while this lasts.

    Raises:
        LedgerError: When another process is.
    """
    with (folder / _WRITER).open("a+", encoding="utf-8") as file:
        if not _take(file, shared=False):
            file.seek(0)
            who = file.read().strip()
            raise LedgerError(
                f"{folder}: another advisor{f' (process {who})' if who else ''} is writing to this ledger; "
                "run again when it has finished"
            )
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield


def begin_reading(folder: Path) -> Callable[[], None]:
    """Keep the files of a ledger from being taken away; where that cannot be, do without.

    Returns:
        What ends it; the end of this process does too.
    """
    with contextlib.suppress(OSError):
        path = folder / _READERS
        path.touch()
        file = path.open(encoding="utf-8")
        _take(file, shared=True)
        return file.close
    return lambda: None


def nobody_reads(folder: Path) -> bool:
    """Return whether no process reads a ledger at this moment: files that it does not name may go."""
    with (folder / _READERS).open("a+", encoding="utf-8") as file:
        return _take(file, shared=False)


def _take(file: IO[str], *, shared: bool) -> bool:
    if sys.platform == "win32":  # no such locks there: two writers are then up to the user
        return True
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
