"""Names of the blocks of a prompt's text, made in the engine; the text itself goes no further.

A text is cut into blocks of so many characters. The name of a block is a hash of the hashes of all blocks up to it, so that
equal names mean equal texts from the start, as the ledger wants it.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import ibis

from workloads.ledger import PREFIX_NAMES, TEXTS
from workloads.sources import InputFile
from workloads.vocabulary import normal

Expr = Any

BLOCK_CHARACTERS: Final = 512
_PARTS: Final = "text_parts"
_RUNS: Final = "text_runs"
_RUN: Final = 64
"""Blocks whose names are made from one hash of all before them: else a prompt of n blocks would be hashed n times over."""
_CUT_SHORT: Final = "litellm_truncated"
"""What LiteLLM writes where it leaves out the middle of a text."""
_KEPT_IN: Final = ("messages", "request_body", "input")
"""Where gateways keep prompts; in normal form."""
_SHORTEST: Final = 64
"""Characters of the shortest text that may be a prompt: what stands there instead of one is shorter."""
_LOOKED_AT: Final = 1_000
"""Rows at the beginning of a table that tell whether it keeps texts."""
_PROMPT: Final = ("input_uncached", "cache_read", "cache_write_5m", "cache_write_1h")
_LARGEST: Final = (1 << 63) - 1


def _blocks(text: Any, pattern: Any) -> Any:
    """The engine has the body; only the number of arguments is read."""


# To take each block by its place would count the characters before it, over and over.
_all_matches: Final = ibis.udf.scalar.builtin(
    _blocks, name="regexp_extract_all", signature=(("string", "string"), "array<string>")
)


def names_of(words: Expr) -> Expr:
    """Return the names of blocks that a log writes as numbers of any size, or as words."""

    def name(word: Expr) -> Expr:
        return ibis.coalesce(word.try_cast("int64"), ibis.cases((word.notnull(), word.hash() & _LARGEST)))

    return words.map(name)


def part_hashes(text: Expr) -> Expr:
    """Return a hash of each block of a text by itself; null without a text.

    Store or nest the result before ``run_hashes`` takes it, so that it is made once.
    """

    def part(block: Expr) -> Expr:
        return block.hash() & _LARGEST

    return _all_matches(text, f"(?s).{{1,{BLOCK_CHARACTERS}}}").map(part)


def run_hashes(parts: Expr) -> Expr:
    """Return a hash of all that is before each run of blocks, from what ``part_hashes`` gave; to be nested as well."""

    def before(run: Expr) -> Expr:
        return parts[0 : run * _RUN].hash() & _LARGEST

    return ibis.range((parts.length() + _RUN - 1) // _RUN).map(before)


def chained_hashes(parts: Expr, runs: Expr) -> Expr:
    """Return the names of blocks from what ``part_hashes`` and ``run_hashes`` gave."""

    def name(place: Expr) -> Expr:
        run = place // _RUN
        own = parts[run * _RUN : place + 1].hash() & _LARGEST
        return (ibis.array([runs[run], own]).hash() & _LARGEST).cast("int64")

    return ibis.range(parts.length()).map(name)


def block_tokens(text: Expr, input_tokens: Expr) -> Expr:
    """Return the tokens of a whole block: its part of the prompt's own count, by characters."""
    share = input_tokens * BLOCK_CHARACTERS / ibis.greatest(text.length(), 1)
    return ibis.greatest(share.ceil().cast("int64"), 1)


def hash_steps(text: Expr, step: Callable[[str], Expr], has_step: Callable[[str], bool]) -> dict[str, Expr]:
    """Return the steps that ``told_by_steps`` needs: an importer asks for them until there is no new one."""
    steps = {_PARTS: part_hashes(text)}
    return steps | {_RUNS: run_hashes(step(_PARTS))} if has_step(_PARTS) else steps


def told_by_steps(step: Callable[[str], Expr]) -> Expr:
    """Return the names of the blocks of a text from its steps."""
    return chained_hashes(step(_PARTS), step(_RUNS))


def text_step(table: Any, name: str) -> dict[str, Expr]:
    """Return the steps that ``told_by_text`` needs; nothing where a table has no such column."""
    return hash_steps(table.text(name), table.step, table.has_step) if table.has(name) else {}


def told_by_text(table: Any, name: str, columns: Mapping[str, Expr]) -> dict[str, Expr]:
    """Return the ledger columns of the prompts in a column of a table; nothing where it has no such column.

    A text with fewer characters than its prompt has tokens is not the prompt (removed, cut short), and says nothing.

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
    tokens, text = tokens.cast("int64"), table.text(name)
    is_whole = (text.length() >= ibis.greatest(tokens, 1)) & ~text.contains(_CUT_SHORT)
    return {
        TEXTS: ibis.cases((is_whole, told_by_steps(table.step)), else_=ibis.null("array<int64>")),
        "text_block_tokens": ibis.cases(
            (is_whole, block_tokens(text, tokens.cast("float64"))), else_=ibis.null("int64")
        ),
    }


def tells_prefixes(connection: Any, table: Expr, files: Iterable[InputFile]) -> bool:
    """Return whether a table of the ledger tells what prompts begin with.

    A gateway that keeps no texts has the column all the same, and its log is not to be read any slower for it: so the rows
    that were seen when its files were looked at tell or, of files that give none away (Parquet), the first rows. A table that
    cannot be read says so when it is stored.

    Args:
        connection: The engine.
        table: Of one batch.
        files: That it is read from.
    """
    if not {*PREFIX_NAMES} & {*table.columns} <= {TEXTS}:
        return True
    if TEXTS not in table.columns:
        return False
    seen = [length for file in files for length in _lengths(file)]
    if seen:
        return max(seen) >= _SHORTEST
    import duckdb  # noqa: PLC0415  (only where the engine is in use)

    with contextlib.suppress(duckdb.Error):
        return bool(connection.execute(table.select(TEXTS).limit(_LOOKED_AT)[TEXTS].count()))
    return False


def _lengths(file: InputFile) -> Iterator[int]:
    """Yield the characters of what stands where gateways keep prompts, of the rows that were seen."""
    header = () if file.dialect is None else file.dialect.header
    rows = (*file.records, *(dict(zip(header, cells, strict=False)) for cells in file.cells))
    for row in rows:
        yield from (len(str(value)) for key, value in row.items() if normal(key) in _KEPT_IN)
