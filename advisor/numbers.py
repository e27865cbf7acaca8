"""Numbers as a reader sees them: rounded by size, never to a false zero or a false whole, in one locale.

Amounts are in the currency of the report that is being made (``shown_in``), prices in USD. Every function takes the exact value and returns text with a dot for decimals and commas for thousands, whatever
the locale of the machine. Nothing here is parsed back: the exact value travels beside the text.
"""

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date, datetime
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from typing import Final

MISSING: Final = "—"
"""What stands where a number is not known."""

MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")

_USD: Final = "USD"
_SIGNS: Final = {
    _USD: "$", "EUR": "€", "GBP": "£", "JPY": "¥", "CNY": "CN¥", "INR": "₹", "KRW": "₩", "BRL": "R$", "CAD": "CA$",
    "AUD": "A$", "NZD": "NZ$", "HKD": "HK$", "SGD": "S$", "ILS": "₪",
}  # fmt: skip
"""Signs that only one currency has; the others show their code."""
_CURRENCY: Final = ContextVar("currency", default=_USD)

_WIDE: Final = Context(prec=400)
_CENT: Final = Decimal("0.01")
_SMALLEST_SHOWN: Final = Decimal("0.000001")
_SUFFIXES: Final = ((12, "T"), (9, "B"), (6, "M"), (3, "k"))
_WHOLE_DOLLARS_FROM: Final = 100
_COMPACT_FROM: Final = 10_000
_MILLION: Final = 6
_LAST_TENTH: Final = Decimal("0.001")
_EDGE: Final = Decimal("0.1")
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


@contextmanager
def shown_in(currency: str) -> Generator[None]:
    """While a report is being made, amounts without a currency of their own are in this one (ISO 4217)."""
    token = _CURRENCY.set(currency)
    try:
        yield
    finally:
        _CURRENCY.reset(token)


def sign_of(currency: str | None = None) -> str:
    """What stands before an amount: ``$``, ``€``, or the code and a space; by default of the report's currency."""
    code = currency or _CURRENCY.get()
    return _SIGNS.get(code, f"{code}\N{NO-BREAK SPACE}")


def money(amount: Decimal, currency: str | None = None) -> str:
    """An amount for a table: cents, and two significant digits below one (``$1,234.56``, ``€0.0004``)."""
    size = amount.copy_abs()
    sign, unit = "-" if amount < 0 else "", sign_of(currency)
    if not amount:
        return f"{unit}0.00"
    if size < _SMALLEST_SHOWN:
        return f"{'> ' if sign else '< '}{sign}{unit}{_SMALLEST_SHOWN}"
    if size >= 1:
        return f"{sign}{unit}{size.quantize(_CENT, ROUND_HALF_UP, _WIDE):,f}"
    return f"{sign}{unit}{_at_least_cents(_significant(size, 2))}"


def money_short(amount: Decimal, currency: str | None = None) -> str:
    """An amount for a chart or a headline: three significant digits, cents below 100 (``$28.6k``, ``$943``, ``$9.46``)."""
    size = amount.copy_abs()
    if size < _WHOLE_DOLLARS_FROM:
        return money(amount, currency)
    sign = "-" if amount < 0 else ""
    number, suffix = _scaled(size)
    return f"{sign}{sign_of(currency)}{number}{suffix}"


def money_about(amount: Decimal, currency: str | None = None) -> str:
    """An estimate for a sentence: three significant digits, written out below a million (``$4,910``, ``$1.24M``)."""
    size = amount.copy_abs()
    rounded = _significant(size, 3)
    if size < _WHOLE_DOLLARS_FROM or rounded.adjusted() >= _MILLION:
        return money_short(amount, currency)
    return f"{'-' if amount < 0 else ''}{sign_of(currency)}{rounded:,.0f}"


def money_exact(amount: Decimal, currency: str | None = None) -> str:
    """An amount with every digit there is, at least cents."""
    sign = "-" if amount < 0 else ""
    return f"{sign}{sign_of(currency)}{_at_least_cents(amount.copy_abs())}"


def rate(usd: Decimal | None) -> str:
    """A price in USD as published, every digit kept, at least cents; a dash when unknown."""
    return MISSING if usd is None else money_exact(usd, _USD)


def count(number: int) -> str:
    """A whole number with thousands separated."""
    return f"{number:,d}"


def tokens(number: float | Decimal) -> str:
    """A token count, compact from ten thousand on (``9,412``, ``940 k``, ``1.2 M``)."""
    value = _decimal(number)
    if value is None:
        return MISSING
    sign = "-" if value < 0 else ""
    size = value.copy_abs()
    if size < _COMPACT_FROM:
        whole = size.quantize(Decimal(1), ROUND_HALF_EVEN, _WIDE)
        if whole or not size:
            return f"{sign if whole else ''}{whole:,f}"
        return f"{sign}{_plain(_significant(size, 1))}"
    text, suffix = _scaled(size)
    return f"{sign}{text} {suffix}"


