"""FOCUS: cost and usage rows of the FinOps Open Cost and Usage Specification, from any provider or tool.

Where it comes from: FOCUS 1.x exports (CSV or Parquet) of clouds, gateways and cost tools.

One row is: a charge of a period (a day, an hour, a month), without requests.

Token fields: none that can be trusted: a row's quantity counts whatever its unit says, and a request is spread over
several rows. ``BilledCost`` is the money on the invoice; credits and corrections are negative and stay so.

Time zone: UTC; ends are exclusive.

What it cannot tell: requests, their sizes and phases. Money in another currency than USD is left out with a reason.
"""

from typing import Final

import ibis

from workloads.expressions import NO_TEXT, TRUE, is_true
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import RECORD, SKIPPED
from workloads.raw import Table


class FocusRows(TableImporter):
    """Charges."""

    name = "focus"
    title = "FOCUS 1.x cost and usage (money without tokens)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"billed_cost", "charge_period_start", "charge_category", "billing_currency"} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text = table.text
        money = table.number("billed_cost")
        foreign = is_true(text("billing_currency").upper() != "USD")
        details = table.json("sku_price_details")
        tags = table.json("tags")
        start, end = table.time("charge_period_start"), table.time("charge_period_end")
        seconds = (
            (end["started_at"].epoch_seconds() - start["started_at"].epoch_seconds()).cast("int64")
            if end
            else None
        )
        return {
            "fate": ibis.cases((money.isnull() | foreign, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (money.isnull(), "the billed cost is no number"),
                (foreign, "an amount in another currency than USD"),
                else_=NO_TEXT,
            ),
            **start,
            "usage_date": start["started_at"].date(),
            "bucket_seconds": ibis.null("int64") if seconds is None else seconds,
            "charge_only": TRUE,
            "provider": ibis.coalesce(text("service_provider_name"), text("provider_name")).lower(),
            "model": ibis.coalesce(
                text("x_model"), details["x_Model"].str, text("sku_id"), text("service_name")
            ),
            "requests": ibis.literal(0, type="int64"),
            "region": text("region_id"),
            "project": ibis.coalesce(text("sub_account_name"), text("sub_account_id")),
            "team": tags["team"].str,
            "application": ibis.coalesce(tags["application"].str, tags["feature"].str),
            "environment": ibis.coalesce(tags["environment"].str, tags["env"].str),
            "recorded_cost_usd": money,
        }


IMPORTERS: Final[tuple[Importer, ...]] = (FocusRows(),)
