"""Codex CLI: rollout files, a folder of JSONL by date.

Where it comes from: ``~/.codex/sessions/YYYY/MM/DD/rollout-*.jsonl`` and ``archived_sessions``.

One row is: a line of a session. ``token_count`` events carry a running total of the session and are written again with
new times whenever something is refreshed: a call is a CHANGE of the running total, and an unchanged total is no call. A
total that falls (compaction) starts anew. Forked sessions begin with their parent's history, all stamped with the
second of the fork: those events set the total and are no usage.

Token fields: ``input_tokens`` INCLUDES ``cached_input_tokens`` (and cache writes); ``output_tokens`` includes reasoning.

Time zone: UTC.

What it cannot tell: the service tier; what a subscription costs (the money is what the API would have charged).
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, is_true
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.running import before, has_told, telling, told
from workloads.schema import Schema

_COUNTS: Final = (
    "input_tokens",
    "cached_input_tokens",
    "cache_write_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
)
_TOTAL: Final = "total"
_USAGE: Final[Schema] = dict.fromkeys((*_COUNTS, "total_tokens"), "BIGINT")
_TYPES: Final = ("session_meta", "turn_context", "event_msg", "response_item", "compacted", "world_state")

_CORE: Final[Schema] = {
    "timestamp": "VARCHAR",
    "type": "VARCHAR",
    "payload": {
        "type": "VARCHAR",
        "id": "VARCHAR",
        "model": "VARCHAR",
        "cwd": "VARCHAR",
        "forked_from_id": "VARCHAR",
        "thread_source": "VARCHAR",
        "info": {"model": "VARCHAR", "total_token_usage": _USAGE, "last_token_usage": _USAGE},
    },
}


class CodexRollout(JsonImporter):
    """Rollout lines."""

    name = "codex"
    title = "Codex CLI rollouts (JSONL)"
    core = _CORE
    ordered = True

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a line of a rollout."""
        return obj.get("type") in _TYPES and isinstance(obj.get("payload"), Mapping) and "timestamp" in obj

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return node.get("type").isin(_TYPES) & node.get("payload").notnull()

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``."""
        payload = node.get("payload")
        info = payload["info"]
        event = is_true(payload["type"] == "token_count")
        event &= info["total_token_usage"].notnull() | info["last_token_usage"].notnull()
        is_meta = is_true(node.get("type") == "session_meta")
        second = node.get("timestamp").substr(0, len("2026-01-01T00:00:00"))
        forked = ibis.coalesce(payload["forked_from_id"], payload["thread_source"])
        named = ibis.coalesce(payload["model"], info["model"])
        if not node.has_step("codex_totals"):
            return {
                "codex_event": event,
                "codex_turn": telling(node, named.notnull(), {"model": named}),
                "codex_totals": telling(node, event, {_TOTAL: info["total_token_usage"]}),
                "codex_metas": telling(node, is_meta, {"id": payload["id"]}),
            }
        if not node.has_step("codex_before"):
            return {
                "codex_before": before(node, "codex_totals"),
                "codex_meta_before": before(node, "codex_metas"),
            }
        own = {"session": payload["id"], "cwd": payload["cwd"], "is_child": forked.notnull()}
        return {
            # The first lines of a file are about itself: a history that follows has lines of its parent.
            "codex_own": telling(node, is_meta & ~has_told(node, "codex_meta_before"), own),
            "codex_start": telling(node, event & ~has_told(node, "codex_before"), {"second": second}),
        }

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        info = node.get("payload", "info")
        total, last = info["total_token_usage"], info["last_token_usage"]
        event, session = node.step("codex_event"), told(node, "codex_own", "session")
        alike = is_true(node.get("timestamp").startswith(told(node, "codex_start", "second")))
        before_it = told(node, "codex_before", _TOTAL)
        counts = {name: _change(name, total, last, before_it) for name in _COUNTS}
        changed = zero(counts["input_tokens"]) + zero(counts["output_tokens"]) != 0
        copies = ibis.cases((event & alike, 1)).sum().over(ibis.window(group_by=node.file))
        replay = is_true(told(node, "codex_own", "is_child") & event & alike & (copies > 1))
        uncached, reads, problem = split_input(
            counts["input_tokens"],
            cached=counts["cached_input_tokens"],
            written=counts["cache_write_input_tokens"],
            output=counts["output_tokens"],
            total=None,
            additive=False,
        )
        no_call = ~event | ~is_true(changed) | replay
        negative = is_negative(*counts.values())
        return {
            "fate": ibis.cases((no_call, IGNORED), (negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (~event, "session line without usage"),
                (replay, "history of the session that this one was forked from"),
                (no_call, "running total that did not change"),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            "problem": problem,
            **envelope.started_at(node.get("timestamp")),
            "provider": ibis.literal("openai"),
            # That of the turn: the last one named so far in the file.
            "model": told(node, "codex_turn", "model"),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": uncached,
            "cache_read": reads,
            "cache_write_30m": counts["cache_write_input_tokens"],
            "output": counts["output_tokens"],
            "reasoning": counts["reasoning_output_tokens"],
            "project": told(node, "codex_own", "cwd"),
            "session": session,
            "dedup_group": session,
            # A session that is filed twice (live and archived) has the same totals at the same times.
            "dedup_key": node.get("timestamp") + "|" + total["total_tokens"].cast("string"),
            "dedup_size": zero(counts["input_tokens"]) + zero(counts["output_tokens"]),
        }


def _change(name: str, total: Any, last: Any, earlier: Any) -> Any:
    """Return how much of a count this event adds: the growth of the running total since the event before."""
    part, whole = earlier[name], earlier["total_tokens"]
    # It began anew, or the one before is missing or damaged, which does not make all of this one new.
    alone = is_true(total["total_tokens"] < whole) | (part.isnull() & whole.notnull() & last[name].notnull())
    growth = ibis.cases((alone, ibis.coalesce(last[name], total[name])), else_=total[name] - zero(part))
    return ibis.cases((total.notnull(), growth), else_=last[name])


IMPORTERS: Final[tuple[Importer, ...]] = (CodexRollout(),)
