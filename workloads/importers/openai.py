"""OpenAI: response objects of the API, and the dashboard's usage export.

Where it comes from: bodies of Chat Completions or Responses calls as an application, proxy or batch job logged them,
bare or inside any envelope; ``completions_usage_*.csv`` of the usage dashboard. Most OpenAI-compatible servers write
the first shape too.

One row is: a response; in the export a bucket (day, hour or minute) of ``num_model_requests`` calls.

Token fields: ``prompt_tokens`` / ``input_tokens`` INCLUDE cached and cache-write tokens and audio;
``completion_tokens`` / ``output_tokens`` include reasoning. In the export ``input_text_tokens`` and its siblings are
the uncached tokens of that modality.

Time zone: epochs are UTC; the export's epoch columns are authoritative, its ISO columns may lack an offset.

What it cannot tell: a stream that was cut off, or asked for without ``include_usage``, has no usage at all (unknown,
not zero); the export has no sizes of single requests.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, at_most, not_negative, text_of
from workloads.importers import Columns, Importer, JsonImporter, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node, Table
from workloads.schema import Schema

_OBJECTS: Final = ("chat.completion", "chat.completion.chunk", "text_completion", "response", "embedding")
_STANDARD_TIERS: Final = ("auto", "default")
_BIG: Final = "BIGINT"


_CORE: Final[Schema] = {
    "id": "VARCHAR",
    "object": "VARCHAR",
    "model": "VARCHAR",
    "created": "VARCHAR",
    "created_at": "VARCHAR",
    "service_tier": "VARCHAR",
    "choices": [{"finish_reason": "VARCHAR"}],
    "output": [{"type": "VARCHAR"}],
    "usage": {
        "prompt_tokens": _BIG,
        "completion_tokens": _BIG,
        "input_tokens": _BIG,
        "output_tokens": _BIG,
        "total_tokens": _BIG,
        "prompt_tokens_details": {
            "cached_tokens": _BIG,
            "cache_write_tokens": _BIG,
            "audio_tokens": _BIG,
        },
        "completion_tokens_details": {"reasoning_tokens": _BIG, "audio_tokens": _BIG},
        "input_tokens_details": {
            "cached_tokens": _BIG,
            "cache_write_tokens": _BIG,
            "cache_write_tokens_details": {"ttl_30m_tokens": _BIG, "ttl_12h_tokens": _BIG},
        },
        "output_tokens_details": {"reasoning_tokens": _BIG},
        "prompt_cache_hit_tokens": _BIG,
        "cached_tokens": _BIG,
    },
}


class OpenAIResponse(JsonImporter):
    """Chat Completions and Responses objects."""

    name = "openai"
    title = "OpenAI (and compatible) API responses: Chat Completions, Responses, batch output"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a response with OpenAI's usage keys, or says that it is one."""
        if obj.get("object") in _OBJECTS:
            return True
        usage = obj.get("usage")
        if not isinstance(usage, Mapping):
            return False
        return "prompt_tokens" in usage or ("input_tokens" in usage and "input_tokens_details" in usage)

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        usage = node.get("usage")
        counted = usage["prompt_tokens"].notnull() | usage["completion_tokens"].notnull()
        return counted | usage["input_tokens_details"].notnull() | node.get("object").isin(_OBJECTS)

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        usage = node.get("usage")
        prompt = ibis.coalesce(usage["prompt_tokens"], usage["input_tokens"])
        output = ibis.coalesce(usage["completion_tokens"], usage["output_tokens"])
        chat_in, chat_out = usage["prompt_tokens_details"], usage["completion_tokens_details"]
        new_in = usage["input_tokens_details"]
        cached = ibis.coalesce(
            chat_in["cached_tokens"],
            new_in["cached_tokens"],
            usage["prompt_cache_hit_tokens"],
            usage["cached_tokens"],
        )
        written = ibis.coalesce(chat_in["cache_write_tokens"], new_in["cache_write_tokens"])
        written_12h = new_in["cache_write_tokens_details"]["ttl_12h_tokens"]
        audio_in, audio_out = chat_in["audio_tokens"], chat_out["audio_tokens"]
        uncached, reads, problem = split_input(
            prompt,
            cached=cached,
            written=written,
            output=output,
            total=usage["total_tokens"],
            additive=False,
        )
        audio_in = at_most(audio_in, uncached)
        audio_out = at_most(audio_out, output)
        counts = (prompt, output, cached, written)
        measured = prompt.notnull() | output.notnull()
        chunk = node.get("object") == "chat.completion.chunk"
        created = ibis.coalesce(node.get("created"), node.get("created_at"))
        tier = ibis.coalesce(node.get("service_tier"), envelope.get("service_tier"))
        # A line with a custom_id is a line of a batch job's output, whatever tier the body repeats.
        batch = envelope.get("custom_id").notnull()
        searches = node.get("output").filter(_is_search).length()
        return {
            "fate": ibis.cases((is_negative(*counts), SKIPPED), (chunk & ~measured, IGNORED), else_=RECORD),
            "reason": ibis.cases(
                (is_negative(*counts), NEGATIVE_COUNT),
                (chunk & ~measured, "stream chunk without usage"),
                else_=NO_TEXT,
            ),
            "problem": problem,
            **envelope.labels(),
            **envelope.started_at(created),
            "model": ibis.coalesce(node.get("model"), envelope.get("model")),
            "service_tier": ibis.cases(
                (batch, "batch"), else_=tier.nullif(_STANDARD_TIERS[0]).nullif(_STANDARD_TIERS[1])
            ),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": uncached - zero(audio_in),
            "cache_read": reads,
            "cache_write_30m": written - zero(written_12h),
            "cache_write_12h": written_12h,
            "audio_input": audio_in.nullif(0),
            "output": output - zero(audio_out),
            "audio_output": audio_out.nullif(0),
            "reasoning": ibis.coalesce(
                chat_out["reasoning_tokens"], usage["output_tokens_details"]["reasoning_tokens"]
            ),
            "web_search_calls": searches.cast("int64").nullif(0),
            "stop_reason": node.get("choices")[0]["finish_reason"],
            "dedup_group": node.get("id").nullif(""),
            "dedup_key": _replay_key(chunk, created, prompt, output),
            "dedup_size": zero(prompt) + zero(output),
        }


