"""What the prompt cache of a provider does: minimum, granularity, lifetimes, what a write costs, what must be equal.

Rows in ``pricing/data/cache``, dated and sourced like those of ``pricing.overlay`` and appended, never edited. Prices are
not repeated there: multiples come from a rate sheet (``multiples``), what they lead to is in ``pricing.cache_math``. A
model without a row has a cache that nobody described: then nothing may be promised.
"""

import tomllib
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Annotated, Final, Literal, NamedTuple

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PositiveInt,
    ValidationError,
    model_validator,
)

from pricing.cards import RateSheet
from pricing.errors import PriceFileError
from pricing.meters import CACHE_WRITE_METERS, Meter
from pricing.names import candidates, provider_id, provider_in_name
from pricing.overlay import ModelsRow
from pricing.price_file import instant_of
from pricing.rules import is_active

CACHE_DIR: Final = Path(__file__).parent / "data" / "cache"

Placement = Literal["automatic", "explicit", "both"]
"""Whether prefixes are cached without asking, only where a request asks for it, or both on the same terms."""
Scope = Literal[
    "organisation", "workspace", "project", "account", "subscription", "user", "region", "server", "model", "settings"
]  # fmt: skip
Assumed = Literal["minimum_tokens", "granularity_tokens", "scope"]

_Instant = Annotated[datetime, BeforeValidator(instant_of)]
_WRITE_METERS: Final = (Meter.INPUT_UNCACHED, *CACHE_WRITE_METERS)


