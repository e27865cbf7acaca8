"""Where the engine keeps the rows of a run: in memory, or, when they would take much of it, in a file of this process.

In memory rows lie as they are. In a file they are compressed, to about a tenth, and come and go as they are needed; to
write them so takes the time of a second reading, so it is done only for logs that are large.
"""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from workloads.copies import copies_folder
from workloads.schema import identifier, quote
from workloads.sources import InputFile, Kind

Connection = Any

_MOST_BYTES: Final = 1 << 30
"""Rows that would take more than this in memory go to a file."""
_PACKED: Final = 8
_TIMES_LARGER: Final = {Kind.PARQUET: 10, Kind.CSV: 2}
"""What rows take in memory for each byte of their file; of JSON and of lines of text, most is not kept."""
_HALF: Final = 0.5
_MOST_FILES_AS_NUMBERS: Final = 10_000
_DATABASE: Final = "advisor_rows"


def rows_bytes(files: Sequence[InputFile]) -> int:
    """Return about how much memory the rows of files will take."""
    return int(
        sum(
            file.path.stat().st_size
            * _TIMES_LARGER.get(file.kind, _HALF)
            * (_PACKED if file.path.suffix == ".gz" else 1)
            for file in files
            if file.path.is_file()
        )
    )


def make_room(connection: Connection, expected_bytes: int) -> None:
    """Choose where tables that are stored from now on will lie.

    Args:
        connection: The engine.
        expected_bytes: See ``rows_bytes``.
    """
    if expected_bytes <= _MOST_BYTES:
        return
    folder = tempfile.mkdtemp(prefix="rows-", dir=copies_folder())
    connection.raw_sql(f"SET temp_directory = {quote(folder)}")
    connection.raw_sql(f"ATTACH {quote(str(Path(folder, 'rows.duckdb')))} AS {identifier(_DATABASE)}")
    connection.raw_sql(f"USE {identifier(_DATABASE)}")


def same_room(connection: Connection, other: Connection) -> None:
    """Let another way into the engine find what was stored by the first."""
    (name,) = connection.raw_sql("SELECT current_database()").fetchall()[0]
    other.raw_sql(f"USE {identifier(name)}")


def few_words(files: Sequence[InputFile]) -> dict[str, list[str]]:
    """Return the ledger columns that hold few values, with all of these: a path on every row is most of a small row."""
    names = [file.shown for file in files]
    return {"source_file": names} if len(names) <= _MOST_FILES_AS_NUMBERS else {}