def _is_search(item: Any) -> Any:
    return item["type"] == "web_search_call"


def _replay_key(chunk: Any, created: Any, prompt: Any, output: Any) -> Any:
    """Return what a second copy of a response shares with the first, besides its id.

    The id alone is not enough: some compatible servers answer every call with one id. Chunks of one stream do share
    it, and their counts are running totals.
    """
    counts = ibis.coalesce(created, "") + "|" + text_of(prompt) + "|" + text_of(output)
    return ibis.cases((chunk, NO_TEXT), else_=counts)


class OpenAIUsageCsv(TableImporter):
    """The usage dashboard's completions export."""

    name = "openai-usage-csv"
    title = "OpenAI dashboard: completions usage CSV (buckets)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"start_time", "end_time", "num_model_requests", "input_tokens", "output_tokens"} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        count = table.count
        prompt, output = count("input_tokens"), count("output_tokens")
        cached = count("input_cached_tokens")
        written = count("input_cache_write_tokens")
        written_12h = count("input_cache_write_12h_tokens")
        uncached, reads, problem = split_input(
            prompt, cached=cached, written=written, output=output, total=None, additive=False
        )
        idle = table.text("input_tokens").isnull() & table.text("output_tokens").isnull()
        unreadable = table.unreadable("input_tokens") | table.unreadable("output_tokens")
        negative = is_negative(prompt, output, cached, written)
        audio_in, audio_out = count("input_audio_tokens"), count("output_audio_tokens")
        image_in, image_out = count("input_image_tokens"), count("output_image_tokens")
        batch = table.text("batch").lower().isin(("true", "1", "yes"))
        tier = table.text("service_tier").lower()
        tier = tier.nullif(_STANDARD_TIERS[0]).nullif(_STANDARD_TIERS[1])
        bucket = table.count("end_time") - table.count("start_time")
        return {
            "fate": ibis.cases((idle, IGNORED), (unreadable | negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (idle, "idle bucket"),
                (unreadable, "a token count is no whole number"),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            "problem": problem,
            **table.time("start_time"),
            # A bucket of a day is that UTC day in every zone: it cannot be cut anew.
            "usage_date": ibis.cases(
                (bucket >= _DAY_SECONDS, table.time("start_time")["started_at"].date()),
                else_=ibis.null("date"),
            ),
            "bucket_seconds": bucket,
            "provider": ibis.literal("openai"),
            "model": table.text("model"),
            "service_tier": ibis.cases((batch, "batch"), else_=tier),
            "requests": count("num_model_requests"),
            "input_uncached": not_negative(uncached - zero(audio_in) - zero(image_in)),
            "cache_read": reads,
            "cache_write_30m": written - zero(written_12h),
            "cache_write_12h": written_12h,
            "audio_input": audio_in.nullif(0),
            "image_input": image_in.nullif(0),
            "output": output - zero(audio_out) - zero(image_out),
            "audio_output": audio_out.nullif(0),
            "image_output": image_out.nullif(0),
            "project": ibis.coalesce(table.text("project_name"), table.text("project_id")),
            "api_key": ibis.coalesce(table.text("api_key_name"), table.text("api_key_id")),
            "user": table.text("user_id"),
        }


_DAY_SECONDS: Final = 86_400

IMPORTERS: Final[tuple[Importer, ...]] = (OpenAIResponse(), OpenAIUsageCsv())
