"""The rules that change a price: a closed set, in the order in which they are applied.

A clock window may replace the standard rates, a context tier overrides them for the whole request, a service tier
overrides what is left, and the multipliers of window, service tier and region scale the token rates. A meter that then
has no rate falls back to its nearest relative (``FALLBACKS``); fees never do.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from typing import Final

from pricing.meters import Meter
from pricing.units import MINUTES_PER_DAY

Rates = Mapping[Meter, Decimal]
"""USD per million units (tokens, token-hours), or per call (``Meter.per_million``)."""

EXACT: Final = Context(prec=400, traps=[Inexact, InvalidOperation, Overflow])
"""Arithmetic that would rather fail than round. Rates are bounded on the way in, so it does not fail."""

FALLBACKS: Final[Mapping[Meter, tuple[Meter, ...]]] = {
    Meter.CACHE_READ: (Meter.INPUT_UNCACHED,),
    Meter.CACHE_WRITE_5M: (Meter.INPUT_UNCACHED,),
    Meter.CACHE_WRITE_30M: (Meter.CACHE_WRITE_5M, Meter.INPUT_UNCACHED),
    Meter.CACHE_WRITE_1H: (Meter.CACHE_WRITE_5M, Meter.INPUT_UNCACHED),
    Meter.CACHE_WRITE_12H: (Meter.CACHE_WRITE_5M, Meter.INPUT_UNCACHED),
    Meter.AUDIO_INPUT: (Meter.INPUT_UNCACHED,),
    Meter.AUDIO_CACHE_READ: (Meter.CACHE_READ, Meter.AUDIO_INPUT, Meter.INPUT_UNCACHED),
    Meter.IMAGE_INPUT: (Meter.INPUT_UNCACHED,),
    Meter.AUDIO_OUTPUT: (Meter.OUTPUT,),
    Meter.IMAGE_OUTPUT: (Meter.OUTPUT,),
}
"""Where a meter without a rate gets one, nearest first: the same rule as genai-prices. A cache write rate without a
stated lifetime is kept as the 5-minute one, so the longer writes look there before they are plain input."""

_ONE: Final = Decimal(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextTier:
    """Rates for the whole request once its prompt is larger than ``above`` tokens (strictly).

    Attributes:
        above: Prompt tokens (sum of ``INPUT_METERS``). An inclusive threshold T is stored as T - 1.
        rates: Overrides; a meter that is not named keeps the rate below the threshold.
    """

    above: int
    rates: Rates


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceTier:
    """A service level that a request can ask for: batch, flex, priority, ...

    Attributes:
        name: As logs write it, lower case.
        multiplier: Of every token rate; fees are not scaled.
        multipliers: Of single meters, instead of ``multiplier``: a discount that does not reach cached tokens, say.
        rates: Own rates, over the standard ones, whatever the context.
        context_tiers: Own context tiers, over ``rates``.
        valid_from: First instant (UTC); None for ever.
        valid_until: First instant (UTC) after it; None for ever.
        source: Where the rule comes from, where that is not the card's source.
    """

    name: str
    multiplier: Decimal = _ONE
    multipliers: Rates = field(default_factory=dict[Meter, Decimal])
    rates: Rates = field(default_factory=dict[Meter, Decimal])
    context_tiers: tuple[ContextTier, ...] = ()
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    source: str = ""

    @property
    def rule(self) -> str:
        """How a rate sheet names this tier."""
        if self.rates:
            return f"{self.name} rates"
        others = "".join(f", {meter} x{factor:f}" for meter, factor in self.multipliers.items())
        return f"{self.name} x{self.multiplier:f}{others}"

    def factor(self, meter: Meter) -> Decimal:
        """What a meter's rate is multiplied by."""
        return self.multipliers.get(meter, self.multiplier)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegionRate:
    """What token rates are multiplied by where a request is served: residency, data zones, regional endpoints.

    Attributes:
        regions: Words for the region, as ``region_key`` has them; ``*`` is every region that a log can name.
        except_regions: Words that ``*`` does not stand for.
        multiplier: Of every token rate; fees are not scaled.
        valid_from: First instant (UTC); None for ever.
        valid_until: First instant (UTC) after it; None for ever.
        source: Where the rule comes from, where that is not the card's source.
    """

    regions: tuple[str, ...]
    except_regions: tuple[str, ...] = ()
    multiplier: Decimal
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    source: str = ""

    def covers(self, region: str) -> bool:
        """Whether a region, as ``region_key`` has it, is meant."""
        return region in self.regions or ("*" in self.regions and region not in self.except_regions)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClockWindow:
    """Hours of the week (UTC) with other prices.

    Attributes:
        name: For people: ``peak``.
        minutes: Spans of the week in minutes since Monday 00:00 UTC, start inclusive, end exclusive.
        multiplier: Of every token rate.
        rates: When not None these replace the period's standard rates as a whole.
        context_tiers: Belong to ``rates``.
        source: Where the rule comes from, where that is not the card's source.
    """

    name: str
    minutes: tuple[tuple[int, int], ...]
    multiplier: Decimal = _ONE
    rates: Rates | None = None
    context_tiers: tuple[ContextTier, ...] = ()
    source: str = ""

    @property
    def rule(self) -> str:
        """How a rate sheet names this window."""
        return f"{self.name} x{self.multiplier:f}" if self.rates is None else f"{self.name} rates"

    def covers(self, minute: int) -> bool:
        """Whether a minute of the week is inside."""
        return any(start <= minute < end for start, end in self.minutes)


