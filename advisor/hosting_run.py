"""The comparison with own accelerators as part of a run: which records and which bill it is about."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from advisor.analysis import Analysis, CostReport, Workload
from advisor.hosting import HostingOptions
from advisor.hosting_study import study
from advisor.levers.self_hosting import with_hosting
from advisor.options import AnalyseOptions
from advisor.terms import USD
from pricing.errors import PricingError
from workloads.cube import prepare
from workloads.grouping import choose_grouping
from workloads.minutes import longest_tokens, minutes

Bills = tuple[Decimal, Decimal]
"""USD of the period: as it is, and after the levers on the API."""


class UnknownWorkloadError(PricingError):
    """Raised when a workload that was asked for is none of the log's; the message names these."""


def with_self_host(
    analysis: Analysis, connection: Any, ledger: Any, asked: HostingOptions, options: AnalyseOptions
) -> Analysis:
    """Return an analysis with the comparison.

    Args:
        analysis: With advice, whose plan has what the API's levers leave of the bill.
        connection: The engine that holds the ledger.
        ledger: All records that were read.
        asked: What is asked.
        options: Which days count, and the moment of the report.

    Raises:
        PricingError: When a name is not known, a file is malformed, or no price is.
    """
    records = prepare(connection, ledger, options.period)
    part, bills = analysis, _bills(analysis)
    if asked.workloads:
        chosen = _chosen(analysis, asked.workloads)
        grouping = choose_grouping(connection, records, options.group_by, show_users=options.show_users)
        records = records.filter(grouping.name_of(records).isin(list(asked.workloads)))
        part, bills = _part(analysis, chosen), _bills_of(analysis, chosen)
    found = study(
        minutes(connection, records),
        longest_tokens(connection, records),
        part,
        asked,
        options.as_of.date(),
        bills,
    )
    advice = None if analysis.advice is None else with_hosting(analysis.advice, found)
    return replace(analysis, self_host=found, advice=advice)


def _bills(analysis: Analysis) -> Bills:
    plan = None if analysis.advice is None else analysis.advice.plan
    # In another currency than USD the bill is taken at list prices, which are in USD.
    in_usd = analysis.cost.currency == USD or plan is None
    usd = _of_tokens([analysis.cost]) if in_usd or plan is None else plan.baseline_usd
    left = plan.optimised_usd / plan.baseline_usd if plan is not None and plan.baseline_usd else Decimal(1)
    return usd, usd * left


def _bills_of(analysis: Analysis, chosen: Sequence[Workload]) -> Bills:
    """The bill of some workloads; what the plan saves on them is at list prices and scaled to what is paid."""
    if analysis.cost.currency != USD:
        raise UnknownWorkloadError(
            f"A workload alone is compared in USD; the report is in {analysis.cost.currency}."
        )
    names = {one.name for one in chosen}
    usd = _of_tokens([one.whole for one in chosen])
    steps = () if analysis.advice is None else analysis.advice.plan.steps
    saved = sum((step.saving_usd for step in steps if step.workload in names), Decimal(0))
    paid = analysis.cost.total / analysis.cost.list_total if analysis.cost.list_total else Decimal(1)
    return usd, max(usd - saved * paid, Decimal(0))


def _of_tokens(parts: Sequence[Any]) -> Decimal:
    """What tokens cost; fees (searches, storage) stay where they are."""
    costs = [part.by_meter if isinstance(part, CostReport) else part.cost for part in parts]
    return sum((usd for cost in costs for meter, usd in cost.items() if meter.is_tokens), Decimal(0))


def _chosen(analysis: Analysis, names: Sequence[str]) -> list[Workload]:
    known = {one.name: one for one in analysis.workloads}
    if missing := [name for name in names if name not in known]:
        listed = ", ".join(list(known)[:12])
        raise UnknownWorkloadError(
            f"No workload is called {missing[0]!r}; the log has: {listed} (see --group-by)."
        )
    return [known[name] for name in names]


def _part(analysis: Analysis, chosen: Sequence[Workload]) -> Analysis:
    """The analysis as the comparison needs it, of some workloads; what the plan leaves of tokens is only known in all."""
    models = {model for one in chosen for model in one.models}
    by_model = tuple(row for row in analysis.by_model if row.model in models)
    advice = analysis.advice
    if advice is not None:
        advice = replace(advice, plan=replace(advice.plan, left=None))
    return replace(analysis, by_model=by_model, advice=advice)
