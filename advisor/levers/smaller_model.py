"""A smaller model: part of the traffic on a cheaper one of the same provider's line-up. Decode follows a model's size most."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from advisor import numbers
from advisor.cube_changes import FEW_REQUESTS, requests_in, single_rows
from advisor.evidence import Evidence, total_usd
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk
from advisor.rerouting import Route, rerouted
from pricing.cards import PriceCard, RateSheet
from pricing.errors import PricingError
from pricing.frame import price_cube
from pricing.line_ups import TokenRatios, smaller_models, token_ratios
from pricing.meters import Meter, Phase
from pricing.names import candidates

NAME: Final = "smaller_model"
_SHARES: Final = {Level.LOW: Fraction(1, 5), Level.EXPECTED: Fraction(1, 2), Level.HIGH: Fraction(1)}
"""Part of the requests that the smaller model is good enough for: the log does not tell."""
_WORTH: Final = Decimal("0.05")
"""Part of a model's cost that is saved when half of its requests move, under which the next smaller one is looked at."""
_MOST: Final = 2
"""Proposals a workload."""
_ROUTED: Final = 0.9
"""Requests on smaller models over those on the model, from which on half of them are taken to have moved already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Option:
    route: Route
    ratios: TokenRatios
    sheets: tuple[RateSheet, RateSheet]
    """Of the model as it is, and of the smaller one."""
    cost_usd: Decimal
    saving_usd: Decimal


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield up to two proposals for each workload: for its dearest models, the nearest smaller one that saves."""
    for name, workload in evidence.workloads.items():
        rows = single_rows(evidence.cube, name)
        if workload.input_tokens is None or requests_in(evidence.cube, rows) < FEW_REQUESTS:
            continue
        pairs = evidence.cube.loc[rows, ["provider", "model"]].drop_duplicates()
        options = [
            option
            for provider, model in pairs.itertuples(index=False, name=None)
            if isinstance(model, str)
            and (option := _nearest(evidence, name, provider if isinstance(provider, str) else None, model))
        ]
        options.sort(key=lambda one: (-one.saving_usd, one.route.source))
        for option in options[:_MOST]:
            yield _proposal(evidence, option)


def _nearest(evidence: Evidence, workload: str, provider: str | None, model: str) -> _Option | None:
    """Return the nearest smaller model that saves; None where there is none, or requests are on smaller ones already."""
    try:
        card = evidence.book.find(provider, model)
        sheet = card.resolve(evidence.as_of, None, None)
    except PricingError:
        return None
    cube = evidence.cube[single_rows(evidence.cube, workload)].reset_index(drop=True)
    sold = list(_sold(evidence, provider, model, card))
    own = Route(workload=workload, provider=provider, source=model, target=model)
    requests = requests_in(cube, own.rows(cube))
    smaller = sum(requests_in(cube, own.rows(cube, target)) for target, _ in sold)
    if requests < FEW_REQUESTS or smaller >= _ROUTED * requests:
        return None
    cost = _usd(evidence, cube[own.rows(cube)])
    for target, rates in sold:
        route = Route(workload=workload, provider=provider, source=model, target=target)
        ratios = token_ratios(model, target)
        after = _change(evidence, route, ratios)(
            cube[route.rows(cube)].reset_index(drop=True), Level.EXPECTED
        )
        saving = cost - _usd(evidence, after)
        if saving > cost * _WORTH:
            return _Option(
                route=route, ratios=ratios, sheets=(sheet, rates), cost_usd=cost, saving_usd=saving
            )
    return None


def _sold(
    evidence: Evidence, provider: str | None, model: str, card: PriceCard
) -> Iterator[tuple[str, RateSheet]]:
    """Yield the smaller models that the same provider has a price for, as requests would name them, with their rates."""
    shortest = candidates(model)[-1]
    decoration = model[: max(0, model.lower().find(shortest))]
    for target in smaller_models(model, card.model):
        # Some name versions with dots: claude-haiku-5.5.
        dotted = "-".join(target.rsplit("-", 2)[:-2]) + "-" + ".".join(target.rsplit("-", 2)[-2:])
        for name in dict.fromkeys((decoration + target, decoration + dotted, target)):
            try:
                found = evidence.book.find(provider, name)
                sheet = found.resolve(evidence.as_of, None, None)
            except PricingError:
                continue
            same = found.provider == card.provider or None in (found.provider, card.provider)
            if same and {Meter.INPUT_UNCACHED, Meter.OUTPUT} <= set(sheet.rates):
                yield name, sheet
                break


