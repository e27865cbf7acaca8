"""Savings in words: always USD, a month's where the log is long enough."""

from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.recommendation import Risk, Saving
from pricing.units import DAYS_PER_MONTH

USD: Final = "USD"
RISKS: Final = {Risk.NONE: "answers stay the same", Risk.EVALUATE: "evaluate answers first"}
MONTH: Final = "a month"
PERIOD: Final = "in this period"
_ONE: Final = Decimal(1)


def monthly(period_days: float | None) -> tuple[Decimal, str]:
    """Return what turns an amount of the period into one of a month, and what the amount is then called.

    A period under a day says nothing of a month: its amounts stay as they are.
    """
    if period_days is None or period_days < 1:
        return _ONE, PERIOD
    return Decimal(str(DAYS_PER_MONTH)) / Decimal(str(period_days)), MONTH


def saving_words(saving: Saving, factor: Decimal = _ONE) -> str:
    """Return what is expected; where that is nothing, the most that there can be."""
    if saving.expected <= 0 < saving.high:
        return f"up to {numbers.money_about(saving.high * factor, USD)}"
    return signed(saving.expected * factor)


def range_words(saving: Saving, factor: Decimal = _ONE) -> str:
    """Return low to high; nothing where both are shown as what is expected, and a word where only the most is known."""
    if saving.expected <= 0 < saving.high and saving.low >= 0:
        return "a bound, not an estimate"
    low, expected, high = (signed(amount * factor) for amount in (saving.low, saving.expected, saving.high))
    return "" if low == expected == high else f"between {low} and {high}"


def signed(amount: Decimal) -> str:
    """Return an amount as it stands in a sentence; a loss has a true minus sign."""
    return numbers.money_about(amount, USD).replace("-", "\N{MINUS SIGN}")
