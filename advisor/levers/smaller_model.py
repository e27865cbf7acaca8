"""A smaller model: part of the traffic on a cheaper one of the same provider's line-up. Decode follows a model's size most."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Final

from advisor import numbers
from advisor.cube_changes import FEW_REQUESTS, requests_in, single_rows, tokens_in
from advisor.evidence import Evidence, total_usd
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk
from advisor.rerouting import Route, rerouted
from pricing.cards import PriceCard, RateSheet
from pricing.errors import PricingError
from pricing.line_ups import TokenRatios, smaller_models, token_ratios
from pricing.meters import CACHE_READ_METERS, TOKEN_METERS, Meter, Phase
from pricing.names import candidates

NAME: Final = "smaller_model"
_SHARES: Final = {Level.LOW: Fraction(1, 5), Level.EXPECTED: Fraction(1, 2), Level.HIGH: Fraction(1)}
"""Part of the requests that the smaller model is good enough for: the log does not tell."""
_WORTH: Final = Fraction(1, 10)
"""Part of a model's cost that all of its requests must save elsewhere; else the next smaller model is looked at."""
_NOTABLE: Final = Decimal("0.001")
"""Part of the bill below which a model's cost is not worth looking at."""
_MOST: Final = 2
"""Proposals a workload."""
_ROUTED: Final = 0.9
"""Requests on one of two models over those on the other, from which on a workload is taken to be divided between them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Option:
    route: Route
    ratios: TokenRatios
    sheets: tuple[RateSheet, RateSheet]
    """Of the model as it is, and of the smaller one, for the median prompt of the workload."""
    by_phase: Mapping[Phase, Decimal]
    """USD of the model as it is."""
    cached: bool
    """Whether some of its prompts are read from a cache."""

    @property
    def cost_usd(self) -> Decimal:
        return sum(self.by_phase.values(), Decimal(0))


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield up to two proposals for each workload: for its dearest models, the nearest smaller one that saves."""
    bill = total_usd(evidence.priced)
    parts: dict[Any, Any] = dict(iter(evidence.priced.frame.groupby("workload", sort=False)))
    for name, workload in evidence.workloads.items():
        if name not in parts or workload.input_tokens is None:
            continue
        part = parts[name]
        single = part[single_rows(part, name)]
        options: list[_Option] = []
        for provider, model in (
            single[["provider", "model"]].drop_duplicates().itertuples(index=False, name=None)
        ):
            if isinstance(model, str):
                payee = provider if isinstance(provider, str) else None
                own = Route(workload=name, provider=payee, source=model, target=model)
                options += _nearest(evidence, single, own, workload.input_tokens.p50, bill)
        options.sort(key=lambda one: (-one.cost_usd, one.route.source))
        for option in options[:_MOST]:
            yield _proposal(evidence, option)


def _nearest(
    evidence: Evidence, part: Any, own: Route, prompt_tokens: float, bill: Decimal
) -> Iterator[_Option]:
    """Yield the nearest smaller model that saves by the rates of today: what it really saves is found by pricing."""
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
    sold = list(_sold(evidence, own, card, prompt_tokens))
    if _is_divided(part, own, requests, [target for target, _ in sold]):
        return
    for target, rates in sold:
        ratios = token_ratios(own.source, target)
        if _at(rates, mine, ratios.usual) < (1 - _WORTH) * _at(sheet, mine, Fraction(1)):
            route = replace(own, target=target)
            cached = any(tokens_in(mine, mine["records"].notna(), str(meter)) for meter in CACHE_READ_METERS)
            yield _Option(route=route, ratios=ratios, sheets=(sheet, rates), by_phase=by_phase, cached=cached)
            return


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
    evidence: Evidence, own: Route, card: PriceCard, prompt_tokens: float
) -> Iterator[tuple[str, RateSheet]]:
    """Yield the smaller models that the same provider has a price for, as requests would name them, with their rates."""
    model = own.source
    decoration = model[: max(0, model.lower().find(candidates(model)[-1]))]
    for target in smaller_models(model, card.model):
        # Some name versions with dots: claude-haiku-5.5.
        dotted = "-".join(target.rsplit("-", 2)[:-2]) + "-" + ".".join(target.rsplit("-", 2)[-2:])
        for name in dict.fromkeys((decoration + target, decoration + dotted, target)):
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


def _change(evidence: Evidence, route: Route, ratios: TokenRatios) -> Change:
    book, as_of = evidence.book, evidence.as_of
    by_level = {Level.LOW: ratios.largest, Level.EXPECTED: ratios.usual, Level.HIGH: ratios.smallest}

    def change(cube: Any, level: Level) -> Any:
        return rerouted(cube, route, _SHARES[level], by_level[level], book, as_of)

    return change


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
        evidence=tuple(_facts(option)),
        assumptions=tuple(_assumptions(option)),
        how=(
            f"Take a hundred requests of this workload with answers that you know to be good; run them on {target}.",
            "Compare what matters to you: right answers, format, tool calls, refusals, length, and time to the first token.",
            "Route by what a request looks like (kind, prompt size, tools), and send failures of a check to the larger model.",
            "Count tokens on both: another model may write or reason longer.",
        ),
        snippet=f'model = "{target}" if is_easy(request) else "{route.source}"',
    )


def _facts(option: _Option) -> Iterator[Fact]:
    route = option.route
    for phase in (Phase.PREFILL, Phase.DECODE):
        amount = numbers.money(option.by_phase[phase], "USD")
        yield Fact(label=f"Cost of {phase} on {route.source}", value=amount)
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
    if option.cached:
        yield (
            "What is read from a cache divides like the requests; each model has a cache of its own, so some more may be "
            "written."
        )
    until = option.sheets[1].valid_until
    if until is not None:
        yield f"{option.route.target} has this price until {numbers.day(until.date())}."
