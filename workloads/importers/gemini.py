"""Gemini: response objects of the API, as an application or proxy logged them.

Where it comes from: bodies of ``generateContent``, ``streamGenerateContent`` and Live API messages, of the Gemini API
and of Vertex AI, with the keys of the API (camelCase) or of the Python SDK (snake_case), bare or inside any envelope.

One row is: a response, or a chunk of a streamed one. Chunks share a response id and their counts are running totals,
so the largest is kept. What was done to explicit caches is read as ``gemini-cache``.

Token fields: ``promptTokenCount`` INCLUDES ``cachedContentTokenCount``; ``toolUsePromptTokenCount`` is further input.
``candidatesTokenCount`` (Live API: ``responseTokenCount``) EXCLUDES ``thoughtsTokenCount``, which is output as well. The
total is the sum of prompt, tool use, candidates and thoughts, and where it says otherwise it is followed. A count that is
0 may be absent. The details by modality split the same tokens and need not add up.

Time zone: UTC.

What it cannot tell: what grounding with search costs; whether it was a batch job.
"""

import functools
import operator
from collections.abc import Mapping, Sequence
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, at_most, is_true, not_negative, unless_among
from workloads.importers import Columns, Importer, JsonImporter, Path
from workloads.ledger import RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema

TOOL_INSIDE: Final = "tool_tokens_inside_prompt"
"""Problem of a row whose total says that the prompt count holds the tool's tokens already."""
THOUGHTS_INSIDE: Final = "thinking_tokens_inside_output"
"""Problem of a row whose total says that the output count holds the thinking tokens already."""

_BIG: Final = "BIGINT"
_CANDIDATES: Final = ("candidatesTokenCount", "responseTokenCount")
_COUNTS: Final[Mapping[str, tuple[str, ...]]] = {
    "prompt": ("promptTokenCount", "prompt_token_count"),
    "cached": ("cachedContentTokenCount", "cached_content_token_count"),
    "tool": ("toolUsePromptTokenCount", "tool_use_prompt_token_count"),
    "candidates": (*_CANDIDATES, "candidates_token_count", "response_token_count"),
    "thoughts": ("thoughtsTokenCount", "thoughts_token_count"),
    "total": ("totalTokenCount", "total_token_count"),
}
_SHOWN: Final = ("candidatesTokensDetails", "responseTokensDetails")
_DETAILS: Final[Mapping[str, tuple[str, ...]]] = {
    "prompt": ("promptTokensDetails", "prompt_tokens_details"),
    "cached": ("cacheTokensDetails", "cache_tokens_details"),
    "tool": ("toolUsePromptTokensDetails", "tool_use_prompt_tokens_details"),
    "candidates": (*_SHOWN, "candidates_tokens_details", "response_tokens_details"),
}
_AUDIO: Final = ("AUDIO",)
_IMAGE: Final = ("IMAGE", "DOCUMENT")
"""Pages of a document are read as images."""
_OWN: Final = frozenset(name for key in ("cached", "candidates", "thoughts") for name in _COUNTS[key])
"""Counts that no other API calls so."""
_TIERS: Final = ("traffic_type", "service_tier")
_STANDARD_TIERS: Final = ("", "standard", "on_demand", "unspecified", "traffic_type_unspecified")


def _usage(*, snake: bool) -> Schema:
    counts = [name for names in _COUNTS.values() for name in names if ("_" in name) == snake]
    details = [name for names in _DETAILS.values() for name in names if ("_" in name) == snake]
    entry = {"modality": "VARCHAR", "token_count" if snake else "tokenCount": _BIG}
    tiers = _TIERS if snake else ("trafficType", "serviceTier")
    return {
        **dict.fromkeys(counts, _BIG),
        **{name: [entry] for name in details},
        **dict.fromkeys(tiers, "VARCHAR"),
    }


_CAMEL: Final = _usage(snake=False)
_SNAKE: Final = _usage(snake=True)
_PLACES: Final[tuple[Path, ...]] = (("usageMetadata",), ("usage_metadata",), ())
"""Where the usage is: in the response under either spelling, or it is the object itself."""
_ID: Final = ("responseId", "response_id")

_CACHES: Final = "cachedContents/"
"""What the name of an explicit cache begins with."""

