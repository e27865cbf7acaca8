"""Print where the price book and litellm's file differ today: ``python tools/compare_prices.py LITELLM.json``.

One line a name: the card that the book finds for it, and each standard rate that differs, ours first. Long-context rates
are compared too. Run it after adding rows and before a release: what is left should be known and explained.
"""

import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

from litellm_prices import READ_ON, Entry, entries, names_of

from pricing.book import PriceBook, load_book
from pricing.cards import PriceCard, RateSheet
from pricing.errors import PricingError
from pricing.meters import Meter

COMPARED = (Meter.INPUT_UNCACHED, Meter.CACHE_READ, Meter.CACHE_WRITE_5M, Meter.CACHE_WRITE_1H, Meter.OUTPUT)


def main(arguments: list[str]) -> int:
    """Print the differences."""
    book = load_book()
    seen = 0
    for entry, listed in entries(Path(arguments[0])):
        card = found(book, entry, listed)
        seen += 1
        for line in differences(entry, card):
            print(f"{card.provider:<11} {entry.key} -> {card.model}: {line}")
    print(f"{seen} names compared")
    return 0


def found(book: PriceBook, entry: Entry, listed: PriceCard) -> PriceCard:
    """The book's card for the key, or that of genai-prices where the key's spelling is litellm's own."""
    for name in names_of(entry.key):
        try:
            card = book.find(listed.provider, name)
        except PricingError:
            continue
        if card.provider == listed.provider:
            return card
    return listed


def differences(entry: Entry, card: PriceCard) -> Iterator[str]:
    """One line a prompt size at which rates differ."""
    for above in (0, *entry.thresholds):
        theirs = {**entry.at("standard"), **entry.at("standard", above)}
        try:
            sheet = card.resolve(READ_ON, above * 1000 + 1, None)
        except PricingError as reason:
            yield f"no price here: {reason}"
            return
        parts = [
            f"{meter} {ours if ours is not None else 'none'} / {theirs[meter].normalize():f}"
            for meter in COMPARED
            if meter in theirs
            and (ours := own_rate(sheet, meter)) != theirs[meter]
            and (ours or theirs[meter])
        ]
        if parts:
            yield (f"above {above}k: " if above else "") + ", ".join(parts)


def own_rate(sheet: RateSheet, meter: Meter) -> Decimal | None:
    """A rate that the card states itself, not one that stands in for it."""
    return None if meter in sheet.fallbacks else sheet.rates.get(meter)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
