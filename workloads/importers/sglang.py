"""SGLang: the request metrics that the server writes to files.

Where it comes from: ``sglang-request-metrics-YYYYMMDD_HH.log`` of a server with ``--export-metrics-to-file``; lines of
JSON. Health checks are not among them.

One row is: a request.

Token fields: ``prompt_tokens`` INCLUDES ``cached_tokens``; ``completion_tokens`` includes reasoning.

Time zone: the lines carry a time only where the version writes ``request_received_ts`` (epoch seconds). The hour in a file's name is the server's local time and is not taken for an instant.

What it cannot tell: the model (give it with ``--model``), who called.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema

_BIG: Final = "BIGINT"
_CORE: Final[Schema] = {
    "request_parameters": "VARCHAR",
    "id": "VARCHAR",
    "finish_reason": {"type": "VARCHAR"},
    "prompt_tokens": _BIG,
    "completion_tokens": _BIG,
    "cached_tokens": _BIG,
    "reasoning_tokens": _BIG,
    "e2e_latency": "DOUBLE",
    "request_received_ts": "DOUBLE",
    "prefill_finished_ts": "DOUBLE",
}


class SGLangMetrics(JsonImporter):
    """Lines of the exported files."""

    name = "sglang"
    title = "SGLang request metrics (JSON lines)"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a request's metrics: its parameters are a text of JSON."""
        return isinstance(obj.get("request_parameters"), str) and "prompt_tokens" in obj

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return node.get("request_parameters").notnull() & node.get("prompt_tokens").notnull()

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        prompt, output, cached = (
            node.get("prompt_tokens"),
            node.get("completion_tokens"),
            node.get("cached_tokens"),
        )
        uncached, reads, problem = split_input(
            prompt, cached=cached, written=ibis.null("int64"), output=output, total=None, additive=False
        )
        negative = is_negative(prompt, output, cached)
        asked = node.get("request_parameters").try_cast("json")
        received = node.get("request_received_ts")
        first = node.get("prefill_finished_ts") - received
        return {
            "fate": ibis.cases((negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases((negative, NEGATIVE_COUNT), else_=NO_TEXT),
            "problem": problem,
            **envelope.labels(),
            **envelope.started_at(received.cast("string")),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": uncached,
            "cache_read": reads,
            "output": output,
            "reasoning": node.get("reasoning_tokens"),
            "stop_reason": node.get("finish_reason", "type"),
            "ttft_seconds": ibis.cases((first >= 0, first)),
            "duration_seconds": node.get("e2e_latency"),
            "streaming": asked["stream"].bool,
            "dedup_group": node.get("id").nullif(""),
            "dedup_size": zero(prompt) + zero(output),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (SGLangMetrics(),)
