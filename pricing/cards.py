"""Price cards: what one model costs, when, and what that comes to in one situation.

A card is a list of dated periods; each has standard rates and rules that change them (see ``pricing.rules``).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from types import MappingProxyType
from typing import Final, NamedTuple

from pricing.errors import NoPriceAtTimeError
from pricing.meters import Meter
from pricing.rules import (
    EXACT,
    ClockWindow,
    RatePeriod,
    Rates,
    RegionRate,
    ServiceTier,
    fill_in,
    is_active,
    minute_of_week,
    overlay,
    region_key,
)

STANDARD: Final = "standard"
STANDARD_NAMES: Final = frozenset({"", "default", STANDARD, "auto", "on_demand"})
"""What logs write for "no special service tier"."""

_ONE: Final = Decimal(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateSheet:
    """The rates of one model in one situation, every rule applied.

    Attributes:
        provider: Who is paid, or None when the card does not say.
        model: Name of the card.
        rates: USD per unit of every meter that can be priced, fallbacks included.
        rule: What was applied, for people: ``base``, ``context > 200,000; batch x0.5``.
        valid_from: First instant (UTC) of these rates, None when open.
        valid_until: First instant (UTC) after them, None when open.
        source: Where the rates come from.
        retrieved: Day on which the source was read, None when not known.
        service_tier_applied: ``standard`` or the name of the service tier whose rates these are.
        warnings: What a reader of the bill should know.
        fallbacks: Meters without a rate of their own, and the meter whose rate they got.
    """

    provider: str | None
    model: str
    rates: Rates
    rule: str
    valid_from: datetime | None
    valid_until: datetime | None
    source: str
    retrieved: date | None
    service_tier_applied: str
    warnings: tuple[str, ...]
    fallbacks: Mapping[Meter, Meter]

    def rule_for(self, meter: Meter) -> str:
        """The rule behind one meter's rate, naming the rate that stands in for a missing one."""
        if not meter.is_tokens:
            return "fee"
        used = self.fallbacks.get(meter)
        return self.rule if used is None else f"{self.rule}; no rate for {meter}, {used} rate used"


class CardRow(NamedTuple):
    """One printed line of a card."""

    meter: Meter
    usd_per_unit: Decimal
    rule: str
    valid_from: datetime | None
    valid_until: datetime | None
    source: str
    retrieved: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceCard:
    """Everything known about the price of one model.

    Attributes:
        provider: genai-prices id of who is paid, or None on a user's card that fits every provider.
        model: Name, as the book lists it.
        aliases: Other exact names.
        periods: In order of time, without overlap; empty when the book lists the model without a price.
        source: Text or address.
        retrieved: Day on which the source was read, None when not known.
        notes: Repeated as warnings on every sheet of the card.
        region: Where requests under this name are served, whatever the log says; None: the log decides.
    """

    provider: str | None
    model: str
    aliases: tuple[str, ...] = ()
    periods: tuple[RatePeriod, ...]
    source: str
    retrieved: date | None = None
    notes: tuple[str, ...] = ()
    region: str | None = None

    @property
    def free(self) -> bool:
        """Whether every token rate is an explicit 0, which an unknown price never is."""
        rates = [rate for one in self.periods for meter, rate in one.rates.items() if meter.is_tokens]
        return bool(rates) and not any(rates)

    def resolve(
        self, at: datetime, input_tokens: int | None, service_tier: str | None, region: str | None = None
    ) -> RateSheet:
        """Apply every rule of the card.

        Args:
            at: Instant of the price, with a time zone.
            input_tokens: Size of the whole prompt of one request; None for a bucket of many requests, which never
                reaches a context tier.
            service_tier: As the log has it; None is the standard one. On OpenAI "fast" is the newer name of "priority".
            region: Where the request was served, as the log has it; None where it does not say.

        Returns:
            The rates, with what was applied.

        Raises:
            NoPriceAtTimeError: No period of the card covers ``at``.
            ValueError: ``at`` has no time zone.
        """
        instant = _utc(at)
        period = self._period(instant)
        window = next((one for one in period.windows if one.covers(minute_of_week(instant))), None)
        asked = (service_tier or "").strip().lower()
        tier = self._service_tier(period, asked, instant)
        replaced = window is not None and window.rates is not None
        own = window.rates if window is not None and window.rates is not None else period.rates
        context_tiers = window.context_tiers if window is not None and replaced else period.context_tiers

        rates, crossed = overlay({}, own, context_tiers, input_tokens)
        if tier is not None:
            rates, crossed_own = overlay(rates, tier.rates, tier.context_tiers, input_tokens)
            crossed = max(crossed, crossed_own)
        served = region_key(self.region or region)
        place = _region(period, served, instant)
        every = EXACT.multiply(window.multiplier if window else _ONE, place.multiplier if place else _ONE)
        rates = {
            meter: EXACT.multiply(rate, EXACT.multiply(every, tier.factor(meter) if tier else _ONE))
            if meter.is_tokens
            else rate
            for meter, rate in rates.items()
        }
        fallbacks = fill_in(rates)

        warnings = list(self.notes)
        if tier is None and asked not in STANDARD_NAMES:
            warnings.append(f"service tier '{asked}' asked, standard price used")
        steps = [*context_tiers, *(tier.context_tiers if tier else ())]
        if input_tokens is None and steps:
            lowest = min(step.above for step in steps)
            warnings.append(
                f"request sizes unknown, so the price above {lowest:,} prompt tokens was not applied"
            )
        rule = [
            f"context > {crossed:,}" if crossed >= 0 else "",
            tier.rule if tier else "",
            window.rule if window else "",
            f"region {served} x{place.multiplier:f}" if place and place.multiplier != _ONE else "",
        ]
        return RateSheet(
            provider=self.provider,
            model=self.model,
            rates=MappingProxyType(rates),
            rule="; ".join(part for part in rule if part) or "base",
            valid_from=_latest(period, tier, place),
            valid_until=_earliest(period, tier, place),
            source=_sources(period.source or self.source, window, tier, place),
            retrieved=period.retrieved or self.retrieved,
            service_tier_applied=tier.name if tier else STANDARD,
            warnings=tuple(warnings),
            fallbacks=MappingProxyType(fallbacks),
        )

    def rows(self) -> Iterator[CardRow]:
        """Every rate that the card states, one row a meter and rule, in order of time."""
        for period in self.periods:
            for rule, rates, start, end in _stated(period):
                for meter in Meter:
                    if meter in rates:
                        source, read = period.source or self.source, period.retrieved or self.retrieved
                        yield CardRow(meter, rates[meter], rule, start, end, source, read)

    def _period(self, at: datetime) -> RatePeriod:
        for period in self.periods:
            if is_active(period.valid_from, period.valid_until, at):
                return period
        if not self.periods:
            raise NoPriceAtTimeError(f"{self.model}: no price in the book ({self.source})")
        spans = ", ".join(f"{_day(one.valid_from)} to {_day(one.valid_until)}" for one in self.periods)
        raise NoPriceAtTimeError(f"{self.model}: no price at {at.isoformat()}; the card covers {spans}")

    def _service_tier(self, period: RatePeriod, asked: str, at: datetime) -> ServiceTier | None:
        if asked in STANDARD_NAMES:
            return None
        active = {
            one.name: one for one in period.service_tiers if is_active(one.valid_from, one.valid_until, at)
        }
        if asked == "fast" and self.provider in (None, "openai"):
            return active.get("fast") or active.get("priority")
        return active.get(asked)


