"""LangChain: messages with ``usage_metadata``.

Where it comes from: messages as an application logged or serialised them (``AIMessage``, its ``kwargs``, chunks of a
stream), bare or inside any envelope.

One row is: a message; or a chunk of a stream, whose counts are running totals under the message's id: the last counts,
and a whole message of that id replaces its chunks.

Token fields: ``input_tokens`` INCLUDES ``cache_read`` and ``cache_creation`` for every provider; ``ephemeral_5m_input_tokens``
and ``ephemeral_1h_input_tokens`` break ``cache_creation`` down, or stand in its place when it is 0; output includes
reasoning.

Time zone: messages carry no time, so the envelope's counts.

What it cannot tell: without the breakdown, a write's lifetime (taken as 5 minutes).
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, at_most, is_true, not_negative, text_of
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema

_BIG: Final = "BIGINT"
_CHUNK: Final = "AIMessageChunk"
_STANDARD_TIERS: Final = ("standard", "default", "auto", "on_demand")

_CORE: Final[Schema] = {
    "id": "VARCHAR",
    "run_id": "VARCHAR",
    "type": "VARCHAR",
    "response_metadata": {
        "model_name": "VARCHAR",
        "model": "VARCHAR",
        "model_provider": "VARCHAR",
        "finish_reason": "VARCHAR",
        "stop_reason": "VARCHAR",
        "service_tier": "VARCHAR",
    },
    "usage_metadata": {
        "input_tokens": _BIG,
        "output_tokens": _BIG,
        "total_tokens": _BIG,
        "input_token_details": {
            "audio": _BIG,
            "cache_read": _BIG,
            "cache_creation": _BIG,
            "ephemeral_5m_input_tokens": _BIG,
            "ephemeral_1h_input_tokens": _BIG,
        },
        "output_token_details": {"audio": _BIG, "reasoning": _BIG},
    },
}


class LangChainMessage(JsonImporter):
    """Messages and chunks."""

    name = "langchain"
    title = "LangChain messages with usage_metadata"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a message with usage, or a chunk of one."""
        usage = obj.get("usage_metadata")
        if isinstance(usage, Mapping):
            return "input_tokens" in usage and "output_tokens" in usage
        return obj.get("type") == _CHUNK

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        usage = node.get("usage_metadata")
        return usage["input_tokens"].notnull() | is_true(node.get("type") == _CHUNK)

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        usage, answer = node.get("usage_metadata"), node.get("response_metadata")
        prompt, output = usage["input_tokens"], usage["output_tokens"]
        details, output_details = usage["input_token_details"], usage["output_token_details"]
        cached, written_1h = details["cache_read"], details["ephemeral_1h_input_tokens"]
        split = details["ephemeral_5m_input_tokens"] + zero(written_1h)
        split = ibis.coalesce(split, written_1h)
        general = details["cache_creation"]
        written = ibis.cases((split > zero(general), split), else_=general)
        uncached, reads, problem = split_input(
            prompt,
            cached=cached,
            written=written,
            output=output,
            total=usage["total_tokens"],
            additive=False,
        )
        audio_in, audio_out = at_most(details["audio"], uncached), at_most(output_details["audio"], output)
        chunk = is_true(node.get("type") == _CHUNK)
        empty = chunk & prompt.isnull()
        negative = is_negative(prompt, output, cached, written)
        tier = ibis.coalesce(answer["service_tier"], envelope.get("service_tier"))
        return {
            "fate": ibis.cases((empty, IGNORED), (negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (empty, "stream chunk without usage"), (negative, NEGATIVE_COUNT), else_=NO_TEXT
            ),
            "problem": problem,
            **envelope.labels(),
            **envelope.started_at(NO_TEXT),
            "provider": ibis.coalesce(envelope.get("provider"), answer["model_provider"]),
            "model": ibis.coalesce(answer["model_name"], answer["model"], envelope.get("model")),
            "service_tier": ibis.cases((tier.isin(_STANDARD_TIERS), NO_TEXT), else_=tier),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": uncached - zero(audio_in),
            "cache_read": reads,
            "cache_write_5m": not_negative(written - zero(written_1h)),
            "cache_write_1h": written_1h,
            "audio_input": audio_in.nullif(0),
            "output": output - zero(audio_out),
            "audio_output": audio_out.nullif(0),
            "reasoning": output_details["reasoning"],
            "stop_reason": ibis.coalesce(
                answer["finish_reason"], answer["stop_reason"], envelope.get("stop_reason")
            ),
            "dedup_group": ibis.coalesce(node.get("id"), node.get("run_id")).nullif(""),
            "dedup_key": ibis.cases((chunk, NO_TEXT), else_=text_of(prompt) + "|" + text_of(output)),
            "dedup_yields": chunk,
            "dedup_size": zero(prompt) + zero(output),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (LangChainMessage(),)
