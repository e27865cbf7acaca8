"""The user's own price file: JSON, YAML or TOML in, price cards out.

Prices are copied by hand into such a file, so every mistake is reported with file, card, key, the value seen and what
is allowed, and nothing is guessed.
"""

from collections.abc import Mapping
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from pricing.cards import PriceCard
from pricing.errors import PriceFileError
from pricing.file_syntax import explain, parse_syntax, read_bytes
from pricing.meters import Meter
from pricing.price_file import TIER_NAMES, UNITS, CardIn, FeesIn, FileIn, PeriodIn, RulesIn, TierIn
from pricing.rules import ClockWindow, ContextTier, RatePeriod, RegionRate, ServiceTier, region_key


def read_price_file(path: Path) -> tuple[PriceCard, ...]:
    """Read a price file of the user's.

    Args:
        path: A ``.json``, ``.yaml``, ``.yml`` or ``.toml`` file of at most 16 MB. Rates are USD per million tokens.

    Returns:
        One card a model, in the order of the file.

    Raises:
        PriceFileError: With file, card and key, the value seen and what is allowed.
    """
    return parse_price_file(read_bytes(path), path)


def parse_price_file(content: bytes, path: Path) -> tuple[PriceCard, ...]:
    """As :func:`read_price_file`, from bytes that were read already; ``path`` decides the syntax and is named."""
    try:
        parsed = FileIn.model_validate(parse_syntax(content, path))
    except ValidationError as error:
        raise PriceFileError(explain(error, path, _allowed_keys)) from None
    if parsed.unit.lower() not in {unit.lower() for unit in UNITS}:
        raise PriceFileError(f"{path}: unit: got {parsed.unit!r}, allowed: {', '.join(UNITS)}")
    _check_names(parsed, path)
    fees = {} if (fee := parsed.fees.web_search_call) is None else {Meter.WEB_SEARCH_CALLS: fee}
    return tuple(_card(name, card, fees, path) for name, card in parsed.models.items())


def _allowed_keys(loc: tuple[int | str, ...]) -> list[str]:
    if loc[0] == "fees":
        return list(FeesIn.model_fields)
    if len(loc) == 1:
        return list(FileIn.model_fields)
    inner = next((part for part in reversed(loc[2:-1]) if part in ("tier", "periods")), None)
    if inner == "tier":
        return list(TierIn.model_fields)
    return list((PeriodIn if inner == "periods" else CardIn).model_fields)


def _check_names(parsed: FileIn, path: Path) -> None:
    owner: dict[str, str] = {}
    for name in parsed.models:
        if (other := owner.get(name.strip().lower())) is not None:
            raise PriceFileError(
                f"{path}: models.{name}: the same name as {other!r}; case does not tell models apart"
            )
        owner[name.strip().lower()] = name
    for name, card in parsed.models.items():
        for alias in card.aliases:
            if (other := owner.get(alias.strip().lower())) is not None:
                whose = "itself" if other == name else repr(other)
                raise PriceFileError(
                    f"{path}: models.{name}.aliases: {alias!r} already names {whose}; allowed are names of no other card"
                )
            owner[alias.strip().lower()] = name


def _card(name: str, card: CardIn, fees: Mapping[Meter, Decimal], path: Path) -> PriceCard:
    where = f"{path}: models.{name}"
    return PriceCard(
        provider=card.provider,
        model=name,
        aliases=card.aliases,
        periods=_periods(card, fees, where),
        source=card.source or path.name,
        retrieved=card.retrieved,
    )


def _periods(card: CardIn, fees: Mapping[Meter, Decimal], where: str) -> tuple[RatePeriod, ...]:
    if card.periods is None:
        return (_period(card, card, fees, where),)
    if not card.periods:
        raise PriceFileError(f"{where}.periods: empty, allowed is at least one period")
    if card.bag():
        raise PriceFileError(f"{where}: has rates beside its periods; put each rate into its period")
    periods = [_period(one, card, fees, f"{where}.periods.{i}") for i, one in enumerate(card.periods)]
    periods.sort(key=lambda one: (one.valid_from is not None, one.valid_from))
    for one, other in pairwise(periods):
        end, start = one.valid_until, other.valid_from
        if end is None or start is None or end > start:
            raise PriceFileError(
                f"{where}.periods: overlap: one until {end or 'ever'} and one from {start or 'ever'}; "
                f"each must start when or after the other ends"
            )
    return tuple(periods)


def _period(own: RulesIn, card: CardIn, fees: Mapping[Meter, Decimal], where: str) -> RatePeriod:
    rates = own.bag()
    places: dict[str, Decimal] = own.region_multiplier or card.region_multiplier or {}
    for key, meter in (("input", Meter.INPUT_UNCACHED), ("output", Meter.OUTPUT)):
        if meter not in rates:
            raise PriceFileError(f"{where}: {key!r} is missing; every card needs a rate for input and output")
    start, until = (own.start, own.until) if isinstance(own, PeriodIn) else (None, None)
    if start is not None and until is not None and until <= start:
        raise PriceFileError(f"{where}: until {until.isoformat()} is not after start {start.isoformat()}")

    def rule(key: str) -> Any:
        """A rule of the period, or else of its card."""
        value = getattr(own, key)
        return getattr(card, key) if value is None else value

    tier: TierIn | None = rule("tier")
    steps = [] if tier is None else [ContextTier(above=tier.above - tier.inclusive, rates=tier.bag())]
    return RatePeriod(
        valid_from=start,
        valid_until=until,
        rates={**rates, **fees},
        context_tiers=tuple(steps),
        service_tiers=tuple(
            ServiceTier(name=name, multiplier=factor)
            for name in TIER_NAMES
            if (factor := rule(f"{name}_multiplier")) is not None
        ),
        regions=tuple(
            RegionRate(regions=(region_key(word),), multiplier=factor) for word, factor in places.items()
        ),
        windows=_peak(rule("peak_multiplier"), rule("peak_windows_utc"), where),
    )


def _peak(
    factor: Decimal | None, windows: tuple[tuple[tuple[int, int], ...], ...] | None, where: str
) -> tuple[ClockWindow, ...]:
    if (factor is None) != (windows is None):
        raise PriceFileError(f"{where}: peak_multiplier and peak_windows_utc are only allowed together")
    if factor is None or windows is None:
        return ()
    minutes = tuple(sorted({span for window in windows for span in window}))
    return (ClockWindow(name="peak", minutes=minutes, multiplier=factor),)
