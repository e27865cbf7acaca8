"""A JSON list of usages to price one by one: what ``advisor explain FILE`` reads.

An entry names provider, model, instant, the context that decides the price, and the usage as providers report it:
``input_tokens`` holds cache reads, cache writes, audio and images; ``output_tokens`` holds reasoning.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, cast

from pricing.meters import Meter, TokenUsage

_LIFETIMES: Final = {
    "cache_write_5m_tokens": Meter.CACHE_WRITE_5M,
    "cache_write_30m_tokens": Meter.CACHE_WRITE_30M,
    "cache_write_1h_tokens": Meter.CACHE_WRITE_1H,
    "cache_write_12h_tokens": Meter.CACHE_WRITE_12H,
}
_KEYS: Final = (
    "input_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    *_LIFETIMES,
    "input_audio_tokens",
    "cache_audio_read_tokens",
    "input_image_tokens",
    "output_tokens",
    "output_reasoning_tokens",
    "output_audio_tokens",
    "output_image_tokens",
    "web_searches",
    "cache_storage_token_hours",
)
_TIER_KEYS: Final = ("processing", "speed", "service_tier")
_REGION_KEYS: Final = ("inference_geo", "deployment", "region")
_STANDARD: Final = ("", "standard", "default", "auto", "on_demand", "global", "not_available")
EXPLICIT_CACHE: Final = "explicit_cache"
"""The service tier that stands for a cache which the caller asked for, where its reads have a price of their own."""


class UsageListError(Exception):
    """A list that cannot be read; the message says where, what and what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One usage to price.

    Attributes:
        id: As given, or the entry's number.
        provider: As given, or None.
        model: As given.
        at: Instant whose price counts.
        usage: Units by meter, disjoint.
        service_tier: As ``pricing.cards`` takes it, or None.
        region: As ``pricing.cards`` takes it, or None.
        single: Whether it is one request, whose size decides context tiers, or several together.
        warnings: What was given and not used.
    """

    id: str
    provider: str | None
    model: str
    at: datetime
    usage: TokenUsage
    service_tier: str | None
    region: str | None
    single: bool
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An entry that cannot be read; it does not stop the others.

    Attributes:
        id: As given, or the entry's number.
        reason: File, entry and key, the value seen and what is allowed.
    """

    id: str
    reason: str


def read_entries(path: Path) -> list[Entry | Unreadable]:
    """Read a list of usages, or an object that has it under ``vectors``.

    Raises:
        UsageListError: The file is no such list, or nothing in it can be read.
    """
    try:
        parsed = json.loads(path.read_text("utf-8-sig"))
    except OSError as error:
        raise UsageListError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise UsageListError(f"{path}: not valid JSON: {error}") from None
    rows: Any = parsed.get("vectors") if isinstance(parsed, dict) else parsed  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if not isinstance(rows, list):
        raise UsageListError(f"{path}: expected a list of usages, got {type(parsed).__name__}")
    read = [_read(row, f"{path}: entry {number}", number) for number, row in enumerate(rows, 1)]
    if read and all(isinstance(entry, Unreadable) for entry in read):
        raise UsageListError("\n".join(entry.reason for entry in read[:10] if isinstance(entry, Unreadable)))
    return read


def _read(row: object, where: str, number: int) -> Entry | Unreadable:
    try:
        return _entry(row, where, number)
    except UsageListError as error:
        name = cast("Mapping[str, Any]", row).get("id") if isinstance(row, Mapping) else None
        return Unreadable(str(name or number), str(error))


def _entry(row: object, where: str, number: int) -> Entry:
    if not isinstance(row, Mapping):
        raise UsageListError(f"{where}: expected an object, got {row!r:.60}")
    given = cast("Mapping[str, Any]", row)
    where = f"{where} ({given['id']})" if given.get("id") else where
    model = given.get("model")
    if not isinstance(model, str) or not model:
        raise UsageListError(f"{where}: model: expected a name, got {model!r:.60}")
    provider = given.get("provider")
    if provider is not None and not isinstance(provider, str):
        raise UsageListError(f"{where}: provider: expected a name or null, got {provider!r:.60}")
    context = _context(given.get("context"), where)
    usage = _usage(given.get("usage"), where, provider)
    return Entry(
        id=str(given.get("id", number)),
        provider=provider,
        model=model,
        at=_instant(given.get("timestamp"), where),
        usage=usage,
        service_tier=_tier(context),
        region=_first(context, _REGION_KEYS),
        # Storage is billed by the hour, beside requests: an entry that has it is several things together.
        single=given.get("kind") != "aggregate" and Meter.CACHE_STORAGE_TOKEN_HOURS not in usage.counts,
        warnings=tuple(
            f"context {key} = {context[key]!r} has no influence on the price" for key in _unused(context)
        ),
    )


