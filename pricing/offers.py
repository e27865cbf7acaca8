"""What an accelerator costs by the hour: dated offers of clouds, always for one accelerator, never for a machine.

Segments do not mix: a hyperscaler asks two to four times what a marketplace does for the same part, so a figure comes as
a range of one segment or says that it spans several. Prices move within weeks: each offer has its day.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from statistics import median
from typing import Final, Literal

from pricing.table_rows import DATA_DIR, VERIFIED, Row, read_rows

OFFERS_FILE: Final = DATA_DIR / "gpu_offers.csv"
STALE_AFTER_DAYS: Final = 60
"""In 2026 providers raised list prices by a third to a half within five months."""
OLDEST_DAYS: Final = 180
"""Offers seen longer ago are left out while the part has younger ones."""

Segment = Literal["hyperscaler", "neocloud", "marketplace"]
PriceKind = Literal["on_demand", "spot", "reserved_1y"]
SEGMENTS: Final[tuple[Segment, ...]] = ("hyperscaler", "neocloud", "marketplace")
PRICE_KINDS: Final[tuple[PriceKind, ...]] = ("on_demand", "spot", "reserved_1y")
COLUMNS: Final = (
    "provider", "segment", "region", "instance", "accelerator_id", "n_gpus", "usd_per_machine_hour", "price_kind",
    "date", "source", "verified", "note",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """One listed price.

    Attributes:
        n_gpus: Accelerators in the machine that is let as a whole.
        usd_per_machine_hour: Of that machine, host included.
        date: When the price was seen; None if nobody wrote that down, and then no range uses it.
    """

    provider: str
    segment: Segment
    region: str
    instance: str
    accelerator_id: str
    n_gpus: int
    usd_per_machine_hour: Decimal
    price_kind: PriceKind
    date: date | None
    source: str
    verified: str
    note: str = ""

    @property
    def usd_per_gpu_hour(self) -> Decimal:
        """The machine's price shared by its accelerators."""
        return self.usd_per_machine_hour / self.n_gpus


@dataclass(frozen=True, slots=True, kw_only=True)
class OfferRange:
    """Lowest, middle and highest price of one accelerator-hour.

    Each provider has one price: the median of its regions and machines on the last day it was looked at, since one far
    region says little about a market.

    Attributes:
        segments: Those that the range spans; more than one is worth saying.
        oldest, newest: Days on which the prices were seen.
        stale_days: From the newest price to the day asked for.
    """

    accelerator_id: str
    price_kind: PriceKind
    low_usd_per_gpu_hour: Decimal
    median_usd_per_gpu_hour: Decimal
    high_usd_per_gpu_hour: Decimal
    low_provider: str
    high_provider: str
    providers: tuple[str, ...]
    segments: tuple[Segment, ...]
    oldest: date
    newest: date
    stale_days: int

    @property
    def is_stale(self) -> bool:
        """Whether even the newest price is old enough to ask again."""
        return self.stale_days > STALE_AFTER_DAYS


@cache
def offers() -> tuple[Offer, ...]:
    """The built-in offers."""
    return read_offers(OFFERS_FILE)


def read_offers(path: Path) -> tuple[Offer, ...]:
    """Read a file of offers, CSV or TOML, with the columns of ``COLUMNS``.

    Raises:
        TableFileError: If it is malformed: file, row, column, value and what is allowed.
    """
    return tuple(map(_offer, read_rows(path, COLUMNS)))


def offer_range(
    accelerator_id: str,
    segment: Segment | None = None,
    price_kind: PriceKind = "on_demand",
    *,
    as_of: date,
    among: Iterable[Offer] | None = None,
) -> OfferRange | None:
    """What an hour of an accelerator costs, or None if no dated offer is known: never 0.

    Args:
        accelerator_id: As in the table of accelerators.
        segment: One kind of provider; None for all of them.
        price_kind: How the accelerator is taken.
        as_of: The day asked for; later offers are not looked at.
        among: Offers to look through; None for the built-in ones.
    """
    dated = [
        (offer.date, offer)
        for offer in (offers() if among is None else among)
        if offer.accelerator_id == accelerator_id
        and offer.price_kind == price_kind
        and segment in (None, offer.segment)
        and offer.date is not None
        and offer.date <= as_of
    ]
    if not dated:
        return None
    newest = max(day for day, _ in dated)
    recent = [(day, offer) for day, offer in dated if (newest - day).days <= OLDEST_DAYS]
    return _range(accelerator_id, price_kind, recent, as_of)


def _range(
    accelerator_id: str, price_kind: PriceKind, dated: list[tuple[date, Offer]], as_of: date
) -> OfferRange:
    current = _current(dated)
    prices = {key: median(offer.usd_per_gpu_hour for _, offer in listed) for key, listed in current.items()}
    cheapest, dearest = min(prices, key=prices.__getitem__), max(prices, key=prices.__getitem__)
    days = [day for listed in current.values() for day, _ in listed]
    return OfferRange(
        accelerator_id=accelerator_id,
        price_kind=price_kind,
        low_usd_per_gpu_hour=prices[cheapest],
        median_usd_per_gpu_hour=median(prices.values()),
        high_usd_per_gpu_hour=prices[dearest],
        low_provider=cheapest[0],
        high_provider=dearest[0],
        providers=tuple(sorted({provider for provider, _ in prices})),
        segments=tuple(one for one in SEGMENTS if one in {segment for _, segment in prices}),
        oldest=min(days),
        newest=max(days),
        stale_days=(as_of - max(days)).days,
    )


def _current(dated: list[tuple[date, Offer]]) -> dict[tuple[str, Segment], list[tuple[date, Offer]]]:
    """The offers of each provider and segment on the last day it was looked at: older ones were superseded."""
    found: dict[tuple[str, Segment], list[tuple[date, Offer]]] = {}
    for day, offer in dated:
        found.setdefault((offer.provider, offer.segment), []).append((day, offer))
    return {
        provider: [pair for pair in listed if pair[0] == max(day for day, _ in listed)]
        for provider, listed in found.items()
    }


def _offer(row: Row) -> Offer:
    return Offer(
        provider=row.text("provider"),
        segment=_segment(row),
        region=row.text_or_empty("region"),
        instance=row.text_or_empty("instance"),
        accelerator_id=row.text("accelerator_id"),
        n_gpus=_machine(row),
        usd_per_machine_hour=row.money("usd_per_machine_hour"),
        price_kind=_price_kind(row),
        date=row.day_or_none("date"),
        source=row.text("source"),
        verified=row.one_of("verified", VERIFIED),
        note=row.text_or_empty("note"),
    )


def _machine(row: Row) -> int:
    row.at_least("n_gpus", 1)
    return row.count("n_gpus")


def _segment(row: Row) -> Segment:
    word = row.one_of("segment", SEGMENTS)
    return next(segment for segment in SEGMENTS if segment == word)


def _price_kind(row: Row) -> PriceKind:
    word = row.one_of("price_kind", PRICE_KINDS)
    return next(kind for kind in PRICE_KINDS if kind == word)
