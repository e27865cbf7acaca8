"""AWS: Bedrock lines of the Cost and Usage Report.

Where it comes from: CUR 2.0 data exports (``line_item_usage_type``) and older reports (``lineItem/UsageType``), as CSV
or Parquet.

One row is: a line item of an hour or a day: one kind of token of one model, or tax, or a credit, without requests.

Token fields: none: the unit of a usage amount (thousands or millions of tokens, hours) depends on the SKU. The money is
the unblended cost; credits and refunds are negative and stay so.

Time zone: UTC.

What it cannot tell: requests, their sizes and phases. Lines of other services are no part of it.
"""

from typing import Final

import ibis

from workloads.expressions import NO_TEXT, TRUE, is_true
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Table

_SERVICES: Final = r"(?i)bedrock|anthropic|claude|token"


class BedrockCostLines(TableImporter):
    """Line items."""

    name = "aws-cur"
    title = "AWS Cost and Usage Report: Bedrock lines (money without tokens)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"line_item_usage_type", "line_item_unblended_cost"} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text = table.text
        money = table.number("line_item_unblended_cost")
        kind, code = text("line_item_usage_type"), text("line_item_product_code")
        told = (
            ibis.coalesce(code, "")
            + " "
            + ibis.coalesce(kind, "")
            + " "
            + ibis.coalesce(text("product_servicename"), "")
        )
        other = ~is_true(told.re_search(_SERVICES))
        foreign = is_true(text("line_item_currency_code").upper() != "USD")
        times = table.time("line_item_usage_start_date")
        return {
            "fate": ibis.cases((other, IGNORED), (money.isnull() | foreign, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (other, "a line of another service"),
                (money.isnull(), "the cost is no number"),
                (foreign, "an amount in another currency than USD"),
                else_=NO_TEXT,
            ),
            **times,
            "bucket_seconds": ibis.literal(0, type="int64"),
            "charge_only": TRUE,
            "provider": ibis.literal("aws"),
            # The usage type names region, model and kind of token in one word; it is kept as it is.
            "model": ibis.coalesce(text("product_model"), kind),
            "requests": ibis.literal(0, type="int64"),
            "region": ibis.coalesce(text("product_region_code"), text("product_region")),
            "project": ibis.coalesce(
                text("line_item_usage_account_name"), text("line_item_usage_account_id")
            ),
            "recorded_cost_usd": money,
        }


IMPORTERS: Final[tuple[Importer, ...]] = (BedrockCostLines(),)
