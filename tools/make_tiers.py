"""Write ``pricing/data/tiers.toml``: ``python tools/make_tiers.py LITELLM.json [OWN_RATES.toml]``.

A service tier is a multiple of the standard price of the same moment, so only ratios are taken from litellm's file, which
knows no dates. What is printed is what a person has to look at: models left out, and why. Tiers that are no exact
multiple are written to OWN_RATES.toml with their rates. Rows of ``tiers_stated.toml``, which are written by hand, go
before: what they cover is not written again.
"""

import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from fnmatch import fnmatchcase
from fractions import Fraction
from pathlib import Path
from typing import Final

from litellm_prices import READ_ON, RELEASE, Entry, Rates, entries, is_exact

from pricing.cards import PriceCard
from pricing.meters import Meter
from pricing.rules import FALLBACKS, RatePeriod, is_active

DATA: Final = Path(__file__).resolve().parent.parent / "pricing" / "data"
TIERS: Final = ("batch", "flex", "priority", "ultrafast")
MUST_LIST: Final = (Meter.INPUT_UNCACHED, Meter.OUTPUT, Meter.AUDIO_OUTPUT, Meter.IMAGE_OUTPUT)
SOLD_SINCE: Final[Mapping[tuple[str, str], datetime]] = {
    ("google", "batch"): datetime(2025, 7, 7, tzinfo=UTC),
    ("openai", "batch"): datetime(2024, 4, 15, tzinfo=UTC),
    ("openai", "flex"): datetime(2025, 4, 17, tzinfo=UTC),
    # Unverified: the day of the announcement as remembered, no page was found that states it.
    ("openai", "priority"): datetime(2025, 6, 25, tzinfo=UTC),
}
PAGES: Final[Mapping[str, str]] = {
    "aws": "https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/AmazonBedrock/current/us-east-1/index.json",
    "azure": "https://prices.azure.com/api/retail/prices",
    "databricks": "https://www.databricks.com/product/pricing/foundation-model-serving",
    "fireworks": "https://api.fireworks.ai/v1/serverless/models",
    "google": "https://ai.google.dev/gemini-api/docs/pricing",
    "openai": "https://developers.openai.com/api/docs/pricing",
    "x-ai": "https://api.x.ai/v1/language-models",
}
"""Where most models of a provider are priced; a single model's own page is in litellm's file."""

Ratios = Mapping[Meter, Fraction]


class LeftOut(Exception):  # noqa: N818  (a finding, not a fault)
    """Why a model gets no row."""


class NoMultiple(LeftOut):
    """The tier has a price that no exact multiple of the standard price gives."""


@dataclass(frozen=True, slots=True, order=True)
class Pattern:
    """What models of one row have in common.

    Attributes:
        provider: genai-prices id.
        tier: Name of the tier.
        multiplier: Of every rate that ``others`` does not name.
        others: Multipliers of single meters.
    """

    provider: str
    tier: str
    multiplier: Decimal
    others: tuple[tuple[str, Decimal], ...]


def main(arguments: list[str]) -> int:
    """Write the rows and print what was left out."""
    stated = tomllib.loads((DATA / "tiers_stated.toml").read_text(encoding="utf-8"))["tier"]
    rows: dict[Pattern, set[str]] = {}
    own_rates: list[str] = []
    for (provider, model), found in sorted(by_card(Path(arguments[0])).items()):
        for tier in TIERS:
            card = found[0][1]
            periods = [one for one in card.periods if is_active(one.valid_from, one.valid_until, READ_ON)]
            keys = [pair for pair in found if pair[0].at(tier)]
            if not keys or not periods or is_stated(stated, provider, model, tier):
                continue
            try:
                entry = chosen(keys, tier, periods[0])
                try:
                    pattern = pattern_of(entry, tier, periods[0])
                except NoMultiple:
                    if base(entry, periods[0]):
                        own_rates.append("".join(own_rates_row(card, tier, entry, periods[0])))
                    raise
            except LeftOut as reason:
                print(f"left out: {provider} {model} {tier}: {reason}")
                continue
            rows.setdefault(Pattern(provider, tier, *pattern), set()).add(model.lower())
    (DATA / "tiers.toml").write_text("".join(file_of(rows)), encoding="utf-8")
    if arguments[1:]:
        Path(arguments[1]).write_text("".join(own_rates), encoding="utf-8")
    print(f"{len(rows)} rows of {sum(map(len, rows.values()))} models, {len(own_rates)} with own rates")
    return 0


