"""What was read, and what a reader must know about it before believing a number."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A place in an input that a reader can open."""

    file: str
    line: int | None
    """1-based line (or data row, for tables without lines); None when the whole file is meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One input and what it was taken for."""

    path: str
    format: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something about the data that a reader must know, counted."""

    code: str
    severity: str
    """``error`` (rows lost), ``warning`` (numbers may be off) or ``info``."""
    message: str
    rows: int
    examples: tuple[Location, ...] = ()
    amount_usd: Decimal | None = None
    """The money that it is about; None where it is about none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataReport:
    """What was read. ``rows_read == records + skipped + duplicates + ignored`` always holds."""

    rows_read: int
    records: int
    requests: int
    """Calls behind the records (a bucket row carries many)."""
    skipped: int
    duplicates: int
    ignored: int
    unmeasured: int
    """Records (already among ``records``) that carry no usage at all: not zero, unknown."""
    first_request: datetime | None
    last_request: datetime | None
    timezone: str
    sources: tuple[Source, ...]
    problems: tuple[Problem, ...]
