"""The evidence for advice, gathered from a run's own tables."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

import pandas as pd

from advisor.advise import advise
from advisor.analysis import Analysis, Workload
from advisor.evidence import CacheShares, Evidence, Signals
from advisor.levers import levers
from pricing.book import PriceBook
from pricing.cache_rules import rules_for
from pricing.frame import PricedCube
from pricing.meters import CACHE_WRITE_METERS, Meter
from workloads.arrivals import SLOT_SECONDS, arrivals
from workloads.grouping import Grouping

Connection = Any
Expr = Any
Frame = pd.DataFrame

_TEXT = (Meter.INPUT_UNCACHED, Meter.CACHE_READ, *CACHE_WRITE_METERS)
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
    computed = [name for name in listed.frame.columns if name.startswith("cost_") or name in _COMPUTED]
    evidence = Evidence(
        cube=listed.frame.drop(columns=computed),
        priced=listed,
        book=book,
        as_of=as_of,
        workloads={workload.name: workload for workload in _worth_a_look(analysis)},
        signals={str(name): _signals(part) for name, part in seen.groupby("workload")},
        caches=_caches(seen, sizes, listed.frame, as_of),
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


def _caches(
    seen: Frame, sizes: Frame, cube: Frame, as_of: datetime
) -> dict[tuple[str, str | None, str | None], tuple[CacheShares, ...]]:
    """Return what a cache could do at most, of counts alone.

    No more can be common to all prompts of a workload than its shortest ones hold (their first percentile). An entry is
    written at most once in each slot of its lifetime that has requests.
    """
    if "input_tokens_p01" not in sizes.columns:
        return {}
    shortest: dict[Any, float] = sizes.set_index("workload")["input_tokens_p01"].to_dict()
    out: dict[tuple[str, str | None, str | None], tuple[CacheShares, ...]] = {}
    for row in seen.to_dict("records"):
        provider = row["provider"] if isinstance(row["provider"], str) else None
        prefix = shortest.get(row["workload"])
        if not isinstance(row["model"], str) or prefix is None or pd.isna(prefix):
            continue
        mine = (cube["workload"] == row["workload"]) & (cube["model"] == row["model"])
        mine &= cube["provider"].isna() if provider is None else cube["provider"] == provider
        shares = tuple(_shares(dict(row), provider, int(prefix), cube[mine], as_of))
        if shares:
            out[str(row["workload"]), provider, row["model"]] = shares
    return out


def _shares(
    row: Mapping[Any, Any], provider: str | None, prefix: int, cube: Frame, as_of: datetime
) -> Iterator[CacheShares]:
    text = sum(int(cube[str(meter)].fillna(0).sum()) for meter in _TEXT if str(meter) in cube.columns)
    logged = int(cube["cache_read"].fillna(0).sum()) if "cache_read" in cube.columns else 0
    for rule in rules_for(provider, row["model"], as_of):
        eligible = rule.eligible_tokens(prefix)
        if not eligible or not text or rule.storage_meter is not None:
            continue
        for lifetime in rule.lifetimes:
            seconds = lifetime.seconds[0] if isinstance(lifetime.seconds, tuple) else lifetime.seconds
            slots = [slot for slot in SLOT_SECONDS if seconds is not None and slot <= seconds]
            if not slots:
                continue
            writes = int(row[f"slots_{max(slots)}"])
            reads = eligible * (int(row["requests"]) - writes)
            if reads <= logged:
                continue
            yield CacheShares(
                lifetime=lifetime.name,
                write_meter=lifetime.write_meter,
                read_ratio=min(1.0, reads / text),
                written_ratio=min(1.0 - min(1.0, reads / text), eligible * writes / text),
                basis=f"the shortest prompts have {prefix:,} tokens; requests in {writes:,} slots of {max(slots):,} s",
                measured=False,
            )
