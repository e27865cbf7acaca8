"""Rows that are one call, for engines that have no number for a row: the same rules as ``dedup``, by windows."""

from typing import Any, Final

import ibis

from workloads.cube_columns import column
from workloads.dedup import BOOKKEEPING
from workloads.expressions import FALSE, is_true
from workloads.ledger import RECORD

Connection = Any
Expr = Any

_CALL: Final = ("format", "dedup_group", "dedup_key", "dedup_number")
_GROUP: Final = ("format", "dedup_group")
_PREFIX: Final = "call_"


def records_of(connection: Connection, ledger: Expr) -> tuple[Expr, bool]:
    """Return the records of a ledger, each call once, and whether any was repeated.

    Args:
        connection: The engine that holds the ledger.
        ledger: With the dedup columns, if its sources have any.
    """
    rows = ledger.filter(ledger.fate == RECORD) if "fate" in ledger.columns else ledger
    dropped = [name for name in BOOKKEEPING if name in ledger.columns]
    if "dedup_group" not in ledger.columns or not _repeats(connection, rows):
        return rows.drop(*dropped), False
    kept = _kept(rows)
    columns = {name: kept[name] for name in ledger.columns if name not in dropped}
    if "started_at" in columns:
        columns["started_at"] = ibis.coalesce(kept[_PREFIX + "first_at"], kept.started_at)
    return kept.select(**columns), True


def _repeats(connection: Connection, rows: Expr) -> bool:
    named = rows.filter(rows.dedup_group.notnull())
    groups = named.group_by(list(_GROUP)).agg(rows=named.count())
    return bool(connection.execute(groups.filter(groups["rows"] > 1).count()))


def _kept(rows: Expr) -> Expr:
    """Return the rows that stay, with ``call_first_at``: when their call began; null for rows of no group."""
    rows = rows.mutate(
        **{name: column(rows, name) for name in ("dedup_key", "dedup_number", "started_at", "source_file")},
        call_yields=is_true(rows.dedup_yields) if "dedup_yields" in rows.columns else FALSE,
        call_named=rows.dedup_group.notnull(),
    )
    # Larger first, then earlier, then by file: what is equal in all of it is the same row twice.
    order = [ibis.desc("dedup_size"), "started_at", "source_file"]
    call = ibis.window(group_by=list(_CALL), order_by=order)
    whole = ibis.window(group_by=list(_CALL))
    rows = rows.mutate(
        call_place=ibis.row_number().over(call), call_first_at=rows.started_at.min().over(whole)
    )
    calls = rows.filter((rows.call_place == 0) | ~rows.call_named)
    group = ibis.window(group_by=list(_GROUP))
    best = ibis.window(
        group_by=[*_GROUP, "call_yields"], order_by=[ibis.desc("dedup_size"), "call_first_at", "source_file"]
    )
    firm = (~calls.call_yields).cast("int64").sum().over(group) > 0
    calls = calls.mutate(
        call_firm=firm,
        call_best=ibis.row_number().over(best),
        call_group_at=calls.call_first_at.min().over(group),
    )
    stays = ~calls.call_yields | (~calls.call_firm & (calls.call_best == 0))
    first_at = ibis.cases(
        (~calls.call_named, ibis.null("timestamp")),
        (calls.call_yields, calls.call_group_at),
        else_=calls.call_first_at,
    )
    kept = calls.filter(stays | ~calls.call_named)
    return kept.mutate(**{_PREFIX + "first_at": first_at})
