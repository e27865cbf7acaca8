"""Vercel AI SDK: usage objects of results, steps and providers, in the shapes of its versions.

Where it comes from: results of ``generateText``, ``streamText`` and their kind as an application logged them, bare or inside
any envelope.

One row is: a result, or each step of one that lists its ``steps``: the result itself only repeats them.

Token fields: the provider's own numbers (``raw``) where they are logged. Else, from version 6 on, ``inputTokens`` INCLUDES the
cached part, of which ``inputTokenDetails`` (or, in a provider's object, ``inputTokens`` itself) tells the pieces. Versions 5
and 4 pass on what the provider says: Anthropic and Bedrock leave cached tokens OUT, the others include them, and the
total of the former leaves them out as well. Output includes reasoning, unless the total says otherwise.

Time zone: UTC; a result without a time of its own has that of its envelope.

What it cannot tell: in versions 4 and 5 without a provider's name or metadata, which of the two rules applies (taken as
the including one, unless more is cached than there is input); without ``raw``, a write's lifetime (taken as 5 minutes).
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.count_texts import ODD, odd_json, odd_within
from workloads.declared import as_declared
from workloads.expressions import NO_TEXT, is_true, not_negative, text_of
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node, time_columns
from workloads.schema import Schema

_BIG: Final = "BIGINT"
_ADDITIVE_PROVIDERS: Final = r"(?i)(^|[^a-z])(anthropic|bedrock)"
_MARKS: Final = (
    "inputTokenDetails",
    "outputTokenDetails",
    "cachedInputTokens",
    "reasoningTokens",
    "promptTokens",
    "raw",
)
"""Keys of a usage object that tell it from Bedrock's, which has the same names for input and output."""
_RESULT_MARKS: Final = ("finishReason", "providerMetadata", "sdk")

_RAW: Final[Schema] = {
    # Anthropic, OpenAI Responses
    **dict.fromkeys(("input_tokens", "output_tokens", "total_tokens"), _BIG),
    **dict.fromkeys(("cache_read_input_tokens", "cache_creation_input_tokens"), _BIG),
    "cache_creation": {"ephemeral_5m_input_tokens": _BIG, "ephemeral_1h_input_tokens": _BIG},
    "input_tokens_details": {"cached_tokens": _BIG, "cache_write_tokens": _BIG},
    "output_tokens_details": {"reasoning_tokens": _BIG, "thinking_tokens": _BIG},
    # Chat Completions and what is compatible with it
    **dict.fromkeys(("prompt_tokens", "completion_tokens", "prompt_cache_hit_tokens", "cached_tokens"), _BIG),
    "prompt_tokens_details": {"cached_tokens": _BIG, "cache_write_tokens": _BIG},
    "completion_tokens_details": {"reasoning_tokens": _BIG},
    # Gemini
    **dict.fromkeys(("promptTokenCount", "candidatesTokenCount", "thoughtsTokenCount"), _BIG),
    **dict.fromkeys(("toolUsePromptTokenCount", "cachedContentTokenCount", "totalTokenCount"), _BIG),
    # Bedrock
    **dict.fromkeys(("inputTokens", "outputTokens", "totalTokens"), _BIG),
    **dict.fromkeys(("cacheReadInputTokens", "cacheWriteInputTokens"), _BIG),
}
_USAGE: Final[Schema] = {
    **dict.fromkeys(("promptTokens", "completionTokens", "totalTokens"), _BIG),
    **dict.fromkeys(("reasoningTokens", "cachedInputTokens"), _BIG),
    "inputTokens": "JSON",  # a number, or a provider's object
    "outputTokens": "JSON",
    "inputTokenDetails": dict.fromkeys(("noCacheTokens", "cacheReadTokens", "cacheWriteTokens"), _BIG),
    "outputTokenDetails": {"reasoningTokens": _BIG},
    "raw": _RAW,
}
_PROVIDER_DATA: Final[Schema] = {
    "anthropic": dict.fromkeys(("cacheCreationInputTokens", "cacheReadInputTokens"), _BIG),
    "bedrock": {"usage": dict.fromkeys(("cacheReadInputTokens", "cacheWriteInputTokens"), _BIG)},
    "openai": {"cachedPromptTokens": _BIG, "serviceTier": "VARCHAR"},
}
_RESULT: Final[Schema] = {
    "usage": _USAGE,
    "finishReason": "JSON",  # a word, or from version 6 on a provider's object
    "providerMetadata": _PROVIDER_DATA,
    "experimental_providerMetadata": _PROVIDER_DATA,
    "response": {"id": "VARCHAR", "modelId": "VARCHAR", "timestamp": "VARCHAR"},
}
_CORE: Final[Schema] = {
    "id": "VARCHAR",
    "modelId": "VARCHAR",
    **_RESULT,
    "steps": [{"modelId": "VARCHAR", "id": "VARCHAR", **_RESULT}],
}
_PIECES_IN: Final[Schema] = dict.fromkeys(("total", "noCache", "cacheRead", "cacheWrite"), _BIG)
_PIECES_OUT: Final[Schema] = dict.fromkeys(("total", "reasoning"), _BIG)
_PIECES: Final[Mapping[str, Schema]] = {"inputTokens": _PIECES_IN, "outputTokens": _PIECES_OUT}


