"""RAGPulse: the published trace of a question-answering service with retrieval.

Where it comes from: ``data/0_trace.jsonl`` of RAGPulse; the five files beside it say how long each part of a prompt is and
hold no requests.

One row is: a request.

Token fields: ``input_length`` is the whole prompt, ``output_length`` the answer; ``hash_ids`` names the parts of the
prompt (system prompt, passages, history, web search, question) and counts nothing.

Time zone: none; ``timestamp`` is seconds since the start of the trace, as text, and the lines are not sorted by it.

What it cannot tell: model, dates, cached tokens.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative
from workloads.expressions import NO_TEXT
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema

_CORE: Final[Schema] = {
    "timestamp": "VARCHAR",
    "input_length": "BIGINT",
    "output_length": "BIGINT",
    "hash_ids": {"user_input": ["BIGINT"]},
    "session_id": "VARCHAR",
    "token_length": "BIGINT",
}
_PARTS: Final = ("sys_prompt_id", "passage_id", "history_id", "user_input_id", "web_search_id")


class RagPulseTrace(JsonImporter):
    """The trace files."""

    name = "ragpulse"
    title = "RAGPulse request trace (JSONL)"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a line of the trace (its ``hash_ids`` are parts with names) or a part's length."""
        if "token_length" in obj:
            return any(name in obj for name in _PARTS)
        parts = obj.get("hash_ids")
        return isinstance(parts, Mapping) and "input_length" in obj and "user_input" in parts

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return node.get("hash_ids", "user_input").notnull() | node.get("token_length").notnull()

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope
        prompt, output = node.get("input_length"), node.get("output_length")
        part = node.get("token_length").notnull()
        missing = prompt.isnull() | output.isnull()
        negative = is_negative(prompt, output)
        return {
            "fate": ibis.cases((part, IGNORED), (missing | negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (part, "length of a part of prompts"),
                (missing, "a length is missing or no whole number"),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            "elapsed_seconds": node.get("timestamp").try_cast("float64"),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": prompt,
            "output": output,
            "session": node.get("session_id").nullif(""),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (RagPulseTrace(),)
