"""Small engine expressions that read like words."""

from typing import Any, Final

import ibis

Expr = Any

FALSE: Final[Expr] = ibis.literal(value=False)
TRUE: Final[Expr] = ibis.literal(value=True)
NO_TEXT: Final[Expr] = ibis.null("string")


def is_true(condition: Expr) -> Expr:
    """Return the condition with unknown taken as false."""
    return ibis.coalesce(condition, FALSE)


def text_of(count: Expr) -> Expr:
    """Return a count as text, empty when it is null; for keys."""
    return ibis.coalesce(count.cast("string"), "")


def at_most(count: Expr, limit: Expr) -> Expr:
    """Return the count, or the limit when it is larger. Null stays null, unlike with the engines' ``least``."""
    return ibis.cases((count > limit, limit), else_=count)


def not_negative(count: Expr) -> Expr:
    """Return the count, or 0 when it is below. Null stays null, unlike with the engines' ``greatest``."""
    return ibis.cases((count < 0, 0), else_=count)
