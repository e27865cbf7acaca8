"""Where a kept ledger is: told by its manifest. Nothing else is looked at here, so that any reader of folders may ask."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

MANIFEST: Final = "advisor-ledger.json"
"""Name of the manifest; a folder that holds one is a ledger."""
ROWS: Final = "rows"
"""Folder of the Parquet files, inside the ledger."""
STAGING: Final = "staging"
"""Folder of files that are being written, inside the ledger."""


def is_ledger(folder: Path) -> bool:
    """Return whether a folder is a kept ledger."""
    try:
        return (folder / MANIFEST).is_file()
    except OSError:  # a name that no system would have
        return False


def apart(paths: Sequence[str]) -> tuple[list[str], list[Path]]:
    """Return the paths that are no ledgers, and the ledgers among the paths."""
    ledgers = [path for path in paths if is_ledger(Path(path))]
    return [path for path in paths if path not in ledgers], [Path(path) for path in dict.fromkeys(ledgers)]
