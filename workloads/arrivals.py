"""When requests of a workload arrive, and how they end: what levers ask that no sum of tokens tells."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import ibis
import pandas as pd

from workloads.cube_columns import column
from workloads.endings import CUT_OFF_WORDS
from workloads.expressions import is_true
from workloads.grouping import Grouping
from workloads.relations import store
from workloads.room import is_large

Expr = Any
Connection = Any

_NUMBER: Final = "number"
SLOT_SECONDS: Final = (300, 1_800, 3_600, 43_200, 86_400)
"""Lengths of time slots that are counted; each is a whole multiple of the first."""
PAUSE_SECONDS: Final = (300, 3_600)
"""Lengths of pauses that are counted: none is shorter than the shortest slot."""


def arrivals(connection: Connection, records: Expr, grouping: Grouping) -> pd.DataFrame:
    """Return one row a workload, provider and model: requests, and the time slots in which there were any.

    A cache that lives for a slot's length is written at most once in each slot with requests, so the others read: that
    needs one pass and no ordering, and never promises too much.

    Columns: ``workload, provider, model`` (as logged), ``requests`` (single ones with a time), ``slots_<seconds>``,
    ``pauses_<seconds>`` (how often one request started later than that after the one before), ``streamed`` and ``cut_off``
    (NA: the log does not say).
    """
    single = records.filter(
        column(records, "bucket_seconds").isnull() & column(records, "started_at").notnull()
    )
    streaming, stop = column(single, "streaming"), column(single, "stop_reason")
    names = {
        "workload": grouping.name_of(single),
        "provider": column(single, "provider"),
        "model": column(single, "model"),
    }
    numbered = _numbered(connection, single.select(**names)) if is_large(connection) else None
    keys = names if numbered is None else {_NUMBER: _number(names, numbered.salt)}
    cells = single.select(
        **keys,
        slot=(column(single, "started_at").epoch_seconds() // SLOT_SECONDS[0]).cast("int64"),
        started_at=column(single, "started_at"),
        streamed=ibis.cases((streaming.notnull(), is_true(streaming).cast("int64"))),
        cut_off=ibis.cases((stop.notnull(), is_true(stop.lower().isin(CUT_OFF_WORDS)).cast("int64"))),
    )
    slots = cells.group_by([*keys, "slot"]).agg(
        requests=cells.count(),
        streamed=cells.streamed.sum(),
        cut_off=cells.cut_off.sum(),
        first=cells.started_at.min().epoch_seconds(),
        last=cells.started_at.max().epoch_seconds(),
    )
    # No pause within a slot is longer than the slot, so the few slots are ordered and not the many requests.
    in_order = ibis.window(group_by=list(keys), order_by="slot")
    slots = slots.mutate(
        pause=slots.first - slots.last.lag().over(in_order), before=slots.slot.lag().over(in_order)
    )
    # In their order, a long slot begins where the short one before was in another: to count distinct ones is dearer.
    sums = {
        f"slots_{seconds}": (~is_true(_long(slots.slot, seconds) == _long(slots.before, seconds))).sum()
        for seconds in SLOT_SECONDS
    }
    sums |= {
        f"pauses_{seconds}": is_true(slots.pause > seconds).cast("int64").sum() for seconds in PAUSE_SECONDS
    }
    found = slots.group_by(list(keys)).agg(
        requests=slots.requests.sum(), streamed=slots.streamed.sum(), cut_off=slots.cut_off.sum(), **sums
    )
    if numbered is not None:
        found = numbered.names.inner_join(found, _NUMBER).drop(_NUMBER)
    frame: pd.DataFrame = connection.execute(found)
    return frame


@dataclass(frozen=True, slots=True)
class _Numbered:
    """Names of workloads, each with a number of its own."""

    names: Expr
    salt: int


def _numbered(connection: Connection, named: Expr) -> _Numbered:
    """Return the names of some rows, each with a number of its own.

    Many rows are grouped and put in order by that in half the time; few are faster by their names, which are made once.
    """
    salt = 0
    while True:
        distinct = named.distinct()
        columns = {name: distinct[name] for name in named.columns}
        names = store(connection, "arrival_names", distinct.mutate(**{_NUMBER: _number(columns, salt)}))
        if connection.execute(names[_NUMBER].nunique() == names.count()):
            return _Numbered(names, salt)
        salt += 1


def _number(names: Mapping[str, Expr], salt: int) -> Expr:
    return ibis.struct({**names, "salt": ibis.literal(salt)}).hash()


def _long(slot: Expr, seconds: int) -> Expr:
    """Return the first of the short slots of the long one that a short slot is in: whole numbers, unlike a quotient."""
    short = seconds // SLOT_SECONDS[0]
    return slot - slot % short if short > 1 else slot
