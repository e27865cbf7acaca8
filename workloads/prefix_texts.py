"""Names of the blocks of a prompt's text, made in the engine; the text itself goes no further.

A text is cut into blocks of so many characters. The name of a block is a hash of the hashes of all blocks up to it, so that
equal names mean equal texts from the start, as the ledger wants it.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

Expr = Any

BLOCK_CHARACTERS: Final = 512
_STEP: Final = "text_parts"
_PROMPT: Final = ("input_uncached", "cache_read", "cache_write_5m", "cache_write_1h")
_LARGEST: Final = (1 << 63) - 1


def names_of(words: Expr) -> Expr:
    """Return the names of blocks that a log writes as numbers of any size, or as words."""

    def name(word: Expr) -> Expr:
        return ibis.coalesce(word.try_cast("int64"), ibis.cases((word.notnull(), word.hash() & _LARGEST)))

    return words.map(name)


def part_hashes(text: Expr) -> Expr:
    """Return a hash of each block of a text by itself; null without a text.

    Store or nest the result before ``chained_hashes`` takes it, so that it is made once.
    """
    blocks = (text.length() + BLOCK_CHARACTERS - 1) // BLOCK_CHARACTERS

    def part(place: Expr) -> Expr:
        return text.substr(place * BLOCK_CHARACTERS, BLOCK_CHARACTERS).hash() & _LARGEST

    return ibis.range(blocks).map(part)


def chained_hashes(parts: Expr) -> Expr:
    """Return the names of blocks from what ``part_hashes`` gave."""

    def name(place: Expr) -> Expr:
        return (parts[0 : place + 1].hash() & _LARGEST).cast("int64")

    return ibis.range(parts.length()).map(name)


def block_tokens(text: Expr, input_tokens: Expr) -> Expr:
    """Return the tokens of a whole block: its part of the prompt's own count, by characters."""
    share = input_tokens * BLOCK_CHARACTERS / ibis.greatest(text.length(), 1)
    return ibis.greatest(share.ceil().cast("int64"), 1)


def text_columns(text: Expr, parts: Expr, input_tokens: Expr) -> dict[str, Expr]:
    """Return the ledger columns of a prompt's text.

    Args:
        text: Of the whole prompt, as the log has it.
        parts: See ``part_hashes``.
        input_tokens: Of the whole prompt. A text with fewer characters than that is not the prompt (removed, cut short),
            and says nothing.
    """
    is_whole = text.length() >= ibis.greatest(input_tokens, 1)
    return {
        "text_hashes": ibis.cases((is_whole, chained_hashes(parts)), else_=ibis.null("array<int64>")),
        "text_block_tokens": ibis.cases(
            (is_whole, block_tokens(text, input_tokens.cast("float64"))), else_=ibis.null("int64")
        ),
    }


def text_step(table: Any, name: str) -> dict[str, Expr]:
    """Return the step that ``told_by_text`` needs; nothing where a table has no such column."""
    return {_STEP: part_hashes(table.text(name))} if table.has(name) else {}


def told_by_text(table: Any, name: str, columns: Mapping[str, Expr]) -> dict[str, Expr]:
    """Return the ledger columns of the prompts in a column of a table; nothing where it has no such column.

    Args:
        table: The raw table, with ``text_step`` in place.
        name: Of the column.
        columns: The ledger's columns, with the counts of the prompt.
    """
    if not table.has(name):
        return {}
    tokens = ibis.literal(0)
    for meter in _PROMPT:
        if meter in columns:
            tokens = tokens + ibis.coalesce(columns[meter], 0)
    return text_columns(table.text(name), table.step(_STEP), tokens.cast("int64"))
