"""OpenAI: pages of the organisation's usage and costs API, and the dashboard's cost export.

Where it comes from: saved answers of ``/v1/organization/usage/completions`` and ``/v1/organization/costs``, one page a
file or several; ``cost_*.csv`` of the dashboard.

One row is: in usage pages a bucket of ``num_model_requests`` calls; in cost pages and exports an amount of money, without
tokens.

Token fields: ``input_tokens`` INCLUDES cached and cache-write tokens of all modalities; ``input_text_tokens`` and its
siblings are the uncached tokens of that modality.

Time zone: epochs are UTC; a bucket of a day is that UTC day in every zone.

What it cannot tell: sizes of single requests; a null model means "not grouped by model", so it has no price.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from pricing.units import SECONDS_PER_DAY
from workloads.accounting import FOREIGN_CURRENCY, MORE_PAGES, NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.charge_words import charge_kind, charge_meter
from workloads.expressions import NO_TEXT, TRUE, is_true, not_negative
from workloads.importers import Columns, Importer, JsonImporter, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema
from workloads.table import Table
from workloads.usage_tiers import usage_tier

_BIG: Final = "BIGINT"

_PAGE: Final[Schema] = {
    "object": "VARCHAR",
    "has_more": "BOOLEAN",
    "data": [
        {
            "object": "VARCHAR",
            "start_time": "VARCHAR",
            "end_time": "VARCHAR",
            "results": [
                {
                    "object": "VARCHAR",
                    "model": "VARCHAR",
                    "batch": "BOOLEAN",
                    "service_tier": "VARCHAR",
                    "project_id": "VARCHAR",
                    "user_id": "VARCHAR",
                    "api_key_id": "VARCHAR",
                    "num_model_requests": _BIG,
                    "input_tokens": _BIG,
                    "output_tokens": _BIG,
                    "input_cached_tokens": _BIG,
                    "input_cache_write_tokens": _BIG,
                    "input_cache_write_12h_tokens": _BIG,
                    "input_audio_tokens": _BIG,
                    "output_audio_tokens": _BIG,
                    "input_image_tokens": _BIG,
                    "output_image_tokens": _BIG,
                    "line_item": "VARCHAR",
                    "amount": {"value": "DECIMAL(38, 12)", "currency": "VARCHAR"},
                }
            ],
        }
    ],
}


class OpenAIUsagePage(JsonImporter):
    """Pages of the usage and costs API."""

    name = "openai-usage-api"
    title = "OpenAI admin API: usage and costs pages (buckets)"
    core = _PAGE
    chains = ((("data",), ("results",)),)

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a page of buckets."""
        data = obj.get("data")
        return obj.get("object") == "page" and isinstance(data, list) and all(map(_is_bucket, data))

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return node.get("object") == "page"

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope
        bucket, page = node.parent, node.parent.parent if node.parent else None
        assert bucket is not None and page is not None  # noqa: S101, PT018  (a result lies in a bucket in a page)
        get = node.get
        prompt, output = get("input_tokens"), get("output_tokens")
        cached, written = get("input_cached_tokens"), get("input_cache_write_tokens")
        written_12h = get("input_cache_write_12h_tokens")
        uncached, reads, problem = split_input(
            prompt, cached=cached, written=written, output=output, total=None, additive=False
        )
        audio_in, audio_out = get("input_audio_tokens"), get("output_audio_tokens")
        image_in, image_out = get("input_image_tokens"), get("output_image_tokens")
        tier = usage_tier(get("batch"), get("service_tier"))
        money = get("amount", "value")
        counted = prompt.notnull() | output.notnull()
        negative = is_negative(prompt, output, cached, written)
        foreign = money.notnull() & ~_in_dollars(get("amount", "currency"))
        line = get("line_item")
        start, end = bucket.get("start_time"), bucket.get("end_time")
        seconds = end.try_cast("int64") - start.try_cast("int64")
        times = Envelope({}).started_at(start)
        more = is_true(page.get("has_more"))
        return {
            "fate": ibis.cases(
                (negative | foreign, SKIPPED), (counted | money.notnull(), RECORD), else_=IGNORED
            ),
            "reason": ibis.cases(
                (negative, NEGATIVE_COUNT),
                (foreign, FOREIGN_CURRENCY),
                (counted | money.notnull(), NO_TEXT),
                else_="result without tokens or money",
            ),
            "problem": ibis.cases((more, MORE_PAGES), else_=problem),
            **times,
            "usage_date": ibis.cases(
                (seconds >= SECONDS_PER_DAY, times["started_at"].date()), else_=ibis.null("date")
            ),
            "bucket_seconds": seconds,
            "charge_only": prompt.isnull() & output.isnull(),
            "charge_kind": ibis.cases((money.notnull(), charge_kind(line, money)), else_=NO_TEXT),
            "charge_meter": charge_meter(_kind_of_tokens(line)),
            "provider": ibis.literal("openai"),
            "model": ibis.coalesce(get("model"), _model(line)),
            "service_tier": tier,
            "requests": get("num_model_requests"),
            "input_uncached": not_negative(uncached - zero(audio_in) - zero(image_in)),
            "cache_read": reads,
            "cache_write_30m": written - zero(written_12h),
            "cache_write_12h": written_12h,
            "audio_input": audio_in.nullif(0),
            "image_input": image_in.nullif(0),
            "output": output - zero(audio_out) - zero(image_out),
            "audio_output": audio_out.nullif(0),
            "image_output": image_out.nullif(0),
            "project": get("project_id"),
            "user": get("user_id"),
            "api_key": get("api_key_id"),
            "recorded_cost_usd": money,
        }


def _is_bucket(item: Any) -> bool:
    return isinstance(item, Mapping) and item.get("object") == "bucket"


class OpenAICostCsv(TableImporter):
    """The dashboard's cost export."""

    name = "openai-cost-csv"
    title = "OpenAI dashboard: cost CSV (money without tokens)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"start_time", "end_time", "amount_value"} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        money, line = table.number("amount_value"), table.text("line_item")
        foreign = money.notnull() & ~_in_dollars(table.text("amount_currency"))
        idle = table.is_blank("amount_value")
        times = table.time("start_time")
        return {
            "fate": ibis.cases((idle, IGNORED), (foreign | money.isnull(), SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (idle, "idle bucket"),
                (foreign, FOREIGN_CURRENCY),
                (money.isnull(), "the amount is no number"),
                else_=NO_TEXT,
            ),
            **times,
            "usage_date": times["started_at"].date(),
            "bucket_seconds": (table.number("end_time") - table.number("start_time")).cast("int64"),
            "charge_only": TRUE,
            "provider": ibis.literal("openai"),
            "charge_kind": charge_kind(line, money),
            "charge_meter": charge_meter(_kind_of_tokens(line)),
            "model": _model(line),
            "requests": ibis.literal(0, type="int64"),
            "project": ibis.coalesce(table.text("project_name"), table.text("project_id")),
            "api_key": table.text("api_key_id"),
            "user": table.text("user_id"),
            "recorded_cost_usd": money,
        }


def _model(line: Any) -> Any:
    """Return the model of a line item ("gpt-5-nano, input_tokens"); one that is no model and meter keeps its words."""
    return line.re_extract(r"^([^,]+)", 1).nullif("")


def _kind_of_tokens(line: Any) -> Any:
    return line.re_extract(r",\s*(.+)$", 1).nullif("")


def _in_dollars(currency: Any) -> Any:
    return is_true(ibis.coalesce(currency, "USD").upper() == "USD")


IMPORTERS: Final[tuple[Importer, ...]] = (OpenAIUsagePage(), OpenAICostCsv())
