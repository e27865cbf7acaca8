"""Calls that start before an entry can be read: what a replay from start to start counts too much.

An entry can be read once the answer of the request that writes it has begun. Where the log does not tell when that was, the
end of the answer stands in or, without that either, the next moment: calls that start together never read from one another.
"""

from dataclasses import dataclass
from typing import Any

import ibis

from workloads.cache_replay import Accesses, Hits, first_measured, measured_tokens

Connection = Any
Expr = Any


@dataclass(frozen=True, slots=True)
class Strict:
    """What a cache would have had whose entries can be read only once an answer has begun.

    Attributes:
        hits: Of the measured requests.
        known_ratio: Part of all requests that tell when their answer began, or at least when it ended.
    """

    hits: Hits
    known_ratio: float


_MOMENT_SECONDS = 1e-6


def strict_hits(
    connection: Connection, accesses: Accesses, lifetime: float, measure_last: float = 1.0
) -> Strict:
    """Return what a cache would have had, when a use keeps an entry alive that can be read.

    Args:
        connection: The engine.
        accesses: What was read.
        lifetime: Seconds.
        measure_last: See ``cache_replay.refreshed_hits``.
    """
    requests = accesses.table
    waits = requests.select("request", ready=requests["at"] + ibis.coalesce(requests.wait, _MOMENT_SECONDS))
    uses = accesses.uses.join(waits, "request")
    same = ibis.window(group_by=[uses.scope, uses.name], order_by=uses.request)
    uses = uses.mutate(gap=uses["at"] - uses["at"].lag().over(same))
    so_far = ibis.window(group_by=[uses.scope, uses.name], order_by=uses.request, preceding=None, following=0)
    uses = uses.mutate(life=ibis.cases((uses.gap <= lifetime, 0), else_=1).sum().over(so_far))
    before = ibis.window(
        group_by=[uses.scope, uses.name, uses.life],
        order_by=uses.request,
        preceding=(None, 1),
        following=None,
    )
    uses = uses.mutate(there=uses.ready.min().over(before))
    first = first_measured(accesses, measure_last)
    found = uses.tokens.sum(where=(uses.there <= uses["at"]) & (uses.request >= first))
    hit = int(connection.execute(found) or 0)
    known = float(connection.execute(requests.wait.notnull().mean()) or 0)
    return Strict(Hits(hit, measured_tokens(connection, accesses, measure_last)), known)
