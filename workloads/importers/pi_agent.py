"""Pi coding agent: session files.

Where it comes from: ``~/.pi/agent/sessions/<project>/<time>_<id>.jsonl``, and agents that keep its shape.

One row is: an entry of a session. Only the model's messages carry usage. A forked session begins with its parent's
entries, with their ids and times.

Token fields: ``input`` EXCLUDES ``cacheRead`` and ``cacheWrite``: ``totalTokens`` is the sum of the four. Output includes reasoning.

Time zone: UTC.

What it cannot tell: a write's lifetime (taken as 5 minutes); what a message cost that the client had no price for (it
writes 0).
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, is_true
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node, time_columns
from workloads.schema import Schema

_BIG: Final = "BIGINT"
_MESSAGE: Final = "message"
_NOTES: Final = (
    "session",
    "session_info",
    "model_change",
    "thinking_level_change",
    "compaction",
    "branch_summary",
    "label",
    "custom",
    "custom_message",
)

_CORE: Final[Schema] = {
    "type": "VARCHAR",
    "id": "VARCHAR",
    "parentId": "VARCHAR",
    "timestamp": "VARCHAR",
    "cwd": "VARCHAR",
    "parentSession": "VARCHAR",
    "message": {
        "role": "VARCHAR",
        "provider": "VARCHAR",
        "model": "VARCHAR",
        "stopReason": "VARCHAR",
        "usage": {
            "input": _BIG,
            "output": _BIG,
            "cacheRead": _BIG,
            "cacheWrite": _BIG,
            "totalTokens": _BIG,
            "cost": {"total": "DECIMAL(38, 12)"},
        },
    },
}


class PiAgentSession(JsonImporter):
    """Entries of sessions."""

    name = "pi-agent"
    title = "Pi coding agent sessions (JSONL)"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is an entry of a session."""
        kind, message = obj.get("type"), obj.get("message")
        if kind == _MESSAGE:
            return isinstance(message, Mapping) and "role" in message and "timestamp" in obj
        return kind in _NOTES and {"id", "timestamp"} <= obj.keys() and bool({"parentId", "cwd"} & obj.keys())

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        kind, timed = node.get("type"), node.get("timestamp").notnull()
        message = (kind == _MESSAGE) & node.get("message", "role").notnull()
        return (message & timed) | (kind.isin(_NOTES) & node.get("id").notnull() & timed)

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``."""
        header, whole = node.get("type") == "session", ibis.window(group_by=node.file)
        return {
            "pi_session": ibis.cases((header, node.get("id"))).max().over(whole),
            "pi_forked": ibis.cases((header, node.get("parentSession"))).max().over(whole).notnull(),
            "pi_project": ibis.cases((header, node.get("cwd"))).max().over(whole),
        }

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope
        message, usage = node.get("message"), node.get("message", "usage")
        counts = [usage[name] for name in ("input", "output", "cacheRead", "cacheWrite")]
        negative = is_negative(*counts)
        # Zeros stand for an answer that was cut off or never came.
        empty = sum((zero(count) for count in counts[1:]), zero(counts[0])) == 0
        prompt, output, cached, written = [ibis.cases((empty, ibis.null("int64")), else_=c) for c in counts]
        uncached, reads, problem = split_input(
            prompt, cached=cached, written=written, output=output, total=usage["totalTokens"], additive=True
        )
        no_answer = ~is_true(message["role"] == "assistant")
        failed = empty & is_true(message["stopReason"] == "error")
        return {
            "fate": ibis.cases((no_answer | failed, IGNORED), (negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (no_answer, "session entry without a model's answer"),
                (failed, "failed call without usage"),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            "problem": problem,
            **time_columns(node.get("timestamp")),
            "provider": message["provider"],
            "model": message["model"],
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": uncached,
            "cache_read": reads,
            "cache_write_5m": written,
            "output": output,
            "project": node.step("pi_project"),
            "session": node.step("pi_session"),
            "stop_reason": message["stopReason"],
            "recorded_cost_usd": usage["cost"]["total"].cast("decimal(38, 12)").nullif(0),
            # Ids are short and alike in other sessions; a copy of an entry has its time, too.
            "dedup_group": node.get("id").nullif("") + "|" + node.get("timestamp"),
            "dedup_size": 2 * (zero(prompt) + zero(cached) + zero(written) + zero(output))
            + ibis.cases((node.step("pi_forked"), 0), else_=1),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (PiAgentSession(),)
