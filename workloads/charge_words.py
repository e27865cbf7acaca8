"""What a line of a bill is for, from the words that cost exports use: its kind, and the meter it charges.

Exports have no common vocabulary: ``cached input``, ``CacheReadInputTokenCount``, ``cchd Inp`` and
``cache_read_input_tokens`` are one meter. The first pattern that fits wins, so the longer words come first.
"""

from collections.abc import Sequence
from typing import Any, Final

import ibis

from pricing.meters import Meter
from workloads.expressions import NO_TEXT, is_true

Expr = Any

USAGE: Final = "usage"
"""A charge for what was used."""
TAX: Final = "tax"
CREDIT: Final = "credit"
"""Credits, refunds and corrections; below zero, as a rule."""
FEE: Final = "fee"
"""A charge for no tokens: calls of tools, sessions, subscriptions, reservations."""
DISCOUNT: Final = "discount"
"""A line of its own for an agreed discount; below zero."""
KINDS: Final = (USAGE, TAX, CREDIT, FEE, DISCOUNT)

_KINDS: Final = (
    (r"\b(sales)?tax|\bvat\b|\bgst\b", TAX),
    (r"discounts?$", DISCOUNT),
    (r"credit|refund|adjustment|correction", CREDIT),
    (r"purchase|fee$|upfront|recurring", FEE),
)
_ANY_KIND: Final = "|".join(pattern for pattern, _ in _KINDS)
_METERS: Final[Sequence[tuple[str, str, Meter]]] = (
    ("search", r"web.?search", Meter.WEB_SEARCH_CALLS),
    ("audio", r"audio.*(cache|cchd)|(cache|cchd).*audio", Meter.AUDIO_CACHE_READ),
    ("audio", r"audio.*out|out\w*[ _-]audio", Meter.AUDIO_OUTPUT),
    ("audio", r"audio.*in|in\w*[ _-]audio", Meter.AUDIO_INPUT),
    ("image", r"image.*out|out\w*[ _-]image", Meter.IMAGE_OUTPUT),
    ("image", r"image.*in|in\w*[ _-]image", Meter.IMAGE_INPUT),
    ("cache", r"uncached|no_cache|non.?cached", Meter.INPUT_UNCACHED),
)
"""A word that is in all that a pattern fits, which is found faster; the pattern; and what it stands for."""
_WRITE: Final = r"cache.?(write|creation)|ephemeral"
_LIFETIMES: Final = (
    (r"12_?h", Meter.CACHE_WRITE_12H),
    (r"(1_?h|one.?hour)", Meter.CACHE_WRITE_1H),
    (r"30_?m", Meter.CACHE_WRITE_30M),
)
_BASIC: Final = (
    (r"cache|cchd", Meter.CACHE_READ),
    (r"outp|output|completion|\bopt\b|\bout\b", Meter.OUTPUT),
    (r"inp|input|prompt|\bin\b", Meter.INPUT_UNCACHED),
)


def charge_kind(words: Expr, amount: Expr) -> Expr:
    """Return the kind of a line, one of ``KINDS``.

    Args:
        words: What the export calls the line (``Tax``, ``EdpDiscount``); null where it has no such column.
        amount: Its money. Below zero and called nothing in particular, it is a credit.
    """
    lower = words.fill_null("").lower()
    # All patterns at once first: hardly a line is of a kind of its own.
    named = ibis.cases(*[(lower.re_search(pattern), kind) for pattern, kind in _KINDS], else_=USAGE)
    return ibis.cases((lower.re_search(_ANY_KIND), named), (is_true(amount < 0), CREDIT), else_=USAGE)


def charge_meter(words: Expr) -> Expr:
    """Return the meter that a line charges, as its name; null where its words name none."""
    lower = words.fill_null("").lower()
    written = ibis.cases(
        *[(lower.re_search(f"({_WRITE}).*{lifetime}"), str(meter)) for lifetime, meter in _LIFETIMES],
        else_=str(Meter.CACHE_WRITE_5M),
    )
    return ibis.cases(
        *[(lower.contains(word) & lower.re_search(pattern), str(meter)) for word, pattern, meter in _METERS],
        (lower.re_search(_WRITE), written),
        *[(lower.re_search(pattern), str(meter)) for pattern, meter in _BASIC],
        else_=NO_TEXT,
    )


def joined(texts: Sequence[Expr]) -> Expr:
    """Return some texts as one, for a search in all of them."""
    whole = texts[0].fill_null("")
    for text in texts[1:]:
        whole = whole + " " + text.fill_null("")
    return whole
