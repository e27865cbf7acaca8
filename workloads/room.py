"""Where the engine keeps the rows of a run: in memory, or, when they would take much of it, in a file of this process.

In memory rows lie as they are. In a file they are compressed, to about a tenth, and come and go as they are needed; to
write them so takes the time of a second reading, so it is done only for logs that are large.
"""

import re
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
_OWN_BYTES: Final = 400_000_000
"""What a run takes besides the engine: the interpreter, its libraries, the cube and the report."""
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


def bound_memory(connection: Connection, memory_limit: str | None) -> None:
    """Let the engine keep to a limit, and put what does not fit into this process's own folder.

    Args:
        connection: The engine.
        memory_limit: Memory of the whole process, such as ``2GB``; None: four fifths of the machine's.
    """
    connection.raw_sql(f"SET temp_directory = {quote(str(Path(copies_folder(), 'spill')))}")
    if memory_limit:
        connection.raw_sql(f"SET memory_limit = {quote(_for_engine(memory_limit))}")


def _for_engine(memory_limit: str) -> str:
    """Return what is left for the engine of the memory of the process; texts of other kinds go to the engine as they are."""
    size = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(i?)b?\s*", memory_limit.lower())
    if size is None:
        return memory_limit
    number, prefix, binary = size.groups()
    whole = float(number) * (1024 if binary else 1000) ** " kmgt".index(prefix or " ")
    return f"{int(max(whole / 2, whole - _OWN_BYTES))}B"


def make_room(connection: Connection, expected_bytes: int) -> None:
    """Choose where tables that are stored from now on will lie.

    Args:
        connection: The engine.
        expected_bytes: See ``rows_bytes``.
    """
    if expected_bytes <= _MOST_BYTES:
        return
    folder = tempfile.mkdtemp(prefix="rows-", dir=copies_folder())
    connection.raw_sql(f"ATTACH {quote(str(Path(folder, 'rows.duckdb')))} AS {identifier(_DATABASE)}")
    connection.raw_sql(f"USE {identifier(_DATABASE)}")


def same_room(connection: Connection, other: Connection) -> None:
    """Let another way into the engine find what was stored by the first."""
    other.raw_sql(f"USE {identifier(_database(connection))}")


def is_large(connection: Connection) -> bool:
    """Return whether the rows are so many that they are in a file: then one question at a time is asked of them.

    Each may take all the memory there is, and keeps all cores busy by itself.
    """
    return not is_remote(connection) and _database(connection) == _DATABASE


def is_remote(connection: Connection) -> bool:
    """Return whether an engine is not the embedded one: see ``workloads.remote``."""
    return hasattr(connection, "way_in")


def _database(connection: Connection) -> str:
    return str(connection.raw_sql("SELECT current_database()").fetchall()[0][0])


def few_words(files: Sequence[InputFile]) -> dict[str, list[str]]:
    """Return the ledger columns that hold few values, with all of these: a path on every row is most of a small row."""
    names = [file.shown for file in files]
    return {"source_file": names} if len(names) <= _MOST_FILES_AS_NUMBERS else {}
