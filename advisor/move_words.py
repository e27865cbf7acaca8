"""What is said of a move to another model: prices and tokens of both, and what is taken for granted."""

from collections.abc import Iterator

from advisor import numbers
from advisor.recommendation import Fact
from advisor.rerouting import Move
from pricing.meters import Meter, Phase


def move_facts(move: Move) -> Iterator[Fact]:
    """Yield figures of this log and the prices of both models."""
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


def move_assumptions(move: Move) -> Iterator[str]:
    """Yield what is taken for granted of tokens, caches and prices."""
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
