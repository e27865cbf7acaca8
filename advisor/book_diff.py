"""What a price update changed: the rates of two books, by model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from pricing.cards import PriceCard

Key = tuple[str, str, str, str]
"""Provider, model, meter and rule with its time, as they are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RateChange:
    """One rate that differs between two books.

    Attributes:
        provider: Who is paid.
        model: Name of the card.
        what: Meter, rule and time of the rate.
        old_usd: Per unit, in the old book; None where it has none.
        new_usd: Per unit, in the new book; None where it has none.
        past: Whether the rate was over before the day of the comparison: history that changed.
    """

    provider: str
    model: str
    what: str
    old_usd: Decimal | None
    new_usd: Decimal | None
    past: bool


def rates_of(cards: Iterable[PriceCard]) -> dict[Key, tuple[Decimal, datetime | None]]:
    """Every stated rate of some cards, with the instant at which it ends."""
    found: dict[Key, tuple[Decimal, datetime | None]] = {}
    for card in cards:
        for row in card.rows():
            span = f"{_day(row.valid_from)} to {_day(row.valid_until)}"
            key = (card.provider or "-", card.model, str(row.meter), f"{row.rule}, {span}")
            found[key] = (row.usd_per_unit, row.valid_until)
    return found


def compare(
    old: Mapping[Key, tuple[Decimal, datetime | None]],
    new: Mapping[Key, tuple[Decimal, datetime | None]],
    as_of: datetime,
) -> list[RateChange]:
    """Every rate that one of two books has and the other has not, or at another price; in order of their names.

    Args:
        old: Rates of the older book.
        new: Rates of the newer one.
        as_of: What ended before is history.
    """
    changes: list[RateChange] = []
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        if before is not None and after is not None and before[0] == after[0]:
            continue
        ends = [side[1] for side in (before, after) if side is not None]
        provider, model, meter, rule = key
        changes.append(
            RateChange(
                provider=provider,
                model=model,
                what=f"{meter} ({rule})",
                old_usd=None if before is None else before[0],
                new_usd=None if after is None else after[0],
                past=all(end is not None and end <= as_of for end in ends),
            )
        )
    return changes


def _day(at: datetime | None) -> str:
    return "open" if at is None else f"{at:%Y-%m-%d %H:%MZ}"
