"""Recorded response bodies of many providers, where they are at hand: our counts against another tool's.

The sample holds bodies that were really answered, each with the counts that genai-prices took from it.
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from pricing.meters import CACHE_READ_METERS, CACHE_WRITE_METERS, INPUT_METERS, OUTPUT_METERS, Meter

SAMPLE = Path(__file__).parents[2].parent / "shared" / "data" / "samples" / "genai-prices_usages_subset.json"

READINGS: dict[str, tuple[str, ...]] = {
    "anthropic": ("anthropic/default",),
    "anthropic-iterations": ("anthropic/default",),
    "bedrock": ("aws/default",),
    "cohere": ("cohere/default", "cohere/embeddings"),
    "gemini": ("google/default",),
    "openai": ("openai/responses", "openai/chat", "openai/embeddings"),
}
"""Importer -> which of the recorded readings is the one of the body's own provider: the first that there is."""

COUNTS: dict[str, tuple[str, ...]] = {
    "input_tokens": tuple(map(str, INPUT_METERS)),
    "output_tokens": tuple(map(str, OUTPUT_METERS)),
    "cache_read_tokens": tuple(map(str, CACHE_READ_METERS)),
    "cache_write_tokens": tuple(map(str, CACHE_WRITE_METERS)),
    "output_reasoning_tokens": ("reasoning",),
    "input_audio_tokens": (str(Meter.AUDIO_INPUT), str(Meter.AUDIO_CACHE_READ)),
    "web_searches": (str(Meter.WEB_SEARCH_CALLS),),
}
"""The other tool's count -> our columns, whose sum it is."""


ADVISER = "the iteration of an adviser model is billed beside the message, whose own counts leave it out"
COMPACTION = (
    "the compaction before the message is billed beside it, and the message's own counts leave it out"
)
MISTRAL = (
    "the other tool does not know num_cached_tokens, which Mistral writes beside the prompt that holds them"
)

DISAGREEMENTS: dict[tuple[int, str], tuple[int, int, str]] = {
    (49, "input_tokens"): (4946, 2417, ADVISER),
    (49, "output_tokens"): (171, 133, ADVISER),
    (50, "input_tokens"): (5046, 2482, ADVISER),
    (50, "output_tokens"): (265, 166, ADVISER),
    (51, "input_tokens"): (55_376, 180, COMPACTION),
    (51, "output_tokens"): (90, 8, COMPACTION),
    (51, "cache_write_tokens"): (55_096, 0, COMPACTION),
    (63, "cache_read_tokens"): (69, 0, MISTRAL),
    (64, "cache_read_tokens"): (69, 0, MISTRAL),
}
"""Place of the body in the sample and the other tool's count -> our value, theirs, and why ours is right."""


def bodies() -> list[dict[str, Any]]:
    if not SAMPLE.is_file():
        pytest.skip(f"the sample {SAMPLE.name} is not at hand")
    return json.loads(SAMPLE.read_text(encoding="utf-8"))


def recorded(entry: dict[str, Any], form: str) -> dict[str, int]:
    """Return the counts that were taken from a body by its own provider's rules."""
    by_reading = {
        f"{extractor['provider_id']}/{extractor['api_flavor']}": group["usage"]
        for group in entry["extracted"]
        for extractor in group["extractors"]
    }
    return next(by_reading[name] for name in READINGS[form] if name in by_reading)


def ours(rows: list[dict[str, Any]]) -> dict[str, int]:
    return {
        name: sum(row.get(column, 0) for row in rows for column in columns)
        for name, columns in COUNTS.items()
    }


def test_counts_are_those_that_another_tool_took(read: Any, tmp_path: Path) -> None:
    entries = bodies()
    log = tmp_path / "log.jsonl"
    lines = [
        json.dumps({"session_id": f"body-{index}", "response": entry["body"]})
        for index, entry in enumerate(entries)
    ]
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in read(log).rows:
        rows[row["session"]].append(row)
    assert rows.keys() == {f"body-{index}" for index in range(len(entries))}
    different = {}
    for index, entry in enumerate(entries):
        mine = rows[f"body-{index}"]
        theirs = recorded(entry, mine[0]["format"])
        for name, value in ours(mine).items():
            if value != theirs.get(name, 0):
                different[index, name] = (value, theirs.get(name, 0))
    assert different == {key: (value, other) for key, (value, other, _) in DISAGREEMENTS.items()}
