"""Anthropic: the events of streamed answers, as text or one JSON object a line.

Where it comes from: payloads of the Messages API's stream as an application or proxy logged them in their order, bare or
inside any envelope; or the stream itself as text (``event: ...`` and ``data: {...}`` lines).

One row is: an event. ``message_start`` (which may be written twice) says what went in, each ``message_delta`` what was used up
to then: the last one of a message is its record. An answer that was cut off has only its start: its output is not known.

Token fields: as Messages objects: ``input_tokens`` EXCLUDES cache reads and writes. Counts of a ``message_delta`` are running
totals; those that it lacks are the start's.

Time zone: events carry no time, so the envelope's counts.

What it cannot tell: which message a ``message_delta`` belongs to when the streams of several calls are interleaved in one
file (it is taken for the one that started last).
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, zero
from workloads.expressions import NO_TEXT, TRUE, is_true
from workloads.importers import Columns, Importer, JsonImporter
from workloads.importers.anthropic import USAGE
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.running import count_so_far, telling, told
from workloads.schema import Schema

_START: Final = "message_start"
_DELTA: Final = "message_delta"
_BLOCKS: Final = ("content_block_start", "content_block_delta", "content_block_stop")
_EVENTS: Final = (_START, _DELTA, *_BLOCKS, "message_stop", "ping", "error")
_COUNTS: Final = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")

_CORE: Final[Schema] = {
    "type": "VARCHAR",
    "index": "BIGINT",
    "message": {"id": "VARCHAR", "model": "VARCHAR", "usage": USAGE},
    "delta": {"stop_reason": "VARCHAR"},
    "usage": USAGE,
}


class AnthropicStream(JsonImporter):
    """Events of streams."""

    name = "anthropic-stream"
    title = "Anthropic API streams: server-sent events as text, or one JSON object a line"
    core = _CORE
    ordered = True

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is an event of a stream."""
        kind = obj.get("type")
        if kind in (_START, _DELTA):
            return isinstance(obj.get("message" if kind == _START else "delta"), Mapping)
        return kind in _BLOCKS and "index" in obj

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return is_true(node.get("type").isin(_EVENTS))

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``."""
        start = is_true(node.get("type") == _START)
        message, usage = node.get("message"), node.get("message", "usage")
        found = {
            "id": message["id"],
            "model": message["model"],
            **{name: usage[name] for name in _COUNTS},
            "written_1h": usage["cache_creation"]["ephemeral_1h_input_tokens"],
            "tier": ibis.cases((usage["speed"] == "fast", "fast"), else_=usage["service_tier"]),
            "region": usage["inference_geo"].nullif("not_available"),
        }
        return {"stream_number": count_so_far(start), "stream": telling(node, start, found)}

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        usage = node.get("usage")
        start = is_true(node.get("type") == _START)
        delta = is_true(node.get("type") == _DELTA) & usage.notnull()
        prompt, cached, written = (ibis.coalesce(usage[name], told(node, "stream", name)) for name in _COUNTS)
        written_1h = ibis.coalesce(
            usage["cache_creation"]["ephemeral_1h_input_tokens"], told(node, "stream", "written_1h")
        )
        output = usage["output_tokens"]
        negative = is_negative(prompt, cached, written, output)
        place = node.file + "|" + node.step("stream_number").cast("string")
        return {
            "fate": ibis.cases((~start & ~delta, IGNORED), (negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (~start & ~delta, "stream event without usage"), (negative, NEGATIVE_COUNT), else_=NO_TEXT
            ),
            **envelope.labels(),
            **envelope.started_at(NO_TEXT),
            "provider": ibis.coalesce(envelope.get("provider"), "anthropic"),
            "model": ibis.coalesce(told(node, "stream", "model"), envelope.get("model")),
            "service_tier": told(node, "stream", "tier").nullif("standard"),
            "region": ibis.coalesce(told(node, "stream", "region"), envelope.get("region")),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": prompt,
            "cache_read": cached,
            "cache_write_5m": written - zero(written_1h),
            "cache_write_1h": written_1h,
            "output": output,
            "reasoning": usage["output_tokens_details"]["thinking_tokens"],
            "web_search_calls": usage["server_tool_use"]["web_search_requests"].nullif(0),
            "stop_reason": node.get("delta", "stop_reason"),
            "streaming": TRUE,
            "dedup_group": ibis.coalesce(told(node, "stream", "id"), place),
            # A start knows no output yet: whatever was used later is the record, the last of it.
            "dedup_size": ibis.cases((delta, node.row + 1), else_=0),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (AnthropicStream(),)
