"""The evidence for advice, gathered from a run's own tables."""

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import pandas as pd

from advisor.advise import advise
from advisor.analysis import Analysis, Workload
from advisor.cache_evidence import cache_evidence
from advisor.evidence import Evidence, Signals
from advisor.levers import levers
from pricing.book import PriceBook
from pricing.frame import PricedCube
from workloads.arrivals import arrivals
from workloads.grouping import Grouping

Connection = Any
Expr = Any
Frame = pd.DataFrame

_LEAST_SHARE: Final = Decimal("0.01")
_MOST_WORKLOADS: Final = 12
_COMPUTED = ("sheet", "unpriced_reason", "provider_resolved", "model_resolved")


def with_advice(
    analysis: Analysis,
    connection: Connection,
    records: Expr,
    grouping: Grouping,
    sizes: Frame,
    listed: PricedCube,
    book: PriceBook,
    as_of: datetime,
) -> Analysis:
    """Return an analysis with what to do about it.

    Args:
        analysis: What is known of the log.
        connection: The engine that holds the records.
        records: Records of the asked days.
        grouping: How workloads are told apart.
        sizes: Size quantiles, see ``workloads.cube.size_quantiles``.
        listed: The cube at list prices in USD.
        book: Prices.
        as_of: Moment of the report.
    """
    seen = arrivals(connection, records, grouping)
    looked_at = {workload.name: workload for workload in _worth_a_look(analysis)}
    computed = [name for name in listed.frame.columns if name.startswith("cost_") or name in _COMPUTED]
    evidence = Evidence(
        cube=listed.frame.drop(columns=computed),
        priced=listed,
        book=book,
        as_of=as_of,
        workloads=looked_at,
        signals={str(name): _signals(part) for name, part in seen.groupby("workload")},
        caches=cache_evidence(
            connection,
            records,
            grouping,
            seen[seen["workload"].isin(list(looked_at))],
            _shortest(sizes),
            listed.frame,
            as_of,
        ),
    )
    proposals = [proposal for lever in levers() for proposal in lever.find(evidence)]
    return replace(analysis, advice=advise(evidence, proposals, analysis.period_days))


def _worth_a_look(analysis: Analysis) -> list[Workload]:
    """Return the workloads that make the bill; what is saved on the others is next to nothing."""
    least = analysis.whole.total * _LEAST_SHARE
    return [one for one in analysis.workloads if one.whole.total >= least][:_MOST_WORKLOADS]


def _signals(part: Frame) -> Signals:
    def known(name: str) -> int | None:
        return int(part[name].sum()) if part[name].notna().any() else None

    return Signals(requests=int(part["requests"].sum()), cut_off=known("cut_off"), streamed=known("streamed"))


def _shortest(sizes: Frame) -> dict[str, float]:
    """Return what nearly all prompts of a workload have at least: their first percentile, in tokens."""
    if "input_tokens_p01" not in sizes.columns:
        return {}
    known = sizes.dropna(subset=["input_tokens_p01"])
    return dict(zip(known["workload"], known["input_tokens_p01"], strict=True))