def by_card(path: Path) -> dict[tuple[str, str], list[tuple[Entry, PriceCard]]]:
    """Entries by the card that they resolve to."""
    found: dict[tuple[str, str], list[tuple[Entry, PriceCard]]] = {}
    for entry, card in entries(path):
        found.setdefault((card.provider or "", card.model), []).append((entry, card))
    return found


def chosen(keys: list[tuple[Entry, PriceCard]], tier: str, period: RatePeriod) -> Entry:
    """The entry to believe: one that names the card exactly, and is complete, and the provider's main product.

    Raises:
        LeftOut: There is none. An alias only counts where it has the very price of the card.
    """
    exact = [entry for entry, card in keys if is_exact(entry, card)]
    aliases = [entry for entry, _ in keys if base(entry, period)]
    complete = [
        entry
        for entry in exact or aliases
        if all(
            not entry.at("standard").get(meter) or counted_as(entry, tier, meter) in entry.at(tier)
            for meter in MUST_LIST
        )
    ]
    if not complete:
        raise LeftOut(
            "incomplete, or only under names of another price: " + ", ".join(e.key for e, _ in keys)
        )
    # The Gemini API's own prices before those of Vertex, the Azure price list before the model catalogue.
    complete.sort(key=lambda one: not one.key.startswith(("gemini/", "azure/")))
    ratios = ratios_of(complete[0], tier, period)
    for other in complete[1:]:
        differing = [
            meter for meter, ratio in ratios_of(other, tier, period).items() if ratios.get(meter) != ratio
        ]
        if differing:
            print(f"note: {tier} of {complete[0].key} taken, {other.key} differs for {', '.join(differing)}")
    return complete[0]


def base(entry: Entry, period: RatePeriod) -> bool:
    """Whether the entry's standard price is the card's."""
    standard = entry.at("standard")
    return all(
        standard.get(meter) == period.rates.get(meter) for meter in (Meter.INPUT_UNCACHED, Meter.OUTPUT)
    )


def is_stated(stated: list[dict[str, list[str]]], provider: str, model: str, tier: str) -> bool:
    """Whether a row written by hand covers this."""
    return any(
        (row["provider"], row["tier"]) == (provider, tier)
        and any(fnmatchcase(model.lower(), one) for one in row["models"])
        for row in stated
    )


def pattern_of(
    entry: Entry, tier: str, period: RatePeriod
) -> tuple[Decimal, tuple[tuple[str, Decimal], ...]]:
    """The multiplier of a tier, and those of the meters that have another.

    Raises:
        NoMultiple: A ratio has no end in decimals, or depends on the context.
        LeftOut: genai-prices has the tier otherwise.
    """
    ratios = ratios_of(entry, tier, period)
    if not ratios.keys() & {Meter.INPUT_UNCACHED, Meter.OUTPUT}:
        raise LeftOut("no rate of text in common")
    listed = genai_ratios(period, tier)
    differing = [meter for meter in listed if ratios.get(meter, listed[meter]) != listed[meter]]
    if differing:
        said = "; ".join(f"{meter} {ratios[meter]} here, {listed[meter]} there" for meter in differing)
        raise LeftOut(f"genai-prices has it otherwise: {said}")
    for above in entry.thresholds:
        standard, own = entry.at("standard", above), entry.at(tier, above)
        for meter in (one for one in ratios if one in own and one in standard):
            if Fraction(own[meter]) / Fraction(standard[meter]) != ratios[meter]:
                raise NoMultiple(f"another ratio above {above}k tokens for {meter}")
        if not own:
            print(f"note: {tier} of {entry.key}: no rates above {above}k tokens, the same ratio taken")
    exact = {meter: decimal_of(ratio, meter) for meter, ratio in ratios.items()}
    usual = exact[Meter.INPUT_UNCACHED if Meter.INPUT_UNCACHED in exact else Meter.OUTPUT]
    return usual, tuple((meter.value, factor) for meter, factor in exact.items() if factor != usual)


