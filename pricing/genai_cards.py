"""The models of the genai-prices package by name; ``genai_lift`` restates each as a price card, once."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from genai_prices.data_snapshot import get_snapshot
from genai_prices.types import (
    ClauseEquals,
    ClauseOr,
    ClauseStartsWith,
    MatchLogic,
    ModelInfo,
    Provider,
)

from pricing.cards import PriceCard
from pricing.genai_lift import lift
from pricing.names import names_another_product


def lookup(provider: str | None, names: Sequence[str]) -> PriceCard | None:
    """The card that genai-prices itself would price a model by.

    Args:
        provider: A genai-prices provider id; None leaves the choice to the model's name.
        names: Names to try in order.

    Returns:
        The card, or None when no name is known there.
    """
    for name in names:
        try:
            found, model = get_snapshot().find_provider_model(name, None, provider, None)
        except LookupError:
            continue
        if not _is_another_product(name, model):
            return _card(found, model)
    return None


def _is_another_product(name: str, model: ModelInfo) -> bool:
    """Whether the price list knows a name by its beginning only, and what follows names a product of its own."""
    if name in {model.id.lower(), *_literals(model.match)}:
        return False
    begins = (start for start in (model.id.lower(), *_beginnings(model.match)) if name.startswith(start))
    return names_another_product(min((name[len(start) :] for start in begins), key=len, default=""))


def listed(names: Sequence[str]) -> list[PriceCard]:
    """Cards of every provider that lists the first known of these names literally."""
    index = _index()
    for name in names:
        if found := index.get(name):
            by_provider = {provider.id: (provider, model) for provider, model in reversed(found)}
            return [_card(provider, model) for provider, model in by_provider.values()]
    return []


def all_cards() -> Iterator[PriceCard]:
    """Every model of the package, in its own order."""
    for provider in get_snapshot().providers:
        for model in provider.models:
            yield _card(provider, model)


def forget() -> None:
    """Look everything up anew: the price list is another one now."""
    _cards.clear()
    _index.cache_clear()


def provider_ids() -> list[str]:
    """Ids of all providers."""
    return [provider.id for provider in get_snapshot().providers]


def model_names() -> list[str]:
    """Ids of all models, without repeats."""
    return list(dict.fromkeys(model.id for provider in get_snapshot().providers for model in provider.models))


@cache
def _index() -> Mapping[str, list[tuple[Provider, ModelInfo]]]:
    index: dict[str, list[tuple[Provider, ModelInfo]]] = {}
    for provider in get_snapshot().providers:
        for model in provider.models:
            for name in {model.id.lower(), *_literals(model.match)}:
                index.setdefault(name, []).append((provider, model))
    return index


def _literals(clause: MatchLogic) -> Iterator[str]:
    if isinstance(clause, ClauseEquals):
        yield clause.equals.lower()
    elif isinstance(clause, ClauseOr):
        for part in clause.or_:
            yield from _literals(part)


def _beginnings(clause: MatchLogic) -> Iterator[str]:
    if isinstance(clause, ClauseStartsWith):
        yield clause.starts_with.lower()
    elif isinstance(clause, ClauseOr):
        for part in clause.or_:
            yield from _beginnings(part)


_cards: dict[tuple[str, int], PriceCard] = {}


def _card(provider: Provider, model: ModelInfo) -> PriceCard:
    # Models are unhashable and live as long as the bundled snapshot, so identity is a safe key.
    key = (provider.id, id(model))
    if key not in _cards:
        _cards[key] = lift(provider, model)
    return _cards[key]
