"""Apply the overlay's rows to price cards: pure functions from periods to periods.

A row only ever becomes the rules that ``pricing.rules`` has, so whatever prices a card prices an amended one.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from decimal import Decimal, Inexact
from functools import partial
from itertools import groupby
from typing import Final

from pricing.cards import PriceCard
from pricing.meters import Meter
from pricing.overlay import BackdateRow, CardRow, Overlay, RateRow, RegionRow, TierRow, WindowRow
from pricing.rules import (
    EXACT,
    ClockWindow,
    ContextTier,
    RatePeriod,
    Rates,
    RegionRate,
    ServiceTier,
    is_active,
    region_key,
)

_ONE: Final = Decimal(1)
Periods = tuple[RatePeriod, ...]
Change = Callable[[RatePeriod], RatePeriod]


def amend(card: PriceCard, overlay: Overlay) -> PriceCard:
    """The card with every row of the overlay that is for it.

    Args:
        card: A card of genai-prices, or one made of the overlay's own periods.
        overlay: The rows.
    """
    periods = card.periods
    for rates in (row for row in overlay.rate if row.covers(card.provider, card.model)):
        periods = within(periods, rates.valid_from, rates.valid_until, partial(_rated, row=rates, card=card))
    for window in (row for row in overlay.window if row.covers(card.provider, card.model)):
        periods = _windowed(periods, window, overlay)
    backdated = [row for row in overlay.backdate if row.covers(card.provider, card.model)]
    tiers = tuple(_tier(row) for row in overlay.tier if row.covers(card.provider, card.model))
    regions = tuple(_region(row) for row in overlay.region if row.covers(card.provider, card.model))
    # Of several tiers of one name the last that is active counts: what the price list states goes before multiples.
    periods = tuple(
        replace(
            one,
            service_tiers=(*tiers, *_earlier(one, card.periods, backdated), *one.service_tiers),
            regions=(*one.regions, *regions),
        )
        for one in periods
    )
    return replace(card, periods=periods)


def cards_of(overlay: Overlay) -> Iterator[PriceCard]:
    """The cards that the overlay states itself, one a model."""
    ordered = sorted(overlay.card, key=lambda row: (row.provider, row.model))
    for (provider, model), group in groupby(ordered, key=lambda row: (row.provider, row.model)):
        rows = sorted(group, key=lambda row: (row.valid_from is not None, row.valid_from))
        last = rows[-1]
        yield PriceCard(
            provider=provider,
            model=model,
            aliases=tuple(dict.fromkeys(name for row in rows for name in row.aliases)),
            periods=tuple(_period(row) for row in rows),
            source=last.source,
            retrieved=last.checked_on,
        )


def at_profile(card: PriceCard, provider: str | None, region: str, overlay: Overlay) -> PriceCard:
    """The card for a regional id of its model: at its own price for that region, or at the provider's usual one.

    Args:
        card: Written for the plain name of the model.
        provider: Who is paid.
        region: The region in the id, as ``region_key`` has it.
        overlay: The rows.
    """
    profiles = [row for row in overlay.profile if row.provider == provider]
    if profiles and not any(one.regions for one in card.periods):
        usual = RegionRate(
            regions=("*",), except_regions=profiles[-1].except_regions, multiplier=profiles[-1].multiplier
        )
        card = replace(card, periods=tuple(replace(one, regions=(usual,)) for one in card.periods))
    return replace(card, region=region)


def within(periods: Periods, start: datetime | None, end: datetime | None, change: Change) -> Periods:
    """The periods, cut at two instants, with what lies between them changed.

    Args:
        periods: In order of time, without overlap.
        start: UTC, inclusive; None: from the beginning.
        end: UTC, exclusive; None: to the end.
        change: Called with each period, or part of one, between the two.
    """
    out: list[RatePeriod] = []
    for one in periods:
        edges = [at for at in (start, end) if at is not None and _inside(one, at)]
        starts = [one.valid_from, *edges]
        for first, last in zip(starts, [*edges, one.valid_until], strict=True):
            part = replace(one, valid_from=first, valid_until=last)
            begun = start is None or (first is not None and first >= start)
            out.append(change(part) if begun and (end is None or first is None or first < end) else part)
    return tuple(out)


def _inside(period: RatePeriod, at: datetime) -> bool:
    return at != period.valid_from and is_active(period.valid_from, period.valid_until, at)


def _period(row: CardRow) -> RatePeriod:
    return RatePeriod(
        valid_from=row.valid_from,
        valid_until=row.valid_until,
        rates=row.rates,
        context_tiers=tuple(ContextTier(above=step.above, rates=step.rates) for step in row.context),
        source=row.source,
        retrieved=row.checked_on,
    )


def _rated(period: RatePeriod, row: RateRow, card: PriceCard) -> RatePeriod:
    def over(rates: Rates) -> Rates:
        base = rates.get(Meter.INPUT_UNCACHED)
        multiples = (
            {} if base is None else {m: EXACT.multiply(base, factor) for m, factor in row.times_input.items()}
        )
        return {**rates, **multiples}

    stated = {step.above: step.rates for step in row.context}
    steps = {tier.above: over(tier.rates) for tier in period.context_tiers}
    merged = {above: {**steps.get(above, {}), **stated.get(above, {})} for above in sorted({*steps, *stated})}
    return replace(
        period,
        rates={**over(period.rates), **row.rates},
        context_tiers=tuple(ContextTier(above=above, rates=rates) for above, rates in merged.items()),
        service_tiers=tuple(
            replace(
                tier,
                rates=over(tier.rates),
                context_tiers=tuple(replace(step, rates=over(step.rates)) for step in tier.context_tiers),
            )
            for tier in period.service_tiers
        ),
        source="; ".join(dict.fromkeys((period.source or card.source, row.source))),
        # The older of the two readings: that is how old the price is.
        retrieved=min(read for read in (period.retrieved or card.retrieved, row.checked_on) if read),
    )


def _windowed(periods: Periods, row: WindowRow, overlay: Overlay) -> Periods:
    window = ClockWindow(name=row.name, minutes=row.minutes, multiplier=row.multiplier, source=row.source)
    periods = within(
        periods, row.valid_from, row.valid_until, lambda one: replace(one, windows=(*one.windows, window))
    )
    free = [
        (start, end)
        for start, end in (overlay.holidays(row.calendar) if row.calendar else ())
        if (row.valid_from is None or end > row.valid_from)
        and (row.valid_until is None or start < row.valid_until)
    ]
    for start, end in _joined(free):
        periods = within(
            periods,
            start,
            end,
            lambda one: replace(one, windows=tuple(each for each in one.windows if each is not window)),
        )
    return periods


def _joined(spans: Iterable[tuple[datetime, datetime]]) -> Iterator[tuple[datetime, datetime]]:
    """Spans of which none begins where another ends."""
    last: tuple[datetime, datetime] | None = None
    for start, end in sorted(spans):
        if last is not None and start <= last[1]:
            last = (last[0], max(end, last[1]))
            continue
        if last is not None:
            yield last
        last = (start, end)
    if last is not None:
        yield last


def _tier(row: TierRow) -> ServiceTier:
    return ServiceTier(
        name=row.tier,
        multiplier=row.multiplier,
        multipliers=row.multipliers,
        rates=row.rates,
        context_tiers=tuple(ContextTier(above=step.above, rates=step.rates) for step in row.context),
        valid_from=row.valid_from,
        valid_until=row.valid_until,
        source=row.source,
    )


def _region(row: RegionRow) -> RegionRate:
    return RegionRate(
        regions=tuple(region_key(word) for word in row.regions),
        except_regions=tuple(region_key(word) for word in row.except_regions),
        multiplier=row.multiplier,
        valid_from=row.valid_from,
        valid_until=row.valid_until,
        source=row.source,
    )


def _earlier(period: RatePeriod, periods: Periods, rows: Iterable[BackdateRow]) -> Iterator[ServiceTier]:
    """Tiers of the price list before the day on which it recorded them: as multiples of what was standard then."""
    for row in rows:
        dated = [one for one in period.service_tiers if one.name == row.tier and one.valid_from is not None]
        if not dated or any(one.name == row.tier and one.valid_from is None for one in period.service_tiers):
            continue
        first = min(dated, key=lambda one: (one.valid_from is not None, one.valid_from))
        assert first.valid_from is not None  # noqa: S101  (so chosen)
        standard = next(
            (one for one in periods if is_active(one.valid_from, one.valid_until, first.valid_from)), None
        )
        if standard is None:
            continue  # nothing was sold at the standard price then, so there is no multiple of it
        factors = {meter: _ratio(rate, standard.rates.get(meter)) for meter, rate in first.rates.items()}
        known = {meter: factor for meter, factor in factors.items() if factor is not None}
        # What the tier says nothing of keeps its standard rate.
        known |= {meter: _ONE for meter in standard.rates if meter not in factors and meter.is_tokens}
        usual = known.get(Meter.INPUT_UNCACHED, _ONE)
        if None not in factors.values() and (row.valid_from is None or row.valid_from < first.valid_from):
            yield ServiceTier(
                name=row.tier,
                multiplier=usual,
                multipliers={meter: factor for meter, factor in known.items() if factor != usual},
                valid_from=row.valid_from,
                valid_until=first.valid_from,
                source=row.source,
            )


def _ratio(rate: Decimal, standard: Decimal | None) -> Decimal | None:
    """The exact ratio of two rates; None when it has no end in decimals."""
    if not standard:
        return Decimal(1) if standard == rate else None
    try:
        return EXACT.divide(rate, standard).normalize()
    except Inexact:
        return None
