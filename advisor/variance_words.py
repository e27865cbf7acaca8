"""What is said beside a bridge: its terms in words, and what a reader must know of it."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from advisor.variance import MOST_WORKLOADS, OTHERS, Bridges
from advisor.variance_periods import length
from advisor.variance_terms import Bridge, Driver, total
from advisor.wording import plural

if TYPE_CHECKING:
    from advisor.finance import Variance

METHOD: Final = (
    "log-mean Divisia: each driver gets the logarithmic mean of both costs times the logarithm of its change, by workload, "
    "model, tier and meter; the order of drivers does not matter and the terms add up exactly"
)
NAMES: Final[Mapping[Driver, str]] = {
    Driver.VOLUME: "Volume",
    Driver.MODEL_MIX: "Model mix",
    Driver.TIER: "Service tier",
    Driver.TOKENS: "Tokens per request",
    Driver.CACHE: "Cache share",
    Driver.PRICE: "Price",
    Driver.NEW: "New workloads",
    Driver.ENDED: "Ended workloads",
}
MEANINGS: Final[Mapping[Driver, str]] = {
    Driver.VOLUME: "more or fewer requests",
    Driver.MODEL_MIX: "requests that went to other models",
    Driver.TIER: "requests that went to other service tiers",
    Driver.TOKENS: "longer or shorter prompts and answers",
    Driver.CACHE: "what part of prompts caches read and write",
    Driver.PRICE: "what a token costs",
    Driver.NEW: "only in the later period",
    Driver.ENDED: "only in the earlier period",
}


def listed(found: Bridges, most: int = MOST_WORKLOADS + 1) -> tuple[Bridge, ...]:
    """Return the workloads; beyond ``most`` they are gathered into one."""
    rest = found.workloads[most:]
    return (*found.workloads[:most], *((total(OTHERS, rest),) if rest else ()))


def variance_notes(variance: "Variance") -> Iterator[str]:
    """Yield what a reader must know, a sentence each."""
    found, periods = variance.bridges, variance.periods
    if found is None or periods is None:
        return
    before, after = length(periods.before), length(periods.after)
    if before != after:
        yield f"The periods have {before} and {plural(after, 'day')}: that is part of the volume."
    if not found.counts_requests:
        yield "The log does not count all requests, so volume is tokens, and tokens per request are part of it."
    if found.unpriced:
        yield f"{plural(found.unpriced, 'record')} of these days have no price and are in neither period."