class Lifetime(BaseModel):
    """How long an entry can be read.

    Attributes:
        name: As requests and logs write it where they do (``5m``, ``in_memory``), else a word for it.
        seconds: From the start of the request that wrote or, where it refreshes, last read the entry; (shortest, longest)
            where it varies; None where the provider does not say.
        most_seconds: What no entry outlives, where that is far above ``seconds``; None where it is not.
        refreshes: Whether a hit starts the lifetime anew, without a charge.
        write_meter: What a write is charged as, instead of as plain input; ``input_uncached`` where it costs no more.
        default: What holds when a request does not choose; where that depends on the customer, the shorter one.
        valid_from: First instant (UTC) at which it can be had; None for as long as the rule holds.
        valid_until: First instant (UTC) after it; None for as long as the rule holds.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, Field(pattern=r"^[a-z0-9_]+$")]
    seconds: PositiveInt | tuple[PositiveInt, PositiveInt] | None = None
    most_seconds: PositiveInt | None = None
    refreshes: bool
    write_meter: Meter
    default: bool = False
    valid_from: _Instant | None = None
    valid_until: _Instant | None = None

    @property
    def shortest_seconds(self) -> int | None:
        """What may be promised; None where the provider does not say."""
        return self.seconds[0] if isinstance(self.seconds, tuple) else self.seconds

    @property
    def longest_seconds(self) -> int | None:
        """What can be hoped for at most; None where the provider does not say."""
        return self.most_seconds or (self.seconds[1] if isinstance(self.seconds, tuple) else self.seconds)

    @model_validator(mode="after")
    def _is_consistent(self) -> "Lifetime":
        low, high = self.shortest_seconds, self.longest_seconds
        if (self.seconds is None and self.most_seconds) or (low and high and high < low):
            raise ValueError(
                f"lifetime {self.name}: seconds {self.seconds}, most_seconds {self.most_seconds}"
            )
        if self.write_meter not in _WRITE_METERS:
            raise ValueError(f"write_meter {self.write_meter}: expected one of {', '.join(_WRITE_METERS)}")
        return self


class CacheRule(ModelsRow):
    """The prompt cache of some models of one provider, from ``valid_from`` until ``valid_until``.

    Attributes:
        hosted: Whether somebody else makes the models: such a rule needs a provider to be named.
        placement: See :data:`Placement`. A model may have an ``automatic`` rule beside an ``explicit`` one.
        minimum_tokens: Prefixes below are not cached.
        granularity_tokens: Cached prefixes are whole multiples of it; 1 is exact.
        max_breakpoints: How many places a request can mark; None where it marks none, or the number is not told.
        lifetimes: Those that can be had; one is the default at any time.
        storage_meter: What the keeping of an entry is charged as; None where it is free.
        service_tier: The word under which price cards have the rates of this cache; None where they are the usual ones.
        usable: From when on an entry can be read.
        scope: What must be equal, besides the prefix, for a hit.
        guaranteed: Whether the provider promises hits within the lifetime; else they are best effort.
        assumed: What the provider does not state. Figures are then the cautious ones of other providers, since they only
            trim a prefix; a lifetime decides everything and is never assumed.
        note: What else a reader must know.
    """

    hosted: bool = False
    placement: Placement
    minimum_tokens: PositiveInt
    granularity_tokens: PositiveInt
    max_breakpoints: PositiveInt | None = None
    lifetimes: Annotated[tuple[Lifetime, ...], Field(min_length=1)]
    storage_meter: Literal[Meter.CACHE_STORAGE_TOKEN_HOURS] | None = None
    service_tier: str | None = None
    usable: Literal["after_first_token"] = "after_first_token"
    scope: Annotated[tuple[Scope, ...], Field(min_length=1)]
    guaranteed: bool
    assumed: tuple[Assumed, ...] = ()
    note: str = ""

    @property
    def default_lifetime(self) -> Lifetime:
        """What holds when a request does not choose."""
        return next((one for one in self.lifetimes if one.default), self.lifetimes[0])

    def lifetime(self, name: str) -> Lifetime | None:
        """The lifetime of that name, or None where it cannot be had."""
        return next((one for one in self.lifetimes if one.name == name), None)

    def eligible_tokens(self, prefix_tokens: int) -> int:
        """How much of a common prefix can be cached: 0 under the minimum, then whole multiples of the granularity."""
        if prefix_tokens < self.minimum_tokens:
            return 0
        return prefix_tokens - prefix_tokens % self.granularity_tokens


class Multiples(NamedTuple):
    """What writing and reading cost, in multiples of the plain input rate."""

    write: float
    read: float


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    rule: tuple[CacheRule, ...]


def read_rules(folder: Path) -> tuple[CacheRule, ...]:
    """Read the rows of a folder of TOML files, in the order of the files' names.

    Raises:
        PriceFileError: With file, row and key, when a row is not what it should be.
    """
    rules: list[CacheRule] = []
    for path in sorted(folder.glob("*.toml")):
        try:
            rules += _File.model_validate(tomllib.loads(path.read_text("utf-8"))).rule
        except (tomllib.TOMLDecodeError, ValidationError) as error:
            raise PriceFileError(f"{path}: {error}") from None
    return tuple(rules)


@cache
def built_in_rules() -> tuple[CacheRule, ...]:
    """The rows that the package brings along."""
    return read_rules(CACHE_DIR)


def rule_for(provider: str | None, model: str, at: datetime) -> CacheRule | None:
    """The cache that works without asking for it or, where there is none, the one that a request can ask for.

    Args:
        provider: The log's word for the provider, or None.
        model: The log's name of the model.
        at: Instant, with a time zone.

    Returns:
        The rule with the lifetimes that can be had then; None where the cache is not known: nothing may be promised.

    Raises:
        ValueError: ``at`` has no time zone.
    """
    found = rules_for(provider, model, at)
    return min(found, key=lambda one: one.placement == "explicit", default=None)


def rules_for(
    provider: str | None, model: str, at: datetime, rules: Iterable[CacheRule] | None = None
) -> tuple[CacheRule, ...]:
    """Every cache that a model has, at most one of each placement: as :func:`rule_for`.

    A log that does not name the provider, nor does so by the model's name, means the maker of the model.
    """
    if at.tzinfo is None:
        raise ValueError(f"an instant needs a time zone, got {at.isoformat()}")
    instant = at.astimezone(UTC)
    payee = provider_id(provider) or provider_in_name(model)
    # Price cards name what is not the global id of a cloud's model "regional."; logs do not.
    names = candidates(model.strip().lower().removeprefix("regional."))
    found = [
        one
        for one in (built_in_rules() if rules is None else rules)
        if is_active(one.valid_from, one.valid_until, instant) and _is_meant(one, payee, names)
    ]
    if len({one.provider for one in found}) > 1:
        return ()
    return tuple(_as_of(one, instant) for one in found)


def multiples(sheet: RateSheet, lifetime: Lifetime) -> Multiples | None:
    """What a write and a read cost under a rate sheet.

    Args:
        sheet: Of the model, resolved with the ``service_tier`` of the cache's rule where it has one.
        lifetime: Of the entries that are written.

    Returns:
        The multiples; a read without a rate of its own costs what input costs. None where the input or the write has no
        price: a longer or explicit entry is not taken to be as cheap as another one.
    """
    plain = sheet.rates.get(Meter.INPUT_UNCACHED)
    write = sheet.rates.get(lifetime.write_meter)
    read = sheet.rates.get(Meter.CACHE_READ, plain)
    if not plain or write is None or read is None:
        return None
    # Price lists that know one write price only, keep it as that of 5 minutes (``pricing.rules.FALLBACKS``).
    stand_in = sheet.fallbacks.get(lifetime.write_meter)
    same_write = lifetime.write_meter is Meter.CACHE_WRITE_30M and stand_in is Meter.CACHE_WRITE_5M
    if stand_in is not None and not same_write:
        return None
    return Multiples(_ratio(write, plain), _ratio(read, plain))


def _ratio(rate: Decimal, plain: Decimal) -> float:
    return float(rate / plain)


def _is_meant(rule: CacheRule, payee: str | None, names: tuple[str, ...]) -> bool:
    if payee != rule.provider and (payee is not None or rule.hosted):
        return False
    # A dated snapshot can be an exception to the rule of its undated name, so each name has to pass.
    if any(fnmatchcase(name, one) for name in names for one in rule.except_models):
        return False
    return any(rule.covers(rule.provider, name) for name in names)


def _as_of(rule: CacheRule, at: datetime) -> CacheRule:
    active = tuple(one for one in rule.lifetimes if is_active(one.valid_from, one.valid_until, at))
    return rule.model_copy(update={"lifetimes": active})
