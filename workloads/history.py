"""How long conversations grow, and what of their later prompts is old text that is paid in full.

A prompt that has room for the one before it in its session and its answer is taken to begin with both: that part is history.
"""

from typing import Any, Final

import ibis
import pandas as pd

from pricing.meters import CACHE_WRITE_METERS, Meter
from workloads.cube_columns import column, total, with_sizes
from workloads.expressions import is_true
from workloads.grouping import Grouping
from workloads.times import epoch

Connection = Any
Expr = Any

TURNS: Final = (5, 10, 20)
"""Turns after which a prompt may stay as large as it is; ascending."""
LONG_TURNS: Final = 10
"""A session with more of them is long."""
_TEXT: Final = (Meter.INPUT_UNCACHED, Meter.CACHE_READ, *CACHE_WRITE_METERS)
_KEYS: Final = ("workload", "provider", "model")
_SESSION: Final = ("provider", "model", "session")


def history(connection: Connection, records: Expr, grouping: Grouping) -> pd.DataFrame | None:
    """Return one row a workload, provider and model that has sessions of more than ``LONG_TURNS`` turns.

    Only these sessions are put in order. Columns: ``workload, provider, model`` (as logged), ``turns`` (all but the first of
    each), ``grown`` (those whose prompt has room for the one before and its answer), ``later`` (turns after the tenth),
    ``first_tokens, later_tokens`` (prompts at the fifth turn, and after the tenth: sums) and ``fifths`` (how many fifth turns),
    ``above_<t>`` (by turn ``t`` of ``TURNS``: old text above the prompt of that turn that was paid as plain input) and
    ``cached_tokens`` (old text above that of the tenth turn that was read from a cache, or written to one).

    Args:
        connection: The engine.
        records: The ledger's records of the asked days.
        grouping: How workloads are told apart.

    Returns:
        None where no session is long.
    """
    if "session" not in records.columns:
        return None
    turns = _turns(with_sizes(records), grouping)
    sizes = turns.group_by(list(_SESSION)).agg(n=turns.count())
    long = sizes.filter(sizes.n > LONG_TURNS)
    # A missing provider or model is one, too.
    same = [turns[name].identical_to(long[name]) for name in _SESSION]
    found = turns.semi_join(long, same)
    order = ibis.window(
        group_by=list(_SESSION), order_by=[found["at"], found.text, found.answer, found.plain]
    )
    seen = found.mutate(
        number=ibis.row_number().over(order) + 1,
        before=found.text.lag().over(order),
        answered=found.answer.lag().over(order),
        **{f"at_{turn}": found.text.nth(turn - 1).over(order) for turn in TURNS},
    )
    grown = is_true(seen.text >= seen.before + seen.answered)
    old = ibis.cases((grown, seen.before), else_=0)
    # New text is what is computed first: of the old, only what is left of plain input was paid in full.
    paid = ibis.greatest(ibis.least(old, seen.plain - (seen.text - old)), 0)
    later = seen.number > LONG_TURNS

    def above(turn: int) -> Expr:
        # A prompt may have been larger at an earlier turn: so a later one never allows less.
        size = ibis.greatest(*(seen[f"at_{one}"] for one in TURNS if one <= turn))
        return ibis.cases((seen.number > turn, ibis.greatest(seen.text - size, 0)), else_=0)

    def tokens(value: Expr) -> Expr:
        return ibis.coalesce(value.sum(), 0).cast("int64")

    frame: pd.DataFrame = connection.execute(
        seen.group_by(list(_KEYS)).agg(
            turns=tokens(seen.before.notnull().cast("int64")),
            grown=tokens(grown.cast("int64")),
            later=tokens(later.cast("int64")),
            fifths=tokens((seen.number == TURNS[0]).cast("int64")),
            first_tokens=tokens(ibis.cases((seen.number == TURNS[0], seen.text), else_=0)),
            later_tokens=tokens(ibis.cases((later, seen.text), else_=0)),
            cached_tokens=tokens(ibis.least(above(LONG_TURNS), old - paid)),
            **{f"above_{turn}": tokens(ibis.least(above(turn), paid)) for turn in TURNS},
        )
    )
    return frame if len(frame) else None


def _turns(sized: Expr, grouping: Grouping) -> Expr:
    """Return the single requests that name a session and a time."""
    started = column(sized, "started_at")
    calendar = epoch(started)
    rows = sized.select(
        workload=grouping.name_of(sized),
        provider=column(sized, "provider"),
        model=column(sized, "model"),
        session=sized.session,
        at=ibis.coalesce(calendar, column(sized, "elapsed_seconds")),
        text=total(sized, _TEXT),
        plain=ibis.coalesce(column(sized, str(Meter.INPUT_UNCACHED)), 0),
        # Reasoning is not sent back with the next prompt.
        answer=ibis.coalesce(sized.output_tokens, 0) - ibis.coalesce(column(sized, "reasoning"), 0),
        bucket=column(sized, "bucket_seconds"),
    )
    return rows.filter(
        rows.session.notnull() & rows["at"].notnull() & rows.text.notnull() & rows.bucket.isnull()
    )
