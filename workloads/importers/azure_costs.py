"""Azure: cost exports of Cost Management.

Where it comes from: exports of actual or amortised costs as CSV or Parquet, in the column names of all agreements.

One row is: a day x resource x meter, in money. There are no tokens that one could trust: a meter's unit is hidden in words.
Charges of other services than models are no requests. Refunds and adjustments are negative and kept.

Token fields: none.

Time zone: days of UTC, written ISO or with the month first.

What it cannot tell: requests; the model, but for what the meter is called (``gpt 4o 0806``). Amounts in another currency than
US dollars are skipped, unless the export also has them in dollars.
"""

from typing import Any, Final

import ibis

from pricing.units import SECONDS_PER_DAY
from workloads.accounting import FOREIGN_CURRENCY, NO_AMOUNT, OTHER_SERVICE
from workloads.charge_words import charge_kind, charge_meter, joined
from workloads.expressions import NO_TEXT, TRUE, is_true
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import time_columns
from workloads.table import Table
from workloads.tags import tag_columns
from workloads.times import month_first

_DATE_LENGTH: Final = len("2026-01-01")
_DATES: Final = ("date", "usagedate", "usagedatetime")
_DOLLARS: Final = ("costinusd", "costusd", "pretaxcostusd")
_COSTS: Final = ("costinbillingcurrency", "pretaxcost", "cost")
_CURRENCIES: Final = ("billingcurrency", "billingcurrencycode", "currency", "currencycode")
_NAMES: Final = (
    "metercategory",
    "metersubcategory",
    "metername",
    "productname",
    "product",
    "consumedservice",
)
_MODELS: Final = r"(?i)openai|foundry|tokens?\b|\b(gpt|claude|llama|mistral|deepseek|cohere|grok|phi)\b"
"""What a charge for a model has in its names; speech, vision and search are charged under the same category."""
_KIND: Final = (
    r"(?i)[ -]+(cached|cchd|cache|inp|input|in|outp|output|out|opt|glbl|global|regnl|regional|dzn?|data zone|batch|pp|"
    r"tokens?)\b.*$"
)
"""Where in a meter's name the model ends and the kind of tokens begins."""


class AzureCostExport(TableImporter):
    """Lines of a cost export."""

    name = "azure-cost"
    title = "Azure cost export (money without tokens)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        squeezed = {name.replace("_", "") for name in names}
        return "metercategory" in squeezed and all(
            squeezed & {*some} for some in (_DATES, (*_DOLLARS, *_COSTS))
        )

    def steps(self, table: Table) -> Columns:
        """See ``TableImporter.steps``."""
        tags = _text(table, "tags")
        tags = ibis.cases((tags.startswith("{"), tags), else_="{" + tags + "}")
        day = month_first(_text(table, *_DATES)).substr(0, _DATE_LENGTH)
        return {"day": day, "tags": tags.try_cast("json")}

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        own = _own_names(table)

        def text(*names: str) -> Any:
            return _text(table, *names)

        billed = next(own[name] for name in (*_COSTS, *_DOLLARS) if name in own)
        amount = table.number(billed)
        in_dollars = is_true(ibis.coalesce(text(*_CURRENCIES), "USD").upper() == "USD")
        dollars = next((own[name] for name in _DOLLARS if name in own), None)
        stated = table.number(dollars) if dollars else ibis.null("decimal(38, 12)")
        money = ibis.coalesce(ibis.cases((in_dollars, amount)), stated)
        other = ~is_true(joined([text(name) for name in _NAMES]).re_search(_MODELS))
        labels = tag_columns(table.step("tags"))
        meter = text("metername", "metersubcategory")
        return {
            "fate": ibis.cases((other, IGNORED), (money.isnull(), SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (other, OTHER_SERVICE),
                (money.isnull() & amount.notnull(), FOREIGN_CURRENCY),
                (money.isnull(), NO_AMOUNT),
                else_=NO_TEXT,
            ),
            **time_columns(table.step("day")),
            "charge_only": TRUE,
            "charge_kind": charge_kind(text("chargetype"), money),
            "charge_meter": charge_meter(meter),
            "bucket_seconds": ibis.literal(SECONDS_PER_DAY, type="int64"),
            "provider": ibis.literal("azure"),
            "model": meter.re_replace(_KIND, "").strip().nullif(""),
            "region": text("resourcelocation"),
            "requests": ibis.literal(0, type="int64"),
            **labels,
            "project": ibis.coalesce(labels["project"], text("resourcegroup", "resourcegroupname")),
            "recorded_cost_usd": money,
        }


def _own_names(table: Table) -> dict[str, str]:
    """Return the table's names by what is left of them without the gaps between words."""
    return {name.replace("_", ""): name for name in table.names}


def _text(table: Table, *names: str) -> Any:
    """Return the first of some columns that is not blank, as text."""
    own = _own_names(table)
    return ibis.coalesce(*[table.text(own[name]) for name in names if name in own], NO_TEXT)


IMPORTERS: Final[tuple[Importer, ...]] = (AzureCostExport(),)
