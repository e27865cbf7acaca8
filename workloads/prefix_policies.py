"""Replay of two ways to keep an entry longer than its lifetime allows: a mix of lifetimes, and pings.

**Mixed**: what at least half of the requests of a scope begin with is kept long, the rest short. Such a stable part is
always at the beginning of a prompt, since whatever uses a block uses all before it.

**Pings**: after each request its prompt is read again whenever its entry is about to expire, until a request goes on from
it, and so many times at most. A prompt that nobody goes on from is pinged in vain.
"""

from collections.abc import Sequence
from typing import Any, Final

import ibis

from workloads.cache_replay import Accesses
from workloads.prefix_uses import BLOCK_BASES
from workloads.relations import store

Connection = Any
Expr = Any

_TABLE: Final = "cache_longer"
_PINGS: Final = "cache_pings"


def store_longer(
    connection: Connection, accesses: Accesses, short: float, long: float, pings: Sequence[int]
) -> Expr:
    """Return what each request would have found, stored.

    Columns: ``request``; ``stable`` (tokens of the stable part), ``stable_read`` and ``mixed_read`` (tokens found of it and
    in all, kept long and short), all three null where the log names no blocks; by number ``k`` of pings ``sent_<k>`` (pings
    after the request) and ``read_<k>`` (tokens found).

    Args:
        connection: The engine.
        accesses: What was read.
        short: Seconds that the rest is kept, and after which a ping is due.
        long: Seconds that the stable part is kept.
        pings: How many at most.
    """
    sent = _sent(connection, accesses.uses, short, pings)
    return store(connection, _TABLE, _found(accesses, sent, (short, long), pings))


def _sent(connection: Connection, table: Expr, every: float, pings: Sequence[int]) -> Expr:
    """Return the pings after each request, stored: until some request uses its last whole block."""
    whole = table.filter(table.whole)
    use = ibis.window(group_by=[whole.scope, whole.name], order_by=whole.request)
    ahead = whole.mutate(pause=whole["at"].lead().over(use) - whole["at"])
    ends = ahead.group_by("request").agg(pause=ahead.pause.argmax(ahead.depth), last=ahead.depth.max())
    # The pause is null where the deepest block is never used again, and arg_max then falls back on one before it.
    deepest = ahead.group_by("request").agg(again=ahead.depth.max(where=ahead.pause.notnull()))
    ends = ends.join(deepest, "request")
    due = ibis.cases(
        (ends.again == ends.last, ibis.greatest((ends.pause / every).ceil() - 1, 0)), else_=max(pings)
    )
    counts = {f"sent_{most}": ibis.least(due, most).cast("int64") for most in pings}
    return store(connection, _PINGS, ends.select("request", **counts))


def _found(accesses: Accesses, sent: Expr, lifetimes: tuple[float, float], pings: Sequence[int]) -> Expr:
    short, long = lifetimes
    rows = accesses.uses.left_join(sent, "request").drop("request_right")
    requests = accesses.table
    sizes = requests.group_by("scope").agg(requests_in_scope=requests.count())
    rows = rows.join(sizes, "scope")
    names = ibis.window(group_by=[rows.scope, rows.name])
    use = ibis.window(group_by=[rows.scope, rows.name], order_by=rows.request)
    before = ibis.window(
        group_by=[rows.scope, rows.name], order_by=rows.request, preceding=(None, 1), following=None
    )
    alive = {
        f"alive_{most}": (rows["at"] + (ibis.coalesce(rows[f"sent_{most}"], 0) + 1) * short)
        .max()
        .over(before)
        for most in pings
    }
    rows = rows.mutate(
        gap=rows["at"] - rows["at"].lag().over(use),
        is_stable=(rows.count().over(names) * 2 >= rows.requests_in_scope) & (rows.requests_in_scope > 1),
        **alive,
    )
    kept = rows.gap <= ibis.ifelse(rows.is_stable, long, short)
    named = accesses.basis in BLOCK_BASES

    def tokens(where: Expr) -> Expr:
        return ibis.coalesce(rows.tokens.sum(where=where), 0).cast("int64")

    nothing = ibis.null("int64")
    return rows.group_by("request").agg(
        stable=tokens(rows.is_stable) if named else nothing,
        stable_read=tokens(rows.is_stable & kept) if named else nothing,
        mixed_read=tokens(kept) if named else nothing,
        **{f"sent_{most}": ibis.coalesce(rows[f"sent_{most}"].max(), 0) for most in pings},
        **{f"read_{most}": tokens(rows[f"alive_{most}"] >= rows["at"]) for most in pings},
    )
