"""How much of the prompts of a workload a cache would have read, by how long it keeps them."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

UNLIMITED: Final = float("inf")
CURVE_SECONDS: Final = (10, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 43_200, 86_400, UNLIMITED)
"""Lifetimes of the curve: from some seconds to a day, and all of the log."""


class Known(StrEnum):
    """What a log tells reuse by."""

    BLOCKS = "blocks"
    """Names of the blocks of each prompt."""
    PREFIXES = "prefixes"
    """Names of prefixes that callers marked."""
    TEXTS = "texts"
    """The text of each prompt, in blocks of characters."""
    SESSIONS = "sessions"
    """Sessions whose prompts grow: each is taken to begin with the one before it."""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """What a cache of some lifetime would have read."""

    lifetime_seconds: float
    """Infinite for a cache that keeps everything."""
    hit_ratio: float
    """Tokens read, of all tokens of prompt text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkloadReuse:
    """Reuse in one workload.

    Attributes:
        workload: Name.
        known_by: What tells it.
        requests: That tell it.
        text_tokens: Of their prompts.
        curve: By lifetime, ascending; under the minimum and step of the models' caches, where these are known.
        logged_ratio: What the log shows as read from a cache, of the whole prompts; None: it does not say.
        lifetimes: Those that would cost least, of the ones that can be had, or the usual one of a model without a price;
            empty: none pays, or no cache is known.
        achievable_ratio: What would be read with them; None where no cache of its models is known.
    """

    workload: str
    known_by: Known
    requests: int
    text_tokens: int
    curve: tuple[CurvePoint, ...]
    logged_ratio: float | None
    lifetimes: tuple[str, ...]
    achievable_ratio: float | None
