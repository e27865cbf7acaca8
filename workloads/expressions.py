"""Small engine expressions that read like words."""

from collections.abc import Sequence
from typing import Any, Final

import ibis

Expr = Any

FALSE: Final[Expr] = ibis.literal(value=False)
TRUE: Final[Expr] = ibis.literal(value=True)
NO_TEXT: Final[Expr] = ibis.literal("").nullif("")
"""A null text. Unlike a bare null it can be compared like any other text."""
_NO_COUNT: Final = 1e15
"""Larger than any count of tokens or seconds, and well inside what an integer holds."""


def is_true(condition: Expr) -> Expr:
    """Return the condition with unknown taken as false."""
    return ibis.coalesce(condition, FALSE)


def text_of(count: Expr) -> Expr:
    """Return a count as text, empty when it is null; for keys."""
    return ibis.coalesce(count.cast("string"), "")


def trimmed(text: Expr) -> Expr:
    """Return the text without white space around it, and null when that leaves nothing."""
    # The engine's trimming is dear, and hardly a cell of a log needs it: the outer characters tell.
    bare = (text >= "!") & (text.substr(-1, 1) >= "!")
    return ibis.cases((bare, text), else_=text.strip().nullif(""))


def at_most(count: Expr, limit: Expr) -> Expr:
    """Return the count, or the limit when it is larger. Null stays null, unlike with the engines' ``least``."""
    return ibis.cases((count > limit, limit), else_=count)


def not_negative(count: Expr) -> Expr:
    """Return the count, or 0 when it is below. Null stays null, unlike with the engines' ``greatest``."""
    return ibis.cases((count < 0, 0), else_=count)


def to_whole(number: Expr) -> Expr:
    """Return the nearest whole number; null where no count is as large."""
    return ibis.cases((number.abs() < _NO_COUNT, number.round()))


def unless_among(text: Expr, words: Sequence[str]) -> Expr:
    """Return the text in lower case, or null when it is one of the words; for names of what is standard."""
    lower = text.lower()
    return ibis.cases((lower.isin(words), NO_TEXT), else_=lower)


def first_label(value: Expr, *names: str) -> Expr:
    """Return the first of some text fields of an object that is not empty; what is nested is JSON text, and no label."""
    fields = [value[name] for name in names]
    return ibis.coalesce(*(ibis.cases((~field.left(1).isin(("", "{", "[")), field)) for field in fields))


def first_text(value: Expr, *names: str) -> Expr:
    """Return the first of some fields of a JSON object that is a text (not empty) or a whole number, as text."""
    found = []
    for name in names:
        found += [value[name].str.nullif(""), value[name].int.cast("string")]
    return ibis.coalesce(*found)


def json_number(value: Expr, kind: str) -> Expr:
    """Return a JSON value as a number; null where it is none."""
    return value.cast("string").try_cast(kind)
