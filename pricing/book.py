"""The price book: the user's cards over those of genai-prices, looked up by exact names only."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType

from pricing.cards import PriceCard
from pricing.errors import AmbiguousModelError, PriceFileError, PricingError, UnknownModelError
from pricing.names import candidates, provider_id, region_in_name
from pricing.rate_keys import RateKeys, keys_of


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceBook:
    """Price cards of all models, with where they come from.

    Attributes:
        user_cards: Cards of the user's, each name once.
        builtin: Whether genai-prices is asked for what the user's cards do not have.
        names: What the user says that names of the log stand for, by lower case.
        version: For people: ``genai-prices 0.2.3 + prices.json``.
        sha256: Of the data of genai-prices and of the user's files; the same book has the same hash.
    """

    user_cards: tuple[PriceCard, ...] = ()
    builtin: bool = True
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    version: str = ""
    sha256: str = ""
    _by_name: Mapping[str, PriceCard] = field(init=False, repr=False, compare=False)
    _found: dict[tuple[str | None, str], PriceCard | PricingError] = field(
        init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        names = {
            name.strip().lower(): card for card in self.user_cards for name in (*card.aliases, card.model)
        }
        object.__setattr__(self, "_by_name", MappingProxyType(names))
        object.__setattr__(self, "_found", {})

    def find(self, provider: str | None, model: str) -> PriceCard:
        """The card for a model as a log names it.

        The user's cards come first, by every exact name the log's name may stand for (see ``names.candidates``), then the
        built-in ones by the same names (see ``catalog.find``).

        Args:
            provider: The log's word for the provider or gateway, or None.
            model: The log's name of the model.

        Raises:
            UnknownModelError: No card has one of the names; a similar name is never taken.
            AmbiguousModelError: Several providers list the name, and the log does not say which was paid.
        """
        key = (provider, model)
        if key not in self._found:
            try:
                self._found[key] = self._find(provider, model)
            except (UnknownModelError, AmbiguousModelError) as error:
                self._found[key] = error
        found = self._found[key]
        if isinstance(found, PricingError):
            raise found.with_traceback(None)
        return found

    def _find(self, provider: str | None, model: str) -> PriceCard:
        payee = provider_id(provider)
        model = self.names.get(model.strip().lower(), model)
        for name in candidates(model):
            card = self._by_name.get(name)
            if card is not None and (
                payee is None or card.provider is None or provider_id(card.provider) == payee
            ):
                return self._for_profile(card, payee, model)
        label = f"{model!r}" if provider is None else f"{model!r} (provider {provider!r})"
        if self.builtin:
            from pricing import catalog  # noqa: PLC0415

            card = catalog.find(payee, model)
            if card is not None:
                same = payee in (None, card.provider)
                return card if same else _instead(card, provider)
        raise UnknownModelError(f"no price card for model {label}; add one to a price file")

    def _for_profile(self, card: PriceCard, payee: str | None, model: str) -> PriceCard:
        """A user's card as a regional id of its model is priced; one written for the very id stays as it is."""
        if region_in_name(model) is None or model.strip().lower() in self._by_name:
            return card
        from pricing import catalog  # noqa: PLC0415

        return catalog.for_profile(card, payee, model)

    def cards(self) -> Iterator[PriceCard]:
        """Every card: the user's first, then those of genai-prices."""
        yield from self.user_cards
        if self.builtin:
            from pricing import catalog  # noqa: PLC0415

            yield from catalog.cards()

    def suggest(self, model: str) -> list[str]:
        """Up to five listed names that resemble an unknown one, for messages; never used to price."""
        from difflib import get_close_matches  # noqa: PLC0415

        names = {name.lower(): name for card in self.user_cards for name in (*card.aliases, card.model)}
        if self.builtin:
            from pricing import catalog  # noqa: PLC0415

            names = {**catalog.names(), **names}
        close: dict[str, None] = {}
        for name in candidates(model):
            close.update(dict.fromkeys(names[hit] for hit in get_close_matches(name, names, n=5)))
        return list(close)[:5]

    def rate_keys(self, pairs: Iterable[tuple[str | None, str]]) -> RateKeys:
        """What splits the requests of some models into cells of constant rates.

        Args:
            pairs: (provider, model) as the log has them. Unknown models contribute nothing.
        """
        found: dict[tuple[str | None, str], PriceCard] = {}
        for pair in pairs:
            with suppress(PricingError):
                found[pair] = self.find(*pair)
        return keys_of(found)


