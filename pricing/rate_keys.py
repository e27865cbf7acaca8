"""What splits a log into cells within which every rate is constant."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from pricing.cards import PriceCard
from pricing.meters import Meter


@dataclass(frozen=True, slots=True, kw_only=True)
class RateKeys:
    """What splits a log into cells of constant rates, for some models.

    Attributes:
        breakpoints: UTC instants at which a rate changes, ascending; a cell starts at its breakpoint.
        context_thresholds: Prompt sizes, ascending; a price changes strictly above each.
        clock_edges: Minutes of the week (Monday 00:00 UTC is 0) at which a clock window starts or ends, ascending.
        clocked: The asked (provider, model) pairs that have clock windows.
        regional: The asked (provider, model) pairs whose price depends on the region.
        per_call: The asked (provider, model) pairs that charge for every request.
    """

    breakpoints: tuple[datetime, ...]
    context_thresholds: tuple[int, ...]
    clock_edges: tuple[int, ...]
    clocked: tuple[tuple[str | None, str], ...]
    regional: tuple[tuple[str | None, str], ...]
    per_call: tuple[tuple[str | None, str], ...]


def keys_of(cards: Mapping[tuple[str | None, str], PriceCard]) -> RateKeys:
    """What splits the requests of some models.

    Args:
        cards: The card of each (provider, model), as the log has them.
    """
    single = {pair: _card_keys(card) for pair, card in cards.items()}
    return RateKeys(
        breakpoints=tuple(sorted({at for keys in single.values() for at in keys.breakpoints})),
        context_thresholds=tuple(
            sorted({size for keys in single.values() for size in keys.context_thresholds})
        ),
        clock_edges=tuple(sorted({edge for keys in single.values() for edge in keys.clock_edges})),
        clocked=tuple(pair for pair, keys in single.items() if keys.clock_edges),
        regional=tuple(pair for pair, card in cards.items() if any(one.regions for one in card.periods)),
        per_call=tuple(
            pair
            for pair, card in cards.items()
            if any(Meter.REQUEST_CALLS in one.rates for one in card.periods)
        ),
    )


def _card_keys(card: PriceCard) -> RateKeys:
    """What splits the requests of one card; ``clocked`` and ``regional`` are empty."""
    instants: set[datetime | None] = set()
    thresholds: set[int] = set()
    edges: set[int] = set()
    for period in card.periods:
        thresholds.update(step.above for step in period.context_tiers)
        instants.update((period.valid_from, period.valid_until))
        for tier in period.service_tiers:
            instants.update((tier.valid_from, tier.valid_until))
            thresholds.update(step.above for step in tier.context_tiers)
        for place in period.regions:
            instants.update((place.valid_from, place.valid_until))
        for window in period.windows:
            thresholds.update(step.above for step in window.context_tiers)
            edges.update(minute for span in window.minutes for minute in span)
    return RateKeys(
        breakpoints=tuple(sorted(at for at in instants if at is not None)),
        context_thresholds=tuple(sorted(thresholds)),
        clock_edges=tuple(sorted(edges)),
        clocked=(),
        regional=(),
        per_call=(),
    )
