"""Anthropic: Messages objects of the API, and the Console's usage export.

Where it comes from: bodies of Messages calls as an application or proxy logged them, bare or inside any envelope;
``claude_api_tokens_*.csv`` of the Console.

One row is: a response; in the export a UTC day x model x key x workspace x tier x context window, without a count of
requests.

Token fields: ``input_tokens`` EXCLUDES cache reads and writes; the prompt is the sum of the three.
``cache_creation_input_tokens`` and its split by lifetime are the same tokens. Output includes thinking.

Time zone: Messages objects carry no time, so the envelope's counts; the export's dates are UTC days.

What it cannot tell: without the split, a write's lifetime (taken as 5 minutes, the default); in the export, sizes of
single requests and how many there were.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, NO_WHOLE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, is_true, text_of
from workloads.importers import Columns, Importer, JsonImporter, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema
from workloads.table import Table

_BIG: Final = "BIGINT"
_CACHE_KEYS: Final = ("cache_creation_input_tokens", "cache_read_input_tokens", "cache_creation")


USAGE: Final[Schema] = {
    "input_tokens": _BIG,
    "output_tokens": _BIG,
    "total_tokens": _BIG,
    "cache_creation_input_tokens": _BIG,
    "cache_read_input_tokens": _BIG,
    "cache_creation": {"ephemeral_5m_input_tokens": _BIG, "ephemeral_1h_input_tokens": _BIG},
    "output_tokens_details": {"thinking_tokens": _BIG},
    "server_tool_use": {"web_search_requests": _BIG},
    "service_tier": "VARCHAR",
    "inference_geo": "VARCHAR",
    "speed": "VARCHAR",
}
MESSAGE: Final[Schema] = {
    "id": "VARCHAR",
    "type": "VARCHAR",
    "model": "VARCHAR",
    "stop_reason": "VARCHAR",
    "usage": {**USAGE, "iterations": [{"type": "VARCHAR"}]},
}
_STREAMED: Final = "message_delta"
"""An event of a stream: its counts may be as many as a message's."""
BILLED_EXTRA: Final = ("compaction", "advisor_message")
"""Iterations of a message that its own counts leave out."""


def has_extra(usage: Mapping[str, Any]) -> bool:
    """Return whether a sampled usage has iterations that its own counts leave out."""
    iterations = usage.get("iterations")
    found = iterations if isinstance(iterations, list) else []
    return any(isinstance(one, Mapping) and one.get("type") in BILLED_EXTRA for one in found)


def is_extra(iteration: Any) -> Any:
    """Return ``has_extra`` of one iteration, as an expression."""
    return iteration["type"].isin(BILLED_EXTRA)


