"""Prices of the genai-prices package, lifted once per model into price cards.

genai-prices validates a price object on every call, which is far too slow for a log; its rules are simple enough to
restate as periods, windows and tiers. A model that it lists without a price becomes a card without periods: unpriced,
never $0; but an id that says so itself is free.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from importlib.metadata import version
from itertools import pairwise
from typing import Final

from genai_prices.types import (
    ModelInfo,
    ModelPrice,
    PriceVariant,
    Provider,
    StartDateConstraint,
    TieredPrices,
    TimeOfDateConstraint,
)
from genai_prices.units import UnitRegistry
from genai_prices.units import _get_registry as get_registry  # pyright: ignore[reportPrivateUsage]

from pricing.cards import PriceCard
from pricing.meters import Meter
from pricing.rules import EXACT, ClockWindow, ContextTier, RatePeriod, Rates, ServiceTier
from pricing.units import MINUTES_PER_DAY, TOKENS_PER_MTOK

_KEYS: Final[Mapping[str, Meter]] = {
    "input_mtok": Meter.INPUT_UNCACHED,
    "cache_read_mtok": Meter.CACHE_READ,
    # The rate of a write without a stated lifetime; the next line wins where a model has both.
    "cache_write_mtok": Meter.CACHE_WRITE_5M,
    "cache_write_5m_mtok": Meter.CACHE_WRITE_5M,
    "cache_write_1h_mtok": Meter.CACHE_WRITE_1H,
    "output_mtok": Meter.OUTPUT,
    "input_audio_mtok": Meter.AUDIO_INPUT,
    "cache_audio_read_mtok": Meter.AUDIO_CACHE_READ,
    "output_audio_mtok": Meter.AUDIO_OUTPUT,
    "input_image_mtok": Meter.IMAGE_INPUT,
    "output_image_mtok": Meter.IMAGE_OUTPUT,
    "web_searches_kcount": Meter.WEB_SEARCH_CALLS,
    "requests_kcount": Meter.REQUEST_CALLS,
}
_NOTES: Final[Mapping[str, str]] = {
    "output_reasoning_mtok": "reasoning tokens have a price of their own, the output rate was used",
    "output_citation_mtok": "citation tokens have a price of their own, the output rate was used",
}
_TIER_KEYS: Final = ("processing", "service_tier", "speed")
_RELEASED: Final[Mapping[str, date]] = {"0.2.3": date(2026, 11, 10)}
"""When the bundled data was published, for the age of a price; the package itself does not say."""
_FREE: Final = ("openrouter", ":free")
"""Whose ids say by their end that nothing is charged for a model."""

_Bag = tuple[Rates, tuple[ContextTier, ...]]


_pinned_release: list[str] = []


def set_release(name: str | None) -> None:
    """Say which release of genai-prices the models are of, where it is not the installed one."""
    _pinned_release[:] = [] if name is None else [name]


def lift(provider: Provider, model: ModelInfo) -> PriceCard:
    """Restate one model of genai-prices as a price card.

    Args:
        provider: Who is paid. When the model is another provider's (a fallback), its variants for batch and other
            service tiers do not apply, as in genai-prices.
        model: The model.
    """
    own = any(model is one for one in provider.models)
    tiers = _service_tiers(model.price_variants or ()) if own else ()
    release = _pinned_release[-1] if _pinned_release else version("genai-prices")
    page = f" ({provider.pricing_urls[0]})" if provider.pricing_urls else ""
    return PriceCard(
        provider=provider.id,
        model=model.id,
        periods=tuple(_periods(model, tiers)) or _free(provider, model),
        source=f"genai-prices {release}{page}",
        retrieved=_RELEASED.get(release),
        notes=tuple(note for key, note in _NOTES.items() if any(key in bag.__dict__ for bag in _bags(model))),
    )


def _bags(model: ModelInfo) -> list[ModelPrice]:
    return [model.prices] if isinstance(model.prices, ModelPrice) else [one.prices for one in model.prices]


def _periods(model: ModelInfo, tiers: tuple[ServiceTier, ...]) -> Iterator[RatePeriod]:
    """Standard prices by time.

    genai-prices takes the last entry that is active, and the first entry when none is; so the first one is open to the
    past, and a time of day only counts when it stands after the dated entry that would apply.
    """
    if isinstance(model.prices, ModelPrice):
        entries: list[tuple[StartDateConstraint | TimeOfDateConstraint | None, ModelPrice]] = [
            (None, model.prices)
        ]
    else:
        entries = [(one.constraint, one.prices) for one in model.prices]
    starts = sorted({one.start_date for one, _ in entries if isinstance(one, StartDateConstraint)})
    edges: list[date | None] = [None, *starts, None]
    for start, end in pairwise(edges):
        chosen = 0
        for index, (constraint, _) in enumerate(entries):
            if constraint is None or _begun(constraint, start):
                chosen = index
        rates, context_tiers = _bag(entries[chosen][1])
        windows = tuple(
            _window(constraint, prices)
            for constraint, prices in reversed(entries[chosen + 1 :])
            if isinstance(constraint, TimeOfDateConstraint)
        )
        if rates:
            yield RatePeriod(
                valid_from=_midnight(start),
                valid_until=_midnight(end),
                rates=rates,
                context_tiers=context_tiers,
                service_tiers=tiers,
                windows=windows,
            )


def _free(provider: Provider, model: ModelInfo) -> tuple[RatePeriod, ...]:
    """One period of $0 a token for a model whose id says that it is free; else none."""
    seller, ending = _FREE
    if provider.id != seller or not model.id.lower().endswith(ending):
        return ()
    return (RatePeriod(rates={Meter.INPUT_UNCACHED: Decimal(0), Meter.OUTPUT: Decimal(0)}),)


def _begun(constraint: StartDateConstraint | TimeOfDateConstraint, day: date | None) -> bool:
    return isinstance(constraint, StartDateConstraint) and day is not None and constraint.start_date <= day


def _window(constraint: TimeOfDateConstraint, prices: ModelPrice) -> ClockWindow:
    start, end = (_minute_of_day(at) for at in (constraint.start_time, constraint.end_time))
    spans = [(start, end)] if start <= end else [(0, end), (start, MINUTES_PER_DAY)]
    rates, context_tiers = _bag(prices)
    return ClockWindow(
        name=f"{start // 60:02}:{start % 60:02}-{end // 60:02}:{end % 60:02} UTC",
        minutes=tuple(
            (day * MINUTES_PER_DAY + a, day * MINUTES_PER_DAY + b) for day in range(7) for a, b in spans
        ),
        rates=rates,
        context_tiers=context_tiers,
    )


def _service_tiers(variants: Iterable[PriceVariant]) -> tuple[ServiceTier, ...]:
    """Variants by name of service tier. Per price key the first active variant counts, as in genai-prices."""
    by_name: dict[str, list[PriceVariant]] = {}
    for variant in variants:
        named = [value for key, value in variant.when.items() if key in _TIER_KEYS]
        if len(variant.when) == 1 and named and not isinstance(variant.constraint, TimeOfDateConstraint):
            by_name.setdefault(named[0].lower(), []).append(variant)
    tiers: list[ServiceTier] = []
    for name, group in by_name.items():
        edges: list[date | None] = [
            None,
            *sorted({day for one in group if (day := _start(one)) is not None}),
            None,
        ]
        for start, end in pairwise(edges):
            active = [
                one for one in group if (day := _start(one)) is None or (start is not None and day <= start)
            ]
            merged: dict[str, Decimal | TieredPrices] = {}
            for variant in active:
                merged = {**variant.prices.__dict__, **merged}
            rates, context_tiers = _bag(ModelPrice(**merged))
            if rates:
                tiers.append(
                    ServiceTier(
                        name=name,
                        rates=rates,
                        context_tiers=context_tiers,
                        valid_from=_midnight(start),
                        valid_until=_midnight(end),
                    )
                )
    return tuple(tiers)


def _start(variant: PriceVariant) -> date | None:
    return variant.constraint.start_date if isinstance(variant.constraint, StartDateConstraint) else None


def _bag(prices: ModelPrice) -> _Bag:
    """Rates per our units, and the context tiers that any of the prices has."""
    registry = get_registry()
    rates: dict[Meter, Decimal] = {}
    steps: dict[int, dict[Meter, Decimal]] = {}
    for key, meter in _KEYS.items():
        price = prices.__dict__.get(key)
        if price is None:
            continue
        base = price.base if isinstance(price, TieredPrices) else price
        rates[meter] = _per_unit(base, key, meter, registry)
        for tier in price.tiers if isinstance(price, TieredPrices) else ():
            steps.setdefault(tier.start, {})[meter] = _per_unit(tier.price, key, meter, registry)
    return rates, tuple(ContextTier(above=above, rates=steps[above]) for above in sorted(steps))


def _per_unit(price: Decimal, key: str, meter: Meter, registry: UnitRegistry) -> Decimal:
    per = Decimal(registry.unit_for_price_key(key).per)
    return EXACT.divide(EXACT.multiply(price, Decimal(TOKENS_PER_MTOK if meter.is_tokens else 1)), per)


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time(), tzinfo=UTC)


def _minute_of_day(at: time) -> int:
    offset = at.utcoffset()
    shift = 0 if offset is None else int(offset.total_seconds()) // 60
    return (at.hour * 60 + at.minute - shift) % MINUTES_PER_DAY
