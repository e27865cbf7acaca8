"""A priced cube in so few numbers that a page can carry it and price it again: see ``advisor.what_if_cube``."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

NOTHING = -1
"""Where there are no rates."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A model that requests may be sent to.

    Attributes:
        model: As requests would name it.
        provider: Who sells it; None leaves it to the price book.
        token_ratio: Its tokens for one token of today, for the same text.
        measured: Whether that was measured; else it is taken to be 1.
    """

    model: str
    provider: str | None
    token_ratio: Decimal
    measured: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """From one model of the log to another model."""

    provider: str | None
    model: str
    target: Target


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """Rates by the size of a prompt.

    Attributes:
        thresholds: Prompt sizes, ascending; other rates hold strictly above each.
        rates: Places of the rates between them, one more; -1 where there is no price.
    """

    thresholds: tuple[int, ...]
    rates: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Where the prices of some requests are: places of ladders, -1 for none.

    Attributes:
        plain: As they are sent.
        batch: As batch jobs; -1 too where they are not at the standard tier.
    """

    plain: int
    batch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What decides the rates of some requests, whatever is changed about them.

    Attributes:
        prices: Of their own model.
        swaps: By place of a swap, those of its target; absent where the swap is not for them.
    """

    prices: Prices
    swaps: Mapping[int, Prices]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Requests that every change treats alike.

    Attributes:
        workload: Place of its name; -1 for the workloads that are not listed.
        situation: Place of the situation.
        context_tokens: The largest prompt, where some price depends on it; else 0.
        cacheable: Whether the log says how much of the prompt was new.
        counts: By meter, in the order of the summary.
    """

    workload: int
    situation: int
    context_tokens: int
    cacheable: bool
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CubeSummary:
    """The cube at list prices in USD.

    Attributes:
        meters: What counts and rates are of.
        rates: USD a unit by meter; None where the meter has no price.
        ladders: Of rates.
        situations: Of ladders.
        parts: Of situations.
        workloads: Names of those that can be chosen, dearest first.
        swaps: What can be chosen.
        list_usd: Cost as it is.
    """

    meters: tuple[str, ...]
    rates: tuple[tuple[Decimal | None, ...], ...]
    ladders: tuple[Ladder, ...]
    situations: tuple[Situation, ...]
    parts: tuple[Part, ...]
    workloads: tuple[str, ...]
    swaps: tuple[Swap, ...]
    list_usd: Decimal
