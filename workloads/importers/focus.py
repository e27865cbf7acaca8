"""FOCUS: cost and usage in the FinOps Foundation's format.

Where it comes from: exports of any cloud or vendor in FOCUS 1.0 to 1.2, as CSV or Parquet.

One row is: a charge of a period, in money. Charges of services that are no models are no requests. Credits, refunds and
corrections are negative and kept, as are taxes.

Token fields: none; consumed quantities repeat what the provider's own usage export says, and are not counted twice.

Time zone: UTC. A period of a day or more belongs to the day of its start.

What it cannot tell: requests; the model, unless a column of the vendor's own (``x_Model``) says so: else the SKU or the service is named. Amounts are what was
billed, so that usage which a commitment covers costs nothing here. Amounts in another currency than US dollars are skipped.
"""

from typing import Final

import ibis

from pricing.units import SECONDS_PER_DAY
from workloads.accounting import FOREIGN_CURRENCY, NO_AMOUNT, OTHER_SERVICE
from workloads.charge_words import charge_kind, charge_meter, joined
from workloads.expressions import NO_TEXT, TRUE, is_true
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.table import Table
from workloads.tags import tag_columns
from workloads.times import seconds_between

_AI: Final = "ai and machine learning"
_MODELS: Final = (
    r"(?i)bedrock|openai|foundry|vertex|gemini|claude|anthropic|mistral|generative ai|language model"
)
"""What the name of a service of models has in it, where the row does not say of which category it is."""


class FocusExport(TableImporter):
    """Charges in FOCUS."""

    name = "focus"
    title = "FOCUS cost export (money without tokens; CSV, Parquet)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"billed_cost", "charge_period_start", "charge_category", "billing_currency"} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text, money = table.text, table.number("billed_cost")
        category = text("service_category").lower()
        named = is_true(text("service_name").re_search(_MODELS))
        other = category.notnull() & (category != _AI) & ~named
        foreign = ~is_true(text("billing_currency").upper() == "USD")
        start, end = table.time("charge_period_start"), table.time("charge_period_end")
        begun = start["started_at"]
        seconds = seconds_between(begun, end["started_at"]) if end else ibis.null("float64")
        details, labels = table.json("sku_price_details"), tag_columns(table.json("tags"))
        tier = ibis.coalesce(details["x_ServiceTier"].str, details["x_service_tier"].str).lower()
        return {
            "fate": ibis.cases((other, IGNORED), (foreign | money.isnull(), SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (other, OTHER_SERVICE),
                (foreign, FOREIGN_CURRENCY),
                (money.isnull(), NO_AMOUNT),
                else_=NO_TEXT,
            ),
            "started_at": begun,
            "usage_date": ibis.cases(
                (seconds >= SECONDS_PER_DAY, begun.date()), else_=start.get("usage_date", ibis.null("date"))
            ),
            "charge_only": TRUE,
            "charge_kind": charge_kind(joined([text("charge_category"), text("charge_class")]), money),
            "charge_meter": charge_meter(
                joined([text("x_token_type"), text("sku_meter"), text("x_sku_meter_name"), text("sku_id")])
            ),
            "bucket_seconds": ibis.coalesce(seconds.cast("int64"), 0),
            "provider": ibis.coalesce(text("service_provider_name"), text("provider_name")).lower(),
            "model": ibis.coalesce(
                text("x_model"),
                details["x_Model"].str,
                text("x_sku_meter_name"),
                text("sku_id"),
                text("service_name"),
            ),
            "service_tier": tier.nullif("standard"),
            "region": text("region_id"),
            "requests": ibis.literal(0, type="int64"),
            **labels,
            "project": ibis.coalesce(labels["project"], text("sub_account_name"), text("sub_account_id")),
            "recorded_cost_usd": money,
        }


IMPORTERS: Final[tuple[Importer, ...]] = (FocusExport(),)
