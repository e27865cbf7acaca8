"""What caches of some lifetimes would have read of growing conversations, by workload and model.

The coarse sister of ``cache_replay``: one ordered pass over the requests that name a session, and sums. A prompt that is
no shorter than the one before it in its session is taken to begin with it; one that also has room for the answer between
them is so in all likelihood.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ibis
import pandas as pd

from pricing.meters import CACHE_WRITE_METERS, Meter
from workloads.cache_breaks import break_sums
from workloads.cube_columns import column, total, with_sizes
from workloads.grouping import Grouping
from workloads.times import epoch

Connection = Any
Expr = Any
Model = tuple[str | None, str]
"""Provider and model as logged."""

_TEXT = (Meter.INPUT_UNCACHED, Meter.CACHE_READ, *CACHE_WRITE_METERS)
_KEYS = ("workload", "provider", "model")
_KINDS = ("cacheable", "likely", "most")


@dataclass(frozen=True, slots=True)
class Smallest:
    """What the cache of a model takes: prefixes of so many tokens and more, in whole multiples."""

    minimum_tokens: int
    granularity_tokens: int


def session_reads(
    connection: Connection,
    records: Expr,
    grouping: Grouping,
    models: Mapping[Model, Sequence[Smallest]],
    lifetimes: Sequence[float],
) -> pd.DataFrame | None:
    """Return one row a workload, provider and model of those asked for; None when no request names a session.

    Columns: ``workload, provider, model``, ``requests`` and ``text_tokens`` of single requests with a session and a time,
    and, for the cache in place ``c`` of those of the model, ``cacheable_<c>`` (tokens of them) and by place ``n`` in
    ``lifetimes`` ``likely_<c>_<n>`` (tokens read when prompts that have room for the answer before them begin with what
    went before) and ``most_<c>_<n>`` (when all that are no shorter do); where reads are logged, also those of
    ``cache_breaks.break_sums``.

    Args:
        connection: The engine.
        records: The ledger's records of the asked days.
        grouping: How workloads are told apart.
        models: What their caches take: one cache or more that the same prompts could be in.
        lifetimes: Seconds from one start to the next.
    """
    if "session" not in records.columns or not models:
        return None
    turns = _turns(records, grouping, models)
    # Of equal starts the shorter prompt first, so that the order of the log decides nothing.
    order = ibis.window(
        group_by=["provider", "model", "session"], order_by=[turns["at"], turns.text, turns.answer]
    )
    seen = turns.mutate(
        before=turns.text.lag().over(order),
        answered=turns.answer.lag().over(order),
        gap=turns["at"] - turns["at"].lag().over(order),
        expected=turns.cached.lag().over(order),
    )
    common = ibis.cases((seen.text >= seen.before, seen.before), else_=0)
    sums: dict[str, Expr] = {}
    for place in range(_most_caches(models)):
        most = _eligible(common, seen, place)
        likely = ibis.cases((seen.text >= seen.before + seen.answered, most), else_=0)
        seen = seen.mutate(
            **{
                f"most_{place}": most,
                f"likely_{place}": likely,
                f"cacheable_{place}": _eligible(seen.text, seen, place),
            }
        )
        sums |= {name: seen[name].sum() for name in (f"{kind}_{place}" for kind in _KINDS)}
    broken = (
        break_sums(seen, seen.read, seen.expected, seen.before)
        if str(Meter.CACHE_READ) in records.columns
        else {}
    )
    # By the shortest lifetime that spans the pause: one sum for all lifetimes, whatever their number.
    spans = [(seen.gap <= seconds, number) for number, seconds in enumerate(lifetimes)]
    seen = seen.mutate(span=ibis.cases(*spans, else_=len(lifetimes)) if spans else ibis.literal(0))
    parts: pd.DataFrame = connection.execute(
        seen.group_by([*_KEYS, "span"]).agg(
            requests=seen.count(), text_tokens=seen.text.sum(), **sums, **broken
        )
    )
    if not len(parts):
        return None
    return _by_lifetime(parts, _most_caches(models), len(lifetimes), list(broken))


def _by_lifetime(parts: pd.DataFrame, caches: int, lifetimes: int, more: list[str]) -> pd.DataFrame:
    """Return one row a cell, of sums by the shortest lifetime that spans the pause before a request."""
    names = ["requests", "text_tokens", *more, *(f"cacheable_{place}" for place in range(caches))]
    sums = {name: parts[name].fillna(0).astype("int64") for name in names}
    for place in range(caches):
        for kind in ("likely", "most"):
            reads = parts[f"{kind}_{place}"].fillna(0).astype("int64")
            sums |= {
                f"{kind}_{place}_{number}": reads.where(parts["span"] <= number, 0)
                for number in range(lifetimes)
            }
    frame = parts[list(_KEYS)].assign(**sums)
    return frame.groupby(list(_KEYS), dropna=False, sort=True).sum().reset_index()


def _most_caches(models: Mapping[Model, Sequence[Smallest]]) -> int:
    return max(map(len, models.values()))


def _turns(records: Expr, grouping: Grouping, models: Mapping[Model, Sequence[Smallest]]) -> Expr:
    """Return the single requests that name a session and a time, with what their model's cache takes."""
    sized = with_sizes(records)
    started = column(sized, "started_at")
    provider, model = column(sized, "provider"), column(sized, "model")
    asked = [
        (
            (model == name) & (provider.isnull() if payee is None else provider.fill_null("") == payee),
            caches,
        )
        for (payee, name), caches in models.items()
    ]
    limits: dict[str, Expr] = {}
    for place in range(_most_caches(models)):
        having = [(where, caches[place]) for where, caches in asked if place < len(caches)]
        limits[f"smallest_{place}"] = ibis.cases(*((where, one.minimum_tokens) for where, one in having))
        limits[f"whole_{place}"] = ibis.cases(*((where, one.granularity_tokens) for where, one in having))
    read = ibis.coalesce(column(sized, str(Meter.CACHE_READ)), 0)
    rows = sized.select(
        workload=grouping.name_of(sized),
        provider=provider,
        model=model,
        session=sized.session,
        at=epoch(started),
        text=total(sized, _TEXT),
        # Reasoning is not sent back with the next prompt.
        answer=ibis.coalesce(sized.output_tokens, 0) - ibis.coalesce(column(sized, "reasoning"), 0),
        read=read,
        cached=read + ibis.coalesce(total(sized, CACHE_WRITE_METERS), 0),
        bucket=column(sized, "bucket_seconds"),
        **limits,
    )
    return rows.filter(
        rows.session.notnull()
        & rows["at"].notnull()
        & rows.text.notnull()
        & rows.bucket.isnull()
        & rows.smallest_0.notnull()
    )


def _eligible(tokens: Expr, rows: Expr, place: int) -> Expr:
    return ibis.cases(
        (tokens >= rows[f"smallest_{place}"], tokens - tokens % rows[f"whole_{place}"]), else_=0
    )
