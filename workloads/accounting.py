"""From the counts that a source reports to disjoint meters.

Two conventions are in use. *Inclusive*: the prompt count holds cache reads and writes (OpenAI, most gateways).
*Additive*: it leaves them out (Anthropic, Bedrock). A source has a rule, but a row's own arithmetic is the better
witness: where its total decides, the total wins; where the cached part is larger than the prompt, it cannot be inside.
"""

from typing import Any

import ibis

from workloads.expressions import FALSE, NO_TEXT, at_most, is_true, not_negative

Expr = Any

CACHED_EXCEEDS_INPUT = "cached_exceeds_input"
CONTRADICTS_SOURCE = "accounting_contradicts_source"
MORE_PAGES = "more_pages"
"""The record is from a saved page that is not the last one."""

NEGATIVE_COUNT = "a token count is negative or impossibly large"
NO_WHOLE_COUNT = "a token count is no whole number"
LARGEST_COUNT = 10**15
"""No request and no bucket of a day uses more: such a number is damage, and sums of it would overflow."""
NO_COUNTS = "no token counts"
NO_AMOUNT = "the amount is no number"
FOREIGN_CURRENCY = "an amount in another currency than US dollars"
OTHER_SERVICE = "a charge for another service"


def zero(count: Expr) -> Expr:
    """Return the count with 0 for null, for use inside sums only; never store it."""
    return ibis.coalesce(count, 0)


def split_input(
    prompt: Expr,
    *,
    cached: Expr,
    written: Expr,
    output: Expr,
    total: Expr | None,
    additive: bool | Expr,
) -> tuple[Expr, Expr, Expr]:
    """Return ``(input_uncached, cache_read, problem)`` of a row whose prompt may or may not hold its cached part.

    Args:
        prompt: Prompt tokens as reported.
        cached: Cache reads as reported; null when not reported.
        written: Cache writes as reported, all lifetimes; null when not reported.
        output: Output tokens as reported.
        total: Total as reported, or None when the source has none.
        additive: The source's own rule: whether ``prompt`` leaves the cached part out.

    Returns:
        Three expressions: the uncached input (never negative), the cache reads (clamped to the prompt where the row's
        total proves that the prompt is the whole), and a problem code or null.
    """
    aside = zero(cached) + zero(written)
    plain = aside == 0  # so are most rows of most logs: said first, so that the engine looks no further
    too_large = is_true(aside > prompt)
    by_rule = ibis.literal(additive) if isinstance(additive, bool) else additive
    if total is None:
        says_inclusive = says_additive = FALSE
    else:
        says_inclusive = is_true((aside > 0) & (total == prompt + zero(output)))
        says_additive = is_true((aside > 0) & (total == prompt + zero(output) + aside))
    is_additive = says_additive | (~says_inclusive & (too_large | by_rule))
    impossible = says_inclusive & too_large
    uncached = ibis.cases((plain, prompt), (is_additive, prompt), else_=not_negative(prompt - aside))
    # The writes of an impossible row stay as they are only when they fit; the reads take what is left.
    room = not_negative(prompt - zero(written))
    reads = ibis.cases((plain, cached), (impossible, at_most(cached, room)), else_=cached)
    problem = ibis.cases(
        (plain | (says_inclusive & ~too_large & ~by_rule), NO_TEXT),
        (impossible, CACHED_EXCEEDS_INPUT),
        (~by_rule & is_additive & ~says_additive, CACHED_EXCEEDS_INPUT),
        ((aside > 0) & (is_additive != by_rule), CONTRADICTS_SOURCE),
        else_=NO_TEXT,
    )
    return uncached, reads, problem


def is_negative(*counts: Expr) -> Expr:
    """Return whether any of the counts is below zero, or larger than any real one."""
    known = [zero(count) for count in counts]
    return (ibis.least(0, *known) < 0) | (ibis.greatest(0, *known) > LARGEST_COUNT)
