"""An analysis with a bill: reads it, compares it, and says what the comparison makes of the amounts."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from advisor.analysis import Analysis
from advisor.options import AnalyseOptions
from advisor.reconcile import reconcile
from advisor.reconciliation import RECONCILED, Bill, BillError
from advisor.usage_side import failed_records, usage_of
from pricing.frame import PricedCube
from workloads.cube import prepare

UTC: Final = "UTC"
"""Zone of a bill's days, whatever zone the report's are in."""


def with_bill(
    analysis: Analysis,
    bill: Bill,
    options: AnalyseOptions,
    connection: Any,
    ledger: Any,
    price_in_usd: Callable[[Any], PricedCube],
    priced: PricedCube | None = None,
) -> Analysis:
    """Return an analysis with its reconciliation.

    Args:
        analysis: What was computed.
        bill: What it is compared with.
        options: The days that count, and the tolerance.
        connection: The engine that holds the ledger.
        ledger: The log.
        price_in_usd: Returns the cube of some records with its contracted cost in USD.
        priced: That of all records on UTC days, where it is known.

    Raises:
        BillError: When the log has nothing computed that could be compared.
    """
    if analysis.cost.basis == "recorded":
        raise BillError(
            "the log holds money only (it is a cost export): nothing is computed that a bill could be compared with. "
            "Give the usage log first and the cost export with --bill"
        )
    records = prepare(connection, ledger, replace(options.period, timezone=UTC))
    usage = usage_of(priced or price_in_usd(records), price_in_usd(failed_records(records)))
    outcome = reconcile(usage, bill, options.tolerance_ratio)
    basis = RECONCILED if outcome.is_reconciled and outcome.covers_the_log else analysis.cost.basis
    return replace(analysis, reconciliation=outcome, cost=replace(analysis.cost, basis=basis))
