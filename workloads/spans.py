"""Spans of traces: what their attributes are called, which of them are model calls, and their ledger columns.

Attribute names have changed with every version of the GenAI conventions, and instrumentations have names of their own.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, NO_WHOLE_COUNT, is_negative, split_input, zero
from workloads.count_texts import ODD, odd_cell
from workloads.expressions import NO_TEXT, at_most, is_true, text_of, unless_among
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.numbers import parse_count, parse_decimal
from workloads.times import seconds_between

Expr = Any

FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "operation": ("gen_ai.operation.name",),
    "kind": ("openinference.span.kind",),
    "wrapper": ("traceloop.span.kind",),
    "ai_sdk": ("ai.operationId",),
    "request_type": ("llm.request.type",),
    "provider": ("gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"),
    "model": (
        "gen_ai.response.model", "llm.response.model_name", "gen_ai.request.model", "llm.model_name",
        "llm.request.model_name", "embedding.model_name",
    ),
    "response_id": ("gen_ai.response.id",),
    "prompt": (
        "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt", "llm.usage.prompt_tokens",
    ),
    "output": (
        "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
        "llm.usage.completion_tokens",
    ),
    "total": ("gen_ai.usage.total_tokens", "llm.token_count.total", "llm.usage.total_tokens"),
    "cached": (
        "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.cache_read_tokens", "gen_ai.usage.details.cache_read_input_tokens",
        "gen_ai.usage.details.cache_read_tokens", "llm.token_count.prompt_details.cache_read",
        "llm.token_count.prompt_details.cache_input", "ai.usage.cachedInputTokens",
    ),
    "written": (
        "gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens",
        "gen_ai.usage.cache_write_tokens", "gen_ai.usage.details.cache_creation_input_tokens",
        "gen_ai.usage.details.cache_write_tokens", "llm.token_count.prompt_details.cache_write",
    ),
    "reasoning": (
        "gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens",
        "gen_ai.usage.details.reasoning_tokens", "llm.token_count.completion_details.reasoning",
        "ai.usage.reasoningTokens",
    ),
    "audio": ("llm.token_count.prompt_details.audio",),
    "audio_output": ("llm.token_count.completion_details.audio",),
    "cost": ("gen_ai.usage.cost", "llm.cost.total"),
    "service_tier": (
        "openai.response.service_tier", "gen_ai.openai.response.service_tier", "openai.request.service_tier",
        "gen_ai.openai.request.service_tier",
    ),
    "finish": ("gen_ai.response.finish_reasons", "llm.finish_reason"),
    "first_chunk": ("gen_ai.response.time_to_first_chunk",),
    "stream": ("gen_ai.request.stream", "llm.is_streaming"),
    "error": ("error.type",),
    "session": ("gen_ai.conversation.id", "session.id"),
    "user": ("user.id", "enduser.id"),
    "agent": ("gen_ai.agent.name",),
}  # fmt: skip
"""Field -> names of attributes that tell it; the first that a span has wins."""

RESOURCE_FIELDS: Final[Mapping[str, tuple[str, ...]]] = {
    "service": ("service.name",),
    "environment": ("deployment.environment.name", "deployment.environment"),
    "project": ("openinference.project.name",),
}
"""The same for the attributes of what the spans come from."""

_COUNTS: Final = ("prompt", "output", "total", "cached", "written", "reasoning", "audio", "audio_output")

NAMES: Final = tuple(name for names in FIELDS.values() for name in names)
RESOURCE_NAMES: Final = tuple(name for names in RESOURCE_FIELDS.values() for name in names)

_LEAVES: Final = ("chat", "text_completion", "generate_content", "embeddings")
_AROUND: Final = "agent|workflow|tool|chain|task"
"""Words in the names of operations that hold model calls."""
_CALL_KINDS: Final = ("LLM", "EMBEDDING")
_STANDARD: Final = ("auto", "default", "standard", "on_demand")
_FAILED: Final = r'(?i)(^"?(STATUS_CODE_)?ERROR"?$|code"?\s*:\s*(2\b|"(STATUS_CODE_)?ERROR"))'
_PAIR: Final = r"^\[\s*(\d+)\s*,\s*(\d+)\s*\]$"


def fields_of(text: Callable[[str], Expr], fields: Mapping[str, tuple[str, ...]] = FIELDS) -> dict[str, Expr]:
    """Return every field as text, of attributes that are reached by name."""
    return {field: ibis.coalesce(*(text(name) for name in names)) for field, names in fields.items()}


def counts_of(field: Callable[[str], Expr]) -> dict[str, Expr]:
    """Return the counts among the fields as whole numbers, however the exporter typed them."""
    return {f"{name}_count": parse_count(field(name), None) for name in _COUNTS}


def instant_text(text: Expr) -> Expr:
    """Return a time as text to be parsed: as it is, or a pair of seconds and nanoseconds as one number."""
    nanoseconds = text.re_extract(_PAIR, 1) + text.re_extract(_PAIR, 2).lpad(9, "0")
    return ibis.cases((text.re_search(_PAIR), nanoseconds), else_=text.nullif(""))


def has_failed(status: Expr) -> Expr:
    """Return whether a span's status, a word or an object as JSON text, is that of a failure."""
    return is_true(status.re_search(_FAILED))


