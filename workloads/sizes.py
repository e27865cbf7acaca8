"""How large requests are and how long they take: means and quantiles of each workload."""

import math
from functools import reduce
from operator import or_
from typing import Any, Final

import ibis
import pandas as pd

from workloads.cube_columns import column
from workloads.grouping import Grouping
from workloads.relations import store

Expr = Any
Connection = Any

_SIZES: Final = ("input_tokens", "output_tokens", "ttft_seconds", "duration_seconds")
_QUANTILES: Final = {"p01": 0.01, "p50": 0.5, "p90": 0.9, "p99": 0.99}
_MOST_ORDERED: Final = 20_000_000
"""Requests whose sizes are put in order as they are, all of them in memory: to look for where the quantiles are first
takes longer, and little memory."""
_BINS_PER_E: Final = 50
"""Ranges of values for each factor of e, when quantiles are looked for: each is 2 % wide."""


def size_quantiles(
    connection: Connection, records: Expr, grouping: Grouping, most_ordered: int = _MOST_ORDERED
) -> pd.DataFrame:
    """Return mean and quantiles per workload of sizes and times of single requests; buckets are left out.

    Quantiles interpolate linearly between neighbours (type 7 of Hyndman and Fan, 1996).

    Args:
        connection: The engine that holds the records.
        records: Records with sizes, see ``workloads.cube.prepare``.
        grouping: How workloads are told apart.
        most_ordered: Requests above which ranges of sizes are counted first; the answer is the same.

    Returns:
        One row a workload; columns ``<what>_mean, _p01, _p50, _p90, _p99`` for input_tokens, output_tokens, ttft_seconds and
        duration_seconds (NaN: not reported) and ``requests``.
    """
    single = records.filter(column(records, "bucket_seconds").isnull())
    names = [name for name in _SIZES if name in single.columns]
    single = single.select(workload=grouping.name_of(single), **{name: single[name] for name in names})
    means = {f"{name}_mean": single[name].mean() for name in names}
    if connection.execute(single.count()) > most_ordered:
        whole = single.group_by("workload").agg(requests=single.count(), **means)
        frames: list[pd.DataFrame] = [connection.execute(whole)]
        frames += [connection.execute(_counted(connection, single, name)) for name in names]
        return reduce(lambda left, right: left.merge(right, on="workload", how="left"), frames)
    # All quantiles of a column are taken from one ordering of it.
    ordered = {
        f"{name}_all": single[name].cast("float64").quantile(list(_QUANTILES.values())) for name in names
    }
    frame: pd.DataFrame = connection.execute(
        single.group_by("workload").agg(requests=single.count(), **means, **ordered)
    )
    for name in names:
        together = frame.pop(f"{name}_all")
        for index, label in enumerate(_QUANTILES):
            frame[f"{name}_{label}"] = [math.nan if values is None else values[index] for values in together]
    return frame


def _counted(connection: Connection, single: Expr, name: str) -> Expr:
    """Return the quantiles of a column per workload, looking closely only at the ranges of values that hold them."""
    values = single.select("workload", value=single[name].cast("float64"))
    values = values.filter(values.value.notnull())
    spread = (values.value.ln() * _BINS_PER_E).floor()
    values = values.mutate(bin=ibis.cases((values.value > 0, spread), else_=-math.inf))
    bins = values.group_by(["workload", "bin"]).agg(times=values.count())
    bins = bins.mutate(
        rank_after=_so_far(bins, "bin"), last_rank=bins.times.sum().over(ibis.window(group_by="workload")) - 1
    )
    bins = bins.mutate(rank_before=bins.rank_after - bins.times)
    ranks = [edge for share in _QUANTILES.values() for edge in _neighbours(bins.last_rank, share)]
    holds = [(bins.rank_before <= rank) & (bins.rank_after > rank) for rank in ranks]
    # In floats, since the engine adds up whole numbers in a wider type than the library knows of.
    wanted = {name: bins[name].cast("float64") for name in ("rank_before", "last_rank")}
    held = bins.filter(reduce(or_, holds)).select("workload", "bin", **wanted)
    # Stored, for in one question with what follows the engine would keep the values of all rows, to use them twice.
    held = store(connection, "size_ranges", held)
    near = values.semi_join(held, ["workload", "bin"])
    # Counted by as little as possible: there may be millions of different values, and each is kept with its key.
    counts = near.group_by(["workload", "bin", "value"]).agg(times=near.count())
    counts = counts.inner_join(held, ["workload", "bin"])
    ranked = counts.mutate(rank_after=counts.rank_before + _so_far(counts, "value", "bin"))

    def quantile(share: float) -> Expr:
        low, high = (
            ranked.value.min(where=ranked.rank_after > rank) for rank in _neighbours(ranked.last_rank, share)
        )
        rank = ranked.last_rank * share
        return low + (high - low) * (rank - rank.floor()).max()

    return ranked.group_by("workload").agg(
        **{f"{name}_{label}": quantile(share) for label, share in _QUANTILES.items()}
    )


def _so_far(counts: Expr, order: str, *within: str) -> Expr:
    """Return the sum of ``times`` up to each row, in an order, within each workload."""
    window = ibis.window(group_by=["workload", *within], order_by=order, preceding=None, following=0)
    return counts.times.sum().over(window)


def _neighbours(last_rank: Expr, share: float) -> tuple[Expr, Expr]:
    """Return the ranks on either side of a quantile, from 0."""
    rank = last_rank * share
    return rank.floor(), rank.ceil()
