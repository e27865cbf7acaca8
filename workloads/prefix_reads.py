"""What caches of some lifetimes would have read of prompts whose beginnings the log names, by workload and model.

Only prompts of one workload and one model are taken to share an entry: so what is found for a workload holds whatever is
done about the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ibis
import pandas as pd

from pricing.meters import CACHE_WRITE_METERS, Meter
from workloads.cache_breaks import ALIVE_SECONDS, break_sums, with_turn_before
from workloads.cache_replay import Basis, find_accesses, store_hits
from workloads.cube_columns import column, total
from workloads.grouping import Grouping
from workloads.prefix_sites import names_prefixes
from workloads.prefix_uses import BLOCK_BASES
from workloads.session_reads import Model, Smallest

Connection = Any
Expr = Any

_TEXT = (Meter.INPUT_UNCACHED, Meter.CACHE_READ, *CACHE_WRITE_METERS)
_KEYS = ("workload", "provider", "model")


@dataclass(frozen=True, slots=True)
class PrefixReads:
    """What was replayed.

    Attributes:
        frame: One row a workload, provider and model: ``workload, provider, model``, ``requests`` and ``text_tokens`` of
            requests that tell what their prompt begins with and, for the cache in place ``c`` of those of the model,
            ``cacheable_<c>`` (tokens of them) and by place ``n`` in the lifetimes ``read_<c>_<n>``: tokens read. Where blocks
            are named, also the columns of ``cache_breaks.break_sums``, ``common_tokens`` (the median of what a prompt has in
            common with any before it) and ``block_tokens``.
        basis: What tells it.
    """

    frame: pd.DataFrame
    basis: Basis


def prefix_reads(
    connection: Connection,
    records: Expr,
    grouping: Grouping,
    models: Mapping[Model, Sequence[Smallest]],
    lifetimes: Sequence[float],
) -> PrefixReads | None:
    """Return what each lifetime would have read; None where the log does not name what prompts begin with.

    Args:
        connection: The engine.
        records: The ledger's records of the asked days.
        grouping: How workloads are told apart.
        models: What their caches take, one or more that the same prompts could be in; those of other models take all.
        lifetimes: Seconds from one start to the next; a use keeps an entry alive.
    """
    if not names_prefixes(records):
        return None

    def apart(rows: Expr) -> Sequence[Expr]:
        return grouping.name_of(rows), column(rows, "provider"), column(rows, "model")

    accesses = find_accesses(connection, records, (Basis.BLOCKS, Basis.PREFIXES, Basis.TEXTS), apart)
    if accesses is None:
        return None
    hits = store_hits(connection, accesses, lifetimes)
    marked = accesses.table.prefix_tokens if accesses.basis is Basis.PREFIXES else accesses.table.whole
    found = accesses.table.mutate(marked=marked).left_join(hits, "request").drop("request_right")
    names = [f"h{number}" for number in range(len(lifetimes))]
    rows = _rows(records, grouping, accesses.basis).join(
        found.select("log_row", "at", "marked", *names), "log_row"
    )
    sums: dict[str, Expr] = {}
    for place in range(max(map(len, models.values()), default=1)):
        taken = _taken(models, place, rows)
        sums[f"cacheable_{place}"] = _sum(_eligible(ibis.least(rows.marked, rows.text), *taken))
        for number, name in enumerate(names):
            common = ibis.least(rows[name], rows.marked, rows.text)
            sums[f"read_{place}_{number}"] = _sum(_eligible(common, *taken))
    if accesses.basis in BLOCK_BASES and ALIVE_SECONDS in lifetimes:
        rows = with_turn_before(rows.mutate(cached=rows.text, read=ibis.coalesce(rows[names[-1]], 0)))
        soon = ibis.coalesce(rows[names[lifetimes.index(ALIVE_SECONDS)]], 0)
        whole_blocks = rows.cached_before - rows.cached_before % rows.block_tokens
        sums |= break_sums(rows, soon, whole_blocks, rows.text_before)
        sums |= {"common_tokens": rows.read.median(), "block_tokens": rows.block_tokens.max()}
    frame: pd.DataFrame = connection.execute(
        rows.group_by(_KEYS).agg(requests=rows.count(), text_tokens=rows.text.sum(), **sums)
    )
    return PrefixReads(frame, accesses.basis) if len(frame) else None


def _rows(records: Expr, grouping: Grouping, basis: Basis) -> Expr:
    rows = records.select(
        log_row=records.log_row,
        workload=grouping.name_of(records),
        provider=column(records, "provider"),
        model=column(records, "model"),
        session=column(records, "session"),
        block_tokens=column(records, "text_block_tokens" if basis is Basis.TEXTS else "block_tokens"),
        text=total(records, _TEXT),
    )
    return rows.filter(rows.text.notnull())


def _taken(models: Mapping[Model, Sequence[Smallest]], place: int, rows: Expr) -> tuple[Expr, Expr]:
    """Return the smallest prefix and the step of a cache of each record's model; 1 and 1 where nothing is known of it."""
    known = [
        (
            (rows.model == name)
            & (rows.provider.isnull() if payee is None else rows.provider.fill_null("") == payee),
            caches[place],
        )
        for (payee, name), caches in models.items()
        if place < len(caches)
    ]
    if not known:
        return ibis.literal(1), ibis.literal(1)
    return (
        ibis.cases(*((where, one.minimum_tokens) for where, one in known), else_=1),
        ibis.cases(*((where, one.granularity_tokens) for where, one in known), else_=1),
    )


def _eligible(tokens: Expr, smallest: Expr, step: Expr) -> Expr:
    known = ibis.coalesce(tokens, 0)
    return ibis.cases((known >= smallest, known - known % step), else_=0)


def _sum(tokens: Expr) -> Expr:
    return ibis.coalesce(tokens.sum(), 0).cast("int64")
