"""How a reconciliation fills the JSON document."""

from datetime import date

from advisor.analysis import Analysis
from advisor.document_bill import Money, ReconciliationDoc
from advisor.document_money import money
from advisor.reconciliation import NO_BILL, Compared, Reconciliation


def reconciliation_doc(analysis: Analysis, badge: str) -> ReconciliationDoc:
    """Return the section of an analysis.

    Args:
        analysis: What was computed, with or without a bill.
        badge: The status in words.
    """
    found = analysis.reconciliation
    return ReconciliationDoc.model_validate(
        {"badge": badge, **(_none() if found is None else _fields(found))}
    )


def _none() -> dict[str, object]:
    amounts = (
        "tolerance_ratio", "computed_usd", "billed_usd", "difference_usd", "unexplained_usd", "unexplained_ratio",
        "compared_usd",
    )  # fmt: skip
    lists = ("causes", "by_day", "by_model", "by_meter", "bill_formats", "notes")
    return {"status": NO_BILL, **dict.fromkeys(amounts), **{name: [] for name in lists}}


def _fields(found: Reconciliation) -> dict[str, object]:
    return {
        "status": found.status,
        "tolerance_ratio": float(found.tolerance_ratio),
        "computed_usd": money(found.computed_usd),
        "billed_usd": money(found.billed_usd),
        "difference_usd": money(found.difference_usd),
        "causes": [
            {
                "cause": cause.code,
                "amount_usd": money(cause.amount_usd),
                "evidence": cause.evidence,
                "rows": cause.rows,
            }
            for cause in found.causes
        ],
        "unexplained_usd": money(found.unexplained_usd),
        "unexplained_ratio": found.unexplained_ratio,
        "compared_usd": money(found.compared_usd),
        "by_day": [{"day": _key(row), **_amounts(row), **_left(row)} for row in found.by_day],
        "by_model": [{"model": _key(row), **_amounts(row), **_left(row)} for row in found.by_model],
        "by_meter": [{"meter": _key(row), **_amounts(row)} for row in found.by_meter],
        "bill_formats": list(found.sources),
        "notes": list(found.notes),
    }


def _key(row: Compared) -> str | None:
    return row.key.isoformat() if isinstance(row.key, date) else row.key


def _amounts(row: Compared) -> dict[str, Money]:
    return {
        "computed_usd": money(row.computed_usd),
        "billed_usd": money(row.billed_usd),
        "difference_usd": money(row.difference_usd),
    }


def _left(row: Compared) -> dict[str, Money | None]:
    return {"unexplained_usd": None if row.unexplained_usd is None else money(row.unexplained_usd)}
