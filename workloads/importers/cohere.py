"""Cohere: responses of the chat and embed API.

Where it comes from: bodies of calls as an application logged them, bare or inside any envelope: version 2 has its counts
in ``usage``, version 1 and embeddings in ``meta``.

One row is: a response.

Token fields: ``billed_units`` is what is paid for and is what is read here; ``tokens`` counts what the model saw, with
the provider's own template around it, and ``cached_tokens`` is a part of that, so neither belongs to the bill.

Time zone: responses carry no time, so the envelope's counts.

What it cannot tell: the model (it stands in the request); cached tokens, as the bill knows; reranking is billed by
searches and not by tokens, so its cost stays unknown.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, zero
from workloads.expressions import NO_TEXT, at_most, text_of
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema

_UNITS: Final[Schema] = {
    "billed_units": {"input_tokens": "BIGINT", "output_tokens": "BIGINT", "image_tokens": "BIGINT"}
}
_CORE: Final[Schema] = {
    "id": "VARCHAR",
    "response_id": "VARCHAR",
    "generation_id": "VARCHAR",
    "model": "VARCHAR",
    "finish_reason": "VARCHAR",
    "usage": _UNITS,
    "meta": _UNITS,
}


class CohereResponse(JsonImporter):
    """Chat and embed responses."""

    name = "cohere"
    title = "Cohere API responses (billed units)"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a response with billed units."""
        places = (obj.get("usage"), obj.get("meta"))
        return any(
            isinstance(place, Mapping) and isinstance(place.get("billed_units"), Mapping) for place in places
        )

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return node.get("usage", "billed_units").notnull() | node.get("meta", "billed_units").notnull()

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        prompt, output, image = (
            _billed(node, name) for name in ("input_tokens", "output_tokens", "image_tokens")
        )
        image = at_most(image.nullif(0), prompt)
        negative = is_negative(prompt, output, image)
        identity = ibis.coalesce(node.get("id"), node.get("response_id"), node.get("generation_id"))
        return {
            "fate": ibis.cases((negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases((negative, NEGATIVE_COUNT), else_=NO_TEXT),
            **envelope.labels(),
            **envelope.started_at(NO_TEXT),
            "provider": ibis.literal("cohere"),
            "model": ibis.coalesce(node.get("model"), envelope.get("model")),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": prompt - zero(image),
            "image_input": image,
            "output": output,
            "stop_reason": node.get("finish_reason"),
            "dedup_group": identity.nullif(""),
            "dedup_key": text_of(prompt) + "|" + text_of(output),
            "dedup_size": zero(prompt) + zero(output),
        }


def _billed(node: Node, name: str) -> Any:
    return ibis.coalesce(*(node.get(place, "billed_units", name) for place in ("usage", "meta")))


IMPORTERS: Final[tuple[Importer, ...]] = (CohereResponse(),)
