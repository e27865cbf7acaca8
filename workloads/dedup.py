"""Rows that are one call: the largest is kept, at the time of the first."""

from typing import Any

import ibis

from workloads.expressions import FALSE
from workloads.ledger import DUPLICATE, RECORD
from workloads.relations import store

Connection = Any
Expr = Any


def mark_duplicates(connection: Connection, ledger: Expr) -> Expr:
    """Return the ledger with the fate of repeated rows set, over all files of a run.

    Args:
        connection: The engine that holds the ledger.
        ledger: A stored table with the dedup columns that its importers gave.

    Returns:
        The ledger itself when nothing repeats, else a new stored table. Rows are the same in number.
    """
    if "dedup_key" not in ledger.columns:
        return ledger
    verdicts = _verdicts(connection, ledger)
    if verdicts is None:
        return ledger
    identified = ledger.mutate(row_id=ledger.rowid())
    joined = identified.left_join(verdicts, identified.row_id == verdicts.verdict_row)
    repeated = joined.kept.notnull() & ~joined.kept
    columns = {name: joined[name] for name in ledger.columns if name not in ("fate", "started_at")}
    columns["fate"] = ibis.cases((repeated, DUPLICATE), else_=joined.fate)
    if "started_at" in ledger.columns:
        columns["started_at"] = ibis.coalesce(joined.first_at, joined.started_at)
    return store(connection, "ledger_deduplicated", joined.select(**columns))


def _verdicts(connection: Connection, ledger: Expr) -> Expr | None:
    """Return ``(verdict_row, kept, first_at)`` of every row that shares its call with another; None: no such row."""
    time = ledger.started_at if "started_at" in ledger.columns else ibis.null("timestamp")
    yields = ledger.dedup_yields if "dedup_yields" in ledger.columns else FALSE
    group = ledger.dedup_group if "dedup_group" in ledger.columns else ledger.dedup_key
    keyed = ledger.select(
        verdict_row=ledger.rowid(),
        fate=ledger.fate,
        key=ledger.dedup_key,
        group=ibis.coalesce(group, ledger.dedup_key),
        yields=yields,
        size=ledger.dedup_size,
        at=time,
    )
    keyed = keyed.filter((keyed.fate == RECORD) & keyed.key.notnull())
    # One call has one group, so whatever is alone in its group repeats nothing: only the others are sorted.
    shared = keyed.group_by("group").agg(rows=keyed.count())
    shared = shared.filter(shared.rows > 1)
    shared = store(connection, "dedup_shared", shared.select("group"))
    if not connection.execute(shared.count()):
        return None
    some = keyed.semi_join(shared, "group")
    by_key = ibis.window(group_by=some.key, order_by=[some.size.desc(), some["at"], some.verdict_row])
    ranked = some.mutate(
        rank=ibis.row_number().over(by_key),
        first_at=some["at"].min().over(ibis.window(group_by=some.key)),
    )
    # Between calls of one group: a call that yields goes when another does not, and of yielding ones one stays.
    best = ibis.cases((ranked["rank"] > 0, 2), (ranked.yields, 1), else_=0)
    ranked = ranked.mutate(best=best)
    in_group = ibis.window(
        group_by=ranked.group, order_by=[ranked.best, ranked.size.desc(), ranked.verdict_row]
    )
    ranked = ranked.mutate(place=ibis.row_number().over(in_group))
    kept = (ranked.best == 0) | ((ranked.best == 1) & (ranked.place == 0))
    return ranked.select("verdict_row", "first_at", kept=kept)
