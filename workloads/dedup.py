"""Rows that are one call: the largest is kept, at the time of the first."""

from typing import Any

import ibis

from workloads.expressions import FALSE, NO_TEXT, is_true
from workloads.ledger import LEDGER_ROW, RECORD, ROW_ID
from workloads.raw import PLACE_COLUMN
from workloads.relations import row_id, store

Connection = Any
Expr = Any

_MOSTLY = 0.5
BOOKKEEPING = (
    "fate",
    "reason",
    "dedup_group",
    "dedup_key",
    "dedup_number",
    "dedup_yields",
    "dedup_size",
    PLACE_COLUMN,
    LEDGER_ROW,
    ROW_ID,
)
"""Ledger columns that nothing needs once every row's fate is known."""


def deduplicate(connection: Connection, ledger: Expr) -> tuple[Expr, bool]:
    """Return the records of a stored ledger, over all files of a run, each call once; and whether any was repeated.

    Args:
        connection: The engine that holds the ledger.
        ledger: A stored table, or any whose rows are numbered, with the dedup columns if its importers gave any.
    """
    dropped_columns = [name for name in BOOKKEEPING if name in ledger.columns]
    shared, covers_all = _shared(connection, ledger) if "dedup_group" in ledger.columns else (None, False)
    if shared is None:
        return ledger.filter(ledger.fate == RECORD).drop(*dropped_columns), False
    kept = store(connection, "dedup_kept", _kept(connection, shared))
    rows = ledger.mutate(row_id=_row_id(ledger))
    rows = rows.filter(rows.fate == RECORD)
    rows = rows.left_join(kept, rows.row_id == kept.kept_row)
    named = rows.dedup_group.notnull()
    if not covers_all:
        named = named & rows.row_id.isin(shared.row_id)
    rows = rows.filter(rows.kept_row.notnull() | ~named)
    columns = {name: rows[name] for name in ledger.columns if name not in dropped_columns}
    if "started_at" in ledger.columns:
        columns["started_at"] = ibis.coalesce(rows.first_at, rows.started_at)
    return store(connection, "ledger_records", rows.select(**columns)), True


def _row_id(ledger: Expr) -> Expr:
    return ledger[LEDGER_ROW] if LEDGER_ROW in ledger.columns else row_id(ledger)


def _shared(connection: Connection, ledger: Expr) -> tuple[Expr | None, bool]:
    """Return the rows that may be one call with another, None when there is none; and whether these are all that have a group.

    What is alone in its group repeats nothing. Counting short hashes finds the others fast; a rare collision only
    brings a few rows too many, which their names tell apart later.
    """
    marked = ledger.select(
        row_id=_row_id(ledger),
        fate=ledger.fate,
        format=ledger.format,
        file=ledger.source_file,
        group=ledger.dedup_group,
        key=ledger.dedup_key if "dedup_key" in ledger.columns else NO_TEXT,
        number=ledger.dedup_number if "dedup_number" in ledger.columns else ibis.null("int64"),
        yields=is_true(ledger.dedup_yields) if "dedup_yields" in ledger.columns else FALSE,
        size=ledger.dedup_size,
        at=ledger.started_at if "started_at" in ledger.columns else ibis.null("timestamp"),
        mark=ledger.dedup_group.hash(),
    )
    marked = marked.filter((marked.fate == RECORD) & marked.group.notnull())
    marks = marked.group_by("mark").agg(rows=marked.count())
    marks = store(connection, "dedup_marks", marks.filter(marks.rows > 1))
    repeated = int(connection.execute(marks.rows.sum()) or 0)
    if not repeated:
        return None, False
    # Where most rows repeat one another, as the lines of a streamed session do, to pick them out first costs more than
    # it spares.
    if repeated >= _MOSTLY * int(connection.execute(marked.count())):
        return marked.drop("mark", "fate"), True
    return store(connection, "dedup_shared", marked.semi_join(marks, "mark").drop("mark", "fate")), False


def _kept(connection: Connection, shared: Expr) -> Expr:
    """Return ``(kept_row, first_at)``: the row of each call that stays, and when the call began."""
    # Larger first, then earlier, then by file and row, so that the answer does not depend on the order of reading.
    place = ibis.struct(
        {"size": -shared["size"], "at": shared["at"], "file": shared.file, "row": shared.row_id}
    )
    row = ibis.struct({"row": shared.row_id, "yields": shared.yields})
    calls = shared.group_by(["format", "group", "key", "number"]).agg(
        kept=row.argmin(place),
        size=shared["size"].max(),
        first_at=shared["at"].min(),
    )
    calls = calls.mutate(kept_row=calls.kept["row"], yields=calls.kept["yields"]).drop("kept")
    calls = store(connection, "dedup_calls", calls)
    if not connection.execute(calls.yields.any()):
        return calls.select("kept_row", "first_at")
    # Between calls of one group: a call that yields goes when another does not, and of yielding ones one stays.
    groups = calls.group_by(["format", "group"]).agg(
        firm=(~calls.yields).any(),
        best_row=calls.kept_row.argmin(
            ibis.struct({"size": -calls["size"], "at": calls.first_at, "row": calls.kept_row})
        ),
        group_first_at=calls.first_at.min(),
    )
    judged = calls.inner_join(groups, ["format", "group"])
    judged = judged.filter(~judged.yields | (~judged.firm & (judged.kept_row == judged.best_row)))
    # Where every call yields, the one that stays stands for all of them, so it began when the first did.
    first_at = ibis.cases((judged.firm, judged.first_at), else_=judged.group_first_at)
    return judged.select("kept_row", first_at=first_at)
