"""Read litellm's price file as facts: rates by meter, context threshold and service tier, for the models of our book.

The file (``model_prices_and_context_window.json``, MIT) holds current prices only, in USD per token. It is a source to
check against and to copy figures from while developing; nothing of the tool reads it when it runs.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Final

from pricing import genai_cards
from pricing.cards import PriceCard
from pricing.meters import Meter
from pricing.names import candidates
from pricing.units import TOKENS_PER_MTOK

READ_ON: Final = datetime(2026, 11, 20, 12, tzinfo=UTC)
RELEASE: Final = "litellm 1.110.2"

PROVIDERS: Final[Mapping[str, str]] = {
    "anthropic": "anthropic",
    "azure": "azure",
    "azure_ai": "azure",
    "bedrock": "aws",
    "bedrock_converse": "aws",
    "bedrock_mantle": "aws",
    "databricks": "databricks",
    "deepseek": "deepseek",
    "fireworks_ai": "fireworks",
    "gemini": "google",
    "groq": "groq",
    "mistral": "mistral",
    "moonshot": "moonshotai",
    "openai": "openai",
    "text-completion-openai": "openai",
    "vertex_ai": "google",
    "xai": "x-ai",
    "zai": "zai",
}
"""Provider tags to ids of genai-prices; ``vertex_ai-...`` tags count as ``vertex_ai``."""

OTHER_PRICES: Final = re.compile(
    r"^(?:azure(?:_ai)?/(?:us|eu|global-standard)/|bedrock(?:_mantle)?/(?:[a-z-]+/)?[a-z]+-(?:gov-)?[a-z]+-\d/"
    r"|us-gov\.|ft:|.*/accounts/fireworks/routers/)"
)
"""Keys whose rates are not the list price of the id: data zones, single regions, fine-tuned models."""

_METERS: Final[Mapping[str, Meter]] = {
    "input_cost_per_token": Meter.INPUT_UNCACHED,
    "output_cost_per_token": Meter.OUTPUT,
    "cache_read_input_token_cost": Meter.CACHE_READ,
    "cache_creation_input_token_cost": Meter.CACHE_WRITE_5M,
    "cache_creation_input_token_cost_above_1hr": Meter.CACHE_WRITE_1H,
    "cache_creation_input_token_cost_above_12hr": Meter.CACHE_WRITE_12H,
    "input_cost_per_audio_token": Meter.AUDIO_INPUT,
    "cache_read_input_audio_token_cost": Meter.AUDIO_CACHE_READ,
    "output_cost_per_audio_token": Meter.AUDIO_OUTPUT,
    "input_cost_per_image_token": Meter.IMAGE_INPUT,
    "output_cost_per_image_token": Meter.IMAGE_OUTPUT,
}
_TIERS: Final[Mapping[str | None, str]] = {
    None: "standard",
    "batches": "batch",
    "flex": "flex",
    "priority": "priority",
    "ultrafast": "ultrafast",
}
_FIELD: Final = re.compile(
    rf"^({'|'.join(sorted(_METERS, key=len, reverse=True))})"
    rf"(?:_above_(\d+)k_tokens)?(?:_({'|'.join(name for name in _TIERS if name)}))?$"
)

Rates = Mapping[Meter, Decimal]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One model of the file.

    Attributes:
        key: As the file names it.
        source: The page that the file names, or an empty string.
        rates: USD per million tokens by (service tier, context threshold in thousands of tokens or 0).
    """

    key: str
    source: str
    rates: Mapping[tuple[str, int], Rates]

    def at(self, tier: str, above: int = 0) -> Rates:
        """Rates of one tier and threshold, empty when there are none."""
        return self.rates.get((tier, above), {})

    @property
    def thresholds(self) -> list[int]:
        """Context thresholds of the standard rates, in thousands of tokens."""
        return sorted(above for tier, above in self.rates if tier == "standard" and above)


def entries(path: Path) -> Iterator[tuple[Entry, PriceCard]]:
    """Entries that have a card in genai-prices, with it, in the file's order.

    Args:
        path: litellm's JSON file.
    """
    models = json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)
    for key, model in models.items():
        tag = str(model.get("litellm_provider", ""))
        provider = PROVIDERS.get("vertex_ai" if tag.startswith("vertex_ai-") else tag)
        if provider is None or OTHER_PRICES.match(key):
            continue
        entry = _entry(key, model)
        card = genai_cards.lookup(provider, names_of(key))
        if card is not None and entry.rates:
            yield entry, card


def names_of(key: str) -> tuple[str, ...]:
    """Names to look a key up by: without its route, and for Fireworks as its API writes it."""
    name = key.removeprefix("fireworks_ai/")
    if name != key and not name.startswith("accounts/"):
        return (f"accounts/fireworks/models/{name}", *candidates(key))
    return candidates(name)


def is_exact(entry: Entry, card: PriceCard) -> bool:
    """Whether the key names this very card, rather than an alias that its pattern happens to match."""
    return card.model.lower() in {*names_of(entry.key), names_of(entry.key)[0].rsplit("/", 1)[-1]}


def _entry(key: str, model: Mapping[str, object]) -> Entry:
    rates: dict[tuple[str, int], dict[Meter, Decimal]] = {}
    for field, value in model.items():
        found = _FIELD.match(field)
        if found is not None and isinstance(value, int | Decimal):
            at = (_TIERS[found[3]], int(found[2] or 0))
            rates.setdefault(at, {})[_METERS[found[1]]] = Decimal(value) * TOKENS_PER_MTOK
    return Entry(key=key, source=str(model.get("source", "")), rates=rates)
