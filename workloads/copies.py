"""Copies of inputs that the engine cannot read as they are: stdin, other encodings, archive members."""

import shutil
import tempfile
from pathlib import Path

_folders: list[str] = []


def copies_folder() -> str:
    """Return the folder of this process for copies; it is made at the first call."""
    if not _folders:
        _folders.append(tempfile.mkdtemp(prefix="advisor-"))
    return _folders[0]


def remove_copies() -> None:
    """Remove the folder with all copies, if one was made."""
    while _folders:
        shutil.rmtree(Path(_folders.pop()), ignore_errors=True)
