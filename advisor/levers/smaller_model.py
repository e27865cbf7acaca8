"""A smaller model: part of the traffic on a cheaper one of the same provider's line-up. Decode follows a model's size most."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from advisor import numbers
from advisor.evidence import Evidence
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk
from advisor.rerouting import Move, Reroute
from pricing.meters import Meter, Phase

NAME: Final = "smaller_model"
_SHARES: Final = {Level.LOW: Fraction(1, 5), Level.EXPECTED: Fraction(1, 2), Level.HIGH: Fraction(1)}
"""Part of the requests that the smaller model is good enough for: the log does not tell."""


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each move to a smaller model that saves."""
    for move in evidence.moves:
        yield _proposal(evidence, move)


def _change(evidence: Evidence, move: Move) -> Change:
    ratios = move.ratios
    reroute = Reroute(move.route, evidence.book, evidence.as_of)
    by_level = {Level.LOW: ratios.largest, Level.EXPECTED: ratios.usual, Level.HIGH: ratios.smallest}

    def change(cube: Any, level: Level) -> Any:
        return reroute.of(cube, _SHARES[level], by_level[level])

    return change


def _proposal(evidence: Evidence, move: Move) -> Proposal:
    route, target = move.route, move.route.target
    return Proposal(
        lever=NAME,
        workload=route.workload,
        title=f"Send what is easy to {target} instead of {route.source}",
        phase=None,
        change=_change(evidence, move),
        confidence=Confidence.ASSUMED,
        effort=Effort.MEDIUM,
        risk=Risk.EVALUATE,
        evidence=tuple(_facts(move)),
        assumptions=tuple(_assumptions(move)),
        how=(
            f"Take a hundred requests of this workload with answers that you know to be good; run them on {target}.",
            "Compare what matters to you: right answers, format, tool calls, refusals, length, and time to the first token.",
            "Route by what a request looks like (kind, prompt size, tools), and send failures of a check to the larger model.",
            "Count tokens on both: another model may write or reason longer.",
        ),
        snippet=f'model = "{target}" if is_easy(request) else "{route.source}"',
    )


def _facts(move: Move) -> Iterator[Fact]:
    route = move.route
    for phase in (Phase.PREFILL, Phase.DECODE):
        amount = numbers.money(move.by_phase[phase], "USD")
        yield Fact(label=f"Cost of {phase} on {route.source}", value=amount)
    before, after = move.sheets
    for meter, word in ((Meter.INPUT_UNCACHED, "input"), (Meter.OUTPUT, "output")):
        now, then = before.rates.get(meter), after.rates[meter]
        if now:
            value = f"{numbers.rate(now)} to {numbers.rate(then)} ({numbers.ratio(float(then / now))} x)"
            yield Fact(label=f"Price of a million {word} tokens", value=value)
    if move.ratios.usual != 1:
        value = f"{float(move.ratios.usual):.2f} ({float(move.ratios.smallest):.2f} to {float(move.ratios.largest):.2f})"
        yield Fact(label=f"Tokens of {route.target} for one of {route.source}", value=value)


def _assumptions(move: Move) -> Iterator[str]:
    yield (
        "Half of the requests are easy enough for the smaller model; low a fifth, high all. The log does not tell, and no "
        "quality is promised."
    )
    if not move.ratios.measured:
        yield "The tokenizers of the two were not compared: the same number of tokens is taken."
    elif move.ratios.usual != 1:
        yield (
            "The same text has more or fewer tokens on another tokenizer: expected as for English, code and JSON; low the "
            "worst and high the best of fifteen samples."
        )
    yield "It writes the same text. Requests that would cost more there, or that it has no price for, stay."
    if move.cached:
        yield (
            "What is read from a cache divides like the requests; each model has a cache of its own, so some more may be "
            "written."
        )
    until = move.sheets[1].valid_until
    if until is not None:
        yield f"{move.route.target} has this price until {numbers.day(until.date())}."
