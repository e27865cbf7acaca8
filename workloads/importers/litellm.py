"""LiteLLM proxy: the spend log and the daily spend tables.

Where it comes from: ``LiteLLM_SpendLogs`` and ``LiteLLM_DailyUserSpend`` of the proxy's database, exported as CSV,
JSON, JSONL or Parquet; the ``/spend/logs`` API.

One row is: in the spend log a try of a request, failures and answers from the proxy's own cache among them; in the
daily tables a day x key x model with a count of requests.

Token fields: ``prompt_tokens`` INCLUDES cache reads and writes for every provider (the detail is in ``metadata``);
completion includes reasoning. Some versions left the cached part out for the Messages endpoint: such rows have more
cached than prompt tokens.

Time zone: naive times are UTC.

What it cannot tell: the cached part, when ``metadata`` was trimmed. ``spend`` was wrong in several versions and is kept
beside the computed cost. The team, tag and organisation tables hold the same spend again: load one of them.
"""

from typing import Any, Final

import ibis

from pricing.units import SECONDS_PER_DAY
from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, is_true, not_negative
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.prefix_texts import text_step, told_by_text
from workloads.schema import Schema
from workloads.table import Table
from workloads.times import seconds_between

_MESSAGES_CALLS: Final = ("anthropic_messages", "aanthropic_messages")
_REJECTED: Final = ("400", "401", "403", "404", "413", "422", "429")
"""Status codes of calls that no provider worked on."""

_BIG: Final = "BIGINT"
_LIFETIMES: Final[Schema] = {"ephemeral_1h_input_tokens": _BIG}
_USAGE: Final[Schema] = {
    "cache_read_input_tokens": _BIG,
    "cache_creation_input_tokens": _BIG,
    "cache_creation": _LIFETIMES,
    "prompt_tokens_details": {
        "cached_tokens": _BIG,
        "cache_creation_tokens": _BIG,
        "cache_creation_token_details": _LIFETIMES,
    },
    "completion_tokens_details": {"reasoning_tokens": _BIG},
}
_METADATA: Final[Schema] = {
    "additional_usage_values": _USAGE,
    "usage_object": _USAGE,
    "error_information": {"error_code": "VARCHAR"},
    "user_api_key_team_alias": "VARCHAR",
    "user_api_key_alias": "VARCHAR",
}


