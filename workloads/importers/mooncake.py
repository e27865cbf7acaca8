"""Mooncake: the published request traces with prefix hashes, and traces written in their manner.

Where it comes from: ``*_trace.jsonl`` of the Mooncake papers; benchmark tools write the same lines with a
``session_id``.

One row is: a request.

Token fields: ``input_length`` is the whole prompt (reuse is told by ``hash_ids``, blocks of 512 tokens, not by a count),
``output_length`` the answer.

Time zone: none; ``timestamp`` is milliseconds since the start of the trace.

What it cannot tell: model, dates, cached tokens.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from pricing.units import MILLISECONDS_PER_SECOND
from workloads.accounting import NEGATIVE_COUNT, is_negative
from workloads.expressions import NO_TEXT
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import RECORD, SKIPPED
from workloads.prefix_texts import names_of
from workloads.raw import Envelope, Node
from workloads.schema import Schema

_BLOCK_TOKENS: Final = 512
_CORE: Final[Schema] = {
    "timestamp": "VARCHAR",
    "input_length": "BIGINT",
    "output_length": "BIGINT",
    "hash_ids": ["VARCHAR"],
    "session_id": "VARCHAR",
    "chat_id": "VARCHAR",
}


class MooncakeTrace(JsonImporter):
    """The trace files."""

    name = "mooncake"
    title = "Mooncake request trace (JSONL)"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a line of a trace; with a ``chat_id`` it is Bailian's, on another clock."""
        known = {"input_length", "output_length", "hash_ids"} <= obj.keys() and "chat_id" not in obj
        return known and isinstance(obj["hash_ids"], list)

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return node.get("hash_ids").notnull() & node.get("chat_id").isnull()

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope
        prompt, output = node.get("input_length"), node.get("output_length")
        missing = prompt.isnull() | output.isnull()
        negative = is_negative(prompt, output)
        return {
            "fate": ibis.cases((missing | negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (missing, "a length is missing or no whole number"),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            "elapsed_seconds": node.get("timestamp").try_cast("float64") / MILLISECONDS_PER_SECOND,
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": prompt,
            "output": output,
            "session": node.get("session_id").nullif(""),
            "block_hashes": names_of(node.get("hash_ids")),
            "block_tokens": ibis.literal(_BLOCK_TOKENS, type="int64"),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (MooncakeTrace(),)
