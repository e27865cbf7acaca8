"""Rates by the size of a prompt, of any model in any situation, each kept once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from advisor.log_cuts import Pair
from advisor.what_if_model import NOTHING, Ladder, Prices, Situation, Swap
from pricing.book import PriceBook
from pricing.cards import RateSheet
from pricing.charges import MTOK_DIGITS, sheet_or_reason
from pricing.meters import Meter
from pricing.rules import EXACT

_BATCH: Final = "batch"


@dataclass(slots=True, kw_only=True)
class Ladders:
    """Rates and ladders of them, each kept once."""

    book: PriceBook
    meters: tuple[Meter, ...]
    rates: list[tuple[Decimal | None, ...]] = field(default_factory=list[tuple[Decimal | None, ...]])
    found: list[Ladder] = field(default_factory=list[Ladder])
    _places: dict[Any, int] = field(default_factory=dict[Any, int])

    def place(
        self,
        pair: Pair,
        at: datetime,
        tier: str | None,
        region: str | None,
        most_tokens: int,
        *,
        batch: bool = False,
    ) -> int:
        """Return the place of the ladder of a model in a situation, up to the largest prompt."""
        thresholds = tuple(
            size for size in self.book.rate_keys([pair]).context_thresholds if size < most_tokens
        )
        rates = tuple(
            self._rates(pair, at, _BATCH if batch else tier, region, size, batch=batch)
            for size in (None, *(size + 1 for size in thresholds))
        )
        if all(one == NOTHING for one in rates):
            return NOTHING
        return self._kept(self.found, Ladder(thresholds=thresholds, rates=rates))

    def lowest(self, situations: Sequence[Situation], swaps: Sequence[Swap]) -> int | None:
        """Return the smallest prompt that some price changes above, as tokens of the log; None: none does."""
        sizes: list[int] = []
        for one in situations:
            sizes += self._sizes(one.prices, Decimal(1))
            for place, prices in one.swaps.items():
                sizes += self._sizes(prices, swaps[place].target.token_ratio)
        return min(sizes, default=None)

    def _sizes(self, prices: Prices, ratio: Decimal) -> list[int]:
        places = [place for place in (prices.plain, prices.batch) if place != NOTHING]
        return [
            int(size / max(ratio, Decimal(1))) for place in places for size in self.found[place].thresholds
        ]

    def _rates(
        self,
        pair: Pair,
        at: datetime,
        tier: str | None,
        region: str | None,
        context: int | None,
        *,
        batch: bool,
    ) -> int:
        sheet = sheet_or_reason(
            self.book, *pair, at=at, context_tokens=context, service_tier=tier, region=region
        )
        if not isinstance(sheet, RateSheet) or (batch and sheet.service_tier_applied != _BATCH):
            return NOTHING
        return self._kept(self.rates, tuple(_unit_rate(sheet, meter) for meter in self.meters))

    def _kept(self, values: list[Any], value: Any) -> int:
        if value not in self._places:
            self._places[value] = len(values)
            values.append(value)
        return self._places[value]


def _unit_rate(sheet: RateSheet, meter: Meter) -> Decimal | None:
    rate = sheet.rates.get(meter)
    if rate is None or not meter.per_million:
        return rate
    return EXACT.scaleb(rate, -MTOK_DIGITS).normalize(EXACT)
