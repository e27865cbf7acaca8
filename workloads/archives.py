"""Archives of logs: their data files, unpacked one by one into this process's folder of copies."""

import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Final

from workloads.copies import BombError, copies_folder, copy_unpacked

SUFFIXES: Final = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".zip")

_MOST_MEMBERS: Final = 200_000
_PLAIN: Final = re.compile(r"[.A-Za-z0-9_-]{0,30}")


class ArchiveError(Exception):
    """An archive cannot be unpacked; the message says why."""


def is_archive(path: Path) -> bool:
    """Return whether a file is named as an archive."""
    return path.name.lower().endswith(SUFFIXES)


def members(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, Path]]:
    """Yield ``(name inside the archive, path of its copy)`` of every regular file whose name is wanted.

    Raises:
        ArchiveError: When the archive is damaged or unpacks to more than a log would.
    """
    folder = Path(copies_folder(), f"archive-{abs(hash(str(path.resolve()))):x}")
    folder.mkdir(exist_ok=True)
    size = 0
    try:
        for number, (name, open_it) in enumerate(_streams(path)):
            if number >= _MOST_MEMBERS:
                raise ArchiveError(f"more than {_MOST_MEMBERS:,} files in one archive; unpack it yourself")
            if not wanted(name):
                continue
            # Names inside are never used as paths: only the suffix is kept.
            copy = folder / f"{number:06}{_suffix(name)}"
            with open_it() as stream, copy.open("wb") as out:
                size = copy_unpacked(stream, out, path.stat().st_size, size)
            yield name, copy
    except BombError as error:
        raise ArchiveError(str(error)) from error
    except (
        tarfile.TarError,
        zipfile.BadZipFile,
        EOFError,
        OSError,
        ValueError,
        NotImplementedError,
    ) as error:
        raise ArchiveError(f"damaged archive: {error}") from error
    except (RuntimeError, zlib.error, lzma.LZMAError) as error:  # an encrypted member, a damaged one
        raise ArchiveError(f"cannot be unpacked: {error}") from error


def _suffix(name: str) -> str:
    """Return the suffixes of a name, where they are plain."""
    suffix = "".join(PurePosixPath(name).suffixes[-2:])
    return suffix if _PLAIN.fullmatch(suffix) else ""


def _streams(path: Path) -> Iterator[tuple[str, Callable[[], IO[bytes]]]]:
    if path.name.lower().endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if not entry.is_dir():
                    yield entry.filename, partial(archive.open, entry)
        return
    with tarfile.open(path, "r|*") as stream:
        for member in stream:
            if member.isreg():
                yield member.name, partial(_content, stream, member)


def _content(stream: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = stream.extractfile(member)
    assert content is not None  # noqa: S101  (regular files have one)
    return content