def span_ledger(field: Callable[[str], Expr], span: Mapping[str, Expr]) -> dict[str, Expr]:
    """Return the ledger columns of a span, without those of its resource.

    Args:
        field: Gives a field of ``FIELDS`` as text, and what ``counts_of`` made of them.
        span: ``trace_id`` and ``span_id`` as text, ``started_at`` and ``ended_at`` as instants, ``failed``.
    """
    count = {name: field(f"{name}_count") for name in _COUNTS}
    prompt, output = count["prompt"], count["output"]
    unreadable = (field("prompt").notnull() & prompt.isnull()) | (field("output").notnull() & output.isnull())
    odd = ibis.coalesce(*(odd_cell(field(name), count[name]) for name in _COUNTS))
    used: Expr = prompt.notnull() | output.notnull() | count["total"].notnull()
    negative = is_negative(*count.values())
    around = _is_around(field)
    call = ~around & (used | unreadable | _is_call(field))
    failed = ~used & ~unreadable & (span["failed"] | field("error").notnull())
    answer = field("response_id")
    counts = text_of(prompt) + "|" + text_of(output)
    return {
        "fate": ibis.cases((~call | failed, IGNORED), (negative | unreadable, SKIPPED), else_=RECORD),
        "reason": ibis.cases(
            (around & used, "span that repeats what the spans below it used"),
            (~call, "span that is no model call"),
            (failed, "failed call without usage"),
            (negative, NEGATIVE_COUNT),
            (unreadable, NO_WHOLE_COUNT),
            else_=NO_TEXT,
        ),
        **_meters(count),
        ODD: odd,
        "started_at": span["started_at"],
        "provider": field("provider"),
        "model": field("model"),
        "service_tier": unless_among(field("service_tier"), _STANDARD),
        "requests": ibis.literal(1, type="int64"),
        "application": field("agent"),
        "session": ibis.coalesce(field("session"), span["trace_id"]),
        "user": field("user"),
        "stop_reason": field("finish").re_extract(r'([^"\[\]{}:,]+)"?\s*[}\]]*$', 1).nullif(""),
        "status": ibis.coalesce(field("error"), ibis.cases((span["failed"], "error"))),
        "streaming": field("stream").lower() == "true",
        "ttft_seconds": field("first_chunk").try_cast("float64"),
        "duration_seconds": seconds_between(span["started_at"], span["ended_at"]),
        "recorded_cost_usd": parse_decimal(field("cost"), None).nullif(0),
        # Two instrumentations may each write a span of one call: the answer's id and counts are the same.
        "dedup_group": ibis.coalesce(answer, span["trace_id"] + "|" + span["span_id"], span["span_id"]),
        "dedup_key": ibis.cases((answer.notnull(), text_of(span["trace_id"]) + "|" + counts)),
        "dedup_size": zero(prompt) + zero(output),
    }


def _is_around(field: Callable[[str], Expr]) -> Expr:
    """Return whether a span is one around model calls: an agent's, a workflow's, a tool's."""
    kind = field("kind").upper()
    ai_sdk = field("ai_sdk")
    return (
        is_true(field("operation").lower().re_search(_AROUND))
        | field("wrapper").notnull()
        | is_true(~kind.isin(_CALL_KINDS))
        | is_true(~ai_sdk.re_search(r"\.do(Generate|Stream|Embed)$"))
    )


def _is_call(field: Callable[[str], Expr]) -> Expr:
    """Return whether a span says that it is a model call, whatever it used."""
    return (
        is_true(field("operation").lower().isin(_LEAVES))
        | is_true(field("kind").upper() == "LLM")
        | field("request_type").notnull()
    )


def _meters(count: Mapping[str, Expr]) -> dict[str, Expr]:
    output, written, audio_out = count["output"], count["written"], count["audio_output"]
    uncached, reads, problem = split_input(
        count["prompt"],
        cached=count["cached"],
        written=written,
        output=output,
        total=count["total"],
        additive=False,
    )
    audio, audio_out = at_most(count["audio"], uncached), at_most(audio_out, output)
    return {
        "problem": problem,
        "input_uncached": uncached - zero(audio),
        "cache_read": reads,
        "cache_write_5m": written,
        "audio_input": audio.nullif(0),
        "output": output - zero(audio_out),
        "audio_output": audio_out.nullif(0),
        "reasoning": count["reasoning"],
    }