def _instead(card: PriceCard, provider: str | None) -> PriceCard:
    """The card of another provider than the log names, saying so."""
    note = f"no price of provider {provider!r} for it, that of {card.provider} used"
    return replace(card, notes=(*card.notes, note))


def load_book(
    user_files: Sequence[Path] = (), pinned: Path | None = None, names: Mapping[str, str] | None = None
) -> PriceBook:
    """The book to price with.

    Args:
        user_files: Price files of the user's; where two have a card of the same name, the later one counts.
        pinned: A book that was exported, in the place of the built-in one from here on.
        names: What the user says that names of the log stand for.

    Raises:
        PriceFileError: A file is malformed, or names run in a circle.
    """
    cards: dict[str, PriceCard] = {}
    title, builtin_sha256 = built_in_version() if pinned is None else _pinned(pinned)
    digest = hashlib.sha256(builtin_sha256.encode())
    for path in map(Path, user_files):
        from pricing.user_cards import parse_price_file  # noqa: PLC0415

        try:
            content = path.read_bytes()
        except OSError as error:
            raise PriceFileError(f"{path}: cannot be read: {error.strerror}") from error
        for card in parse_price_file(content, path):
            # A later card also takes over the names that earlier ones have.
            cards.pop(card.model.strip().lower(), None)
            cards[card.model.strip().lower()] = card
        digest.update(hashlib.sha256(content).digest())
    return PriceBook(
        user_cards=tuple(cards.values()),
        names=_ends(names or {}),
        version=" + ".join([title, *(Path(path).name for path in user_files)]),
        sha256=digest.hexdigest(),
    )


def built_in_version() -> tuple[str, str]:
    """What the installed book is called, and its hash."""
    release = version("genai-prices")
    sha256 = hashlib.sha256(f"genai-prices {release} {_builtin_sha256()} {_overlay_sha256()}".encode())
    return f"genai-prices {release} + overlay {_overlay_sha256()[:8]}", sha256.hexdigest()


def _pinned(path: Path) -> tuple[str, str]:
    from pricing.pinned import pin  # noqa: PLC0415

    found = pin(path)
    return found.version, found.sha256


def _ends(names: Mapping[str, str]) -> Mapping[str, str]:
    """Names, in lower case, and the models that they stand for at the end of all detours."""
    given = {name.strip().lower(): target.strip() for name, target in names.items()}
    ends: dict[str, str] = {}
    for name in given:
        chain = [name]
        while (target := given.get(chain[-1].lower())) is not None:
            chain.append(target)
            if target.lower() in [one.lower() for one in chain[:-1]]:
                raise PriceFileError(
                    f"names of models run in a circle: {' -> '.join(chain)}; the last must be a model"
                )
        ends[name] = chain[-1]
    return MappingProxyType(ends)


@cache
def _overlay_sha256() -> str:
    """Of the overlay's rows, read as files because parsing them takes a while."""
    digest = hashlib.sha256()
    for path in sorted((Path(__file__).parent / "data").glob("*.toml")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


@cache
def _builtin_sha256() -> str:
    """Of the data of genai-prices, read as a file because importing it takes a third of a second."""
    spec = find_spec("genai_prices")
    folders = spec.submodule_search_locations if spec is not None else None
    content = b"".join((Path(folder) / "data.py").read_bytes() for folder in folders or ())
    return hashlib.sha256(content).hexdigest()
