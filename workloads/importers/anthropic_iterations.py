"""Anthropic: Messages objects whose ``usage.iterations`` were billed beside the message's own counts.

Where it comes from: as Messages objects, from calls that compacted their context or asked an advisor on the way.

One row is: a message, with the counts of its own (the sum of its ``message`` iterations; when another model had to step in,
those of the ``fallback_message``); and each ``compaction`` and ``advisor_message``, which the message's counts leave out. Its
other iterations are in them already and are ignored.

Token fields: as Messages objects: ``input_tokens`` EXCLUDES cache reads and writes.

Time zone: Messages objects carry no time, so the envelope's counts.

What it cannot tell: the tier of an iteration (taken as the message's); the model of an advisor that is not named (it is
billed at its own rates, so it has none then).
"""

from typing import Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, zero
from workloads.expressions import NO_TEXT, text_of
from workloads.importers import Columns, Importer
from workloads.importers.anthropic import MESSAGE, USAGE, AnthropicMessage, is_extra
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema

_OWN_COLUMNS: Final = (
    "provider", "service_tier", "region", "started_at", "usage_date", "project", "team", "application", "endpoint",
    "api_key", "environment", "session", "user",
)  # fmt: skip
"""What an iteration has from its message."""
_ITERATION: Final[Schema] = {"type": "VARCHAR", "model": "VARCHAR", **USAGE}
_CORE: Final[Schema] = {**MESSAGE, "usage": {**USAGE, "iterations": [_ITERATION]}}


class AnthropicIterations(AnthropicMessage):
    """Messages objects with iterations that their own counts leave out."""

    name = "anthropic-iterations"
    title = "Anthropic API responses with compaction or advisor iterations"
    core = _CORE
    chains = ((), (("usage", "iterations"),))
    extra = True

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        if node.parent is None:
            return super().ledger(node, envelope)
        message: Columns = super().ledger(node.parent, envelope)
        get = node.get
        kind, split = get("type"), get("cache_creation")
        prompt, output, cached = get("input_tokens"), get("output_tokens"), get("cache_read_input_tokens")
        written_1h = split["ephemeral_1h_input_tokens"]
        written = ibis.coalesce(
            get("cache_creation_input_tokens"), split["ephemeral_5m_input_tokens"] + zero(written_1h)
        )
        counts = (prompt, output, cached, written)
        inside, negative = ~is_extra(node.get()), is_negative(*counts)
        advisor = kind == "advisor_message"
        return {
            "fate": ibis.cases((inside, IGNORED), (negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (inside, "iteration that its message's counts hold"),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            **{name: message[name] for name in _OWN_COLUMNS if name in message},
            "model": ibis.cases((advisor, get("model")), else_=ibis.coalesce(get("model"), message["model"])),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": prompt,
            "cache_read": cached,
            "cache_write_5m": written - zero(written_1h),
            "cache_write_1h": written_1h,
            "output": output,
            "reasoning": get("output_tokens_details", "thinking_tokens"),
            "web_search_calls": get("server_tool_use", "web_search_requests").nullif(0),
            "dedup_group": message["dedup_group"],
            "dedup_key": kind + "|" + text_of(prompt) + "|" + text_of(written) + "|" + text_of(output),
            "dedup_size": sum((zero(count) for count in counts[1:]), zero(prompt)),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (AnthropicIterations(),)
