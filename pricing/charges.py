"""Price one usage, exactly and line by line: the reference that the vectorised pricing is tested against.

``amount = quantity x rate / 1,000,000`` for tokens and token-hours and ``quantity x rate`` for calls, in integers scaled by a power of
ten: nothing is ever rounded here.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum
from types import EllipsisType
from typing import Final

from pricing.book import PriceBook
from pricing.cards import RateSheet
from pricing.errors import (
    AmbiguousModelError,
    NoPriceAtTimeError,
    PricingError,
    UnpricedMeterError,
)
from pricing.meters import CALL_METERS, Meter, TokenUsage
from pricing.rules import EXACT

MTOK_DIGITS: Final = 6
"""Tokens, and their hours in a cache, are priced per 10**6."""


class UnpricedCode(StrEnum):
    """Why there is no price."""

    UNKNOWN_MODEL = "unknown_model"
    AMBIGUOUS_MODEL = "ambiguous_model"
    NO_PRICE_IN_BOOK = "no_price_in_book"
    NO_PRICE_AT_TIME = "no_price_at_time"
    UNPRICED_METER = "unpriced_meter"
    NO_MODEL = "no_model"


@dataclass(frozen=True, slots=True, kw_only=True)
class ChargeLine:
    """One meter of a charge.

    Attributes:
        meter: What was used.
        quantity: Units: tokens, calls or token-hours.
        usd_per_unit: Rate in USD per ``unit``.
        unit: ``1M tokens``, ``call`` or ``1M token-hours``.
        amount: USD, exact.
        rule: What made the rate.
        source: Where the rate comes from.
        retrieved: Day on which the source was read, None when not known.
    """

    meter: Meter
    quantity: int
    usd_per_unit: Decimal
    unit: str
    amount: Decimal
    rule: str
    source: str
    retrieved: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Charge:
    """What a usage costs: a line for every reported meter, and their exact sum in USD."""

    lines: tuple[ChargeLine, ...]
    total: Decimal
    sheet: RateSheet


@dataclass(frozen=True, slots=True, kw_only=True)
class Unpriced:
    """A usage without a price, which is not a price of $0."""

    provider: str | None
    model: str | None
    reason: str
    code: UnpricedCode


def charge(
    usage: TokenUsage,
    book: PriceBook,
    *,
    provider: str | None,
    model: str,
    at: datetime,
    service_tier: str | None = None,
    region: str | None = None,
    context_tokens: int | EllipsisType | None = ...,
    requests: int | None = None,
) -> Charge | Unpriced:
    """Price one usage.

    Args:
        usage: Units by meter. A meter with a count and without a rate leaves the whole usage unpriced; a count of 0
            never does.
        book: The prices.
        provider: As the log has it, or None.
        model: As the log has it.
        at: Instant whose price counts, with a time zone.
        service_tier: As the log has it, or None.
        region: Where it was served, as the log has it, or None.
        context_tokens: Size of the prompt that context tiers are decided by: the usage's own by default, None for a
            bucket of many requests.
        requests: Requests behind the usage, for models that charge for each; None leaves that fee out.
    """
    tokens = usage.input_tokens if isinstance(context_tokens, EllipsisType) else context_tokens
    sheet = sheet_or_reason(
        book, provider, model, at=at, context_tokens=tokens, service_tier=service_tier, region=region
    )
    if isinstance(sheet, Unpriced):
        return sheet
    counts = dict(usage.counts)
    if requests is not None and Meter.REQUEST_CALLS in sheet.rates:
        counts.setdefault(Meter.REQUEST_CALLS, requests)
    lines: list[ChargeLine] = []
    for meter in Meter:
        quantity = counts.get(meter)
        if quantity is None or (quantity == 0 and meter not in sheet.rates):
            continue
        try:
            lines.append(_line(sheet, meter, quantity))
        except UnpricedMeterError as error:
            return Unpriced(
                provider=provider, model=model, reason=str(error), code=UnpricedCode.UNPRICED_METER
            )
    return Charge(lines=tuple(lines), total=exact_sum(line.amount for line in lines), sheet=sheet)


def sheet_or_reason(
    book: PriceBook,
    provider: str | None,
    model: str,
    *,
    at: datetime,
    context_tokens: int | None,
    service_tier: str | None,
    region: str | None = None,
) -> RateSheet | Unpriced:
    """The rates for one situation, or why there are none."""
    try:
        card = book.find(provider, model)
    except PricingError as error:
        ambiguous = isinstance(error, AmbiguousModelError)
        code = UnpricedCode.AMBIGUOUS_MODEL if ambiguous else UnpricedCode.UNKNOWN_MODEL
        return Unpriced(provider=provider, model=model, reason=str(error), code=code)
    try:
        return card.resolve(at, context_tokens, service_tier, region)
    except NoPriceAtTimeError as error:
        code = UnpricedCode.NO_PRICE_AT_TIME if card.periods else UnpricedCode.NO_PRICE_IN_BOOK
        return Unpriced(provider=provider, model=model, reason=str(error), code=code)


def missing_rate(sheet: RateSheet, meter: Meter) -> str:
    """The message for a meter that was used and has no rate."""
    return f"{sheet.model}: no rate for {meter} ({sheet.source})"


def exact_sum(amounts: Iterable[Decimal]) -> Decimal:
    """The sum, never rounded."""
    total = Decimal(0)
    for amount in amounts:
        total = EXACT.add(total, amount)
    return total


def unit_of(meter: Meter) -> str:
    """What a rate of this meter is per."""
    if meter.is_tokens:
        return "1M tokens"
    return "call" if meter in CALL_METERS else "1M token-hours"


def _line(sheet: RateSheet, meter: Meter, quantity: int) -> ChargeLine:
    rate = sheet.rates.get(meter)
    if rate is None:
        raise UnpricedMeterError(missing_rate(sheet, meter))
    amount = EXACT.multiply(rate, Decimal(quantity))
    return ChargeLine(
        meter=meter,
        quantity=quantity,
        usd_per_unit=rate,
        unit=unit_of(meter),
        amount=EXACT.scaleb(amount, -MTOK_DIGITS) if meter.per_million else amount,
        rule=sheet.rule_for(meter),
        source=sheet.source,
        retrieved=sheet.retrieved,
    )
