"""The built-in prices: genai-prices and the overlay over it, looked up by exact names."""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Final

from pricing import genai_cards
from pricing.amend import amend, at_profile, cards_of
from pricing.cards import PriceCard
from pricing.errors import AmbiguousModelError
from pricing.names import candidates, provider_in_name, region_in_name
from pricing.overlay import built_in

_SHORT_NAMES: Final = {"fireworks": "accounts/fireworks/models/"}
"""What providers put before the names of their models, and logs leave out."""


def find(payee: str | None, model: str) -> PriceCard | None:
    """The built-in card of a model, or None.

    At the log's provider, at the one that the name itself states, at the one that genai-prices infers from the name,
    and at the only provider that lists the name.

    Args:
        payee: genai-prices id of the log's provider, or None.
        model: The log's name of the model.

    Raises:
        AmbiguousModelError: Several providers list the name, and neither log nor name says which was paid.
    """
    names = candidates(model)
    if payee in _SHORT_NAMES:
        names = (*names, *(_SHORT_NAMES[payee] + name for name in names))
    known = payee in sellers()
    places: list[str | None] = [one for one in (payee, provider_in_name(model)) if one is not None]
    for where in places if known else [*places, None]:
        card = _at(where, names)
        if card is not None:
            return card
    if known:
        return None  # another seller's price is not this one's
    listed = {card.provider: card for card in (*_own_listed(names), *genai_cards.listed(names))}
    if len(listed) > 1:
        who = ", ".join(sorted(name or "" for name in listed))
        raise AmbiguousModelError(f"model {model!r} is sold by {who}: name the provider")
    return next((_amended(card) for card in listed.values()), None)


@cache
def sellers() -> frozenset[str | None]:
    """Ids of all who have a price list of their own."""
    return frozenset((*(card.provider for card in _own().values()), *genai_cards.provider_ids()))


def cards() -> Iterator[PriceCard]:
    """Every built-in card, the overlay's own first."""
    own = _own()
    yield from map(_amended, own.values())
    for card in genai_cards.all_cards():
        if (card.provider, card.model.lower()) not in own:
            yield _amended(card)


def names() -> Mapping[str, str]:
    """Names of all models, by their lower case."""
    own = [name for card in _own().values() for name in (card.model, *card.aliases)]
    return {name.lower(): name for name in (*genai_cards.model_names(), *own)}


def for_profile(card: PriceCard, provider: str | None, model: str) -> PriceCard:
    """A card of the user's for a model that the log names by a regional id."""
    region = region_in_name(model)
    return (
        card if region is None else at_profile(card, provider or provider_in_name(model), region, built_in())
    )


def forget() -> None:
    """Look everything up anew: the prices behind it are others now."""
    _amendments.clear()
    for cached in (sellers, _own, _by_name, _aliases):
        cached.cache_clear()


def _at(provider: str | None, names: tuple[str, ...]) -> PriceCard | None:
    for name in names:
        target = _aliases().get((provider, name), name)
        own = _by_name().get((provider, target))
        if own is not None:
            return _amended(own)
    redirected = tuple(_aliases().get((provider, name), name) for name in names)
    card = genai_cards.lookup(provider, redirected)
    if card is None:
        return None
    # Without a provider the price list infers one, whose own names count then.
    if provider is None and card.provider is not None:
        return _at(card.provider, names) or _amended(card)
    return _amended(_own().get((card.provider, card.model.lower()), card))


_amendments: dict[tuple[str | None, str], PriceCard] = {}


def _amended(card: PriceCard) -> PriceCard:
    key = (card.provider, card.model)
    if key not in _amendments:
        _amendments[key] = amend(card, built_in())
    return _amendments[key]


@cache
def _own() -> Mapping[tuple[str | None, str], PriceCard]:
    """The overlay's own cards by provider and id."""
    return {(card.provider, card.model.lower()): card for card in cards_of(built_in())}


@cache
def _by_name() -> Mapping[tuple[str | None, str], PriceCard]:
    return {
        (card.provider, name.lower()): card
        for card in _own().values()
        for name in (*card.aliases, card.model)
    }


def _own_listed(names: tuple[str, ...]) -> list[PriceCard]:
    """The overlay's cards, of whatever provider, with the first known of these names."""
    for name in names:
        if found := [card for (_, known), card in _by_name().items() if known == name]:
            return found
    return []


@cache
def _aliases() -> Mapping[tuple[str | None, str], str]:
    return {(row.provider, name.lower()): row.model.lower() for row in built_in().alias for name in row.names}
