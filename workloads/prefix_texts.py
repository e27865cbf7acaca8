"""Names of the blocks of a prompt's text, made in the engine; the text itself goes no further.

A text is cut into blocks of so many characters. The name of a block is a hash of the hashes of all blocks up to it, so that
equal names mean equal texts from the start, as the ledger wants it.
"""

from typing import Any, Final

import ibis

Expr = Any

BLOCK_CHARACTERS: Final = 512
_LARGEST: Final = (1 << 63) - 1


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
