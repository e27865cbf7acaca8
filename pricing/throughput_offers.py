"""Offers of provisioned throughput: so much a unit and hour for so many tokens a minute, against list prices by the token.

Capacity is paid for every hour and used minute by minute: what a minute needs beyond it is paid by the token. So an offer is
judged by the minutes of a load, never by their mean.
"""

from dataclasses import dataclass
from decimal import Decimal
from math import ceil
from typing import Any, Final

import numpy as np

from pricing.discounts import Usage
from pricing.names import provider_id
from pricing.units import SECONDS_PER_HOUR, SECONDS_PER_MINUTE

Array = Any
HOURS_PER_MONTH: Final = Decimal("730.5")
"""Of a mean month: 30.4375 days."""
MINUTES_PER_HOUR: Final = SECONDS_PER_HOUR // SECONDS_PER_MINUTE
_BUSY: Final = 0.95
_MOST_TRIED: Final = 400
_ROUNDING: Final = 1e-9
_MICRO: Final = Decimal("0.000001")


@dataclass(frozen=True, slots=True, kw_only=True)
class ThroughputOffer:
    """What a provider would sell.

    Attributes:
        name: As the user calls it.
        models: Exact names that a unit serves.
        usd_per_hour: Price of one unit for an hour.
        tokens_per_minute: Tokens that one unit takes in a minute, as the provider counts them: see the two below.
        where: File and row, for people.
        provider: Who sells it; None for any.
        least_units: Fewest that are sold.
        units_step: They are sold in multiples of it, from the fewest on.
        output_counts_as: Tokens that one token of an answer counts as.
        cached_counts_as: Tokens that one token read from a cache counts as.
        term_months: For how long it is owed; None when not stated.
    """

    name: str
    models: tuple[str, ...]
    usd_per_hour: Decimal
    tokens_per_minute: int
    where: str
    provider: str | None = None
    least_units: int = 1
    units_step: int = 1
    output_counts_as: Decimal = Decimal(1)
    cached_counts_as: Decimal = Decimal(1)
    term_months: Decimal | None = None

    def is_for(self, usage: Usage) -> bool:
        """Whether a unit serves some usage."""
        payee = provider_id(self.provider)
        names = {name.strip().lower() for name in self.models}
        return (payee is None or payee == usage.provider) and not names.isdisjoint(usage.models)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenLoad:
    """A load by the minute, and what its tokens cost at list prices.

    Attributes:
        tokens: float64, one row a minute or bucket that has any: a minute's tokens computed of prompts, read from a cache, and
            of answers.
        minutes: float64, minutes that each row stands for; together at most ``hours``.
        hours: From the first minute to the last.
        usd: List cost of all tokens of the three kinds.
    """

    tokens: Array
    minutes: Array
    hours: Decimal
    usd: tuple[Decimal, Decimal, Decimal]

    @property
    def total_usd(self) -> Decimal:
        """List cost of all of it."""
        return sum(self.usd, Decimal(0))

    def scaled(
        self, ratios: tuple[float, float, float], usd: tuple[Decimal, Decimal, Decimal]
    ) -> "TokenLoad":
        """Return the load with every minute's tokens in proportion, and what they then cost."""
        return TokenLoad(
            tokens=self.tokens * np.array(ratios), minutes=self.minutes, hours=self.hours, usd=usd
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Provisioned:
    """Some units of an offer under a load.

    Attributes:
        units: How many.
        usd: What they cost for the hours of the load.
        served_usd: List cost of the tokens that they serve.
        utilisation_ratio: Used part of what they could take in these hours.
    """

    units: int
    usd: Decimal
    served_usd: Decimal
    utilisation_ratio: float

    @property
    def saving_usd(self) -> Decimal:
        """What is no longer paid by the token, less what the units cost."""
        return self.served_usd - self.usd


def provisioned(offer: ThroughputOffer, load: TokenLoad, units: int) -> Provisioned:
    """Return what some units do: each minute is served up to what they take, alike in every kind of token."""
    work = _work(offer, load)
    part = np.minimum(1.0, units * offer.tokens_per_minute / np.maximum(work, _ROUNDING))
    of_kind = load.tokens * load.minutes[:, None]
    served = (of_kind * part[:, None]).sum(axis=0)
    whole = of_kind.sum(axis=0)
    usd = sum(
        (
            cost * Decimal(str(min(1.0, some / all_of_it)))
            for cost, some, all_of_it in zip(load.usd, served, whole, strict=True)
            if all_of_it
        ),
        Decimal(0),
    )
    room = units * offer.tokens_per_minute * float(load.hours) * MINUTES_PER_HOUR
    return Provisioned(
        units=units,
        usd=(offer.usd_per_hour * units * load.hours).quantize(_MICRO),
        served_usd=usd.quantize(_MICRO),
        utilisation_ratio=float((work * part * load.minutes).sum()) / room if room else 0.0,
    )


def cheapest(offer: ThroughputOffer, load: TokenLoad) -> Provisioned:
    """Return the number of units that costs least, of those that are sold; the rest of each minute is paid by the token."""
    peak = max(offer.least_units, _sold(offer, units_for(offer, load, 1.0)))
    step = offer.units_step * max(1, (peak - offer.least_units) // (offer.units_step * _MOST_TRIED))
    tried = {*range(offer.least_units, peak + 1, step), peak}
    best = max((provisioned(offer, load, units) for units in sorted(tried)), key=_saving)
    # What each further unit serves is never more than the one before: so the best is between its neighbours.
    near = range(
        max(offer.least_units, best.units - step), min(peak, best.units + step) + 1, offer.units_step
    )
    return (
        max((best, *(provisioned(offer, load, units) for units in near)), key=_saving)
        if step > offer.units_step
        else best
    )


def units_for(offer: ThroughputOffer, load: TokenLoad, quantile: float = _BUSY) -> int:
    """Return the units that take all of so many of the minutes, quiet ones among them; 1.0: of the busiest."""
    work = _work(offer, load)
    order = np.argsort(work)
    quiet = max(0.0, float(load.hours) * MINUTES_PER_HOUR - float(load.minutes.sum()))
    reached = quiet + np.cumsum(load.minutes[order])
    if not len(order) or quiet >= quantile * reached[-1]:
        return 0
    place = int(np.searchsorted(reached, quantile * reached[-1] - _ROUNDING))
    return ceil(float(work[order[place]]) / offer.tokens_per_minute - _ROUNDING)


def break_even_ratio(offer: ThroughputOffer, load: TokenLoad) -> float | None:
    """Return the used part of a unit from which on it costs no more than its tokens at list prices; over 1: never."""
    work = float((_work(offer, load) * load.minutes).sum())
    if not work or not load.total_usd:
        return None
    full = load.total_usd / Decimal(str(work)) * offer.tokens_per_minute * MINUTES_PER_HOUR
    return float(offer.usd_per_hour / full)


def _saving(one: Provisioned) -> tuple[Decimal, int]:
    return one.saving_usd, -one.units


def _sold(offer: ThroughputOffer, units: int) -> int:
    over = max(0, units - offer.least_units)
    return offer.least_units + -(-over // offer.units_step) * offer.units_step


def _work(offer: ThroughputOffer, load: TokenLoad) -> Array:
    """Return the tokens of each minute as the provider counts them."""
    counts = np.array([1.0, float(offer.cached_counts_as), float(offer.output_counts_as)])
    return load.tokens @ counts
