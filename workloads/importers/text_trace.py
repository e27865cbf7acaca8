"""Texts of prompts and answers: traces of agents that keep what was said, and count no tokens.

Where it comes from: the agent traces of LMCache (``*.jsonl``), and logs written in their manner: ``timestamp``,
``session_id``, ``input`` and ``output`` as plain texts.

One row is: a request.

Token fields: none. Tokens are estimated, four characters each, and every row says so. The text of the prompt is only used
for names of its blocks, which tell what a cache could reuse; neither text is kept.

Time zone: UTC; ``timestamp`` is microseconds since 1970 (seconds and milliseconds are understood).

What it cannot tell: model, true token counts, cached tokens.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.expressions import NO_TEXT
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import RECORD, SKIPPED
from workloads.prefix_texts import block_tokens, hash_steps, told_by_steps
from workloads.raw import Envelope, Node, time_columns
from workloads.schema import Schema

Expr = Any

TOKENS_ESTIMATED: Final = "tokens_estimated"
"""Problem of a row whose tokens were estimated from the length of its texts."""

_CHARACTERS_PER_TOKEN: Final = 4
_KEYS: Final = frozenset({"timestamp", "input", "output", "session_id"})
_CORE: Final[Schema] = dict.fromkeys(sorted(_KEYS), "VARCHAR")


class TextTrace(JsonImporter):
    """The trace files."""

    name = "text-trace"
    title = "Trace of prompt and answer texts (JSONL)"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a request with its texts, and nothing that counts tokens."""
        texts = obj.get("input"), obj.get("output")
        return not obj.keys() ^ _KEYS and all(
            isinstance(text, str) and not text.strip().isdigit() for text in texts
        )

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return node.get("input").notnull() & node.get("output").notnull() & node.get("session_id").notnull()

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``."""
        return hash_steps(node.get("input"), node.step, node.has_step)

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope
        text, answer = node.get("input"), node.get("output")
        times = time_columns(node.get("timestamp"))
        undated = times["started_at"].isnull()
        prompt = _tokens(text)
        return {
            "fate": ibis.cases((undated, SKIPPED), else_=RECORD),
            "reason": ibis.cases((undated, "the time cannot be read"), else_=NO_TEXT),
            "problem": ibis.literal(TOKENS_ESTIMATED),
            **times,
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": prompt,
            "output": _tokens(answer),
            "session": node.get("session_id").nullif(""),
            "block_hashes": told_by_steps(node.step),
            "block_tokens": block_tokens(text, prompt),
        }


def _tokens(text: Expr) -> Expr:
    return ((text.length() + _CHARACTERS_PER_TOKEN - 1) // _CHARACTERS_PER_TOKEN).cast("int64")


IMPORTERS: Final[tuple[Importer, ...]] = (TextTrace(),)