def _context(value: object, where: str) -> Mapping[str, str]:
    """What decides the price, as texts; numbers and other scalars are read as they are written."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise UsageListError(f"{where}: context: expected an object, got {value!r:.60}")
    words: dict[str, str] = {}
    for key, word in cast("Mapping[str, Any]", value).items():
        if isinstance(word, list | dict):
            raise UsageListError(f"{where}: context.{key}: expected a word, got {word!r:.60}")
        words[key] = "" if word is None else str(word).strip()
    return words


def _tier(context: Mapping[str, str]) -> str | None:
    asked = _given(context, _TIER_KEYS)
    if asked:
        return context[asked[0]]
    return EXPLICIT_CACHE if _is_explicit(context) else None


def _first(context: Mapping[str, str], keys: tuple[str, ...]) -> str | None:
    return next((context[key] for key in _given(context, keys)), None)


def _given(context: Mapping[str, str], keys: tuple[str, ...]) -> list[str]:
    """Those of some keys that say another thing than the standard, in the order in which they count."""
    return [key for key in keys if context.get(key, "").lower() not in _STANDARD]


def _is_explicit(context: Mapping[str, str]) -> bool:
    return context.get("cache_mode", "").lower() == "explicit"


def _unused(context: Mapping[str, str]) -> list[str]:
    """What was given and decided nothing: foreign keys, and what says a second time how or where it was served."""
    tiers, regions = _given(context, _TIER_KEYS), _given(context, _REGION_KEYS)
    known = {*_TIER_KEYS, *_REGION_KEYS, "cache_mode"}
    again = {
        key
        for keys in (tiers, regions)
        for key in keys[1:]
        if context[key].lower() != context[keys[0]].lower()
    }
    if tiers and _is_explicit(context):
        again.add("cache_mode")
    return [key for key in context if key in again or key not in known]


def _instant(value: object, where: str) -> datetime:
    try:
        at = datetime.fromisoformat(str(value))
    except ValueError:
        raise UsageListError(
            f"{where}: timestamp: expected an ISO 8601 time such as 2026-11-01T00:00:00Z, got {value!r:.60}"
        ) from None
    return at.replace(tzinfo=UTC) if at.tzinfo is None else at


def _usage(value: object, where: str, provider: object) -> TokenUsage:
    if not isinstance(value, Mapping):
        raise UsageListError(f"{where}: usage: expected an object, got {value!r:.60}")
    counts: dict[str, int] = {}
    for key, count in cast("Mapping[str, Any]", value).items():
        if count is None or (key not in _KEYS and count == 0):
            continue
        if key not in _KEYS:
            raise UsageListError(f"{where}: usage: unknown key {key!r}, allowed: {', '.join(_KEYS)}")
        if isinstance(count, bool) or not isinstance(count, int) or count < 0:
            raise UsageListError(
                f"{where}: usage.{key}: expected a whole number from 0 up, got {count!r:.60}"
            )
        counts[key] = count
    return TokenUsage(
        counts=_disjoint(counts, where, provider), reasoning=counts.get("output_reasoning_tokens")
    )


def _disjoint(counts: Mapping[str, int], where: str, provider: object) -> dict[Meter, int]:
    """Counts that overlap as counts that do not; only what was reported."""
    lifetimes = {meter: counts[key] for key, meter in _LIFETIMES.items() if key in counts}
    written = max(counts.get("cache_write_tokens", 0), sum(lifetimes.values()))
    # A write without a stated lifetime has the provider's shortest: 30 minutes at OpenAI, 5 elsewhere.
    usual = Meter.CACHE_WRITE_30M if provider in ("openai", "azure") else Meter.CACHE_WRITE_5M
    rest = written - sum(lifetimes.values())
    audio_read = counts.get("cache_audio_read_tokens", 0)
    reads = counts.get("cache_read_tokens", audio_read) - audio_read
    audio = counts.get("input_audio_tokens", audio_read) - audio_read
    image = counts.get("input_image_tokens", 0)
    audio_out, image_out = counts.get("output_audio_tokens", 0), counts.get("output_image_tokens", 0)
    found = {
        Meter.INPUT_UNCACHED: counts.get("input_tokens", 0) - reads - written - audio - audio_read - image,
        Meter.CACHE_READ: reads,
        **lifetimes,
        Meter.AUDIO_INPUT: audio,
        Meter.AUDIO_CACHE_READ: audio_read,
        Meter.IMAGE_INPUT: image,
        Meter.OUTPUT: counts.get("output_tokens", 0) - audio_out - image_out,
        Meter.AUDIO_OUTPUT: audio_out,
        Meter.IMAGE_OUTPUT: image_out,
        Meter.WEB_SEARCH_CALLS: counts.get("web_searches", 0),
        Meter.CACHE_STORAGE_TOKEN_HOURS: counts.get("cache_storage_token_hours", 0),
    }
    if rest:
        found[usual] = found.get(usual, 0) + rest
    for meter, count in found.items():
        if count < 0:
            raise UsageListError(
                f"{where}: usage: {meter} would be {count}: input_tokens must hold cache reads, cache writes, audio "
                "and images, and output_tokens must hold audio and images"
            )
    return {
        meter: count
        for meter, count in found.items()
        if count or meter in (Meter.INPUT_UNCACHED, Meter.OUTPUT)
    }
