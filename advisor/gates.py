"""Gates: what makes a run fail although it worked."""

from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

from advisor import numbers
from advisor.analysis import Analysis
from advisor.wording import clean, plural
from pricing.meters import Meter

_NAMED = 5


def unpriced_failure(analysis: Analysis, limit_ratio: Decimal) -> str | None:
    """Return the sentence of a run that leaves too much unpriced; None when it passes.

    Args:
        analysis: What was computed.
        limit_ratio: Part of requests, and of tokens, that may go without a price.
    """
    if analysis.cost.basis == "recorded":
        return None  # a cost export: its money needs no price
    shares = (("requests", _requests(analysis)), ("tokens", _tokens(analysis)))
    over = [(name, share) for name, share in shares if share > Fraction(limit_ratio)]
    if not over:
        return None
    said = " and ".join(f"{numbers.share(float(share))} of {name}" for name, share in over)
    models = sorted({clean(item.model) for item in analysis.cost.unpriced})
    more = len(models) - _NAMED
    named = ", ".join(models[:_NAMED]) + (f" and {plural(more, 'more model')}" if more > 0 else "")
    allowed = f"{(limit_ratio * 100).normalize():f} %"  # as it was asked, never rounded to what was found
    return f"--fail-on-unpriced: {said} have no price, allowed is {allowed}: {named}. Give cards for them with --prices FILE"


def _requests(analysis: Analysis) -> Fraction:
    """The part of requests without a price; of records where the log does not count requests."""
    whole = analysis.whole
    if not whole.requests:
        return Fraction(whole.records - whole.priced_records, whole.records) if whole.records else Fraction(0)
    return Fraction(whole.requests - whole.priced_requests, whole.requests)


def _tokens(analysis: Analysis) -> Fraction:
    def count(tokens: Mapping[Meter, int]) -> int:
        return sum(number for meter, number in tokens.items() if meter.is_tokens)

    every = count(analysis.whole.tokens)
    lost = sum(count(item.tokens) for item in analysis.cost.unpriced)
    return Fraction(lost, every) if every else Fraction(0)