def share(part: float | Decimal | None) -> str:
    """A ratio as a percentage: ``71 %``, ``4.7 %``, ``< 0.1 %``, ``> 99.9 %``; whole only when it is whole."""
    value = None if part is None else _decimal(part)
    if value is None:
        return MISSING
    sign = "-" if value < 0 else ""
    size = value.copy_abs()
    if size in (0, 1):
        return f"{sign}100 %" if size else "0 %"
    if size < _LAST_TENTH:
        return f"{'> ' if sign else '< '}{sign}0.1 %"
    if 1 - _LAST_TENTH < size < 1:
        return f"{'< ' if sign else '> '}{sign}99.9 %"
    edge = size < _EDGE or 1 - _EDGE < size < 1
    step = Decimal("0.1") if edge else Decimal(1)
    return f"{sign}{(size * 100).quantize(step, ROUND_HALF_EVEN, _WIDE):,f} %"


def ratio(value: float | None) -> str:
    """A plain ratio with one decimal (``5.0``), two significant digits when it is small."""
    number = None if value is None else _decimal(value)
    if number is None:
        return MISSING
    if 0 < abs(number) < 1:
        return _plain(_significant(number, 2))
    return f"{number.quantize(Decimal('0.1'), ROUND_HALF_EVEN, _WIDE):,f}"


def seconds(value: float) -> str:
    """A latency: ``350 ms``, ``1.2 s``."""
    number = _decimal(value)
    if number is None:
        return MISSING
    if number < 1:
        return f"{_plain(_significant(number * 1000, 3))} ms"
    return f"{_plain(_significant(number, 3)):s} s"


def period(days: float | None) -> str:
    """The length of the time observed, in the largest unit that fits (``30 days``, ``9 hours``)."""
    if days is None:
        return "no times in the log"
    length = days * _DAY
    for unit, name in ((_DAY, "day"), (_HOUR, "hour"), (_MINUTE, "minute")):
        if round(length / unit) >= 1 and length >= unit * 0.95:
            number = round(length / unit)
            return f"{number:,d} {name}{'' if number == 1 else 's'}"
    return "under a minute"


def day(value: date) -> str:
    """``5 Oct 2026``: the same on every machine."""
    return f"{value.day} {MONTHS[value.month - 1]} {value.year}"


def day_short(value: date) -> str:
    """``5 Oct``, for an axis."""
    return f"{value.day} {MONTHS[value.month - 1]}"


def day_range(first: date, last: date) -> str:
    """``1 - 30 Oct 2026`` with an en dash; years and months are said once where they agree."""
    if first == last:
        return day(last)
    if first.year != last.year:
        return f"{day(first)} \N{EN DASH} {day(last)}"
    if first.month != last.month:
        return f"{day_short(first)} \N{EN DASH} {day(last)}"
    return f"{first.day}\N{EN DASH}{day(last)}"


def moment(value: datetime | None) -> str:
    """An instant to the minute, in its own zone."""
    return MISSING if value is None else value.strftime("%Y-%m-%d %H:%M %Z").strip()


def axis_money(ticks: Sequence[Decimal]) -> tuple[str, ...]:
    """Labels for the ticks of one money axis: one unit and as many decimals as the finest tick needs."""
    top = max((abs(tick) for tick in ticks), default=Decimal(0))
    power, suffix = next(((p, s) for p, s in _SUFFIXES if top >= Decimal(10).scaleb(p)), (0, ""))
    scaled = [tick.scaleb(-power) for tick in ticks]
    places = max((_places(value) for value in scaled), default=0)
    if places and not suffix:
        places = max(places, 2)
    step = Decimal(1).scaleb(-places)
    return tuple(
        f"{'-' if v < 0 else ''}{sign_of()}{v.copy_abs().quantize(step, context=_WIDE):,f}{suffix if v else ''}"
        for v in scaled
    )


def _decimal(number: float | Decimal) -> Decimal | None:
    """The decimal a reader would write for it (the shortest that gives the float), None when not finite."""
    if isinstance(number, float):
        return Decimal(repr(number)) if math.isfinite(number) else None
    value = Decimal(number)
    return value if value.is_finite() else None


def _significant(value: Decimal, digits: int) -> Decimal:
    if not value:
        return Decimal(0)
    return value.quantize(Decimal(1).scaleb(value.adjusted() - digits + 1), ROUND_HALF_UP, _WIDE)


def _scaled(size: Decimal) -> tuple[str, str]:
    rounded = _significant(size, 3)
    for power, suffix in _SUFFIXES:
        if rounded.adjusted() >= power:
            return _plain(rounded.scaleb(-power)), suffix
    return _plain(rounded), ""


def _places(value: Decimal) -> int:
    text = f"{value:f}"
    return len(text.partition(".")[2].rstrip("0"))


def _plain(value: Decimal) -> str:
    text = f"{value:,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _at_least_cents(value: Decimal) -> str:
    whole, _, fraction = f"{value:,f}".partition(".")
    return f"{whole}.{fraction.rstrip('0').ljust(2, '0')}"