class VercelAiUsage(JsonImporter):
    """Results with a usage object."""

    name = "vercel-ai"
    title = "Vercel AI SDK results: usage objects of all versions"
    core = _CORE
    chains = ((), (("steps",),))

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a result with one of the SDK's usage objects."""
        usage = obj.get("usage")
        if not isinstance(usage, Mapping):
            return False
        if any(key in usage for key in _MARKS) or isinstance(usage.get("inputTokens"), Mapping):
            return bool({"inputTokens", "promptTokens"} & usage.keys()) and "input_tokens" not in usage
        return "inputTokens" in usage and any(key in obj for key in _RESULT_MARKS)

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        usage = node.get("usage")
        named = usage["inputTokens"].notnull() | usage["promptTokens"].notnull()
        marked = usage["inputTokenDetails"].notnull() | usage["outputTokenDetails"].notnull()
        marked |= usage["cachedInputTokens"].notnull() | usage["reasoningTokens"].notnull()
        marked |= usage["promptTokens"].notnull() | usage["raw"].notnull()
        marked |= is_true(as_declared(usage["inputTokens"], _PIECES_IN)["total"].notnull())
        marked |= node.get("finishReason").notnull() | node.get("providerMetadata").notnull()
        return named & marked

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``."""
        if not node.has_step("vercel_sdk_prompt"):
            reported = {**_sdk_counts(node), **_raw_counts(node.get("usage", "raw"))}
            return {f"vercel_{name}": value for name, value in reported.items()}

        def step(name: str) -> Any:
            return node.step(f"vercel_{name}")

        has_raw = step("raw_prompt").notnull()
        names = ("prompt", "cached", "written", "written_1h", "output", "reasoning", "total")
        return {
            f"vercel_{name}": ibis.cases((has_raw, step(f"raw_{name}")), else_=step(f"sdk_{name}"))
            for name in names
        }

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""

        def step(name: str) -> Any:
            return node.step(f"vercel_{name}")

        prompt, cached, written, written_1h = (step(n) for n in ("prompt", "cached", "written", "written_1h"))
        has_raw, data = step("raw_prompt").notnull(), node.get("providerMetadata")
        passed_on = ~step("sdk_new") & (
            is_true(envelope.get("provider").re_search(_ADDITIVE_PROVIDERS)) | step("sdk_additive")
        )
        additive = ibis.cases((has_raw, step("raw_additive")), else_=passed_on)
        # A total that is passed on by an older version leaves the cached part out and proves nothing.
        silent = passed_on | (~step("sdk_new") & is_true(zero(cached) + zero(written) > prompt))
        total = ibis.cases((silent & ~has_raw, ibis.null("int64")), else_=step("total"))
        output, reasoning = step("output"), step("reasoning")
        output = ibis.cases(
            (is_true(step("total") == prompt + output + reasoning), output + reasoning), else_=output
        )
        uncached, reads, problem = split_input(
            prompt, cached=cached, written=written, output=output, total=total, additive=additive
        )
        negative = is_negative(prompt, cached, written, output)
        whole = is_true(node.get("steps").length() > 0) if node.parent is None else ibis.literal(value=False)
        result = node.get("response")
        reason = node.get("finishReason")
        return {
            "fate": ibis.cases((whole, IGNORED), (negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (whole, "result that repeats its steps"), (negative, NEGATIVE_COUNT), else_=NO_TEXT
            ),
            ODD: step("odd"),
            "problem": problem,
            **envelope.labels(),
            **time_columns(ibis.coalesce(result["timestamp"], envelope.get("time"))),
            "model": ibis.coalesce(result["modelId"], node.get("modelId"), envelope.get("model")),
            "service_tier": ibis.coalesce(data["openai"]["serviceTier"], envelope.get("service_tier")).nullif(
                "default"
            ),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": uncached,
            "cache_read": reads,
            "cache_write_5m": not_negative(written - zero(written_1h)),
            "cache_write_1h": written_1h,
            "output": output,
            "reasoning": reasoning,
            "stop_reason": ibis.coalesce(reason.unwrap_as("string"), reason["unified"].unwrap_as("string")),
            "dedup_group": ibis.coalesce(result["id"], node.get("id")).nullif(""),
            "dedup_key": text_of(prompt) + "|" + text_of(cached) + "|" + text_of(output),
            "dedup_size": zero(prompt) + zero(cached) + zero(written) + zero(output),
        }


def _sdk_counts(node: Node) -> dict[str, Any]:
    """Return what the SDK reports, whether in its newer shape, and whether by a provider that leaves the cached out."""
    usage = node.get("usage")
    pieces, answer = (as_declared(usage[name], schema) for name, schema in _PIECES.items())
    details = usage["inputTokenDetails"]
    data = [node.get("providerMetadata"), node.get("experimental_providerMetadata")]
    odd = [odd_json(usage[name], usage[name].try_cast("int64")) for name in _PIECES]
    odd += [_odd_piece(usage[name], schema) for name, schema in _PIECES.items()]
    return {
        "odd": ibis.coalesce(*odd),
        "sdk_prompt": ibis.coalesce(
            usage["inputTokens"].try_cast("int64"), pieces["total"], usage["promptTokens"]
        ),
        "sdk_cached": ibis.coalesce(
            details["cacheReadTokens"],
            pieces["cacheRead"],
            usage["cachedInputTokens"],
            *(item["anthropic"]["cacheReadInputTokens"] for item in data),
            *(item["bedrock"]["usage"]["cacheReadInputTokens"] for item in data),
            *(item["openai"]["cachedPromptTokens"] for item in data),
        ),
        "sdk_written": ibis.coalesce(
            details["cacheWriteTokens"],
            pieces["cacheWrite"],
            *(item["anthropic"]["cacheCreationInputTokens"] for item in data),
            *(item["bedrock"]["usage"]["cacheWriteInputTokens"] for item in data),
        ),
        "sdk_written_1h": ibis.null("int64"),
        "sdk_output": ibis.coalesce(
            usage["outputTokens"].try_cast("int64"), answer["total"], usage["completionTokens"]
        ),
        "sdk_reasoning": ibis.coalesce(
            usage["outputTokenDetails"]["reasoningTokens"], answer["reasoning"], usage["reasoningTokens"]
        ),
        "sdk_total": usage["totalTokens"],
        "sdk_new": is_true(details.notnull() | pieces["total"].notnull()),
        "sdk_additive": is_true(
            data[0]["anthropic"].notnull()
            | data[0]["bedrock"].notnull()
            | data[1]["anthropic"].notnull()
            | data[1]["bedrock"].notnull()
        ),
    }


def _odd_piece(value: Any, schema: Schema) -> Any:
    """Return the text of an odd count in an object of counts, or of the object where it holds none that are known."""
    pieces = as_declared(value, schema)
    known = ibis.coalesce(*(pieces[name] for name in schema)).notnull()
    text = value.cast("string")
    strange = ibis.cases((~known & text.re_search(r"^\{\s*\S.*\d"), text))
    odd = ibis.coalesce(odd_within(value, schema), strange)
    return ibis.cases((text.startswith("{"), odd), else_=NO_TEXT)


def _raw_counts(raw: Any) -> dict[str, Any]:
    """Return what the provider itself reported, whichever it is."""
    new, chat = raw["input_tokens_details"], raw["prompt_tokens_details"]
    beside = (
        raw["cache_read_input_tokens"].notnull()
        | raw["cache_creation_input_tokens"].notnull()
        | raw["cacheReadInputTokens"].notnull()
        | raw["cacheWriteInputTokens"].notnull()
    )
    return {
        "raw_prompt": ibis.coalesce(
            raw["input_tokens"],
            raw["prompt_tokens"],
            raw["promptTokenCount"] + zero(raw["toolUsePromptTokenCount"]),
            raw["inputTokens"],
        ),
        "raw_cached": ibis.coalesce(
            raw["cache_read_input_tokens"],
            raw["cacheReadInputTokens"],
            new["cached_tokens"],
            chat["cached_tokens"],
            raw["prompt_cache_hit_tokens"],
            raw["cached_tokens"],
            raw["cachedContentTokenCount"],
        ),
        "raw_written": ibis.coalesce(
            raw["cache_creation_input_tokens"],
            raw["cacheWriteInputTokens"],
            new["cache_write_tokens"],
            chat["cache_write_tokens"],
        ),
        "raw_written_1h": raw["cache_creation"]["ephemeral_1h_input_tokens"],
        "raw_output": ibis.coalesce(
            raw["output_tokens"],
            raw["completion_tokens"],
            raw["candidatesTokenCount"] + zero(raw["thoughtsTokenCount"]),
            raw["thoughtsTokenCount"],
            raw["outputTokens"],
        ),
        "raw_reasoning": ibis.coalesce(
            raw["output_tokens_details"]["reasoning_tokens"],
            raw["output_tokens_details"]["thinking_tokens"],
            raw["completion_tokens_details"]["reasoning_tokens"],
            raw["thoughtsTokenCount"],
        ),
        "raw_total": ibis.coalesce(raw["total_tokens"], raw["totalTokenCount"], raw["totalTokens"]),
        "raw_additive": is_true(beside),
    }


IMPORTERS: Final[tuple[Importer, ...]] = (VercelAiUsage(),)
