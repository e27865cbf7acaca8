"""Bailian: the published request traces of Alibaba's Qwen service.

Where it comes from: ``qwen_trace*_blksz_16.jsonl`` of qwen-bailian-usagetraces-anon.

One row is: a request.

Token fields: ``input_length`` is the whole prompt (reuse is told by ``hash_ids``, blocks of 16 tokens, not by a count),
``output_length`` the answer.

Time zone: none; ``timestamp`` is SECONDS since the start of the trace, unlike Mooncake's, whose lines look alike.

What it cannot tell: model, dates, cached tokens; a turn names the chat before it and not the first, so sessions are
not put together.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative
from workloads.expressions import NO_TEXT
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import RECORD, SKIPPED
from workloads.prefix_texts import names_of
from workloads.raw import Envelope, Node
from workloads.schema import Schema

_BLOCK_TOKENS: Final = 16
_CORE: Final[Schema] = {
    "timestamp": "VARCHAR",
    "input_length": "BIGINT",
    "output_length": "BIGINT",
    "chat_id": "VARCHAR",
    "type": "VARCHAR",
    "hash_ids": ["VARCHAR"],
}


class BailianTrace(JsonImporter):
    """The trace files."""

    name = "bailian"
    title = "Bailian (Qwen) request trace (JSONL)"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a line of a trace."""
        return {"chat_id", "timestamp", "input_length", "output_length"} <= obj.keys()

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return node.get("chat_id").notnull() & node.get("input_length").notnull()

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
            "elapsed_seconds": node.get("timestamp").try_cast("float64"),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": prompt,
            "output": output,
            "application": node.get("type"),
            "block_hashes": names_of(node.get("hash_ids")),
            "block_tokens": ibis.literal(_BLOCK_TOKENS, type="int64"),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (BailianTrace(),)
