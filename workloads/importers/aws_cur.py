"""AWS: cost and usage reports (CUR 1 and 2), for Bedrock.

Where it comes from: report files and data exports as CSV or Parquet, with the columns of CUR 1 (``lineItem/UsageType``) or of
CUR 2 and Athena (``line_item_usage_type``).

One row is: an hour or day x account x kind of tokens of a model, in money. Charges of other services are no requests. Credits
and refunds are negative and kept, as are taxes.

Token fields: none; units are per thousand or per million tokens, by the product, and are not counted twice beside the
invocation log.

Time zone: UTC.

What it cannot tell: requests; the model, when a report leaves out the product's columns. Amounts are unblended costs. Those in
another currency than US dollars are skipped.
"""

from typing import Any, Final

import ibis

from pricing.units import SECONDS_PER_DAY
from workloads.accounting import FOREIGN_CURRENCY, NO_AMOUNT, OTHER_SERVICE
from workloads.charge_words import charge_kind, charge_meter, joined
from workloads.expressions import NO_TEXT, TRUE, is_true
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.table import Table
from workloads.tags import TAGS, tag_columns
from workloads.times import seconds_between

_MODELS: Final = r"(?i)bedrock|anthropic|claude|token-?count|(input|output)[- ]tokens?\b"
"""What a charge for a model has in its product or usage type."""
_KIND: Final = r"(?i)[-_](mantle|input|output|cache|text|batch|flex|priority|provisioned|modelunits?)\b.*$"
"""Where in a usage type the model ends and the kind of tokens begins."""
_REGION: Final = r"^[A-Z]{2,4}\d?[-_]"
_EDITION: Final = r" \(Amazon Bedrock Edition\)$"
_TIERS: Final = ("batch", "flex", "priority")


class AwsCostAndUsage(TableImporter):
    """Line items of a report."""

    name = "aws-cur"
    title = "AWS cost and usage report, for Bedrock (money without tokens)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"line_item_usage_type", "line_item_unblended_cost"} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text, money = table.text, table.number("line_item_unblended_cost")
        usage, product = text("line_item_usage_type"), table.json("product")
        name = ibis.coalesce(text("product_product_name"), product["product_name"].str)
        described = [text("line_item_product_code"), usage, name, text("line_item_line_item_description")]
        other = ~is_true(joined(described).re_search(_MODELS))
        foreign = ~is_true(ibis.coalesce(text("line_item_currency_code"), "USD").upper() == "USD")
        start, end = table.time("line_item_usage_start_date"), table.time("line_item_usage_end_date")
        begun = start.get("started_at", ibis.null("timestamp"))
        seconds = seconds_between(begun, end["started_at"]) if end else ibis.null("float64")
        labels = _labels(table)
        return {
            "fate": ibis.cases((other, IGNORED), (foreign | money.isnull(), SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (other, OTHER_SERVICE),
                (foreign, FOREIGN_CURRENCY),
                (money.isnull(), NO_AMOUNT),
                else_=NO_TEXT,
            ),
            **start,
            "usage_date": ibis.cases((seconds >= SECONDS_PER_DAY, begun.date()), else_=ibis.null("date")),
            "charge_only": TRUE,
            "charge_kind": charge_kind(text("line_item_line_item_type"), money),
            "charge_meter": charge_meter(usage),
            "bucket_seconds": ibis.coalesce(seconds.cast("int64"), 0),
            "provider": ibis.literal("aws"),
            "model": ibis.coalesce(
                text("product_model"), product["model"].str, _model(usage), name.re_replace(_EDITION, "")
            ),
            "service_tier": ibis.cases(
                *[(usage.lower().re_search(rf"[-_]{tier}\b"), tier) for tier in _TIERS], else_=NO_TEXT
            ),
            "region": ibis.coalesce(
                text("product_region_code"), product["region_code"].str, text("product_region")
            ),
            "requests": ibis.literal(0, type="int64"),
            **labels,
            "project": ibis.coalesce(
                labels["project"], text("line_item_usage_account_name"), text("line_item_usage_account_id")
            ),
            "user": ibis.coalesce(labels["user"], text("line_item_iam_principal")),
            "recorded_cost_usd": money,
            "dedup_group": text("identity_line_item_id"),
            # Within a report an id is unique; the same lines may be in several versions of it.
            "dedup_key": text("line_item_usage_start_date") + "|" + usage.fill_null(""),
            "dedup_size": ibis.literal(0, type="int64"),
        }


def _model(usage: Any) -> Any:
    """Return the model in a usage type such as ``USE1-Claude4Sonnet-input-tokens``; null where it names none."""
    bare = usage.re_replace(_REGION, "")
    named = bare.re_search(_KIND) & ~usage.startswith("MP:")
    return ibis.cases((named, bare.re_replace(_KIND, "").nullif("")), else_=NO_TEXT)


def _labels(table: Table) -> dict[str, Any]:
    """Return the columns that tags name: a column each in CUR 1, one object in CUR 2."""
    nested = tag_columns(table.json("resource_tags"), prefixes=("user_", "user:", ""))
    return {
        column: ibis.coalesce(
            *[table.text(f"resource_tags_user_{name}") for name in names if "-" not in name], nested[column]
        )
        for column, names in TAGS.items()
    }


IMPORTERS: Final[tuple[Importer, ...]] = (AwsCostAndUsage(),)