class AnthropicMessage(JsonImporter):
    """Messages objects."""

    name = "anthropic"
    title = "Anthropic API responses: Messages objects"
    extra: ClassVar[bool] = False
    """Whether the messages have iterations that their own counts leave out."""
    core = MESSAGE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a Messages response."""
        usage = obj.get("usage")
        if not isinstance(usage, Mapping) or "prompt_tokens" in usage or "input_tokens_details" in usage:
            return False
        if obj.get("type") == _STREAMED:
            return False
        marked = obj.get("type") == "message" or any(key in usage for key in _CACHE_KEYS)
        return "input_tokens" in usage and marked and has_extra(usage) is self.extra

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        usage = node.get("usage")
        cached = usage["cache_read_input_tokens"].notnull() | usage["cache_creation_input_tokens"].notnull()
        message = (node.get("type") == "message") & (usage.notnull() | node.get("model").notnull())
        streamed = is_true(node.get("type") == _STREAMED)
        mine = (message | cached | usage["cache_creation"].notnull()) & ~streamed
        extra = is_true(usage["iterations"].filter(is_extra).length() > 0)
        return mine & (extra if self.extra else ~extra)

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        usage = node.get("usage")
        prompt, output = usage["input_tokens"], usage["output_tokens"]
        cached, written = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
        split = usage["cache_creation"]
        written_1h = split["ephemeral_1h_input_tokens"]
        written = ibis.coalesce(written, split["ephemeral_5m_input_tokens"] + zero(written_1h))
        uncached, reads, problem = split_input(
            prompt,
            cached=cached,
            written=written,
            output=output,
            total=usage["total_tokens"],
            additive=True,
        )
        counts = (prompt, output, cached, written)
        return {
            "fate": ibis.cases((is_negative(*counts), SKIPPED), else_=RECORD),
            "reason": ibis.cases((is_negative(*counts), NEGATIVE_COUNT), else_=NO_TEXT),
            "problem": problem,
            **envelope.labels(),
            **envelope.started_at(NO_TEXT),
            "provider": ibis.coalesce(envelope.get("provider"), "anthropic"),
            "model": ibis.coalesce(node.get("model"), envelope.get("model")),
            "service_tier": ibis.cases(
                (usage["speed"] == "fast", "fast"),
                (envelope.get("custom_id").notnull(), "batch"),
                else_=ibis.coalesce(usage["service_tier"], envelope.get("service_tier")).nullif("standard"),
            ),
            "region": ibis.coalesce(usage["inference_geo"].nullif("not_available"), envelope.get("region")),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": uncached,
            "cache_read": reads,
            "cache_write_5m": written - zero(written_1h),
            "cache_write_1h": written_1h,
            "output": output,
            "reasoning": usage["output_tokens_details"]["thinking_tokens"],
            "web_search_calls": usage["server_tool_use"]["web_search_requests"].nullif(0),
            "stop_reason": node.get("stop_reason"),
            "dedup_group": node.get("id").nullif(""),
            "dedup_key": text_of(prompt) + "|" + text_of(cached) + "|" + text_of(output),
            "dedup_size": zero(prompt) + zero(cached) + zero(written) + zero(output),
        }


class AnthropicConsoleCsv(TableImporter):
    """The Console's usage export, in all its header versions."""

    name = "anthropic-console-csv"
    title = "Anthropic Console: usage CSV (UTC days)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return bool({"usage_date_utc", "usage_date"} & names) and bool(
            {"usage_input_tokens_no_cache", "usage_input_tokens_cache_write", "usage_input_tokens"} & names
        )

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        count, text = table.count, table.text
        day = table.first(("usage_date_utc", "usage_date")) or "usage_date_utc"
        uncached_name = table.first(("usage_input_tokens_no_cache", "usage_input_tokens")) or ""
        uncached, output = count(uncached_name), count("usage_output_tokens")
        reads = count("usage_input_tokens_cache_read")
        written_5m = ibis.coalesce(
            count("usage_input_tokens_cache_write_5m"), count("usage_input_tokens_cache_write")
        )
        written_1h = count("usage_input_tokens_cache_write_1h")
        unreadable = table.unreadable(uncached_name) | table.unreadable("usage_output_tokens")
        negative = is_negative(uncached, output, reads, written_5m, written_1h)
        blank = text(day).isnull()
        tier = text("usage_type").lower().nullif("standard")
        return {
            "fate": ibis.cases((blank, IGNORED), (unreadable | negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (blank, "row without a date"),
                (unreadable, NO_WHOLE_COUNT),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            **table.time(day),
            "bucket_seconds": ibis.cases((text(day).length() > _DATE_LENGTH, 3_600), else_=86_400).cast(
                "int64"
            ),
            "provider": ibis.literal("anthropic"),
            "model": ibis.coalesce(text("model_version"), text("model")),
            "service_tier": ibis.cases((is_true(text("speed") == "fast"), "fast"), else_=tier),
            "region": text("inference_geo").nullif("not_available"),
            "input_uncached": uncached,
            "cache_read": reads,
            "cache_write_5m": written_5m,
            "cache_write_1h": written_1h,
            "output": output,
            "web_search_calls": count("web_search_count").nullif(0),
            "project": text("workspace"),
            "api_key": text("api_key"),
        }


_DATE_LENGTH: Final = len("2026-01-01")

IMPORTERS: Final[tuple[Importer, ...]] = (AnthropicMessage(), AnthropicConsoleCsv())
