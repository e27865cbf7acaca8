"""Gemini CLI: recorded chats, as documents or as JSONL, and the statistics of one run.

Where it comes from: ``~/.gemini/tmp/<project>/chats/session-*.json`` and ``.jsonl``, helper agents' files beside them.

One row is: a message of a chat. In JSONL a message is written again whenever it changes: the last line of an id counts.
``$set`` lines may repeat whole lists of messages, ``$rewindTo`` takes messages out of the chat that were billed all the
same. Users' messages, headers and notes are no requests.

Token fields: ``input`` INCLUDES ``cached`` (the row's own ``total`` decides); ``tool`` is further input; ``output`` EXCLUDES
``thoughts``.

Time zone: UTC.

What it cannot tell: calls that failed; what a subscription or a free quota costs (the money is what the API would have
charged); storage of explicit caches.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, is_true
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node, time_columns
from workloads.running import telling, told
from workloads.schema import Schema

_ANSWER: Final = "gemini"
_NOTES: Final = ("user", "info", "error", "warning")
_COUNTED: Final = 1 << 50
_PLAIN: Final = 1 << 48
"""Weights that let the lines of one message compete: counts beat none, plain lines beat copies, later beats earlier."""

_MESSAGE: Final[Schema] = {
    "id": "VARCHAR",
    "timestamp": "VARCHAR",
    "type": "VARCHAR",
    "model": "VARCHAR",
    "tokens": dict.fromkeys(("input", "output", "cached", "thoughts", "tool", "total"), "BIGINT"),
}
_CORE: Final[Schema] = {
    **_MESSAGE,
    "content": "JSON",
    "sessionId": "VARCHAR",
    "projectHash": "VARCHAR",
    "messages": [_MESSAGE],
    "$set": {"sessionId": "VARCHAR", "messages": [_MESSAGE]},
    "$rewindTo": "VARCHAR",
}


class GeminiCliChat(JsonImporter):
    """Chats: documents, and the lines of JSONL files."""

    name = "gemini-cli"
    title = "Gemini CLI chats (JSON documents, JSONL)"
    core = _CORE
    chains = ((), (("messages",),), (("$set", "messages"),))
    ordered = True

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a chat, a message of one, or a change to one."""
        if "$rewindTo" in obj or isinstance(obj.get("$set"), Mapping):
            return True
        if {"sessionId", "projectHash"} <= obj.keys():
            return True
        kind = obj.get("type")
        return {"id", "timestamp", "content"} <= obj.keys() and (
            kind in _NOTES or (kind == _ANSWER and "model" in obj)
        )

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        kind = node.get("type")
        change = node.get("$rewindTo").notnull() | node.get("$set").notnull()
        header = node.get("sessionId").notnull() & node.get("projectHash").notnull()
        marked = node.get("id").notnull() & node.get("timestamp").notnull() & node.get("content").notnull()
        return change | header | (marked & kind.isin((_ANSWER, *_NOTES)))

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``."""
        chat = node.parent or node
        session = ibis.coalesce(chat.get("sessionId"), chat.get("$set", "sessionId"))
        project = chat.get("projectHash")
        return {
            "gemini_session": telling(chat, session.notnull(), {"id": session}),
            "gemini_project": telling(chat, project.notnull(), {"id": project}),
        }

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope
        tokens = node.get("tokens")
        prompt, cached = tokens["input"] + zero(tokens["tool"]), tokens["cached"]
        output = ibis.coalesce(tokens["output"] + zero(tokens["thoughts"]), tokens["thoughts"])
        uncached, reads, problem = split_input(
            prompt,
            cached=cached,
            written=ibis.null("int64"),
            output=output,
            total=tokens["total"],
            additive=False,
        )
        answer = is_true(node.get("type") == _ANSWER)
        counted = prompt.notnull() | output.notnull()
        negative = is_negative(*(tokens[name] for name in ("input", "output", "cached", "thoughts", "tool")))
        weight = ibis.cases((counted, _COUNTED), else_=0) + (0 if node.parent else _PLAIN)
        return {
            "fate": ibis.cases((~answer, IGNORED), (negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (~answer, "chat line without a model's answer"), (negative, NEGATIVE_COUNT), else_=NO_TEXT
            ),
            "problem": problem,
            **time_columns(node.get("timestamp")),
            "provider": ibis.literal("google"),
            "model": node.get("model"),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": uncached,
            "cache_read": reads,
            "output": output,
            "reasoning": tokens["thoughts"],
            "project": told(node, "gemini_project", "id"),
            "session": told(node, "gemini_session", "id"),
            "dedup_group": node.get("id").nullif(""),
            "dedup_size": weight + node.row,
        }


IMPORTERS: Final[tuple[Importer, ...]] = (GeminiCliChat(),)
