"""The shape of a price file: its keys and what each may hold.

The values are read exactly (floats through their shortest text) and bounded, so that later arithmetic never rounds.
"""

import re
from datetime import UTC, date, datetime, time
from decimal import Decimal, InvalidOperation
from typing import Annotated, Final, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pricing.meters import Meter
from pricing.units import MINUTES_PER_DAY, MINUTES_PER_WEEK

_MAX_RATE: Final = Decimal(10) ** 12
_MAX_DECIMALS: Final = 30
UNITS: Final = ("USD per 1,000,000 tokens", "USD per million tokens", "USD per Mtok")
_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_WINDOW: Final = re.compile(
    r"^(?:(?P<first>[a-z]{3})(?:\s*-\s*(?P<last>[a-z]{3}))?\s+|daily\s+)?"
    r"(?P<h1>\d\d):(?P<m1>\d\d)\s*-\s*(?P<h2>\d\d):(?P<m2>\d\d)$",
    re.IGNORECASE,
)
TIER_NAMES: Final = ("batch", "flex", "priority", "fast")


def amount_of(value: object) -> Decimal:
    """A price or factor, exactly as written: floats through their shortest text."""
    try:
        if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
            raise InvalidOperation  # noqa: TRY301
        number = value if isinstance(value, Decimal) else Decimal(str(value).strip())
    except InvalidOperation:
        raise ValueError("expected a number, such as 2.50") from None
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent < -_MAX_DECIMALS or not 0 <= number <= _MAX_RATE:
        raise ValueError(f"expected a number from 0 to 1e12 with at most {_MAX_DECIMALS} decimals")
    return number


def _per_call(value: object) -> Decimal:
    return amount_of(re.sub(r"\s*per call\s*$", "", value) if isinstance(value, str) else value)


def instant_of(value: object) -> datetime:
    """A date or time in ISO 8601, as a UTC instant; a bare date is its midnight in UTC."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            raise ValueError("expected a date or time in ISO 8601, such as 2026-08-21T00:00:00Z") from None
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, date):
        return datetime.combine(value, time(), tzinfo=UTC)
    raise ValueError("expected a date or time in ISO 8601, such as 2026-08-21T00:00:00Z")


def window_of(value: object) -> tuple[tuple[int, int], ...]:
    """Minutes of the week of ``Mon-Fri 01:00-04:00``; a window that ends before it starts runs past midnight."""
    found = _WINDOW.match(value.strip()) if isinstance(value, str) else None
    allowed = "expected hours in UTC such as 'Mon-Fri 01:00-04:00', 'Sat 00:00-24:00' or '22:00-06:00'"
    if found is None:
        raise ValueError(allowed)
    first, last = (found["first"] or "mon").lower(), (found["last"] or found["first"] or "sun").lower()
    start, end = (int(found[f"h{n}"]) * 60 + int(found[f"m{n}"]) for n in (1, 2))
    minutes_valid = all(int(found[key]) < 60 for key in ("m1", "m2"))  # noqa: PLR2004 (minutes in an hour)
    if first not in _DAYS or last not in _DAYS or not minutes_valid or start == end:
        raise ValueError(allowed)
    if start >= MINUTES_PER_DAY or end > MINUTES_PER_DAY:
        raise ValueError(allowed)
    length = (end - start) % MINUTES_PER_DAY or MINUTES_PER_DAY
    spans: list[tuple[int, int]] = []
    for step in range((_DAYS.index(last) - _DAYS.index(first)) % 7 + 1):
        opens = (_DAYS.index(first) + step) % 7 * MINUTES_PER_DAY + start
        spans.append((opens, min(opens + length, MINUTES_PER_WEEK)))
        if opens + length > MINUTES_PER_WEEK:
            spans.append((0, opens + length - MINUTES_PER_WEEK))
    return tuple(spans)


_Amount = Annotated[Decimal, BeforeValidator(amount_of)]
_Instant = Annotated[datetime, BeforeValidator(instant_of)]
_Window = Annotated[tuple[tuple[int, int], ...], BeforeValidator(window_of)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RatesIn(_Strict):
    """Rates in USD per million tokens; storage in USD per million token-hours, a request's fee in USD."""

    input: _Amount | None = None
    output: _Amount | None = None
    cache_read: _Amount | None = None
    cache_write_5m: _Amount | None = None
    cache_write_30m: _Amount | None = None
    cache_write_1h: _Amount | None = None
    cache_write_12h: _Amount | None = None
    audio_input: _Amount | None = None
    audio_cache_read: _Amount | None = None
    audio_output: _Amount | None = None
    image_input: _Amount | None = None
    image_output: _Amount | None = None
    cache_storage_per_mtok_hour: _Amount | None = None
    request_call: Annotated[Decimal, BeforeValidator(_per_call)] | None = None

    def bag(self) -> dict[Meter, Decimal]:
        """The stated rates, by meter."""
        names = {
            "input": Meter.INPUT_UNCACHED,
            "cache_storage_per_mtok_hour": Meter.CACHE_STORAGE_TOKEN_HOURS,
            "request_call": Meter.REQUEST_CALLS,
        }
        values = {key: getattr(self, key) for key in _RATE_KEYS}
        return {names.get(key) or Meter(key): value for key, value in values.items() if value is not None}


_RATE_KEYS: Final = tuple(RatesIn.model_fields)


class TierIn(RatesIn):
    """Rates of the whole request when its prompt is above a size."""

    above: Annotated[int, Field(ge=1)]
    inclusive: bool = False
    scope: Literal["whole_request"] = "whole_request"
    counts: Annotated[str, Field(pattern=r"^all prompt tokens")] = "all prompt tokens"


class RulesIn(RatesIn):
    """Rates and the rules that change them."""

    tier: TierIn | None = None
    batch_multiplier: _Amount | None = None
    flex_multiplier: _Amount | None = None
    priority_multiplier: _Amount | None = None
    fast_multiplier: _Amount | None = None
    region_multiplier: dict[str, _Amount] | None = None
    peak_multiplier: _Amount | None = None
    peak_windows_utc: tuple[_Window, ...] | None = None
    peak_window_ends: Literal["exclusive"] | None = None


class PeriodIn(RulesIn):
    """Rates and rules for a span of time, UTC, end exclusive."""

    start: _Instant | None = None
    until: _Instant | None = None


class CardIn(RulesIn):
    """One model: either rates, or periods with rates."""

    periods: tuple[PeriodIn, ...] | None = None
    note: str | None = None
    aliases: tuple[str, ...] = ()
    provider: str | None = None
    source: str | None = None
    retrieved: date | None = None


class FeesIn(_Strict):
    """Prices of single calls, the same for every model."""

    web_search_call: Annotated[Decimal, BeforeValidator(_per_call)] | None = None


class FileIn(_Strict):
    """The whole file."""

    unit: str = UNITS[0]
    note: str | None = None
    models: dict[str, CardIn]
    fees: FeesIn = FeesIn()