_CORE: Final[Schema] = {
    "responseId": "VARCHAR",
    "response_id": "VARCHAR",
    "modelVersion": "VARCHAR",
    "model_version": "VARCHAR",
    "createTime": "VARCHAR",
    "create_time": "VARCHAR",
    "candidates": [{"finishReason": "VARCHAR", "finish_reason": "VARCHAR"}],
    **_CAMEL,
    **_SNAKE,
    "usageMetadata": _CAMEL,
    "usage_metadata": _SNAKE,
}


class GeminiResponse(JsonImporter):
    """Responses of generateContent and messages of the Live API."""

    name = "gemini"
    title = "Gemini API responses (Gemini API, Vertex AI, Live API)"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is a response with Gemini's usage, or is that usage."""
        if str(obj.get("name", "")).startswith(_CACHES):
            return False
        for key in ("usageMetadata", "usage_metadata"):
            usage = obj.get(key)
            if isinstance(usage, Mapping) and (_OWN | {*_COUNTS["prompt"]}) & usage.keys():
                return True
        if isinstance(obj.get("candidates"), list) and {"responseId", "response_id"} & obj.keys():
            return True
        return bool(_OWN & obj.keys()) or "promptTokenCount" in obj

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        own = [_find(node, _COUNTS[key]) for key in ("prompt", "cached", "candidates", "thoughts")]
        answered = node.get("candidates").notnull() & _find(node, _ID, places=((),)).notnull()
        return ibis.coalesce(*own).notnull() | answered

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``."""
        if not node.has_step("gemini"):
            ended = node.get("candidates")[0]
            found = {
                **{key: _find(node, names) for key, names in _COUNTS.items()},
                **{f"{key}_audio": _modality(node, key, _AUDIO) for key in _DETAILS},
                **{f"{key}_image": _modality(node, key, _IMAGE) for key in _DETAILS},
                "traffic": _word(_find(node, ("trafficType", "traffic_type"))).lower(),
                "asked": _word(_find(node, ("serviceTier", "service_tier"))).lower(),
                "stop": _word(ibis.coalesce(ended["finishReason"], ended["finish_reason"])),
            }
            return {"gemini": ibis.struct(found)}
        found = node.step("gemini")
        if not node.has_step("gemini_whole"):
            return {"gemini_whole": ibis.struct(_whole(found))}
        whole = node.step("gemini_whole")
        uncached, reads, problem = split_input(
            whole["input"],
            cached=found["cached"],
            written=ibis.null("int64"),
            output=whole["output"],
            total=found["total"],
            additive=False,
        )
        split = {"uncached": uncached, "reads": reads, "problem": problem}
        return {"gemini_split": ibis.struct(split)}

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        found = node.step("gemini")
        counts, stop = {key: found[key] for key in _COUNTS}, found["stop"]
        whole = sum((zero(counts[key]) for key in ("tool", "candidates", "thoughts")), zero(counts["prompt"]))
        return {
            **_fates(counts),
            **envelope.labels(),
            **envelope.started_at(_find(node, ("createTime", "create_time"), places=((),))),
            "provider": ibis.coalesce(envelope.get("provider"), "google"),
            "model": ibis.coalesce(
                _find(node, ("modelVersion", "model_version"), places=((),)), envelope.get("model")
            ),
            "service_tier": _tier(node, envelope),
            "requests": ibis.literal(1, type="int64"),
            **_meters(node),
            "stop_reason": ibis.coalesce(stop, envelope.get("stop_reason")),
            "dedup_group": _find(node, _ID, places=((),)).nullif(""),
            # Of chunks with equal counts the one that ends the answer is kept.
            "dedup_size": whole * 2 + stop.notnull().cast("int64"),
        }


def _fates(counts: Columns) -> Columns:
    negative = is_negative(*counts.values())
    return {
        "fate": ibis.cases((negative, SKIPPED), else_=RECORD),
        "reason": ibis.cases((negative, NEGATIVE_COUNT), else_=NO_TEXT),
    }


def _find(node: Node, names: tuple[str, ...], places: Sequence[Path] = _PLACES) -> Any:
    """Return the first of some fields, at any of the places where the usage (or the response) may be."""
    return ibis.coalesce(
        *[node.get(*place, name) for place in places for name in names if name in _at(place)]
    )


def _modality(node: Node, key: str, modalities: tuple[str, ...]) -> Any:
    """Return the tokens of some modalities; null where none is reported."""

    def named(entry: Any) -> Any:
        # The SDK writes its own names of them: ``MediaModality.AUDIO``.
        modality = entry["modality"]
        return functools.reduce(
            operator.or_, (modality.endswith(f".{name}") for name in modalities), modality.isin(modalities)
        )

    def tokens(entry: Any) -> Any:
        # In floats, since the engine adds up whole numbers in a wider type than the library knows of.
        return entry["tokenCount" if "tokenCount" in entry.type().names else "token_count"].cast("float64")

    lists = [node.get(*place, name) for place in _PLACES for name in _DETAILS[key] if name in _at(place)]
    # An answer has one of them: to go through each of them takes longer than to take the first that is there.
    alike: dict[Any, list[Any]] = {}
    for entries in lists:
        alike.setdefault(entries.type(), []).append(entries)
    found = [ibis.coalesce(*same).filter(named).map(tokens).sums() for same in alike.values()]
    return ibis.coalesce(*found).cast("int64")


def _at(place: Path) -> Schema:
    schema = _CORE
    for key in place:
        schema = schema[key]
    return schema


def _word(text: Any) -> Any:
    """Return the value of an enumeration without its type, which Python writes before it (``MediaModality.TEXT``)."""
    return text.re_replace(r"^.*\.", "")


def _tier(node: Node, envelope: Envelope) -> Any:
    traffic, asked = node.step("gemini")["traffic"], node.step("gemini")["asked"]
    traffic = ibis.cases((traffic.startswith("on_demand_"), traffic.replace("on_demand_", "")), else_=traffic)
    return ibis.coalesce(
        *[unless_among(tier, _STANDARD_TIERS) for tier in (traffic, asked, envelope.get("service_tier"))]
    )


def _whole(found: Any) -> dict[str, Any]:
    """Return what takes the parts of input and output together."""
    none = ibis.null("int64")
    tool_inside, thoughts_inside = _inside({key: found[key] for key in _COUNTS})

    def outside(inside: Any, name: str) -> Any:
        return ibis.cases((inside, none), else_=found[name])

    return {
        "input": _sum(found["prompt"], outside(tool_inside, "tool")),
        "output": _sum(found["candidates"], outside(thoughts_inside, "thoughts")),
        "audio": _sum(found["prompt_audio"], outside(tool_inside, "tool_audio")),
        "inside": ibis.cases((tool_inside, TOOL_INSIDE), (thoughts_inside, THOUGHTS_INSIDE), else_=NO_TEXT),
    }


def _meters(node: Node) -> Columns:
    """Return the meters of a response: cached out of the prompt, thoughts into the output, modalities apart."""
    found, whole, split = node.step("gemini"), node.step("gemini_whole"), node.step("gemini_split")
    uncached, reads, output = split["uncached"], split["reads"], whole["output"]
    cached_audio = at_most(found["cached_audio"], reads)
    audio = at_most(not_negative(whole["audio"] - zero(cached_audio)), uncached)
    image = not_negative(found["prompt_image"] - zero(found["cached_image"]))
    image = at_most(image, uncached - zero(audio))
    spoken = at_most(found["candidates_audio"], output)
    drawn = at_most(found["candidates_image"], output - zero(spoken))
    return {
        "problem": ibis.coalesce(split["problem"], whole["inside"]),
        "input_uncached": uncached - zero(audio) - zero(image),
        "cache_read": reads - zero(cached_audio),
        "audio_input": audio.nullif(0),
        "audio_cache_read": cached_audio.nullif(0),
        "image_input": image.nullif(0),
        "output": output - zero(spoken) - zero(drawn),
        "audio_output": spoken.nullif(0),
        "image_output": drawn.nullif(0),
        "reasoning": found["thoughts"],
    }


def _inside(counts: Columns) -> tuple[Any, Any]:
    """Return whether a row's total says that tool tokens are in the prompt count, and thoughts in the output count."""
    shown = zero(counts["prompt"]) + zero(counts["candidates"])
    tool, thoughts, total = zero(counts["tool"]), zero(counts["thoughts"]), counts["total"]
    by_rule = is_true(total == shown + tool + thoughts)
    without_tool = is_true(total == shown + thoughts)
    without_thoughts = is_true(total == shown + tool)
    neither = is_true(total == shown)
    return (
        (tool > 0) & ~by_rule & (without_tool | (~without_thoughts & neither)),
        (thoughts > 0) & ~by_rule & ~without_tool & (without_thoughts | neither),
    )


def _sum(first: Any, second: Any) -> Any:
    """Return the sum of two counts of which either may be absent; null when both are."""
    return ibis.coalesce(first + second, first, second)


IMPORTERS: Final[tuple[Importer, ...]] = (GeminiResponse(),)
