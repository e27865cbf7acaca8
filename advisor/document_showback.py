"""How unit costs, allocation and flat plans fill the JSON document."""

from typing import Final, Literal

from advisor.analysis import Analysis
from advisor.document_money import maybe_money, money
from advisor.document_units import AllocationDoc, AllocationRowDoc, PlanDoc, PlanUseDoc, UnitCostDoc

_RULES: Final[dict[str, Literal["none", "even", "proportional", "fixed"]]] = {
    "none": "none",
    "even": "even",
    "proportional": "proportional",
    "fixed": "fixed",
}


def unit_docs(analysis: Analysis) -> list[UnitCostDoc]:
    """Return the unit costs; none where nobody asked."""
    return [
        UnitCostDoc(
            unit=one.unit,
            count=one.count,
            cost=money(one.cost),
            mean=money(one.mean),
            median=maybe_money(one.median),
            p95=maybe_money(one.p95),
            basis=one.basis,
        )
        for one in (() if analysis.finance is None else analysis.finance.units)
    ]


def allocation_docs(analysis: Analysis) -> list[AllocationDoc]:
    """Return who pays; none where nobody asked."""
    return [
        AllocationDoc(
            key=one.key,
            sharing=_RULES[one.sharing.rule],
            rule=one.sharing.words,
            untagged_ratio=one.untagged_ratio,
            total=money(one.total),
            rows=[
                AllocationRowDoc(
                    name=row.name,
                    untagged=row.untagged,
                    requests=row.requests,
                    direct=money(row.direct),
                    shared=money(row.shared),
                    total=money(row.total),
                    percent=money(row.percent),
                    unpriced_requests=row.unpriced,
                )
                for row in one.rows
            ],
        )
        for one in (() if analysis.finance is None else analysis.finance.allocations)
    ]


def plan_doc_of(analysis: Analysis) -> PlanUseDoc | None:
    """Return what usage of coding agents is worth; None where the log has none."""
    used = None if analysis.finance is None else analysis.finance.plan_use
    if used is None:
        return None
    return PlanUseDoc(
        formats=list(used.formats),
        requests=used.requests,
        api_equivalent=money(used.api_equivalent),
        months=used.months,
        plans=[PlanDoc(name=plan.name, usd_per_month=money(plan.usd_per_month)) for plan in used.plans],
        billed_usd=maybe_money(used.billed_usd),
        ratio=used.ratio if analysis.cost.currency == "USD" else None,
    )
