"""Sums by model and service tier, as the JSON document has them: what two documents are compared by."""

from advisor.analysis import Analysis, TierSlice
from advisor.document_bill import TierDoc
from advisor.document_money import money


def tier_docs(analysis: Analysis) -> list[TierDoc]:
    """Return the tiers of an analysis."""
    return [_tier(row) for row in analysis.by_tier]


def _tier(row: TierSlice) -> TierDoc:
    return TierDoc(
        provider=row.provider,
        model=row.model,
        service_tier=row.service_tier,
        requests=row.whole.requests if row.counts_requests else None,
        tokens={str(meter): count for meter, count in row.whole.tokens.items()},
        cost_by_meter={str(meter): money(amount) for meter, amount in row.whole.cost.items()},
    )