class LiteLLMSpendLogs(TableImporter):
    """The spend log."""

    name = "litellm"
    title = "LiteLLM SpendLogs (CSV, JSON, Parquet)"
    keys = (
        "metadata",
        "session_id",
        "team_id",
        "cache_hit",
        "status",
        "error_code",
        "completionStartTime",
        "request_tags",
    )

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"request_id", "call_type", "spend", "prompt_tokens"} <= names

    def steps(self, table: Table) -> Columns:
        """See ``TableImporter.steps``."""
        return text_step(table, "messages")

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text, count = table.text, table.count
        metadata = table.object("metadata", _METADATA)
        prompt, output = count("prompt_tokens"), count("completion_tokens")
        cached = _detail(metadata, (("cache_read_input_tokens",), ("prompt_tokens_details", "cached_tokens")))
        written = _detail(
            metadata, (("cache_creation_input_tokens",), ("prompt_tokens_details", "cache_creation_tokens"))
        )
        written_1h = _detail(
            metadata,
            (
                ("cache_creation", "ephemeral_1h_input_tokens"),
                ("prompt_tokens_details", "cache_creation_token_details", "ephemeral_1h_input_tokens"),
            ),
        )
        # The Messages endpoint was logged with the cached part left out in some versions, and its total too.
        messages = is_true(text("call_type").isin(_MESSAGES_CALLS) & (zero(cached) + zero(written) > prompt))
        total = ibis.cases((messages, ibis.null("int64")), else_=count("total_tokens"))
        uncached, reads, problem = split_input(
            prompt, cached=cached, written=written, output=output, total=total, additive=messages
        )
        failed = is_true(text("status").lower() == "failure")
        used = is_true((zero(prompt) + zero(output)) > 0)
        error = ibis.coalesce(text("error_code"), _text(metadata, "error_information", "error_code"))
        rejected = failed & (~used | is_true(error.isin(_REJECTED)))
        own_cache = is_true(text("cache_hit").lower() == "true")
        unknown = failed & ~rejected
        negative = is_negative(prompt, output, cached, written)
        ignored = rejected | own_cache
        started, first = table.time("start_time"), table.time("completion_start_time")
        ended = table.time("end_time")
        columns = {
            "fate": ibis.cases((ignored, IGNORED), (negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (own_cache, "answered from the gateway's own cache"),
                (rejected, "failed call without usage"),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            "problem": problem,
            **started,
            "provider": text("custom_llm_provider"),
            "model": ibis.coalesce(text("model"), text("model_group")),
            "requests": ibis.literal(1, type="int64"),
            # A call that failed after it was sent may have been billed: what it used is not known.
            **{
                name: ibis.cases((unknown, ibis.null("int64")), else_=value)
                for name, value in {
                    "input_uncached": uncached,
                    "cache_read": reads,
                    "cache_write_5m": not_negative(written - zero(written_1h)),
                    "cache_write_1h": written_1h,
                    "output": output,
                }.items()
            },
            "reasoning": _detail(metadata, (("completion_tokens_details", "reasoning_tokens"),)),
            "team": ibis.coalesce(_text(metadata, "user_api_key_team_alias"), text("team_id")),
            "api_key": ibis.coalesce(_text(metadata, "user_api_key_alias"), text("api_key")),
            "session": text("session_id"),
            "user": ibis.coalesce(text("end_user"), text("user")),
            "status": ibis.coalesce(error, text("status")),
            "duration_seconds": _seconds(started, ended),
            "ttft_seconds": _seconds(started, first),
            "recorded_cost_usd": table.number("spend").nullif(0),  # 0 is what it writes when it has no price
            "dedup_group": text("request_id"),
            "dedup_size": zero(prompt) + zero(output),
        }
        return columns | told_by_text(table, "messages", columns)


def _detail(metadata: Any, paths: tuple[tuple[str, ...], ...]) -> Any:
    """Return the first of some counts that a row's metadata has."""
    found = []
    for root in ("additional_usage_values", "usage_object"):
        for path in paths:
            value = metadata[root]
            for key in path:
                value = value[key]
            found.append(value)
    return ibis.coalesce(*found)


def _text(metadata: Any, *path: str) -> Any:
    value = metadata
    for key in path:
        value = value[key]
    return value.nullif("")


def _seconds(start: Columns, end: Columns) -> Any:
    if not start or not end:
        return ibis.null("float64")
    return seconds_between(start["started_at"], end["started_at"])


class LiteLLMDailySpend(TableImporter):
    """The daily spend tables."""

    name = "litellm-daily"
    title = "LiteLLM daily spend (buckets of a day)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"date", "api_key", "prompt_tokens", "api_requests", "spend"} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text, count = table.text, table.count
        prompt, output = count("prompt_tokens"), count("completion_tokens")
        cached, written = count("cache_read_input_tokens"), count("cache_creation_input_tokens")
        uncached, reads, problem = split_input(
            prompt, cached=cached, written=written, output=output, total=None, additive=False
        )
        negative = is_negative(prompt, output, cached, written)
        return {
            "fate": ibis.cases((negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases((negative, NEGATIVE_COUNT), else_=NO_TEXT),
            "problem": problem,
            **table.time("date"),
            "bucket_seconds": ibis.literal(SECONDS_PER_DAY, type="int64"),
            "provider": text("custom_llm_provider"),
            "model": ibis.coalesce(text("model"), text("model_group")),
            "requests": ibis.coalesce(count("successful_requests"), count("api_requests")),
            "input_uncached": uncached,
            "cache_read": reads,
            "cache_write_5m": written,
            "output": output,
            "team": text("team_id"),
            "api_key": text("api_key"),
            "user": text("user_id"),
            "endpoint": text("endpoint"),
            "recorded_cost_usd": table.number("spend"),
            "dedup_group": text("id"),
            "dedup_size": zero(prompt) + zero(output),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (LiteLLMSpendLogs(), LiteLLMDailySpend())
