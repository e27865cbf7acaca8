"""Gemini CLI: the statistics that a run without a terminal prints at its end.

Where it comes from: what ``gemini -p ... --output-format json`` wrote, a document each or a line each, bare or inside any
envelope.

One row is: a model of a run, all its calls together, so nothing is known of a single one. Calls that failed are left out of
the requests.

Token fields: ``prompt`` INCLUDES ``cached``; ``tool`` is further input; ``candidates`` EXCLUDE ``thoughts``.

Time zone: the statistics carry no time, so the envelope's counts.

What it cannot tell: sizes of single requests; when they were; what a subscription or a free quota costs. The chats of the
same runs count the same tokens: read one of the two.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import MapOf, Schema

_COUNTS: Final = ("prompt", "candidates", "cached", "thoughts", "tool", "total")
_MODEL: Final[Schema] = {
    "api": {"totalRequests": "BIGINT", "totalErrors": "BIGINT"},
    "tokens": dict.fromkeys(_COUNTS, "BIGINT"),
}
_CORE: Final[Schema] = {"session_id": "VARCHAR", "stats": {"models": MapOf(_MODEL)}}


class GeminiCliStats(JsonImporter):
    """Statistics of runs."""

    name = "gemini-cli-stats"
    title = "Gemini CLI statistics of runs (--output-format json)"
    core = _CORE
    chains = ((("stats", "models"),),)

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is what a run printed: with statistics by model."""
        stats = obj.get("stats")
        models = stats.get("models") if isinstance(stats, Mapping) else None
        return isinstance(models, Mapping) and any(
            isinstance(one, Mapping) and isinstance(one.get("tokens"), Mapping) for one in models.values()
        )

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return node.get("stats", "models").notnull()

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        run = node.parent or node
        api, tokens = node.get("f2", "api"), node.get("f2", "tokens")
        prompt, cached = tokens["prompt"] + zero(tokens["tool"]), tokens["cached"]
        output = ibis.coalesce(tokens["candidates"] + zero(tokens["thoughts"]), tokens["thoughts"])
        uncached, reads, problem = split_input(
            prompt,
            cached=cached,
            written=ibis.null("int64"),
            output=output,
            total=tokens["total"],
            additive=False,
        )
        negative = is_negative(*(tokens[name] for name in _COUNTS))
        return {
            "fate": ibis.cases((negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases((negative, NEGATIVE_COUNT), else_=NO_TEXT),
            "problem": problem,
            **envelope.labels(),
            **envelope.started_at(NO_TEXT),
            "bucket_seconds": ibis.literal(0, type="int64"),
            "provider": ibis.literal("google"),
            "model": node.get("f1"),
            "requests": api["totalRequests"] - zero(api["totalErrors"]),
            "input_uncached": uncached,
            "cache_read": reads,
            "output": output,
            "reasoning": tokens["thoughts"],
            "session": ibis.coalesce(run.get("session_id"), envelope.get("session")),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (GeminiCliStats(),)
