"""Archives of logs: their data files, unpacked one by one into this process's folder of copies."""

import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Final

from workloads.copies import copies_folder

SUFFIXES: Final = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")

_MOST_BYTES: Final = 64 << 30
"""Unpacked size at which an archive is taken for a bomb."""


class ArchiveError(Exception):
    """An archive cannot be unpacked; the message says why."""


def is_archive(path: Path) -> bool:
    """Return whether a file is named as an archive."""
    return path.name.lower().endswith(SUFFIXES)


def members(path: Path) -> Iterator[tuple[str, Path]]:
    """Yield ``(name inside the archive, path of its copy)`` of every regular file that could be a log.

    Raises:
        ArchiveError: When the archive is damaged or unpacks to more than a log would.
    """
    folder = Path(copies_folder(), f"archive-{abs(hash(str(path.resolve()))):x}")
    folder.mkdir(exist_ok=True)
    unpacked = 0
    try:
        for number, (name, stream) in enumerate(_streams(path)):
            # Names inside are never used as paths: only the suffix is kept.
            copy = folder / f"{number:06}{''.join(PurePosixPath(name).suffixes[-2:])}"
            with stream, copy.open("wb") as out:
                shutil.copyfileobj(stream, out)
            unpacked += copy.stat().st_size
            if unpacked > _MOST_BYTES:
                raise ArchiveError(f"unpacks to more than {_MOST_BYTES >> 30} GiB")
            yield name, copy
    except (tarfile.TarError, zipfile.BadZipFile, EOFError, OSError) as error:
        raise ArchiveError(f"damaged archive: {error}") from error


def _streams(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if path.name.lower().endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    yield entry.filename, archive.open(entry)
        return
    with tarfile.open(path, "r|*") as stream:
        for member in stream:
            content = stream.extractfile(member) if member.isreg() else None
            if content is not None:
                yield member.name, content
