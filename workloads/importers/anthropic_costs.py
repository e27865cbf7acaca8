"""Anthropic: cost pages of the Admin API and the Console's cost export.

Where it comes from: saved answers of ``/v1/organizations/cost_report`` and of the analytics' cost report;
``claude_api_cost_*.csv`` of the Console.

One row is: an amount of money for a UTC day x what the report is grouped by (a kind of token among it), without tokens.
Rows that differ in the kind of token only are different rows.

Token fields: none. A page's ``amount`` is text in CENTS, what was charged after discounts; ``list_amount`` is before them. The
export's ``cost_usd`` is in dollars, rounded to cents a row: sums drift, and small rows show 0.00.

Time zone: days are UTC days in every zone.

What it cannot tell: how many tokens or requests the money is for; a null model means "not grouped by description". The
export has display names of models. Priority tier usage is in the usage report only.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from pricing.units import SECONDS_PER_DAY, SECONDS_PER_HOUR
from workloads.accounting import FOREIGN_CURRENCY, MORE_PAGES
from workloads.charge_words import FEE, USAGE, charge_kind, charge_meter, joined
from workloads.expressions import NO_TEXT, TRUE, is_true
from workloads.importers import Columns, Importer, TableImporter
from workloads.importers.anthropic_admin import AnthropicPage, bucket_columns, dollars_of, items_of
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema
from workloads.table import Table

_DATE_LENGTH: Final = len("2026-01-01")

_PAGE: Final[Schema] = {
    "has_more": "BOOLEAN",
    "data": [
        {
            "starting_at": "VARCHAR",
            "ending_at": "VARCHAR",
            "results": [
                {
                    "amount": "VARCHAR",
                    "currency": "VARCHAR",
                    "cost_type": "VARCHAR",
                    "token_type": "VARCHAR",
                    "model": "VARCHAR",
                    "service_tier": "VARCHAR",
                    "inference_geo": "VARCHAR",
                    "workspace_id": "VARCHAR",
                }
            ],
        }
    ],
}


class AnthropicCostPage(AnthropicPage):
    """Pages of the cost reports."""

    name = "anthropic-cost-api"
    title = "Anthropic Admin API: cost report pages (money without tokens)"
    core = _PAGE
    chains = ((("data",), ("results",)),)

    def is_report(self, obj: Mapping[str, Any]) -> bool:
        """See ``AnthropicPage.is_report``."""
        starts = any("starting_at" in one for one in items_of(obj))
        return starts and any("amount" in one for one in items_of(obj, below="results"))

    def is_row(self, item: Any) -> Any:
        """See ``AnthropicPage.is_row``."""
        return item["starting_at"].notnull() & (item["results"].filter(_has_amount).length() > 0)

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope
        bucket = node.parent
        page = bucket.parent if bucket else None
        assert bucket is not None and page is not None  # noqa: S101, PT018  (a result lies in a bucket in a page)
        money = dollars_of(node.get("amount"))
        foreign = ~is_true(ibis.coalesce(node.get("currency"), "USD").upper() == "USD")
        empty = node.get("amount").isnull()
        return {
            "fate": ibis.cases((empty, IGNORED), (foreign | money.isnull(), SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (empty, "result without money"),
                (foreign, FOREIGN_CURRENCY),
                (money.isnull(), "the amount is no number"),
                else_=NO_TEXT,
            ),
            "problem": ibis.cases((is_true(page.get("has_more")), MORE_PAGES), else_=NO_TEXT),
            **bucket_columns(bucket),
            "charge_only": TRUE,
            **_charge(node.get("cost_type"), node.get("token_type"), money),
            "provider": ibis.literal("anthropic"),
            "model": node.get("model"),
            "service_tier": node.get("service_tier").nullif("standard"),
            "region": node.get("inference_geo").nullif("not_available"),
            "requests": ibis.literal(0, type="int64"),
            "project": node.get("workspace_id"),
            "recorded_cost_usd": money,
        }


def _has_amount(result: Any) -> Any:
    return result["amount"].notnull()


def _charge(cost_type: Any, token_type: Any, money: Any) -> Columns:
    """Return kind and meter: what is no token (searches, code execution, sessions) is a fee."""
    no_tokens = is_true(cost_type.notnull() & ~cost_type.lower().startswith("token"))
    kind = charge_kind(cost_type, money)
    return {
        "charge_kind": ibis.cases((no_tokens & (kind == USAGE), FEE), else_=kind),
        "charge_meter": charge_meter(joined([token_type, cost_type])),
    }


class AnthropicCostCsv(TableImporter):
    """The Console's cost export, in all its header versions."""

    name = "anthropic-cost-csv"
    title = "Anthropic Console: cost CSV (money without tokens)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"usage_date_utc", "token_type", "cost_usd"} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text = table.text
        money, moment = table.number("cost_usd"), text("usage_date_utc")
        blank = moment.isnull()
        times = table.time("usage_date_utc")
        hourly = moment.length() > _DATE_LENGTH
        return {
            "fate": ibis.cases((blank, IGNORED), (money.isnull(), SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (blank, "row without a date"), (money.isnull(), "the cost is no number"), else_=NO_TEXT
            ),
            **times,
            "bucket_seconds": ibis.cases((hourly, SECONDS_PER_HOUR), else_=SECONDS_PER_DAY).cast("int64"),
            "charge_only": TRUE,
            **_charge(text("cost_type"), text("token_type"), money),
            "provider": ibis.literal("anthropic"),
            "model": text("model"),
            "service_tier": ibis.cases((is_true(text("speed") == "fast"), "fast"), else_=NO_TEXT),
            "region": text("inference_geo").nullif("not_available"),
            "requests": ibis.literal(0, type="int64"),
            "project": text("workspace"),
            "api_key": text("api_key"),
            "recorded_cost_usd": money,
        }


IMPORTERS: Final[tuple[Importer, ...]] = (AnthropicCostPage(), AnthropicCostCsv())
