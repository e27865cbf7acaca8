"""Requests that were asked before, word for word: what names of all blocks of a prompt prove, or of its text."""

from typing import Any, Final

import ibis
import pandas as pd

from workloads.cube_columns import column, present_meters
from workloads.expressions import is_true
from workloads.grouping import Grouping
from workloads.times import epoch

Expr = Any
Connection = Any

WITHIN_SECONDS: Final = (300, 3_600)
"""How soon after the one before; ascending."""
_NAMES: Final = (("block_hashes", "block_tokens"), ("text_hashes", "text_block_tokens"))
"""What names the blocks of prompts, with their size; the best first."""
LATER: Final = len(WITHIN_SECONDS)
"""Place of what came later, or at a time that the log does not tell."""


def repeats(connection: Connection, records: Expr, grouping: Grouping) -> pd.DataFrame | None:
    """Return one row a workload, provider, model and place in ``WITHIN_SECONDS``: requests whose whole prompt was sent before.

    Two prompts of one workload and model are the same where the log names every block of both (or has the text of both), the
    names are the same, and so are their tokens. A block's name stands for all before it, so the last one tells. The first of
    them is no repeat.

    Columns: ``workload, provider, model`` (as logged), ``within`` (the shortest of the times that the pause since the one
    before fits into, by place; or ``LATER``), ``requests`` and one a meter (NA: not reported). None where no log names blocks.
    """
    told_by = [names for names in _NAMES if set(names) <= set(records.columns)]
    if not told_by:
        return None
    meters = [str(meter) for meter in present_meters(records)]
    hashes, block_tokens = (ibis.coalesce(*(records[names[place]] for names in told_by)) for place in (0, 1))
    started = column(records, "started_at")
    calendar = epoch(started)
    named = records.mutate(hashes=hashes).filter(
        column(records, "bucket_seconds").isnull()
        & (hashes.length() > 0)
        # A block at the end that was not named could hold anything.
        & (hashes.length() * block_tokens >= records.input_tokens)
    )
    rows = named.select(
        workload=grouping.name_of(named),
        provider=column(named, "provider"),
        model=column(named, "model"),
        scope=column(named, "cache_scope"),
        blocks=named.hashes.length(),
        name=named.hashes[named.hashes.length() - 1],
        prompt=named.input_tokens,
        at=ibis.coalesce(calendar, column(named, "elapsed_seconds")),
        **{meter: named[meter] for meter in meters},
    )
    keys = ["workload", "provider", "model"]
    # Of equal times the dearest first, so that the order of the log decides nothing and no saving is too large.
    order = [rows["at"], *(rows[meter].desc() for meter in meters)]
    same = ibis.window(group_by=[*keys, "scope", "blocks", "name", "prompt"], order_by=order)
    rows = rows.mutate(number=ibis.row_number().over(same), pause=rows["at"] - rows["at"].lag().over(same))
    again = rows.filter(rows.number > 0)
    within = ibis.cases(
        *((is_true(again.pause <= seconds), place) for place, seconds in enumerate(WITHIN_SECONDS)),
        else_=LATER,
    )
    again = again.mutate(within=within)
    frame: pd.DataFrame = connection.execute(
        again.group_by([*keys, "within"]).agg(
            requests=again.count(), **{meter: again[meter].sum() for meter in meters}
        )
    )
    return frame
