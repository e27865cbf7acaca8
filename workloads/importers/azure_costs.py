"""Azure: the cost export of Cost Management.

Where it comes from: scheduled or downloaded cost exports (CSV), under the column names of any agreement.

One row is: a day x resource x meter, without requests.

Token fields: none: a meter's quantity is in thousands or millions by its unit of measure. The money is the cost in the
billing currency; refunds are negative and stay so.

Time zone: dates are UTC days.

What it cannot tell: requests, their sizes and phases. Meters of other services are no part of it, and money in another
currency than USD is left out with a reason.
"""

from typing import Final

import ibis

from pricing.units import SECONDS_PER_DAY
from workloads.expressions import NO_TEXT, TRUE, is_true
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Table

_COSTS: Final = ("cost_in_billing_currency", "pre_tax_cost", "cost")
_DATES: Final = ("date", "usage_date", "usage_date_time")
_CURRENCIES: Final = ("billing_currency", "billing_currency_code", "currency")
_SERVICES: Final = r"(?i)openai|cognitive|foundry|tokens?\b"


class AzureCostCsv(TableImporter):
    """Rows of the export."""

    name = "azure-cost"
    title = "Azure Cost Management export (money without tokens)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return (
            {"meter_category", "meter_name"} <= names
            and bool(names & set(_COSTS))
            and bool(names & set(_DATES))
        )

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text = table.text
        money = table.number(table.first(_COSTS) or "")
        day_name, currency_name = table.first(_DATES) or "", table.first(_CURRENCIES) or ""
        # American dates are turned into ISO ones; ISO ones pass.
        day = text(day_name).re_replace(r"^(\d{2})/(\d{2})/(\d{4}).*$", r"\3-\1-\2").substr(0, 10)
        told = [
            ibis.coalesce(text(name), "")
            for name in ("meter_category", "meter_sub_category", "meter_name", "product_name")
        ]
        other = ~is_true((told[0] + " " + told[1] + " " + told[2] + " " + told[3]).re_search(_SERVICES))
        foreign = is_true(text(currency_name).upper() != "USD")
        date = day.try_cast("date")
        return {
            "fate": ibis.cases((other, IGNORED), (money.isnull() | foreign, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (other, "a meter of another service"),
                (money.isnull(), "the cost is no number"),
                (foreign, "an amount in another currency than USD"),
                else_=NO_TEXT,
            ),
            "started_at": date.cast("timestamp"),
            "usage_date": date,
            "bucket_seconds": ibis.literal(SECONDS_PER_DAY, type="int64"),
            "charge_only": TRUE,
            "provider": ibis.literal("azure"),
            "model": text("meter_name"),
            "requests": ibis.literal(0, type="int64"),
            "region": text("resource_location"),
            "project": ibis.coalesce(text("resource_group"), text("resource_group_name")),
            "recorded_cost_usd": money,
        }


IMPORTERS: Final[tuple[Importer, ...]] = (AzureCostCsv(),)
