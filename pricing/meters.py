"""The vocabulary of the whole project: meters (disjoint billable counts) and the usage of one request.

Counts are disjoint from the importer on: ``input_uncached`` never contains cache reads or writes, and ``output``
already contains reasoning. No later code asks whether "input" includes the cache.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final


class Phase(StrEnum):
    """What a meter pays for."""

    PREFILL = "prefill"
    """Reading the prompt: bound by arithmetic, removed by caching."""
    DECODE = "decode"
    """Writing the answer: bound by memory bandwidth, untouched by caching."""
    FEE = "fee"
    """Neither: search calls, storage."""


class Meter(StrEnum):
    """A disjoint billable count. The values are the keys of the JSON document and of price cards."""

    INPUT_UNCACHED = "input_uncached"
    CACHE_READ = "cache_read"
    CACHE_WRITE_5M = "cache_write_5m"
    CACHE_WRITE_30M = "cache_write_30m"
    CACHE_WRITE_1H = "cache_write_1h"
    CACHE_WRITE_12H = "cache_write_12h"
    OUTPUT = "output"
    AUDIO_INPUT = "audio_input"
    AUDIO_CACHE_READ = "audio_cache_read"
    AUDIO_OUTPUT = "audio_output"
    IMAGE_INPUT = "image_input"
    IMAGE_OUTPUT = "image_output"
    WEB_SEARCH_CALLS = "web_search_calls"
    REQUEST_CALLS = "request_calls"
    """Requests to a model that charges for each, besides its tokens."""
    CACHE_STORAGE_TOKEN_HOURS = "cache_storage_token_hours"  # noqa: S105  (a count, no secret)

    @property
    def phase(self) -> Phase:
        """The phase that this meter pays for."""
        return _PHASES[self]

    @property
    def is_tokens(self) -> bool:
        """Whether the meter counts tokens, which tiers and regions scale, or is a fee, which they do not."""
        return self not in FEE_METERS

    @property
    def per_million(self) -> bool:
        """Whether a rate is for a million units, or for one."""
        return self not in CALL_METERS


CALL_METERS: Final = (Meter.WEB_SEARCH_CALLS, Meter.REQUEST_CALLS)
FEE_METERS: Final = (*CALL_METERS, Meter.CACHE_STORAGE_TOKEN_HOURS)
TOKEN_METERS: Final = tuple(meter for meter in Meter if meter not in FEE_METERS)
OUTPUT_METERS: Final = (Meter.OUTPUT, Meter.AUDIO_OUTPUT, Meter.IMAGE_OUTPUT)
INPUT_METERS: Final = tuple(meter for meter in TOKEN_METERS if meter not in OUTPUT_METERS)
"""Everything that the prompt is made of. Their sum is the size that context tiers are decided by."""
CACHE_WRITE_METERS: Final = (
    Meter.CACHE_WRITE_5M,
    Meter.CACHE_WRITE_30M,
    Meter.CACHE_WRITE_1H,
    Meter.CACHE_WRITE_12H,
)
CACHE_READ_METERS: Final = (Meter.CACHE_READ, Meter.AUDIO_CACHE_READ)

_PHASES: Final[Mapping[Meter, Phase]] = {
    **dict.fromkeys(INPUT_METERS, Phase.PREFILL),
    **dict.fromkeys(OUTPUT_METERS, Phase.DECODE),
    **dict.fromkeys(FEE_METERS, Phase.FEE),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenUsage:
    """What one request (or one bucket of requests) used.

    Attributes:
        counts: Units by meter, disjoint; a meter that the log does not report is absent, which is not 0.
        reasoning: Tokens of ``output`` spent on reasoning; a subset, never added. None when not reported.
    """

    counts: Mapping[Meter, int] = field(default_factory=dict[Meter, int])
    reasoning: int | None = None

    @property
    def input_tokens(self) -> int:
        """Size of the whole prompt: uncached, read from cache and written to cache."""
        return sum(self.counts.get(meter, 0) for meter in INPUT_METERS)
