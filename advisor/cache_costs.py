"""What a cache does to the cost of prompts, in multiples of what they cost without one."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from advisor.evidence import CacheShares, Split
from advisor.recommendation import Level
from pricing.book import PriceBook
from pricing.errors import PricingError
from pricing.meters import Meter
from pricing.units import TOKENS_PER_MTOK


@dataclass(frozen=True, slots=True)
class CacheCosts:
    """Standard rates of one model."""

    rates: Any
    """By meter."""

    def input_ratio(self, split: Split, write_meter: Meter) -> float:
        """Cost of prompt text under a split, against all of it as plain input."""
        plain = self.rates[Meter.INPUT_UNCACHED]
        write = self.rates.get(write_meter, plain)
        read = self.rates[Meter.CACHE_READ]
        return 1 + split.read_ratio * float(read / plain - 1) + split.written_ratio * float(write / plain - 1)

    def missed_usd(self, tokens: int, write_meter: Meter) -> Decimal:
        """What tokens cost more that are written again than if they were read."""
        write = self.rates.get(write_meter, self.rates[Meter.INPUT_UNCACHED])
        return Decimal(write - self.rates[Meter.CACHE_READ]) * tokens / TOKENS_PER_MTOK

    def cheapest(self, shares: Iterable[CacheShares]) -> CacheShares | None:
        """Return the lifetime that costs least; None where none costs less than no cache."""
        paying = [one for one in shares if one.splits and self.of(one) < 1]
        # What was replayed says more than a bound, however good the bound looks.
        return min([one for one in paying if one.is_modelled] or paying, key=self.of, default=None)

    def of(self, shares: CacheShares) -> float:
        """Cost of prompt text with a lifetime, of what is expected of it or, where that is nothing, of the bound."""
        return self.input_ratio(best_split(shares), shares.write_meter)


def best_split(shares: CacheShares) -> Split:
    """Return what is expected of a lifetime or, where that is nothing, what it could do."""
    return shares.splits.get(Level.EXPECTED) or shares.splits[Level.HIGH]


def cache_costs(book: PriceBook, as_of: datetime, provider: str | None, model: str) -> CacheCosts | None:
    """Return the rates of a model; None where it has none for input or for reads."""
    try:
        rates = book.find(provider, model).resolve(as_of, None, None).rates
    except PricingError:
        return None
    return CacheCosts(rates) if rates.get(Meter.INPUT_UNCACHED) and Meter.CACHE_READ in rates else None