def ratios_of(entry: Entry, tier: str, period: RatePeriod) -> Ratios:
    """Ratio to the standard rate of every meter that the card has; 1 for one that the tier does not list."""
    standard, own = entry.at("standard"), entry.at(tier)
    ratios: dict[Meter, Fraction] = {}
    for meter in Meter:
        if meter in period.rates and standard.get(meter):
            counted = counted_as(entry, tier, meter)
            ratios[meter] = Fraction(own.get(counted, standard[counted])) / Fraction(standard[counted])
    return ratios


def counted_as(entry: Entry, tier: str, meter: Meter) -> Meter:
    """The meter whose ratio counts: where the tier does not list audio that costs what text costs, that of text."""
    standard, own = entry.at("standard"), entry.at(tier)
    like = [
        one for one in FALLBACKS.get(meter, ()) if standard.get(one) == standard.get(meter) and one in own
    ]
    return meter if meter in own or not like else like[0]


def genai_ratios(period: RatePeriod, tier: str) -> Ratios:
    """The same from genai-prices, empty when it does not have the tier."""
    found = [
        one
        for one in period.service_tiers
        if one.name == tier and is_active(one.valid_from, one.valid_until, READ_ON)
    ]
    if not found:
        return {}
    return {
        meter: Fraction(found[-1].rates.get(meter, rate)) / Fraction(rate)
        for meter, rate in period.rates.items()
        if rate and meter.is_tokens
    }


def decimal_of(ratio: Fraction, meter: Meter) -> Decimal:
    """A ratio as an exact decimal.

    Raises:
        NoMultiple: It has no end.
    """
    rest = ratio.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        raise NoMultiple(f"no exact multiple: {meter} is {ratio} of standard")
    return (Decimal(ratio.numerator) / Decimal(ratio.denominator)).normalize()


def file_of(rows: Mapping[Pattern, set[str]]) -> Iterator[str]:
    """The text of the file, in a stable order."""
    yield f"# Made by tools/make_tiers.py from {RELEASE} (MIT, facts only): run it again instead of editing.\n"
    yield "# Ratios to the standard price; a meter that a tier does not list keeps its standard rate.\n"
    yield "# Unverified: since when OpenAI sells priority.\n"
    for pattern in sorted(rows):
        yield from head_of(pattern.provider, sorted(rows[pattern]), pattern.tier)
        yield f'multiplier = "{pattern.multiplier:f}"\n'
        if pattern.others:
            yield f"multipliers = {table_of(dict(pattern.others))}\n"
        yield from tail_of(pattern.provider, SOLD_SINCE.get((pattern.provider, pattern.tier)))


def own_rates_row(card: PriceCard, tier: str, entry: Entry, period: RatePeriod) -> Iterator[str]:
    """A row of a tier with its rates, which hold no longer than the standard rates of today do."""
    starts = [
        one for one in (period.valid_from, SOLD_SINCE.get((card.provider or "", tier))) if one is not None
    ]
    yield from head_of(card.provider or "", [card.model.lower()], tier)
    yield f"rates = {rates_table(entry.at(tier))}\n"
    steps = [(above, entry.at(tier, above)) for above in entry.thresholds if entry.at(tier, above)]
    if steps:
        listed = ", ".join(
            f"{{ above = {above * 1000}, rates = {rates_table(rates)} }}" for above, rates in steps
        )
        yield f"context = [{listed}]\n"
    yield from tail_of(card.provider or "", max(starts, default=None))


def rates_table(rates: Rates) -> str:
    """Rates as an inline table, in the order of meters."""
    return table_of({meter.value: rates[meter].normalize() for meter in Meter if meter in rates})


def table_of(values: Mapping[str, Decimal]) -> str:
    """Decimals as an inline table of strings."""
    return "{ " + ", ".join(f'{name} = "{value:f}"' for name, value in values.items()) + " }"


def head_of(provider: str, models: list[str], tier: str) -> Iterator[str]:
    """The first lines of a row."""
    yield f'\n[[tier]]\nprovider = "{provider}"\n'
    yield "models = [\n" + "".join(f'    "{model}",\n' for model in models) + f']\ntier = "{tier}"\n'


def tail_of(provider: str, since: datetime | None) -> Iterator[str]:
    """The last lines of a row."""
    if since is not None:
        yield f"valid_from = {since:%Y-%m-%dT%H:%M:%SZ}\n"
    yield f'source = "{PAGES[provider]} ({RELEASE})"\nchecked_on = {READ_ON:%Y-%m-%d}\n'


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
