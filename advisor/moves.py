"""Where requests could go: for the dearest models of a workload, a smaller or a newer one that the same provider sells."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from advisor.cube_changes import FEW_REQUESTS, requests_in, single_rows, tokens_in
from advisor.evidence import Evidence, total_usd
from advisor.rerouting import Move, Route
from pricing.cards import PriceCard, RateSheet
from pricing.errors import PricingError
from pricing.line_ups import newer_models, smaller_models, token_ratios
from pricing.meters import CACHE_READ_METERS, TOKEN_METERS, Meter, Phase
from pricing.names import candidates

_WORTH: Final = Fraction(1, 10)
"""Part of a model's cost that all of its requests must save elsewhere; else the next smaller model is looked at."""
_NOTABLE: Final = Decimal("0.001")
"""Part of the bill below which a model's cost is not worth looking at."""
_MOST: Final = 2
"""Moves a workload."""
_ROUTED: Final = 0.9
"""Requests on one of two models over those on the other, from which on a workload is taken to be divided between them."""


def moves(evidence: Evidence) -> Iterator[Move]:
    """Yield up to two moves of each kind for a workload: of its dearest models, to the nearest smaller, or to the newest one."""
    bill = total_usd(evidence.priced)
    frame = evidence.priced.frame
    looked_at = frame[frame["workload"].isin(list(evidence.workloads))]
    parts: dict[Any, Any] = dict(iter(looked_at.groupby("workload", sort=False, observed=True)))
    for name, workload in evidence.workloads.items():
        if name not in parts or workload.input_tokens is None:
            continue
        part = parts[name]
        single = part[single_rows(part, name)]
        found: list[Move] = []
        for provider, model in (
            single[["provider", "model"]].drop_duplicates().itertuples(index=False, name=None)
        ):
            if isinstance(model, str):
                payee = provider if isinstance(provider, str) else None
                own = Route(workload=name, provider=payee, source=model, target=model)
                found += _nearest(evidence, single, own, workload.input_tokens.p50, bill)
        found.sort(key=lambda one: (-one.cost_usd, one.route.source))
        for newer in (False, True):
            yield from [one for one in found if one.newer is newer][:_MOST]


def _nearest(
    evidence: Evidence, part: Any, own: Route, prompt_tokens: float, bill: Decimal
) -> Iterator[Move]:
    """Yield the nearest smaller and the newest model that save by the rates of today: what they save is found by pricing."""
    mine = part[own.rows(part)]
    by_phase = {phase: _usd(evidence, mine, phase) for phase in Phase}
    requests = requests_in(mine, mine["records"].notna())
    if sum(by_phase.values(), Decimal(0)) <= bill * _NOTABLE or requests < FEW_REQUESTS:
        return
    try:
        card = evidence.book.find(own.provider, own.source)
        sheet = card.resolve(evidence.as_of, int(prompt_tokens), None)
    except PricingError:
        return
    smaller = list(_sold(evidence, own, card, smaller_models(own.source, card.model), prompt_tokens))
    newer = list(_sold(evidence, own, card, newer_models(own.source, card.model), prompt_tokens))
    if _is_divided(part, own, requests, [target for target, _ in smaller]):
        smaller = []
    cached = any(tokens_in(mine, mine["records"].notna(), str(meter)) for meter in CACHE_READ_METERS)
    for sold, is_newer in ((smaller, False), (newer, True)):
        for target, rates in sold:
            ratios = token_ratios(own.source, target)
            if _at(rates, mine, ratios.usual) < (1 - _WORTH) * _at(sheet, mine, Fraction(1)):
                yield Move(
                    route=replace(own, target=target),
                    ratios=ratios,
                    sheets=(sheet, rates),
                    by_phase=by_phase,
                    cached=cached,
                    newer=is_newer,
                )
                break


def _usd(evidence: Evidence, mine: Any, phase: Phase) -> Decimal:
    names = [f"cost_{meter}" for meter in Meter if meter.phase is phase and f"cost_{meter}" in mine.columns]
    return evidence.priced.to_usd(sum(int(value) for name in names for value in mine[name]))


def _at(sheet: RateSheet, mine: Any, ratio: Fraction) -> Fraction:
    """Return what the tokens of some rows cost by one rate sheet; meters that it has no rate for are left out."""
    every = mine["records"].notna()
    tokens = {meter: tokens_in(mine, every, str(meter)) for meter in TOKEN_METERS}
    return sum(
        (Fraction(sheet.rates.get(meter, 0)) * count * ratio for meter, count in tokens.items()), Fraction(0)
    )


def _is_divided(cube: Any, own: Route, requests: int, targets: list[str]) -> bool:
    """Return whether the workload has as many requests on smaller models, or on one that this is the smaller one of."""
    smaller = sum(requests_in(cube, own.rows(cube, target)) for target in targets)
    plain = set(candidates(own.source))
    larger = [
        model
        for model in set(cube["model"].dropna())
        if isinstance(model, str) and plain & set(smaller_models(model))
    ]
    above = max((requests_in(cube, own.rows(cube, model)) for model in larger), default=0)
    return max(smaller, above) >= _ROUTED * requests


def _sold(
    evidence: Evidence, own: Route, card: PriceCard, targets: tuple[str, ...], prompt_tokens: float
) -> Iterator[tuple[str, RateSheet]]:
    """Yield those of some models that the same provider has a price for, as requests would name them, with their rates."""
    model = own.source
    for target in targets:
        for name in spellings(model, target):
            try:
                found = evidence.book.find(own.provider, name)
                ratio = token_ratios(model, name).usual
                sheet = found.resolve(evidence.as_of, int(prompt_tokens * ratio), None)
            except PricingError:
                continue
            same = found.provider == card.provider or None in (found.provider, card.provider)
            if same and {Meter.INPUT_UNCACHED, Meter.OUTPUT} <= set(sheet.rates):
                yield name, sheet
                break


def spellings(model: str, target: str) -> tuple[str, ...]:
    """Return what requests would call a model in the place of another one: decorated like it, or plain; dots or dashes.

    Args:
        model: As it is called now.
        target: The plain name of another model of its maker.
    """
    decoration = model[: max(0, model.lower().find(candidates(model)[-1]))]
    # Some name versions with dots: claude-haiku-5.5.
    dotted = "-".join(target.rsplit("-", 2)[:-2]) + "-" + ".".join(target.rsplit("-", 2)[-2:])
    return tuple(dict.fromkeys((decoration + target, decoration + dotted, target)))
