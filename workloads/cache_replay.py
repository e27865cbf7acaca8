"""Cache replay: what a prompt cache would have had, over the real arrivals of a log.

The unit of reuse is a block of the prompt, named so that equal names mean equal blocks after equal beginnings
(``block_hashes``). A fingerprint of a prefix is one such block of its own size; a session whose prompts grow is a chain in
which each prompt begins with the one before it. So every source becomes the same thing: accesses of blocks by requests
in the order of their start.

An access is a hit when its block, and all before it in the prompt, is in the cache: for a lifetime when it was last used
(or, without refresh, written) at most so long before, measured from start to start; for a capacity when it is among the
most recently used. Equal starts are taken in the order of the log.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import ibis
import numpy as np

from workloads.cube_columns import column, with_sizes
from workloads.prefix_uses import BLOCK_BASES, Basis, block_uses, marked_uses, shared_blocks
from workloads.relations import store
from workloads.reuse import reuse_distances, written_anew
from workloads.times import epoch

__all__ = [
    "UNLIMITED", "Accesses", "Basis", "Hits", "capacity_hits", "find_accesses", "first_measured", "measured_tokens",
    "refreshed_hits", "store_hits", "sum_hits", "written_hits",
]  # fmt: skip

Connection = Any
Expr = Any
Array = Any

UNLIMITED: Final = float("inf")
_NO_TEXT: Final = "\x01"
_BETWEEN: Final = "\x02"
_LARGEST: Final = (1 << 63) - 1


_TOLD_BY: Final = dict(zip(Basis, ("block_hashes", "prefix_hash", "text_hashes", "session"), strict=True))


@dataclass(frozen=True, slots=True)
class Accesses:
    """The requests of a log with what their prompts begin with, stored, and what they add up to.

    Attributes:
        table: One row a request: ``request`` (number from 0, by start), ``at`` (seconds), ``scope`` (a number; names of
            two scopes have nothing to do with one another), ``log_row``, ``whole`` (tokens of the prompt), ``wait``
            (seconds until its answer began, or ended; null: not told) and what ``basis`` needs, except names of blocks.
        basis: How the log tells reuse.
        requests: Requests of the log that were replayed.
        input_tokens: Tokens of their whole prompts.
        left_out: Requests that say nothing about their prefix or their time.
        blocks: Blocks that they read, with repeats.
        uses: What they read, in as few rows as tell the same: see ``prefix_uses``.
        lists: The names of the blocks of each, where ``basis`` has them.
    """

    table: Expr
    basis: Basis
    requests: int
    input_tokens: int
    left_out: int
    blocks: int
    uses: Expr
    lists: Expr | None = None


def find_accesses(
    connection: Connection,
    records: Expr,
    bases: Sequence[Basis] = tuple(Basis),
    apart: Callable[[Expr], Sequence[Expr]] = lambda _: (),
) -> Accesses | None:
    """Return the accesses of a ledger, stored; None when it says nothing of prefixes, sessions or times.

    Args:
        connection: The engine that holds the ledger, read with ``LoadOptions.prefixes``.
        records: The records of the ledger.
        bases: What may tell reuse, the best first.
        apart: Texts of a record that must be equal besides, for two of them to share an entry.
    """
    sized = with_sizes(records)
    # Seconds since 1970 of a log with a calendar, else since the start of the trace.
    started = column(sized, "started_at")
    calendar = epoch(started)
    at = ibis.coalesce(calendar, column(sized, "elapsed_seconds"))
    rows = sized.mutate(at=at, whole=sized.input_tokens)
    for basis in bases:
        has = _TOLD_BY[basis]
        if has not in rows.columns:
            continue
        usable = rows.filter(rows[has].notnull() & rows.at.notnull() & rows.whole.notnull())
        scope = _number_of(_scopes(usable, basis, apart))
        found = _store_requests(connection, usable, basis, scope)
        count = int(connection.execute(found.count()))
        if not count:
            continue
        left_out = int(connection.execute(rows.count())) - count
        if basis not in BLOCK_BASES:
            tokens = int(connection.execute(found.whole.sum()))
            return Accesses(found, basis, count, tokens, left_out, count, marked_uses(found, basis))
        # The names are many: they stay where they are.
        size = "block_tokens" if basis is Basis.BLOCKS else "text_block_tokens"
        lists = usable.select("log_row", scope=scope, block_hashes=usable[has], block_tokens=usable[size])
        tokens = int(connection.execute(found.whole.sum()))
        blocks = int(connection.execute(lists.block_hashes.length().sum()))
        uses, lists = shared_blocks(connection, found, lists, blocks)
        return Accesses(found, basis, count, tokens, left_out, blocks, uses, lists)
    return None


def _scopes(usable: Expr, basis: Basis, apart: Callable[[Expr], Sequence[Expr]]) -> list[Expr]:
    scopes = [column(usable, "cache_scope"), *apart(usable)]
    return scopes if basis is Basis.BLOCKS else [*scopes, column(usable, "model")]


def _store_requests(connection: Connection, usable: Expr, basis: Basis, scope: Expr) -> Expr:
    more = {Basis.PREFIXES: ("prefix_hash", "prefix_tokens"), Basis.SESSIONS: ("session",)}.get(basis, ())
    number = ibis.row_number().over(ibis.window(order_by=[usable.at, usable.log_row]))
    wait = ibis.coalesce(column(usable, "ttft_seconds"), column(usable, "duration_seconds"))
    narrow = usable.select("log_row", "at", "whole", *more, request=number, scope=scope, wait=wait)
    return store(connection, "cache_requests", narrow)


def _number_of(texts: Sequence[Expr]) -> Expr:
    """Return a number that is equal where all texts are."""
    joined = ibis.literal("")
    for text in texts:
        joined = joined + ibis.coalesce(text, _NO_TEXT) + _BETWEEN
    return joined.hash() & _LARGEST


@dataclass(frozen=True, slots=True)
class Hits:
    """What a cache would have had of the measured requests."""

    hit_tokens: int
    input_tokens: int

    @property
    def ratio(self) -> float:
        """Tokens that were in the cache, of all tokens of the prompts; 0 where there are none."""
        return self.hit_tokens / self.input_tokens if self.input_tokens else 0.0


def store_hits(connection: Connection, accesses: Accesses, lifetimes: Sequence[float]) -> Expr:
    """Return the tokens that each request would have found, stored: ``request``, and ``h0``, ``h1`` ... by lifetime.

    A use keeps an entry alive. Whatever uses a block uses all before it too, so a living block has a living prefix.

    Args:
        connection: The engine.
        accesses: What was read.
        lifetimes: Seconds.
    """
    uses = accesses.uses
    same = ibis.window(group_by=[uses.scope, uses.name], order_by=uses.request)
    table = uses.mutate(gap=uses["at"] - uses["at"].lag().over(same))
    sums = {
        f"h{index}": ibis.coalesce(table.tokens.sum(where=table.gap <= lifetime), 0).cast("int64")
        for index, lifetime in enumerate(lifetimes)
    }
    return store(connection, "cache_hits", table.group_by("request").agg(**sums))


def refreshed_hits(
    connection: Connection, accesses: Accesses, lifetimes: Sequence[float], measure_last: float = 1.0
) -> dict[float, Hits]:
    """Return what a cache would have had, by lifetime in seconds, when a use keeps an entry alive.

    Args:
        connection: The engine.
        accesses: What was read.
        lifetimes: Seconds; ``UNLIMITED`` for a cache that keeps everything.
        measure_last: Part of the requests, at the end of the log, that is measured; the ones before only fill the cache.
    """
    table = store_hits(connection, accesses, lifetimes)
    return sum_hits(connection, accesses, table, lifetimes, measure_last)


def sum_hits(
    connection: Connection,
    accesses: Accesses,
    table: Expr,
    lifetimes: Sequence[float],
    measure_last: float = 1.0,
) -> dict[float, Hits]:
    """Return the sums of stored hits, by lifetime: see ``store_hits`` and ``refreshed_hits``."""
    first = first_measured(accesses, measure_last)
    sums = {f"h{n}": ibis.coalesce(table[f"h{n}"].sum(), 0) for n in range(len(lifetimes))}
    row = connection.to_pyarrow(table.filter(table.request >= first).agg(**sums)).to_pylist()[0]
    tokens = measured_tokens(connection, accesses, measure_last)
    return {lifetime: Hits(int(row[f"h{n}"]), tokens) for n, lifetime in enumerate(lifetimes)}


def measured_tokens(connection: Connection, accesses: Accesses, measure_last: float) -> int:
    """Return the tokens of the prompts of the measured requests."""
    table = accesses.table
    whole = table.filter(table.request >= first_measured(accesses, measure_last)).whole.sum()
    return int(connection.execute(whole) or 0)


def first_measured(accesses: Accesses, measure_last: float) -> int:
    """Return the number of the first request that is measured."""
    return accesses.requests - round(accesses.requests * measure_last)


def written_hits(
    connection: Connection, accesses: Accesses, lifetime: float, measure_last: float = 1.0
) -> Hits:
    """Return what a cache would have had when an entry lives a fixed time from its writing."""
    if lifetime == UNLIMITED:
        return refreshed_hits(connection, accesses, [UNLIMITED], measure_last)[UNLIMITED]
    block, request, at, tokens, depth = _arrays(connection, accesses, by_block=True)
    found = ~written_anew(block, at, lifetime)
    order = np.lexsort((depth, request))
    hit = _unbroken(found[order], request[order]) & (request[order] >= first_measured(accesses, measure_last))
    return Hits(int(tokens[order][hit].sum()), measured_tokens(connection, accesses, measure_last))


def capacity_hits(
    connection: Connection, accesses: Accesses, capacities: Sequence[int], measure_last: float = 1.0
) -> dict[int, Hits]:
    """Return what a least-recently-used cache would have had, by its capacity in blocks.

    Args:
        connection: The engine.
        accesses: What was read.
        capacities: Blocks that fit.
        measure_last: Part of the requests, at the end of the log, that is measured; the ones before only fill the cache.
    """
    block, request, _, tokens, _ = _arrays(connection, accesses, by_block=False)
    distance = reuse_distances(block, request)
    near = (request >= first_measured(accesses, measure_last)) & (distance >= 0)
    asked = measured_tokens(connection, accesses, measure_last)
    return {size: Hits(int(tokens[near & (distance < size)].sum()), asked) for size in capacities}


def _unbroken(found: Array, request: Array) -> Array:
    """Return which accesses are found together with all before them in their request."""
    count = len(found)
    if not count:
        return found
    starts = np.flatnonzero(np.r_[True, np.diff(request) != 0])
    missed = np.cumsum(~found)
    before = np.repeat(missed[starts] - ~found[starts], np.diff(np.r_[starts, count]))
    return missed == before


def _arrays(connection: Connection, accesses: Accesses, *, by_block: bool) -> tuple[Array, ...]:
    """Return block number, request, start, tokens and depth of every access, by block and start or by request and depth."""
    table = accesses.uses if accesses.lists is None else block_uses(accesses.table, accesses.lists)
    named = table.mutate(block=ibis.dense_rank().over(ibis.window(order_by=[table.scope, table.name])))
    order = ["block", "request"] if by_block else ["request", "depth"]
    frame = connection.to_pyarrow(named.order_by(order).select("block", "request", "at", "tokens", "depth"))
    return tuple(frame[name].to_numpy() for name in frame.column_names)