@dataclass(frozen=True, slots=True, kw_only=True)
class RatePeriod:
    """Rates and rules from an instant (inclusive) until another (exclusive), both UTC; None is open.

    Of several windows that cover an instant the first in the tuple counts, and of several regions likewise; of several
    service tiers of one name the last. ``source`` and ``retrieved`` are the card's where they are not given.
    """

    valid_from: datetime | None = None
    valid_until: datetime | None = None
    rates: Rates
    context_tiers: tuple[ContextTier, ...] = ()
    service_tiers: tuple[ServiceTier, ...] = ()
    windows: tuple[ClockWindow, ...] = ()
    regions: tuple[RegionRate, ...] = ()
    source: str = ""
    retrieved: date | None = None


def region_key(word: str | None) -> str:
    """A log's word for a region in the form that rules are written in; empty for none."""
    return (word or "").strip().lower().replace("-", "_").replace(" ", "_")


def minute_of_week(at: datetime) -> int:
    """Minutes since Monday 00:00 UTC, 0..10,079, of an aware instant."""
    utc = at.astimezone(UTC)
    return utc.weekday() * MINUTES_PER_DAY + utc.hour * 60 + utc.minute


def overlay(
    below: Rates, rates: Rates, tiers: tuple[ContextTier, ...], tokens: int | None
) -> tuple[dict[Meter, Decimal], int]:
    """Lay rates over others, with the context tiers that are reached; and the highest of those, or -1."""
    merged, crossed = {**below, **rates}, -1
    for tier in sorted(tiers, key=lambda one: one.above):
        if tokens is not None and tokens > tier.above:
            merged.update(tier.rates)
            crossed = tier.above
    return merged, crossed


def fill_in(rates: dict[Meter, Decimal]) -> dict[Meter, Meter]:
    """Give meters without a rate that of their nearest relative; returns whose rate each of them got."""
    stated = dict(rates)
    used: dict[Meter, Meter] = {}
    for meter, relatives in FALLBACKS.items():
        relative = next((one for one in relatives if one in stated), None)
        if meter not in stated and relative is not None:
            rates[meter] = stated[relative]
            used[meter] = relative
    return used


def is_active(start: datetime | None, end: datetime | None, at: datetime) -> bool:
    """Whether an instant is inside a span that includes its start and not its end."""
    return (start is None or at >= start) and (end is None or at < end)
