"""Service tiers of OpenAI's usage pages and exports, in the words that prices have for them."""

from typing import Any, Final

import ibis

from workloads.expressions import NO_TEXT, is_true

_STANDARD: Final = ("auto", "default")
_NAMED: Final = {"flex-tier": "flex", "priority-tier": "priority", "scale-tier": "scale"}
_HALVED: Final = ("flex", "flex-tier")

Expr = Any


def usage_tier(batch: Expr, tier: Expr) -> Expr:
    """The tier of a bucket that has both a batch flag and a tier; null for the standard one.

    At most one discount applies: batch and flex are each half price, and a batch of flex requests is halved once. How
    OpenAI bills a batch of any other tier is documented nowhere, so it gets a name that no price has: it is charged at
    the standard price, and the report says so with its dollars.

    Args:
        batch: Boolean, null when not said.
        tier: Text, as the export has it.
    """
    word = tier.lower().nullif(_STANDARD[0]).nullif(_STANDARD[1]).nullif("")
    named = ibis.cases(*[(word == one, name) for one, name in _NAMED.items()], else_=word)
    return ibis.cases(
        (is_true(batch) & (word.isnull() | word.isin(_HALVED)), "batch"),
        (is_true(batch), ibis.literal("batch of ") + named),
        else_=ibis.coalesce(named, NO_TEXT),
    )
