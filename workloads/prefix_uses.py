"""Uses of the beginnings of prompts: which request reads what, in as few rows as tell the same.

Blocks that always occur together become one use. The requests that read a block are among those that read the block before
it, so along a prompt the number of requests that share a block never grows, and blocks of one request with the same number
are read by the same requests.
"""

from enum import StrEnum
from typing import Any, Final

import ibis

from workloads.relations import as_written, store

Connection = Any
Expr = Any

_FIRST: Final = -(1 << 63)
"""Stands for what is before the first block."""
_LARGEST: Final = (1 << 63) - 1


class Basis(StrEnum):
    """How the log tells what prompts have in common."""

    BLOCKS = "blocks"
    """Names of the prompt's blocks: exact."""
    PREFIXES = "prefixes"
    """Names of prefixes that callers marked: exact for what they marked."""
    TEXTS = "texts"
    """Names of blocks of the prompt's text: exact up to how characters become tokens."""
    SESSIONS = "sessions"
    """Sessions with growing prompts: each is taken to begin with the one before it."""


BLOCK_BASES: Final = (Basis.BLOCKS, Basis.TEXTS)
"""Those that name every block of a prompt."""


def shared_blocks(connection: Connection, requests: Expr, lists: Expr, blocks: int) -> tuple[Expr, Expr]:
    """Return the uses of some requests, stored, and the names of their blocks as they were taken.

    Names that follow different ones in different prompts, or come twice in one, are those of contents: what stands before
    them is then put into them, since a cache has a block only together with all before it.

    Columns of the uses: ``request, at, scope, name, depth, tokens`` and ``whole``: whether some block of it is of full size.

    Args:
        connection: The engine.
        requests: ``request, log_row, at, whole, scope``.
        lists: ``log_row, scope, block_hashes, block_tokens`` of each of them.
        blocks: How many there are.
    """
    counted = _counted(connection, lists)
    odd, named = connection.execute(
        counted.agg(
            odd=ibis.coalesce((counted.least != counted.most).sum(), 0),
            named=ibis.coalesce(counted.uses.sum(), 0),
        )
    ).iloc[0]
    if odd > 0 or named < blocks:
        lists = store(connection, "cache_chained", _chained(lists))
        counted = _counted(connection, lists)
    heads = store(connection, "cache_heads", _heads(counted))
    with as_written(connection):
        met = store(connection, "cache_met", _each(lists).join(heads, ["scope", "name"]))
    return store(connection, "cache_uses", _uses(requests, met)), lists


def _counted(connection: Connection, lists: Expr) -> Expr:
    """Return how many requests read each block, and what it follows, stored."""
    before = ibis.array([_FIRST]).concat(lists.block_hashes)
    pairs = lists.select("scope", name=lists.block_hashes.unnest(), before=before.unnest())
    pairs = pairs.filter(pairs.name.notnull())  # one name fewer than there are names before
    sums = {"uses": pairs.count(), "least": pairs.before.min(), "most": pairs.before.max()}
    return store(connection, "cache_counts", pairs.group_by(["scope", "name"]).agg(**sums))


def _heads(counted: Expr) -> Expr:
    """Return the blocks that more or fewer requests read than the block before: there a use begins."""
    parents = counted.select("scope", least=counted.name, uses_before=counted.uses)
    pairs = counted.left_join(parents, ["scope", "least"])
    heads = pairs.filter(pairs.uses_before.isnull() | (pairs.uses_before != pairs.uses))
    return heads.select("scope", "name")


def _uses(requests: Expr, met: Expr) -> Expr:
    rows = met.join(requests.select("log_row", "request", "at", "whole"), "log_row")
    order = ibis.window(group_by=rows.request, order_by=rows.depth)
    rows = rows.mutate(end=ibis.coalesce(rows.depth.lead().over(order), rows.blocks))
    return rows.select(
        "request",
        "at",
        "scope",
        "name",
        "depth",
        tokens=(_up_to(rows, rows.end) - _up_to(rows, rows.depth)).cast("int64"),
        whole=(rows.depth + 1) * rows.block_tokens <= rows.whole,
    )


def _up_to(rows: Expr, blocks: Expr) -> Expr:
    """Return the tokens of so many blocks of a prompt."""
    return ibis.least(rows.whole, blocks * rows.block_tokens)


def _each(lists: Expr) -> Expr:
    """Return one row a block: ``log_row, scope, name, depth, block_tokens`` and ``blocks``: how many its prompt has."""
    return lists.select(
        "log_row",
        "scope",
        "block_tokens",
        blocks=lists.block_hashes.length(),
        name=lists.block_hashes.unnest(),
        depth=ibis.range(lists.block_hashes.length()).unnest(),
    )


def _chained(lists: Expr) -> Expr:
    """Return the lists with names that stand for a block and all before it; what has no name ends a list."""
    each = _each(lists)
    ends = each.depth.min(where=each.name.isnull()).over(ibis.window(group_by=each.log_row))
    each = each.mutate(ends=ibis.coalesce(ends, each.blocks))
    each = each.filter(each.depth < each.ends)
    place = each.mutate(part=(each.name.cast("string") + ":" + each.depth.cast("string")).hash() & _LARGEST)
    order = ibis.window(group_by=place.log_row, order_by=place.depth, preceding=None, following=0)
    named = place.mutate(name=place.part.cast("decimal(38, 0)").sum().over(order).hash() & _LARGEST)
    again = named.group_by("log_row").agg(block_hashes=named.name.collect(order_by=named.depth))
    return lists.drop("block_hashes").join(again, "log_row")


def block_uses(requests: Expr, lists: Expr) -> Expr:
    """Return ``request, at, scope, name, depth, tokens`` of every block of every request."""
    each = _each(lists)
    rows = each.join(requests.select("log_row", "request", "at", "whole"), "log_row")
    tokens = _up_to(rows, rows.depth + 1) - _up_to(rows, rows.depth)
    return rows.select("request", "at", "scope", "name", "depth", tokens=tokens)


def marked_uses(requests: Expr, basis: Basis) -> Expr:
    """Return the one use of each request whose log names marked prefixes or sessions; columns as ``shared_blocks`` has."""
    if basis is Basis.PREFIXES:
        name, tokens = requests.prefix_hash, ibis.coalesce(requests.prefix_tokens, 0)
    else:
        order = ibis.window(group_by=[requests.scope, requests.session], order_by=requests.request)
        requests = requests.mutate(before=requests.whole.lag().over(order))
        # A prompt that is shorter than the one before it does not begin with it.
        shared = ibis.cases((requests.whole >= requests.before, requests.before), else_=0)
        name, tokens = requests.session, ibis.coalesce(shared, 0)
    return requests.select(
        "request", "at", "scope", name=name, depth=ibis.literal(0), tokens=tokens, whole=name.notnull()
    )
