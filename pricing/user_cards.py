"""The user's own price file: JSON, YAML or TOML in, price cards out.

Prices are copied by hand into such a file, so every mistake is reported with file, card, key, the value seen and what
is allowed, and nothing is guessed.
"""

import json
from collections.abc import Hashable, Mapping
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from pricing.cards import PriceCard
from pricing.errors import PriceFileError
from pricing.meters import Meter
from pricing.price_file import TIER_NAMES, UNITS, CardIn, FeesIn, FileIn, PeriodIn, RulesIn, TierIn
from pricing.rules import ClockWindow, ContextTier, RatePeriod, RegionRate, ServiceTier, region_key

SUFFIXES: Final = (".json", ".yaml", ".yml", ".toml")
MAX_BYTES: Final = 16 * 2**20


def read_price_file(path: Path) -> tuple[PriceCard, ...]:
    """Read a price file of the user's.

    Args:
        path: A ``.json``, ``.yaml``, ``.yml`` or ``.toml`` file of at most 16 MB. Rates are USD per million tokens.

    Returns:
        One card a model, in the order of the file.

    Raises:
        PriceFileError: With file, card and key, the value seen and what is allowed.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PriceFileError(f"{path}: cannot be read: {error.strerror}") from error
    return parse_price_file(content, path)


def parse_price_file(content: bytes, path: Path) -> tuple[PriceCard, ...]:
    """As :func:`read_price_file`, from bytes that were read already; ``path`` decides the syntax and is named."""
    try:
        parsed = FileIn.model_validate(_parse(content, path))
    except ValidationError as error:
        raise PriceFileError(_explain(error, path)) from None
    if parsed.unit.lower() not in {unit.lower() for unit in UNITS}:
        raise PriceFileError(f"{path}: unit: got {parsed.unit!r}, allowed: {', '.join(UNITS)}")
    _check_names(parsed, path)
    fees = {} if (fee := parsed.fees.web_search_call) is None else {Meter.WEB_SEARCH_CALLS: fee}
    return tuple(_card(name, card, fees, path) for name, card in parsed.models.items())


def _parse(content: bytes, path: Path) -> object:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise PriceFileError(
            f"{path}: cannot tell the syntax of a {suffix or 'suffixless'} file, allowed: {', '.join(SUFFIXES)}"
        )
    if len(content) > MAX_BYTES:
        raise PriceFileError(f"{path}: {len(content):,} bytes, allowed are {MAX_BYTES:,}")
    try:
        text = content.decode("utf-8-sig")
        if suffix == ".json":
            return json.loads(text, parse_float=Decimal, object_pairs_hook=_unique)
        if suffix == ".toml":
            import tomllib  # noqa: PLC0415

            return tomllib.loads(text, parse_float=Decimal)
        return _parse_yaml(text)
    except (ValueError, RecursionError) as error:
        raise PriceFileError(f"{path}: not valid {suffix[1:].upper()}: {error}") from None


def _parse_yaml(text: str) -> object:
    import yaml  # noqa: PLC0415

    class Loader(yaml.SafeLoader):
        """The safe loader, refusing repeated keys, of which it would silently keep the last."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002
            keys = [self.construct_object(key, deep=deep) for key, _ in node.value]
            _unique([(key, None) for key in keys])
            return super().construct_mapping(node, deep=deep)

    try:
        return yaml.load(text, Loader=Loader)  # noqa: S506 (a safe loader's subclass)
    except yaml.YAMLError as error:
        raise ValueError(error) from None


def _unique(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    seen: dict[Any, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise ValueError(f"key {key!r} is given twice")
        seen[key] = value
    return seen


def _explain(error: ValidationError, path: Path) -> str:
    lines: list[str] = []
    for problem in error.errors(include_url=False):
        loc = problem["loc"]
        where = ".".join(str(part) for part in loc)
        if problem["type"] == "extra_forbidden":
            allowed = ", ".join(_allowed_keys(loc))
            lines.append(f"{path}: {where}: unknown key {str(loc[-1])!r}, allowed: {allowed}")
            continue
        message = problem["msg"].removeprefix("Value error, ")
        seen = "" if problem["type"] == "missing" else f", got {_short(problem['input'])}"
        lines.append(f"{path}: {where or 'the file'}: {message}{seen}")
    return "\n".join(lines)


def _allowed_keys(loc: tuple[int | str, ...]) -> list[str]:
    if loc[0] == "fees":
        return list(FeesIn.model_fields)
    if len(loc) == 1:
        return list(FileIn.model_fields)
    inner = next((part for part in reversed(loc[2:-1]) if part in ("tier", "periods")), None)
    if inner == "tier":
        return list(TierIn.model_fields)
    return list((PeriodIn if inner == "periods" else CardIn).model_fields)


def _short(value: object) -> str:
    text = str(value) if isinstance(value, Decimal) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."  # noqa: PLR2004 (a line of a message)


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
