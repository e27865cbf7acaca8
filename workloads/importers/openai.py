"""OpenAI and compatible servers: response objects of Chat Completions and Responses.

Where it comes from: bodies of calls as an application, proxy or batch job logged them, bare or inside any envelope.
Azure, DeepSeek, Fireworks, Groq, Mistral, Moonshot, OpenRouter, Together, xAI, Gemini's compatible endpoint, vLLM, SGLang
and llama.cpp write the first shape too.

One row is: a response.

Token fields: ``prompt_tokens`` / ``input_tokens`` INCLUDE cached and cache-write tokens, audio and images;
``completion_tokens`` / ``output_tokens`` include reasoning. Dialects differ, and the row's total decides: xAI leaves
reasoning out of the completion, and cached tokens out of the prompt where there are more of them; Gemini's endpoint
tells thinking tokens only inside the total, so what the total holds beyond prompt and completion is reasoning. The
cached count has five names (``prompt_tokens_details.cached_tokens``, the same with ``prompt_token_details`` or
``input_tokens_details``, ``prompt_cache_hit_tokens``, ``num_cached_tokens``, ``cached_tokens``).

Time zone: epochs are UTC. Groq's streams have their usage in the last chunk's ``x_groq``; its times are seconds, llama.cpp's ``timings`` milliseconds, both as the server saw them.

What it cannot tell: a stream that was cut off, or asked for without ``include_usage``, has no usage at all (unknown,
not zero). ``cost`` of OpenRouter and ``cost_in_usd_ticks`` of xAI (1e-10 USD) are kept beside the computed cost.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from pricing.units import MILLISECONDS_PER_SECOND
from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, at_most, json_number, unless_among
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import ANY, Schema

_OBJECTS: Final = ("chat.completion", "chat.completion.chunk", "text_completion", "response", "embedding")
_STANDARD_TIERS: Final = ("auto", "default", "standard", "on_demand")
_UNFINISHED: Final = ("in_progress", "queued")
_TICKS_PER_USD: Final = 1e10
_BIG, _MONEY = "BIGINT", "decimal(38, 12)"
_COUNTS: Final = ("prompt", "answer", "cached", "written", "thought")
_MORE_THAN_AN_ANSWER: Final = 1_000_003

HIDDEN_REASONING: Final = "reasoning_only_in_total"
"""Problem of a row whose total is more than its counts: the rest was taken for reasoning."""

_GROQ_USAGE: Final[Schema] = {
    **dict.fromkeys(("prompt_tokens", "completion_tokens"), _BIG),
    "prompt_tokens_details": {"cached_tokens": _BIG},
    "completion_tokens_details": {"reasoning_tokens": _BIG},
}
_CORE: Final[Schema] = {
    "id": "VARCHAR",
    "object": "VARCHAR",
    "model": "VARCHAR",
    "created": "VARCHAR",
    "created_at": "VARCHAR",
    "service_tier": "VARCHAR",
    "status": "VARCHAR",
    "choices": [{"finish_reason": "VARCHAR"}],
    "output": [{"type": "VARCHAR"}],
    "timings": {"cache_n": _BIG, "prompt_ms": "DOUBLE", "predicted_ms": "DOUBLE"},
    "x_groq": {"usage": _GROQ_USAGE},
    "usage": {
        **dict.fromkeys(("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens"), _BIG),
        "total_tokens": _BIG,
        "prompt_tokens_details": {"cached_tokens": _BIG, "cache_write_tokens": _BIG, "audio_tokens": _BIG},
        "prompt_token_details": {"cached_tokens": _BIG},
        "completion_tokens_details": {"reasoning_tokens": _BIG, "audio_tokens": _BIG, "image_tokens": _BIG},
        "input_tokens_details": {
            "cached_tokens": _BIG,
            "cache_write_tokens": _BIG,
            "cache_write_tokens_details": {"ttl_30m_tokens": _BIG, "ttl_12h_tokens": _BIG},
            "image_tokens": _BIG,
        },
        "output_tokens_details": {"reasoning_tokens": _BIG},
        "cache_creation_input_tokens": _BIG,
        "prompt_cache_hit_tokens": _BIG,
        "num_cached_tokens": _BIG,
        "cached_tokens": _BIG,
        "queue_time": "DOUBLE",
        "prompt_time": "DOUBLE",
        "total_time": "DOUBLE",
        "cost": ANY,
        "cost_details": ANY,
        "is_byok": "BOOLEAN",
        "cost_in_usd_ticks": _BIG,
    },
}


class OpenAIResponse(JsonImporter):
    """Chat Completions and Responses objects."""

    name = "openai"
    title = "OpenAI (and compatible) API responses: Chat Completions, Responses, batch output"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a response with OpenAI's usage keys, or says that it is one."""
        usage = obj.get("usage")
        keys = usage.keys() if isinstance(usage, Mapping) else frozenset[str]()
        named = obj.get("object") in _OBJECTS
        return named or "prompt_tokens" in keys or {"input_tokens", "input_tokens_details"} <= keys

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        usage = node.get("usage")
        counted = usage["prompt_tokens"].notnull() | usage["completion_tokens"].notnull()
        return counted | usage["input_tokens_details"].notnull() | node.get("object").isin(_OBJECTS)

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``."""
        usage, last = node.get("usage"), node.get("x_groq", "usage")
        prompt = ibis.coalesce(usage["prompt_tokens"], usage["input_tokens"], last["prompt_tokens"])
        answer = ibis.coalesce(
            usage["completion_tokens"],
            usage["output_tokens"],
            last["completion_tokens"],
        )
        chat_in, new_in = usage["prompt_tokens_details"], usage["input_tokens_details"]
        cached = ibis.coalesce(
            chat_in["cached_tokens"],
            new_in["cached_tokens"],
            usage["prompt_token_details"]["cached_tokens"],
            usage["prompt_cache_hit_tokens"],
            usage["num_cached_tokens"],
            usage["cached_tokens"],
            node.get("timings", "cache_n"),
            last["prompt_tokens_details"]["cached_tokens"],
        )
        written = ibis.coalesce(
            chat_in["cache_write_tokens"], new_in["cache_write_tokens"], usage["cache_creation_input_tokens"]
        )
        thought = ibis.coalesce(
            usage["completion_tokens_details"]["reasoning_tokens"],
            usage["output_tokens_details"]["reasoning_tokens"],
            last["completion_tokens_details"]["reasoning_tokens"],
        )
        beyond = _beyond(usage["total_tokens"], prompt, answer, zero(cached) + zero(written), thought)
        return {
            "openai_prompt": prompt,
            "openai_answer": answer,
            "openai_cached": cached,
            "openai_written": written,
            "openai_thought": thought,
            "openai_beyond": beyond,
            "openai_created": ibis.coalesce(node.get("created"), node.get("created_at")),
        }

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        usage = node.get("usage")
        prompt, answer = node.step("openai_prompt"), node.step("openai_answer")
        measured: Any = prompt.notnull() | answer.notnull()
        chunk = node.get("object") == "chat.completion.chunk"
        waiting = (chunk | node.get("status").isin(_UNFINISHED)) & ~measured
        created = node.step("openai_created")
        tier = ibis.coalesce(node.get("service_tier"), envelope.get("service_tier"))
        # A line with a custom_id is a line of a batch job's output, whatever tier the body repeats.
        batch = envelope.get("custom_id").notnull()
        searches = node.get("output").filter(_is_search).length()
        negative = is_negative(*(node.step(f"openai_{name}") for name in _COUNTS))
        return {
            "fate": ibis.cases((negative, SKIPPED), (waiting, IGNORED), else_=RECORD),
            "reason": ibis.cases(
                (negative, NEGATIVE_COUNT), (waiting, "part of a stream without usage"), else_=NO_TEXT
            ),
            **_meters(node),
            **envelope.labels(),
            **envelope.started_at(created),
            **_seconds(node, envelope),
            "model": ibis.coalesce(node.get("model"), envelope.get("model")),
            "service_tier": ibis.cases((batch, "batch"), else_=unless_among(tier, _STANDARD_TIERS)),
            "requests": ibis.literal(1, type="int64"),
            "web_search_calls": searches.cast("int64").nullif(0),
            "stop_reason": node.get("choices")[0]["finish_reason"],
            "status": ibis.coalesce(envelope.get("status"), node.get("status")),
            "recorded_cost_usd": _charge(usage, envelope),
            "dedup_group": node.get("id").nullif(""),
            **_replay_key(chunk, created, prompt, answer),
            "dedup_size": zero(prompt) + zero(answer),
        }


def _beyond(total: Any, prompt: Any, answer: Any, aside: Any, thought: Any) -> Any:
    """Return the tokens of reasoning that the output lacks; 0 where it has all of them.

    Args:
        total: Total as reported.
        prompt: Prompt as reported.
        answer: Output as reported.
        aside: Cache reads and writes as reported, which may stand beside the prompt.
        thought: Reasoning as reported.
    """
    rest = total - prompt - answer
    told = zero(thought)
    return ibis.cases(
        (rest == 0, 0),
        (rest < 0, 0),
        (rest == aside, 0),
        ((rest == told) | (rest == told + aside), told),
        ((rest > 0) & (told == 0), rest),
        (total.isnull() & (told > answer), told),
        else_=0,
    )


def _meters(node: Node) -> Columns:
    """Return the token columns, with the problem."""
    usage = node.get("usage")
    prompt, cached, written, thought, beyond = (
        node.step(f"openai_{name}") for name in ("prompt", "cached", "written", "thought", "beyond")
    )
    output = node.step("openai_answer") + beyond
    chat_in, chat_out = usage["prompt_tokens_details"], usage["completion_tokens_details"]
    new_in = usage["input_tokens_details"]
    # Only what a gateway says of Anthropic's models has this name, and their lifetime.
    written_5m = usage["cache_creation_input_tokens"]
    written_12h = new_in["cache_write_tokens_details"]["ttl_12h_tokens"]
    uncached, reads, problem = split_input(
        prompt,
        cached=cached,
        written=written,
        output=output,
        total=usage["total_tokens"],
        additive=False,
    )
    hidden = (beyond > 0) & (beyond != zero(thought))
    audio_in, image_in = _parts(uncached, chat_in["audio_tokens"], new_in["image_tokens"])
    audio_out, image_out = _parts(output, chat_out["audio_tokens"], chat_out["image_tokens"])
    return {
        "problem": ibis.cases((hidden, HIDDEN_REASONING), else_=problem),
        "input_uncached": uncached - zero(audio_in) - zero(image_in),
        "cache_read": reads,
        "cache_write_5m": written_5m,
        "cache_write_30m": ibis.cases((written_5m.isnull(), written - zero(written_12h))),
        "cache_write_12h": written_12h,
        "audio_input": audio_in,
        "image_input": image_in,
        "output": output - zero(audio_out) - zero(image_out),
        "audio_output": audio_out,
        "image_output": image_out,
        "reasoning": ibis.cases((hidden, beyond), else_=at_most(thought, output)),
    }


def _parts(whole: Any, audio: Any, image: Any) -> tuple[Any, Any]:
    """Return the audio and the image tokens of a count, null where there are none, and no more than it has."""
    audio = ibis.cases((audio > 0, at_most(audio, whole)))
    return audio, ibis.cases((image > 0, at_most(image, whole - zero(audio))))


def _is_search(item: Any) -> Any:
    return item["type"] == "web_search_call"


def _seconds(node: Node, envelope: Envelope) -> Columns:
    """Return the times of a call: as the envelope has them, else as the server measured them."""
    usage, timings = node.get("usage"), node.get("timings")
    groq, llama = usage["total_time"].notnull(), timings.notnull()
    waited = zero(usage["queue_time"])
    first, rest = (timings[name] for name in ("prompt_ms", "predicted_ms"))
    times = {
        "ttft_seconds": (waited + usage["prompt_time"], first / MILLISECONDS_PER_SECOND),
        "duration_seconds": (waited + usage["total_time"], (first + rest) / MILLISECONDS_PER_SECOND),
    }
    known = {name: envelope.get(name, "float64") for name in times}
    return {
        name: ibis.cases((known[name].notnull(), known[name]), (groq, of_groq), (llama, of_llama))
        for name, (of_groq, of_llama) in times.items()
    }


def _charge(usage: Any, envelope: Envelope) -> Any:
    """Return what the server says that the call cost; with a key of one's own that is its fee and the provider's price."""
    ticks, charged, details = usage["cost_in_usd_ticks"], usage["cost"], usage["cost_details"]
    upstream = ibis.cases((usage["is_byok"], json_number(details["upstream_inference_cost"], _MONEY)))
    # Perplexity's cost is an object.
    paid = ibis.coalesce(json_number(charged, _MONEY), json_number(charged["total_cost"], _MONEY))
    return ibis.cases(
        (ticks.notnull(), (ticks / _TICKS_PER_USD).try_cast(_MONEY)),
        (charged.notnull(), paid + zero(upstream)),
        else_=envelope.get("recorded_cost_usd", _MONEY),
    )


def _replay_key(chunk: Any, created: Any, prompt: Any, output: Any) -> Columns:
    """Return what a second copy of a response shares with the first, besides its id.

    The id alone is not enough: some compatible servers answer every call with one id. Chunks of one stream do share
    it, and their counts are running totals.
    """
    counts = zero(prompt) * _MORE_THAN_AN_ANSWER + zero(output)  # a text of both would be slow
    return {
        "dedup_key": ibis.cases((chunk, NO_TEXT), else_=created),
        "dedup_number": ibis.cases((chunk, ibis.null("int64")), else_=counts),
    }


IMPORTERS: Final[tuple[Importer, ...]] = (OpenAIResponse(),)