def _utc(at: datetime) -> datetime:
    if at.tzinfo is None:
        raise ValueError(f"an instant needs a time zone, got {at.isoformat()}")
    return at.astimezone(UTC)


def _stated(period: RatePeriod) -> Iterator[tuple[str, Rates, datetime | None, datetime | None]]:
    span = (period.valid_from, period.valid_until)
    yield "base", period.rates, *span
    for step in period.context_tiers:
        yield f"context > {step.above:,}", step.rates, *span
    for tier in period.service_tiers:
        start, end = _latest(period, tier), _earliest(period, tier)
        if start is not None and end is not None and start >= end:
            continue
        scaled = {meter: EXACT.multiply(rate, tier.factor(meter)) for meter, rate in period.rates.items()}
        yield (
            tier.rule,
            tier.rates or {meter: scaled[meter] for meter in scaled if meter.is_tokens},
            start,
            end,
        )
        for step in tier.context_tiers:
            yield f"context > {step.above:,}; {tier.rule}", step.rates, start, end
    for window in period.windows:
        own = window.rates if window.rates is not None else _scaled(period.rates, window.multiplier)
        yield window.rule, own, *span
        for step in window.context_tiers:
            yield f"context > {step.above:,}; {window.rule}", step.rates, *span
    for place in period.regions:
        rule = f"region {' or '.join(place.regions)} x{place.multiplier:f}"
        yield rule, _scaled(period.rates, place.multiplier), _latest(period, place), _earliest(period, place)


def _sources(first: str, *rules: ClockWindow | ServiceTier | RegionRate | None) -> str:
    return "; ".join(dict.fromkeys([first, *(rule.source for rule in rules if rule and rule.source)]))


def _region(period: RatePeriod, region: str, at: datetime) -> RegionRate | None:
    return next(
        (
            one
            for one in period.regions
            if region and one.covers(region) and is_active(one.valid_from, one.valid_until, at)
        ),
        None,
    )


def _scaled(rates: Rates, factor: Decimal) -> Rates:
    return {meter: EXACT.multiply(rate, factor) for meter, rate in rates.items() if meter.is_tokens}


def _latest(*rules: RatePeriod | ServiceTier | RegionRate | None) -> datetime | None:
    return max((one.valid_from for one in rules if one and one.valid_from is not None), default=None)


def _earliest(*rules: RatePeriod | ServiceTier | RegionRate | None) -> datetime | None:
    return min((one.valid_until for one in rules if one and one.valid_until is not None), default=None)


def _day(at: datetime | None) -> str:
    return "open" if at is None else at.isoformat()
