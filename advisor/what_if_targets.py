"""Which models a page offers to swap: the dearest of the log, for the log's others and for what their makers sell today."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from advisor.log_cuts import Pair, sold_as
from advisor.what_if_model import Swap, Target
from pricing.book import PriceBook
from pricing.line_ups import newer_models, smaller_models, token_ratios
from workloads.rate_cuts import RateCuts

_SOURCES: Final = 10
_OTHERS: Final = 6
_LONGEST_NAME: Final = 200
_DIGITS: Final = Decimal("0.000001")


@dataclass(frozen=True, slots=True, kw_only=True)
class Dear:
    """A model of the log.

    Attributes:
        pair: Provider and model.
        cost: Of its requests, in any unit.
        most_context_tokens: Its largest prompt.
    """

    pair: Pair
    cost: int
    most_context_tokens: int


def swaps_of(models: Sequence[Dear], book: PriceBook, cuts: RateCuts) -> tuple[Swap, ...]:
    """Return the swaps that are offered.

    A target is left out where the cells of the log are not cut where its price changes: another prompt size, hour, or region
    would have to be told apart for it.

    Args:
        models: Of the log, with a price, dearest first.
        book: Prices.
        cuts: Where the cells of the log end.
    """
    short = [one for one in models if len(one.pair[1]) <= _LONGEST_NAME]
    return tuple(
        Swap(provider=source.pair[0], model=source.pair[1], target=target)
        for source in short[:_SOURCES]
        for target in _targets(source, [one.pair for one in short[: _OTHERS + 1]], book, cuts)
    )


def _targets(source: Dear, others: Sequence[Pair], book: PriceBook, cuts: RateCuts) -> Iterator[Target]:
    provider, model = source.pair
    found: dict[str, Target] = {}
    payee = book.find(provider, model).provider
    line_up = (*newer_models(model), *smaller_models(model))
    sold = [name for one in line_up if (name := sold_as(book, provider, payee, model, one)) is not None]
    for pair in (*((provider, name) for name in sold), *others):
        if pair[1] == model or pair[1] in found:
            continue
        ratios = token_ratios(model, pair[1])
        target = Target(
            model=pair[1],
            provider=pair[0],
            token_ratio=(Decimal(ratios.usual.numerator) / ratios.usual.denominator).quantize(_DIGITS),
            measured=ratios.measured,
        )
        if _is_cut_for(source, target, book, cuts):
            found[pair[1]] = target
    yield from found.values()


def _is_cut_for(source: Dear, target: Target, book: PriceBook, cuts: RateCuts) -> bool:
    keys = book.rate_keys([(target.provider, target.model)])
    most = source.most_context_tokens * max(Decimal(1), target.token_ratio)
    return (
        not keys.per_call
        and all(size in cuts.context_thresholds or size >= most for size in keys.context_thresholds)
        and (
            not keys.clocked
            or (source.pair in cuts.clocked and set(keys.clock_edges) <= set(cuts.clock_edges))
        )
        and (not keys.regional or source.pair in cuts.regional)
    )
