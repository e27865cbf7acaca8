"""WEKA: published traces of a coding agent, with prefix hashes.

Where it comes from: ``traces/*.json`` of kv-cache-tester, made from captured Claude Code sessions.

One row is: a request of a session, or of a sub-agent inside it; the sub-agent's own entry only holds its requests.

Token fields: ``in`` is the whole prompt (reuse is told by ``hash_ids``, blocks of ``block_size`` tokens, not by a count),
``out`` the answer, thinking included; 0 where a stream gave nothing.

Time zone: none; ``t`` is seconds since the start of the session, in a sub-agent since its own start. Each session has a
clock of its own.

What it cannot tell: dates, users, cached tokens, which requests of different sessions ran at one time.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative
from workloads.expressions import NO_TEXT, is_true
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema

_CONTAINER: Final = "subagent"
_STREAMED: Final = "s"

_REQUEST: Final[Schema] = {
    "t": "DOUBLE",
    "type": "VARCHAR",
    "model": "VARCHAR",
    "in": "BIGINT",
    "out": "BIGINT",
    "stop": "VARCHAR",
    "api_time": "DOUBLE",
    "ttft": "DOUBLE",
    "hash_ids": ["BIGINT"],
}
_CORE: Final[Schema] = {
    "id": "VARCHAR",
    "block_size": "BIGINT",
    "requests": [{**_REQUEST, "subagent_type": "VARCHAR", "requests": [_REQUEST]}],
}


class WekaTrace(JsonImporter):
    """The trace files."""

    name = "weka"
    title = "WEKA coding-agent traces (JSON documents)"
    core = _CORE
    chains = ((("requests",),), (("requests",), ("requests",)))

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a session's trace."""
        return {"id", "models", "block_size", "requests"} <= obj.keys()

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return node.get("block_size").notnull() & node.get("requests").notnull()

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope
        session = holder = node.parent
        assert session is not None and holder is not None  # noqa: S101, PT018  (a request lies in a session)
        nested = session.parent is not None
        session = session.parent or session
        prompt, output = node.get("in"), node.get("out")
        container = is_true(node.get("type") == _CONTAINER)
        # Agents of agents were never seen: their requests would go unread, so that is said.
        deeper = container if nested else ibis.literal(value=False)
        missing = ~container & (prompt.isnull() | output.isnull())
        negative = is_negative(prompt, output)
        bad = deeper | missing | negative
        return {
            "fate": ibis.cases((bad, SKIPPED), (container, IGNORED), else_=RECORD),
            "reason": ibis.cases(
                (deeper, "an agent inside a sub-agent"),
                (missing, "a length is missing or no whole number"),
                (negative, NEGATIVE_COUNT),
                (container, "sub-agent that holds requests of its own"),
                else_=NO_TEXT,
            ),
            "elapsed_seconds": holder.get("t") + node.get("t") if nested else node.get("t"),
            "model": node.get("model"),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": prompt,
            "output": output,
            "application": holder.get("subagent_type") if nested else NO_TEXT,
            "session": session.get("id"),
            "block_hashes": node.get("hash_ids"),
            "block_tokens": session.get("block_size"),
            "cache_scope": session.get("id"),
            "stop_reason": node.get("stop").nullif(""),
            "ttft_seconds": node.get("ttft"),
            "duration_seconds": node.get("api_time"),
            "streaming": node.get("type") == _STREAMED,
        }


IMPORTERS: Final[tuple[Importer, ...]] = (WekaTrace(),)
