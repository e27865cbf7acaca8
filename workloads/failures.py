"""What the engine raises, told apart: an input that is broken, a number that does not fit, a machine that is full."""

from typing import Final

_FULL: Final = ("no space left", "disk quota", "file too large", "read-only file system")


def connection_errors() -> tuple[type[Exception], ...]:
    """Return what the engine raises when an input cannot be read."""
    import duckdb  # noqa: PLC0415  (only where the engine is in use)

    return (duckdb.Error,)


def overflow_errors() -> tuple[type[Exception], ...]:
    """Return what the engine raises when a number does not fit."""
    import duckdb  # noqa: PLC0415

    return (duckdb.OutOfRangeException, duckdb.ConversionException)


def is_of_the_machine(error: Exception) -> bool:
    """Return whether the machine is the reason and not the input: no memory, or a disk that takes no more."""
    import duckdb  # noqa: PLC0415

    full = any(words in str(error).lower() for words in _FULL)
    return full or isinstance(error, duckdb.OutOfMemoryException)


def of_the_machine(error: Exception) -> str:
    """Return such an error in a sentence."""
    return (
        f"the disk or the memory of this machine is full: {first_line(error)}. "
        "Free some, or set TMPDIR to a larger disk and --memory-limit."
    )


def is_stop(error: Exception) -> bool:
    """Return whether the user has stopped the engine in the middle of a query, which says so by an error of its own."""
    return isinstance(error, RuntimeError) and str(error) == "Query interrupted"


def first_line(error: Exception) -> str:
    """Return an error as one line."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
