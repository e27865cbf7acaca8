"""How an analysis fills the JSON document."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Final, Literal

from advisor.analysis import (
    Analysis,
    CostReport,
    DataReport,
    Distribution,
    ModelSlice,
    PhaseMix,
    PriceRow,
    Slice,
    Unpriced,
    Workload,
)
from advisor.cache_reuse import WorkloadReuse
from advisor.document_host import HostComparisonDoc, HostWayDoc
from advisor.document_latency import waits_doc
from advisor.document_model import (
    SCHEMA_VERSION,
    CacheDoc,
    CostDoc,
    DataDoc,
    DayDoc,
    DistributionDoc,
    Document,
    ExampleDoc,
    LatencyDoc,
    ModelDoc,
    Money,
    PhasesDoc,
    PriceDoc,
    ProblemDoc,
    ProvenanceDoc,
    SourceDoc,
    Tokens,
    UnpricedDoc,
    WorkloadDoc,
)
from advisor.document_money import commitments_of, discounts_of, fx_of, maybe_money, money
from advisor.document_outlook import anomalies_doc, check_docs, forecast_doc, variance_doc
from advisor.document_recommend import plan_doc, recommendation_docs, rejected_docs
from advisor.document_reconcile import reconciliation_doc
from advisor.document_reuse import reuse_doc
from advisor.document_showback import allocation_docs, plan_doc_of, unit_docs
from advisor.document_tiers import tier_docs
from advisor.view_reconcile import reconcile_badge
from pricing.meters import Meter
from workloads.latency import LatencyFit

_BASES: Final[Mapping[str, Literal["computed", "recorded", "reconciled"]]] = {
    "computed": "computed",
    "recorded": "recorded",
    "reconciled": "reconciled",
}


def document_of(analysis: Analysis) -> Document:
    """Return the document of an analysis."""
    reuse = {one.workload: one for one in analysis.reuse}
    timed = {fit.workload: fit for fit in analysis.hosted.timed} if analysis.hosted else {}
    hosting = _hosting(analysis)
    return Document(
        schema_version=SCHEMA_VERSION,
        data=_data(analysis.data),
        tokens=tokens_of(analysis.whole),
        cost=_cost(analysis.cost),
        phases=[_phases(mix) for mix in (analysis.cost_mix, analysis.time_mix) if mix is not None],
        by_day=[
            DayDoc(
                day=row.day.isoformat() if row.day else None,
                requests=row.whole.requests,
                tokens=tokens_of(row.whole),
                currency=analysis.cost.currency if row.whole.in_usd is None else "USD",
                cost=_known_cost(row.whole) if row.whole.in_usd is None else money(row.whole.in_usd),
                by_model={name: money(amount) for name, amount in row.by_model.items()},
            )
            for row in analysis.by_day
        ],
        by_model=[_model(row) for row in analysis.by_model],
        by_tier=tier_docs(analysis),
        workloads=[_workload(row, reuse.get(row.name), timed.get(row.name)) for row in analysis.workloads],
        recommendations=recommendation_docs(analysis.advice),
        rejected=rejected_docs(analysis.advice),
        plan=plan_doc(analysis.advice),
        reconciliation=reconciliation_doc(analysis, reconcile_badge(analysis.reconciliation).text),
        self_host=hosting[0],
        self_host_comparison=hosting[1],
        forecast=forecast_doc(analysis),
        variance=variance_doc(analysis),
        anomalies=anomalies_doc(analysis),
        budgets=check_docs(() if analysis.finance is None else analysis.finance.checks),
        unit_economics=unit_docs(analysis),
        allocation=allocation_docs(analysis),
        plans=plan_doc_of(analysis),
        prices=[_price(row) for row in analysis.prices],
        provenance=ProvenanceDoc(
            version=analysis.provenance.version,
            command=analysis.provenance.command,
            as_of=instant(analysis.provenance.as_of) or "",
            price_book=analysis.provenance.price_book,
            price_book_sha256=analysis.provenance.price_book_sha256,
            workload_rule=analysis.workload_rule,
            time_basis=analysis.time_basis,
            assumptions=list(analysis.provenance.assumptions),
        ),
    )


def _hosting(analysis: Analysis) -> tuple[list[HostWayDoc], HostComparisonDoc | None]:
    if analysis.self_host is None:
        return [], None
    from advisor.document_hosting import comparison_doc, hosting_docs  # noqa: PLC0415  (only where it was asked for)

    return hosting_docs(analysis.self_host), comparison_doc(analysis.self_host)


def instant(at: datetime | None) -> str | None:
    """Return an instant as ISO 8601 in UTC."""
    return None if at is None else at.astimezone(UTC).isoformat().replace("+00:00", "Z")


def tokens_of(part: Slice) -> Tokens:
    """Return the counts of a slice by meter, and reasoning where it is reported."""
    counts = {str(meter): count for meter, count in part.tokens.items()}
    return counts if part.reasoning is None else {**counts, "reasoning": part.reasoning}


def _known_cost(part: Slice) -> Money | None:
    """Return what a slice cost, of what could be priced and converted; None when nothing of it could."""
    return money(part.total) if _is_known(part) else None


def _known_list_cost(part: Slice) -> Money | None:
    return money(part.total if part.list_cost is None else part.list_cost) if _is_known(part) else None


def _is_known(part: Slice) -> bool:
    return (part.is_priced or not part.records) and part.in_usd is None


def _amounts(costs: Mapping[Meter, Decimal]) -> dict[str, Money]:
    return {str(meter): money(amount) for meter, amount in costs.items()}


def _data(data: DataReport) -> DataDoc:
    return DataDoc(
        rows_read=data.rows_read,
        records=data.records,
        requests=data.requests,
        skipped=data.skipped,
        duplicates=data.duplicates,
        ignored=data.ignored,
        unmeasured=data.unmeasured,
        first_request=instant(data.first_request),
        last_request=instant(data.last_request),
        timezone=data.timezone,
        sources=[SourceDoc(path=item.path, format=item.format, rows=item.rows) for item in data.sources],
        problems=[
            ProblemDoc.model_validate(
                {
                    "code": item.code,
                    "severity": item.severity,
                    "message": item.message,
                    "rows": item.rows,
                    "examples": [ExampleDoc(file=place.file, line=place.line) for place in item.examples],
                    "amount_usd": maybe_money(item.amount_usd),
                }
            )
            for item in data.problems
        ],
    )


def _cost(cost: CostReport) -> CostDoc:
    return CostDoc(
        currency=cost.currency,
        total=money(cost.total),
        list_total=money(cost.list_total),
        effective_total=money(cost.total if cost.effective_total is None else cost.effective_total),
        discounts=discounts_of(cost),
        commitments=commitments_of(cost),
        fx=fx_of(cost),
        free_models=list(cost.free_models),
        by_meter=_amounts(cost.by_meter),
        basis=_BASES[cost.basis],
        coverage=cost.coverage,
        token_coverage=cost.token_coverage,
        complete=cost.complete,
        unpriced=[_unpriced(item) for item in cost.unpriced],
        recorded_total=maybe_money(cost.recorded_total),
        recorded_requests=cost.recorded_requests,
    )


def _unpriced(item: Unpriced) -> UnpricedDoc:
    return UnpricedDoc(
        provider=item.provider,
        model=item.model,
        requests=item.requests,
        tokens={str(meter): count for meter, count in item.tokens.items()},
        reason=item.reason,
    )


def _model(row: ModelSlice) -> ModelDoc:
    rates = (row.input_usd_per_mtok, row.output_usd_per_mtok)
    return ModelDoc(
        provider=row.provider,
        model=row.model,
        requests=row.whole.requests,
        tokens=tokens_of(row.whole),
        cost=_known_cost(row.whole),
        list_cost=_known_list_cost(row.whole),
        unconverted_usd=maybe_money(row.whole.unconverted_usd),
        cost_by_meter=_amounts(row.whole.cost),
        input_usd_per_mtok=maybe_money(rates[0]),
        output_usd_per_mtok=maybe_money(rates[1]),
        output_input_price_ratio=row.price_ratio,
        priced=row.whole.priced_requests == row.whole.requests,
    )


def _distribution(values: Distribution | None) -> DistributionDoc | None:
    if values is None:
        return None
    return DistributionDoc(mean=values.mean, p50=values.p50, p90=values.p90, p99=values.p99)


def _phases(mix: PhaseMix) -> PhasesDoc:
    return PhasesDoc.model_validate(
        {
            "basis": mix.basis,
            "prefill": mix.prefill,
            "decode": mix.decode,
            "prefill_share": mix.prefill_share,
            "decode_share": mix.decode_share,
            "class": str(mix.phase_class),
            "distance": mix.distance,
            "weak": mix.weak,
            "explanation": mix.explanation,
        }
    )


def _workload(row: Workload, reuse: WorkloadReuse | None, timed: LatencyFit | None) -> WorkloadDoc:
    # The class is that of the bill; where nothing could be priced, that of the hardware's time.
    mix = row.cost_mix or row.time_mix
    return WorkloadDoc.model_validate(
        {
            "name": row.name,
            "models": list(row.models),
            "requests": row.whole.requests,
            "tokens": tokens_of(row.whole),
            "cost": _known_cost(row.whole),
            "list_cost": _known_list_cost(row.whole),
            "unconverted_usd": maybe_money(row.whole.unconverted_usd),
            "cost_by_meter": _amounts(row.whole.cost),
            "class": None if mix is None else str(mix.phase_class),
            "basis": None if mix is None else mix.basis,
            "prefill_share": None if mix is None else mix.prefill_share,
            "decode_share": None if mix is None else mix.decode_share,
            "by_cost": None if row.cost_mix is None else _phases(row.cost_mix),
            "by_gpu_time": None if row.time_mix is None else _phases(row.time_mix),
            "input_tokens": _distribution(row.input_tokens),
            "output_tokens": _distribution(row.output_tokens),
            "cache": CacheDoc(
                read_ratio=row.cache_read_ratio, coverage=row.cache_coverage, reuse=reuse_doc(reuse)
            ),
            "latency": LatencyDoc(
                ttft_seconds=_distribution(row.ttft_seconds),
                duration_seconds=_distribution(row.duration_seconds),
                waits=waits_doc(timed),
            ),
        }
    )


def _price(row: PriceRow) -> PriceDoc:
    return PriceDoc(
        provider=row.provider,
        model=row.model,
        meter=str(row.meter),
        usd_per_mtok=money(row.usd_per_unit),
        rule=row.rule,
        valid_from=instant(row.valid_from),
        valid_until=instant(row.valid_until),
        source=row.source,
        retrieved=row.retrieved.isoformat() if row.retrieved else None,
    )
