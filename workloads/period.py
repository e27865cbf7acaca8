"""The days of a log that count."""

from dataclasses import dataclass
from datetime import date


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Which records count, and how their days are cut.

    Attributes:
        timezone: IANA name; days are calendar days there.
        since: First day, inclusive; None: from the beginning.
        until: Last day, inclusive; None: to the end.
    """

    timezone: str = "UTC"
    since: date | None = None
    until: date | None = None
