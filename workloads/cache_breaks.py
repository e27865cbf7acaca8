"""Turns of a conversation that read less from a cache than the turn before had put there, so soon that it was still alive.

Told by what the log says was read, or, where it names blocks, by what a replay finds: then also where prompts part.
"""

from typing import Any, Final

import ibis
import pandas as pd

from pricing.meters import CACHE_WRITE_METERS, Meter
from pricing.units import MICROSECONDS_PER_SECOND
from workloads.cube_columns import column, total
from workloads.grouping import Grouping

Expr = Any
Connection = Any

ALIVE_SECONDS: Final = 300
"""No cache that is sold keeps an entry for less after its last use."""
_KEYS: Final = ("workload", "provider", "model")


def break_sums(rows: Expr, had: Expr, expected: Expr) -> dict[str, Expr]:
    """Return sums over turns.

    ``turns``: those soon after the one before and with no shorter prompt; ``broken``: those of them that had less than half of
    what was expected; ``lost_none, lost_half, lost_any``: tokens that were missing where nothing was had, less than half, or
    less at all; ``parted_tokens``: the median of what broken turns had.

    Args:
        rows: Requests in the columns of ``with_turn_before``.
        had: Tokens that were read, or could have been.
        expected: Tokens that the turn before had left there.
    """
    is_turn = rows.session.notnull() & (rows.gap <= ALIVE_SECONDS) & (rows.text >= rows.text_before)
    is_turn &= expected > 0
    lost = ibis.greatest(expected - had, 0)
    broken = is_turn & (had * 2 < expected)

    def tokens(where: Expr) -> Expr:
        return ibis.coalesce(lost.sum(where=where), 0).cast("int64")

    return {
        "turns": ibis.coalesce(is_turn.sum(), 0),
        "broken": ibis.coalesce(broken.sum(), 0),
        "lost_none": tokens(is_turn & (had == 0)),
        "lost_half": tokens(broken),
        "lost_any": tokens(is_turn),
        "parted_tokens": had.median(where=broken),
    }


def with_turn_before(rows: Expr) -> Expr:
    """Return requests with ``gap`` (seconds) and ``text_before, cached_before`` of the turn before in their session.

    Args:
        rows: ``workload, provider, model, session, at, text, cached, read`` and what else is wanted.
    """
    order = ibis.window(group_by=[*_KEYS, "session"], order_by=[rows["at"], rows.text, rows.read])
    return rows.mutate(
        gap=rows["at"] - rows["at"].lag().over(order),
        text_before=rows.text.lag().over(order),
        cached_before=rows.cached.lag().over(order),
    )


def logged_breaks(connection: Connection, records: Expr, grouping: Grouping) -> pd.DataFrame | None:
    """Return one row a workload, provider and model with the columns of ``break_sums``, by what the log says was read.

    None where it names no sessions or no reads.
    """
    if not {"session", str(Meter.CACHE_READ)} <= set(records.columns):
        return None
    started = column(records, "started_at")
    read = ibis.coalesce(column(records, str(Meter.CACHE_READ)), 0)
    rows = records.select(
        workload=grouping.name_of(records),
        provider=column(records, "provider"),
        model=column(records, "model"),
        session=records.session,
        at=started.epoch_seconds().cast("float64") + started.microsecond() / MICROSECONDS_PER_SECOND,
        text=total(records, (Meter.INPUT_UNCACHED, Meter.CACHE_READ, *CACHE_WRITE_METERS)),
        cached=read + ibis.coalesce(total(records, CACHE_WRITE_METERS), 0),
        read=read,
        bucket=column(records, "bucket_seconds"),
    )
    rows = rows.filter(
        rows.session.notnull() & rows["at"].notnull() & rows.text.notnull() & rows.bucket.isnull()
    )
    turns = with_turn_before(rows)
    frame: pd.DataFrame = connection.execute(
        turns.group_by(_KEYS).agg(**break_sums(turns, turns.read, turns.cached_before))
    )
    return frame
