"""What it takes to make the same report again."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class InputHash:
    """One file that was read."""

    path: str
    size_bytes: int
    sha256: str | None
    """None where hashing all inputs would have taken too long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """What it takes to make the same report again."""

    version: str
    command: str
    as_of: datetime
    price_book: str
    price_book_sha256: str
    assumptions: tuple[str, ...]
    """Everything that was assumed because the log does not say."""
    inputs: tuple[InputHash, ...] = ()
    """The files that were read, as far as they are files."""
