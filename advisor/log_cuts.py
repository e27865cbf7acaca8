"""Where the scan cuts a log: where prices of its models change, and of those that would take their place."""

from collections.abc import Iterator, Sequence
from typing import Final

from advisor.moves import spellings
from advisor.terms import Terms
from pricing.book import PriceBook
from pricing.errors import PricingError
from pricing.line_ups import newer_models, smaller_models
from workloads.rate_cuts import RateCuts

Pair = tuple[str | None, str]
"""Provider and model, as logged."""

_MOST_MODELS: Final = 40
"""Of a log with more models none makes the bill."""


def log_cuts(models: Sequence[Pair], book: PriceBook, terms: Terms) -> RateCuts:
    """Return where the cells of a log end.

    Args:
        models: Of the log.
        book: Prices.
        terms: What the user negotiated.
    """
    own = book.rate_keys(models)
    places = {pair: list(_line_up(book, *pair)) for pair in models} if len(models) <= _MOST_MODELS else {}
    new = book.rate_keys([one for line_up in places.values() for one in line_up])
    regional = {pair for pair, line_up in places.items() if set(line_up) & set(new.regional)}
    return RateCuts(
        breakpoints=sorted({*own.breakpoints, *new.breakpoints, *terms.breakpoints}),
        context_thresholds=sorted({*own.context_thresholds, *new.context_thresholds}),
        clock_edges=own.clock_edges,
        clocked=own.clocked,
        regional=[pair for pair in models if pair in regional or pair in own.regional],
        per_call=own.per_call,
        api_keys=terms.api_keys,
    )


def _line_up(book: PriceBook, provider: str | None, model: str) -> Iterator[Pair]:
    """Yield what the same provider sells in the place of a model."""
    try:
        payee = book.find(provider, model).provider
    except PricingError:
        return
    for target in (*newer_models(model), *smaller_models(model)):
        name = sold_as(book, provider, payee, model, target)
        if name is not None:
            yield provider, name


def sold_as(book: PriceBook, provider: str | None, payee: str | None, model: str, target: str) -> str | None:
    """Return what requests would call a model in the place of another one; None: their provider does not sell it.

    Args:
        book: Prices.
        provider: As logged.
        payee: Who is paid now.
        model: As it is called now.
        target: The plain name of another model of its maker.
    """
    for name in spellings(model, target):
        try:
            if book.find(provider, name).provider == payee:
                return name
        except PricingError:
            continue
    return None
