"""Uses of the beginnings of prompts: which request reads what, in as few rows as tell the same.

Blocks that always occur together become one use. The requests that read a block are among those that read the block before
it, so along a prompt the number of requests that share a block never grows, and blocks of one request with the same number
are read by the same requests.
"""

from enum import StrEnum
from typing import Any, Final

import ibis

from workloads.relations import store

Connection = Any
Expr = Any

_PART_BLOCKS: Final = 16_000_000
"""Uses that are ordered at one time, where the log's scopes allow it."""
_FIRST: Final = -(1 << 63)
"""Stands for what is before the first block."""


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


def uses_of(connection: Connection, requests: Expr, basis: Basis, blocks: int) -> tuple[Expr, ...]:
    """Return the uses of some requests, in parts that have no name in common.

    Columns: ``request, at, scope, name, depth, tokens`` and ``whole``: whether some block of it is of full size.
    """
    if basis not in BLOCK_BASES:
        return (block_uses(requests, basis),)
    each = block_uses(requests, basis)
    # What tells the number of uses also tells whether names are those of prefixes: then each follows one other only.
    before = ibis.array([_FIRST]).concat(requests.block_hashes)
    pairs = requests.select("scope", name=requests.block_hashes.unnest(), before=before.unnest())
    pairs = pairs.filter(pairs.name.notnull())  # one name fewer than there are names before
    counted = store(
        connection,
        "cache_counts",
        pairs.group_by(["scope", "name"]).agg(
            uses=pairs.count(), least=pairs.before.min(), most=pairs.before.max()
        ),
    )
    if int(connection.execute((counted.least != counted.most).sum()) or 0):
        return _parts(requests, blocks)
    rows = each.join(counted.select("scope", "name", "uses"), ["scope", "name"])
    together = rows.group_by(["request", "uses"]).agg(
        at=rows["at"].max(),
        scope=rows.scope.max(),
        name=rows.name.argmin(rows.depth),
        depth=rows.depth.min(),
        tokens=rows.tokens.sum().cast("int64"),
        whole=rows.whole.any(),
    )
    return (store(connection, "cache_uses", together.drop("uses")),)


def _parts(requests: Expr, blocks: int) -> tuple[Expr, ...]:
    """Return single uses in parts, so that a window over one part fits into memory."""
    count = -(-blocks // _PART_BLOCKS)
    mine = [
        requests.filter(requests.scope % count == number) if count > 1 else requests
        for number in range(count)
    ]
    return tuple(block_uses(one, Basis.BLOCKS) for one in mine)


def block_uses(requests: Expr, basis: Basis) -> Expr:
    """Return ``request, at, scope, name, depth, tokens, whole`` of every block, or other beginning, of every request."""
    if basis in BLOCK_BASES:
        each = requests.mutate(
            name=requests.block_hashes.unnest(), depth=ibis.range(requests.block_hashes.length()).unnest()
        )
        tokens = ibis.greatest(ibis.least(each.block_tokens, each.whole - each.depth * each.block_tokens), 0)
        return each.select(
            "request",
            "at",
            "scope",
            "name",
            depth=each.depth,
            tokens=tokens,
            whole=tokens == each.block_tokens,
        )
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
