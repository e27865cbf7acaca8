"""Claude Code: session logs, a folder of JSONL files by project and session.

Where it comes from: ``~/.claude/projects/<project>/<session>.jsonl`` and ``subagents`` folders beside.

One row is: a line of a session. One API response is SEVERAL lines (one a content block or streaming snapshot) with
one message id and request id, equal input counts and a growing output: the largest is the billed one, its time is the
first line's. Resumed sessions copy history into new files; side chains replay their parent's messages under a new
request id. Helper agents' own messages are real calls, with their own model.

Token fields: as the Messages API, cache reads and writes beside ``input_tokens``.

Time zone: UTC.

What it cannot tell: what a subscription costs; the money is what the API would have charged.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, zero
from workloads.expressions import NO_TEXT, is_true
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node, time_columns
from workloads.schema import Schema

_BIG: Final = "BIGINT"
_LINE_TYPES: Final = (
    "assistant",
    "user",
    "system",
    "summary",
    "progress",
    "file-history-snapshot",
    "queue-operation",
)
_SYNTHETIC: Final = "<synthetic>"


_CORE: Final[Schema] = {
    "type": "VARCHAR",
    "timestamp": "VARCHAR",
    "sessionId": "VARCHAR",
    "requestId": "VARCHAR",
    "uuid": "VARCHAR",
    "isSidechain": "BOOLEAN",
    "cwd": "VARCHAR",
    "costUSD": "DECIMAL(38, 12)",
    # Helper agents report one level deeper; such an object is recognised there, and not at the line itself.
    "data": {"message": {"message": {"usage": {"input_tokens": _BIG}}}},
    "message": {
        "id": "VARCHAR",
        "model": "VARCHAR",
        "stop_reason": "VARCHAR",
        "usage": {
            "input_tokens": _BIG,
            "output_tokens": _BIG,
            "cache_creation_input_tokens": _BIG,
            "cache_read_input_tokens": _BIG,
            "cache_creation": {"ephemeral_5m_input_tokens": _BIG, "ephemeral_1h_input_tokens": _BIG},
            "server_tool_use": {"web_search_requests": _BIG},
            "service_tier": "VARCHAR",
            "inference_geo": "VARCHAR",
            "speed": "VARCHAR",
        },
    },
}


class ClaudeCodeSession(JsonImporter):
    """Session lines."""

    name = "claude-code"
    title = "Claude Code session logs (JSONL)"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a session line, with or without usage."""
        message = obj.get("message")
        if isinstance(message, Mapping) and isinstance(message.get("usage"), Mapping):
            usage = message["usage"]
            return "input_tokens" in usage and bool(
                {"sessionId", "requestId", "uuid", "isSidechain"} & obj.keys()
            )
        if _nested_usage(obj):
            return False
        return obj.get("type") in _LINE_TYPES and bool(
            {"sessionId", "uuid", "leafUuid", "messageId"} & obj.keys()
        )

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        message = node.get("message")
        nested = node.get("data", "message", "message", "usage", "input_tokens")
        marked = (
            node.get("requestId").notnull() | node.get("uuid").notnull() | node.get("sessionId").notnull()
        )
        return (
            message["usage"]["input_tokens"].notnull() & (marked | node.get("isSidechain").notnull())
        ) | is_true(node.get("type").isin(_LINE_TYPES) & nested.isnull())

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        message, usage = node.get("message"), node.get("message", "usage")
        prompt, output = usage["input_tokens"], usage["output_tokens"]
        cached, written = usage["cache_read_input_tokens"], usage["cache_creation_input_tokens"]
        split = usage["cache_creation"]
        written_1h = split["ephemeral_1h_input_tokens"]
        written = ibis.coalesce(written, split["ephemeral_5m_input_tokens"] + zero(written_1h))
        counts = (prompt, output, cached, written)
        synthetic = message["model"] == _SYNTHETIC
        no_call = usage.isnull() | is_true(synthetic)
        return {
            "fate": ibis.cases((no_call, IGNORED), (is_negative(*counts), SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (synthetic, "placeholder that the client wrote itself"),
                (no_call, "session line without usage"),
                (is_negative(*counts), NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            **time_columns(node.get("timestamp")),
            "provider": ibis.literal("anthropic"),
            "model": message["model"],
            "service_tier": ibis.cases(
                (usage["speed"] == "fast", "fast"), else_=usage["service_tier"]
            ).nullif("standard"),
            "region": usage["inference_geo"].nullif("not_available"),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": prompt,
            "cache_read": cached,
            "cache_write_5m": written - zero(written_1h),
            "cache_write_1h": written_1h,
            "output": output,
            "web_search_calls": usage["server_tool_use"]["web_search_requests"].nullif(0),
            "project": node.get("cwd"),
            "session": ibis.coalesce(node.get("sessionId"), envelope.get("session")),
            "stop_reason": message["stop_reason"],
            "recorded_cost_usd": node.get("costUSD").cast("decimal(38, 12)"),
            **_replay_columns(node, sum((zero(count) for count in counts[1:]), zero(prompt))),
        }


def _nested_usage(obj: Mapping[str, Any]) -> bool:
    for key in ("data", "message", "message", "usage"):
        inner = obj.get(key)
        if not isinstance(inner, Mapping):
            return False
        obj = inner
    return True


def _replay_columns(node: Node, size: Any) -> Columns:
    """Return the columns that say which lines are one call.

    A side chain replays its parent's messages under new request ids, and some gateways and versions write no request
    id: such a line yields to any other line of the same message.
    """
    request = node.get("requestId").nullif("")
    return {
        "dedup_group": node.get("message", "id").nullif(""),
        "dedup_key": request,
        "dedup_yields": is_true(node.get("isSidechain")) | request.isnull(),
        "dedup_size": size,
    }


IMPORTERS: Final[tuple[Importer, ...]] = (ClaudeCodeSession(),)