def _change(evidence: Evidence, route: Route, ratios: TokenRatios) -> Change:
    book, as_of = evidence.book, evidence.as_of
    by_level = {Level.LOW: ratios.largest, Level.EXPECTED: ratios.usual, Level.HIGH: ratios.smallest}

    def change(cube: Any, level: Level) -> Any:
        return rerouted(cube, route, _SHARES[level], by_level[level], book, as_of)

    return change


def _usd(evidence: Evidence, cube: Any) -> Decimal:
    return total_usd(price_cube(cube.reset_index(drop=True), evidence.book, as_of=evidence.as_of))


def _proposal(evidence: Evidence, option: _Option) -> Proposal:
    route, target = option.route, option.route.target
    return Proposal(
        lever=NAME,
        workload=route.workload,
        title=f"Send what is easy to {target} instead of {route.source}",
        phase=None,
        change=_change(evidence, route, option.ratios),
        confidence=Confidence.ASSUMED,
        effort=Effort.MEDIUM,
        risk=Risk.EVALUATE,
        evidence=tuple(_facts(evidence, option)),
        assumptions=tuple(_assumptions(option)),
        how=(
            f"Take a hundred requests of this workload with answers that you know to be good; run them on {target}.",
            "Compare what matters to you: right answers, format, tool calls, refusals, length, and time to the first token.",
            "Route by what a request looks like (kind, prompt size, tools), and send failures of a check to the larger model.",
            "Count tokens on both: another model may write or reason longer.",
        ),
        snippet=f'model = "{target}" if is_easy(request) else "{route.source}"',
    )


def _facts(evidence: Evidence, option: _Option) -> Iterator[Fact]:
    route = option.route
    priced = evidence.priced.frame
    rows = route.rows(priced)
    for phase in (Phase.PREFILL, Phase.DECODE):
        names = [f"cost_{meter}" for meter in Meter if meter.phase is phase]
        amount = sum(
            int(value) for name in names if name in priced.columns for value in priced.loc[rows, name]
        )
        label = f"Cost of {phase} on {route.source}"
        yield Fact(label=label, value=numbers.money(evidence.priced.to_usd(amount), "USD"))
    before, after = option.sheets
    for meter, word in ((Meter.INPUT_UNCACHED, "input"), (Meter.OUTPUT, "output")):
        now, then = before.rates.get(meter), after.rates[meter]
        if now:
            value = f"{numbers.rate(now)} to {numbers.rate(then)} ({numbers.ratio(float(then / now))} x)"
            yield Fact(label=f"Price of a million {word} tokens", value=value)
    if option.ratios.usual != 1:
        value = f"{float(option.ratios.usual):.2f} ({float(option.ratios.smallest):.2f} to {float(option.ratios.largest):.2f})"
        yield Fact(label=f"Tokens of {route.target} for one of {route.source}", value=value)


def _assumptions(option: _Option) -> Iterator[str]:
    yield (
        "Half of the requests are easy enough for the smaller model; low a fifth, high all. The log does not tell, and no "
        "quality is promised."
    )
    if not option.ratios.measured:
        yield "The tokenizers of the two were not compared: the same number of tokens is taken."
    elif option.ratios.usual != 1:
        yield (
            "The same text has more or fewer tokens on another tokenizer: expected as for English, code and JSON; low the "
            "worst and high the best of fifteen samples."
        )
    yield "It writes the same text. Requests that would cost more there, or that it has no price for, stay."
    yield "What is read from a cache divides like the requests; each model has a cache of its own, so some more may be written."
    until = option.sheets[1].valid_until
    if until is not None:
        yield f"{option.route.target} has this price until {numbers.day(until.date())}."
