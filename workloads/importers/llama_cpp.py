"""llama.cpp: answers of the server's own completion endpoint.

Where it comes from: bodies of ``/completion`` calls as an application or proxy logged them, bare or inside any envelope; of a
stream, its last part. Answers of the compatible endpoints have OpenAI's shape.

One row is: a call.

Token fields: ``tokens_evaluated`` is the whole prompt, ``tokens_predicted`` the output. What of the prompt was still in the
server's cache is ``timings.cache_n``; older servers do not write it, and there it is the prompt without
``timings.prompt_n``, which was worked on. ``tokens_cached`` counts what lies in the cache afterwards, and is no cache read.

Time zone: answers carry no time, so the envelope's counts.

What it cannot tell: who called; the model is the name under which the server offers it.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from pricing.units import MILLISECONDS_PER_SECOND
from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input
from workloads.expressions import NO_TEXT, is_true
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema

_BIG: Final = "BIGINT"
_CORE: Final[Schema] = {
    "model": "VARCHAR",
    "stop": "BOOLEAN",
    "stop_type": "VARCHAR",
    "stopped_limit": "BOOLEAN",
    "tokens_evaluated": _BIG,
    "tokens_predicted": _BIG,
    "timings": {"cache_n": _BIG, "prompt_n": _BIG, "prompt_ms": "DOUBLE", "predicted_ms": "DOUBLE"},
}
_LIMIT: Final = "limit"


class LlamaCppCompletion(JsonImporter):
    """Answers of the completion endpoint."""

    name = "llama-cpp"
    title = "llama.cpp server: answers of /completion"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is an answer, or a part of a streamed one."""
        return {"tokens_evaluated", "tokens_predicted"} <= obj.keys()

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return node.get("tokens_evaluated").notnull() | node.get("tokens_predicted").notnull()

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        prompt, output, timings = (
            node.get("tokens_evaluated"),
            node.get("tokens_predicted"),
            node.get("timings"),
        )
        rest = prompt - timings["prompt_n"]
        cached = ibis.coalesce(timings["cache_n"], ibis.cases((rest >= 0, rest)))
        uncached, reads, problem = split_input(
            prompt, cached=cached, written=ibis.null("int64"), output=output, total=None, additive=False
        )
        negative, part = is_negative(prompt, output, cached), is_true(~node.get("stop"))
        limit = is_true(node.get("stopped_limit")) | is_true(node.get("stop_type") == _LIMIT)
        first = timings["prompt_ms"] / MILLISECONDS_PER_SECOND
        return {
            "fate": ibis.cases((part, IGNORED), (negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (part, "part of a stream before its end"), (negative, NEGATIVE_COUNT), else_=NO_TEXT
            ),
            "problem": problem,
            **envelope.labels(),
            **envelope.started_at(NO_TEXT),
            "model": ibis.coalesce(node.get("model").nullif(""), envelope.get("model")),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": uncached,
            "cache_read": reads,
            "output": output,
            "stop_reason": ibis.cases((limit, "length"), else_=node.get("stop_type").nullif("none")),
            "ttft_seconds": ibis.coalesce(envelope.get("ttft_seconds", "float64"), first),
            "duration_seconds": ibis.coalesce(
                envelope.get("duration_seconds", "float64"),
                first + timings["predicted_ms"] / MILLISECONDS_PER_SECOND,
            ),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (LlamaCppCompletion(),)
