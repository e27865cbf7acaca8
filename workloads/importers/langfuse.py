"""Langfuse: exports of observations.

Where it comes from: the batch export of the observations page (camelCase columns; newer ones of the events table with
``latencyMs``) as CSV, JSON or JSONL, the blob-storage export (snake_case) as CSV, JSON, JSONL or Parquet, and saved pages
of the API (``{"data": [...]}``).

One row is: an observation. Generations and embeddings are calls, and so is whatever else carries usage; spans, events,
tools and agents are not, and do not repeat what is below them. Exports overlap: of one id the newest stays.

Token fields: ``usageDetails`` maps names to counts. The names are free, and DISJOINT by rule: ``input`` is what no finer
name counts (``input_cached_tokens``, ``input_cache_creation_1h``, ``input_audio``, ...), ``output`` likewise
(``output_reasoning``, ...), and ``total`` is their sum. Code that reports by itself may write an inclusive ``input`` or
``output`` beside the finer names: the row's ``total`` decides, for each side on its own.

Time zone: UTC, with or without offset. In CSV a date is quoted twice.

What it cannot tell: whether finer names lie inside the base name, when ``total`` is absent or was summed by the server.
Usage in other units (characters, seconds) is told as a problem. A cost of 0 means that no price was found.
"""

import re
from collections.abc import Callable
from typing import Any, Final

import ibis

from pricing.units import MILLISECONDS_PER_SECOND
from workloads.accounting import LARGEST_COUNT, NEGATIVE_COUNT, NO_WHOLE_COUNT, split_input, zero
from workloads.expressions import NO_TEXT, TRUE, is_true, unless_among
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.prefix_texts import text_step, told_by_text
from workloads.raw import time_columns
from workloads.table import Table
from workloads.times import seconds_between

UNKNOWN_USAGE: Final = "usage_of_unknown_kind"
"""Problem of a row with usage under a name that is neither input nor output."""

_CALLS: Final = ("GENERATION", "EMBEDDING")
_STANDARD: Final = ("auto", "default", "standard", "on_demand")

_KINDS: Final = (
    ("total", r'^"?total(_?tokens|_?token_?count|_?usage)?"?[:=]'),
    ("searches", r"^[^:=]*web_?search"),
    ("write_1h", r"^[^:=]*cache[^:=]*(creat|writ)[^:=]*1h"),
    ("write_5m", r"^[^:=]*cache[^:=]*(creat|writ)[^:=]*5m"),
    ("write", r"^[^:=]*cache[^:=]*(creat|writ)"),
    ("cached_audio", r"^[^:=]*cache[^:=]*audio"),
    ("cached", r"^[^:=]*cache"),
    ("reasoning", r"^[^:=]*(reason|thought|thinking)"),
    ("output", r'^"?(output|completion|candidates)(_?tokens?)?(_?count)?"?[:=]'),
    ("audio_output", r"^[^:=]*(output|completion|candidates)[^:=]*audio"),
    ("image_output", r"^[^:=]*(output|completion|candidates)[^:=]*image"),
    ("output_part", r"^[^:=]*(output|completion|candidates|response)"),
    ("input", r'^"?(input|prompt)(_?tokens?)?(_?count)?"?[:=]'),
    ("audio_input", r"^[^:=]*(input|prompt)[^:=]*audio"),
    ("image_input", r"^[^:=]*(input|prompt)[^:=]*image"),
    ("input_part", r"^[^:=]*(input|prompt)"),
)
"""What a name of the usage map counts; the first pattern that fits decides. ``part`` is text under a finer name."""

_USUAL: Final = (
    "input",
    "output",
    "total",
    "input_cached_tokens",
    "output_reasoning_tokens",
    "output_reasoning",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
"""Names that are mostly met: their kinds are known before, since trying pattern after pattern on every pair is dear."""

_BESIDE: Final = ("write_5m", "write_1h", "cached_audio", "audio_input", "image_input")
_PARTS_OUT: Final = ("reasoning", "audio_output", "image_output", "output_part")
_SUMS: Final = {
    "split": ("write_5m", "write_1h"),
    "text": ("input", "input_part"),
    "beside": _BESIDE,
    "parts": ("input_part", "cached", *_BESIDE),
    "parts_output": _PARTS_OUT,
    "all_output": ("output", *_PARTS_OUT),
}
"""Sums over several kinds."""


class LangfuseObservations(TableImporter):
    """Observations."""

    name = "langfuse"
    title = "Langfuse observations (CSV, JSON, JSONL, Parquet)"
    keys = (
        *("type", "usageDetails", "totalCost", "updatedAt", "endTime"),
        *("level", "userId", "sessionId", "modelParameters"),
    )

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"usage_details", "type", "id"} <= names and bool({"trace_id", "cost_details"} & names)

    def steps(self, table: Table) -> Columns:
        """See ``TableImporter.steps``."""
        texts = text_step(table, "input")
        if not table.has_step("pairs"):
            return {"pairs": _pairs(table.json("usage_details").cast("string")), **texts}
        pairs = table.step("pairs")
        if table.has_step("total"):
            return _judged(table.step)
        least = pairs.map(_count).mins()
        most = pairs.map(_count).maxs()
        return {
            **texts,
            "used": is_true(pairs.length() > 0),
            "unreadable": is_true(pairs.filter(_is_unreadable).length() > 0),
            "damaged": is_true((least < 0) | (most > LARGEST_COUNT)),
            **{kind: _sum_of(pairs, (kind,)) for kind in (*dict(_KINDS), "unknown")},
            **{name: _sum_of(pairs, kinds) for name, kinds in _SUMS.items()},
        }

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text = table.text
        kind, used, damaged = text("type").upper(), table.step("used"), table.step("damaged")
        no_json = text("usage_details").notnull() & table.json("usage_details").isnull()
        # The counts are found by their names, and an object among them has names of its own.
        unreadable = table.step("unreadable") | is_true(text("usage_details").re_search(r"[:=]\s*[\[{]"))
        start, end = _time(table, "start_time"), _time(table, "end_time")
        first, updated = _time(table, "completion_start_time"), _time(table, "updated_at")
        other = ~is_true(kind.isin(_CALLS)) & ~used & ~no_json
        failed = ~used & is_true(text("level").upper() == "ERROR") & ~no_json
        latency = ibis.coalesce(
            table.number("latency").cast("float64"),
            table.number("latency_ms").cast("float64") / MILLISECONDS_PER_SECOND,
            seconds_between(start["started_at"], end["started_at"]),
        )
        newest = ibis.coalesce(updated["started_at"], end["started_at"], start["started_at"])
        bad = no_json | unreadable | damaged
        columns = {
            "fate": ibis.cases((bad, SKIPPED), (other | failed, IGNORED), else_=RECORD),
            "reason": ibis.cases(
                (no_json, "the usage is no JSON object"),
                (unreadable, NO_WHOLE_COUNT),
                (damaged, NEGATIVE_COUNT),
                (other, "observation that is no model call"),
                (failed, "failed call without usage"),
                else_=NO_TEXT,
            ),
            **_meters(table.step),
            **start,
            "model": ibis.coalesce(
                text("provided_model_name"), text("model"), text("internal_model_id"), text("model_id")
            ),
            "service_tier": unless_among(table.json("model_parameters")["service_tier"].str, _STANDARD),
            "requests": ibis.literal(1, type="int64"),
            "project": text("project_id"),
            "environment": text("environment").nullif("default"),
            "application": text("trace_name"),
            "endpoint": text("name"),
            "session": ibis.coalesce(text("session_id"), text("trace_id")),
            "user": text("user_id"),
            "status": ibis.cases((text("level").upper() == "ERROR", "error"), else_=NO_TEXT),
            "ttft_seconds": _first_token(table, start["started_at"], first["started_at"]),
            "duration_seconds": latency,
            "recorded_cost_usd": table.number("total_cost").nullif(0),
            "dedup_group": text("id"),
            "dedup_size": ibis.coalesce(newest.epoch_seconds().cast("int64"), 0),
        }
        return columns | told_by_text(table, "input", columns)


def _time(table: Table, name: str) -> dict[str, Any]:
    """Return the time columns; the CSV writer quotes dates twice, so the quotes are part of the cell."""
    if not table.has(name):
        return {"started_at": ibis.null("timestamp"), "usage_date": ibis.null("date")}
    if table.raw[table.names[name]].type().is_temporal():
        return table.time(name)
    return time_columns(table.text(name).replace('"', ""))


def _first_token(table: Table, start: Any, first: Any) -> Any:
    told = table.number("time_to_first_token").cast("float64")
    told_ms = table.number("time_to_first_token_ms").cast("float64") / MILLISECONDS_PER_SECOND
    return ibis.coalesce(told, told_ms, seconds_between(start, first))


def _pairs(text: Any) -> Any:
    """Return the counts of a usage map, each with what its name says it counts.

    Args:
        text: The map as JSON text: ``{"input": 10, ...}``, a flat object of numbers.
    """
    return text.lower().re_replace(r"[{}\s]", "").split(",").map(_pair).filter(_says_something)


def _pair(pair: Any) -> Any:
    usual = ((pair.startswith(name), kind) for name, kind in _usual_kinds().items())
    others = ((pair.re_search(pattern), kind) for kind, pattern in _KINDS)
    count = pair.re_extract(r'[:=]"?(-?[0-9.]+(e[+-]?[0-9]+)?)"?$', 1).try_cast("float64")
    return ibis.struct({"kind": ibis.cases(*usual, *others, else_="unknown"), "count": count, "text": pair})


def _usual_kinds() -> dict[str, str]:
    names = [f'"{name}":' for name in _USUAL]
    return {name: next(kind for kind, pattern in _KINDS if re.search(pattern, name)) for name in names}


def _says_something(pair: Any) -> Any:
    count, text = pair["count"], pair["text"]
    return ibis.cases((count.isnull(), ~((text == "") | text.re_search(r"[:=](null)?$"))), else_=TRUE)


def _is_unreadable(pair: Any) -> Any:
    return pair["count"].isnull()


def _count(pair: Any) -> Any:
    return pair["count"]


def _sum_of(pairs: Any, kinds: tuple[str, ...]) -> Any:
    """Return the sum of the counts of some kinds; null when there is none."""

    def is_one(pair: Any) -> Any:
        return pair["kind"].isin(kinds)

    return pairs.filter(is_one).map(_count).sums().try_cast("int64")


def _judged(count: Callable[[str], Any]) -> Columns:
    """Return the writes of no told lifetime, and whether the base names hold the finer ones, by the row's total."""
    total, base, answer = count("total"), count("input"), count("output")
    split, flat = count("split"), count("write")
    # A count of all writes beside its split by lifetime repeats it, unless the total holds both.
    whole = zero(base) + zero(count("parts")) + zero(flat) + zero(count("all_output"))
    repeated = is_true((flat == split) & (split > 0) & ~is_true(total == whole))
    flat = ibis.cases((~repeated, flat))
    inside, inside_out = zero(count("parts")) + zero(flat), zero(count("parts_output"))
    whole_in, whole_out = _inclusive(total, (base, inside), (answer, inside_out))
    return {"flat": flat, "whole_in": whole_in, "whole_out": whole_out}


def _meters(count: Callable[[str], Any]) -> Columns:
    """Return the token columns of the counts by kind."""
    flat, whole_in = count("flat"), count("whole_in")
    audio_out, image_out = count("audio_output"), count("image_output")
    output = ibis.cases((count("whole_out"), count("output")), else_=count("all_output"))
    uncached, reads, problem = split_input(
        ibis.cases((whole_in, count("input")), else_=count("text")),
        cached=count("cached"),
        written=zero(count("beside")) + zero(flat),
        output=output,
        total=None,
        additive=~whole_in,
    )
    written = zero(count("write_5m")) + zero(flat)
    return {
        "problem": ibis.cases((is_true(count("unknown") != 0), UNKNOWN_USAGE), else_=problem),
        "input_uncached": uncached,
        "cache_read": reads,
        "cache_write_5m": ibis.cases((count("write_5m").notnull() | flat.notnull(), written)),
        "cache_write_1h": count("write_1h"),
        "audio_input": count("audio_input").nullif(0),
        "audio_cache_read": count("cached_audio").nullif(0),
        "image_input": count("image_input").nullif(0),
        "output": output - zero(audio_out) - zero(image_out),
        "audio_output": audio_out.nullif(0),
        "image_output": image_out.nullif(0),
        "reasoning": count("reasoning"),
        "web_search_calls": count("searches").nullif(0),
    }


def _inclusive(total: Any, prompt: tuple[Any, Any], answer: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return whether the base names of the input and of the output hold the finer ones, by the row's total.

    Args:
        total: The total as reported; null when not reported.
        prompt: Count of the base name of the input, and sum of its finer names.
        answer: The same of the output.
    """
    (base, inside), (base_out, inside_out) = prompt, answer
    everything = zero(base) + inside + zero(base_out) + inside_out
    can_in = is_true((inside > 0) & (base >= inside))
    can_out = is_true((inside_out > 0) & (base_out >= inside_out))
    disjoint = is_true(total == everything)
    only_in = can_in & is_true(total == everything - inside)
    only_out = can_out & is_true(total == everything - inside_out)
    both = can_in & can_out & is_true(total == everything - inside - inside_out)
    return ~disjoint & (only_in | both), ~disjoint & ((only_out & ~only_in) | both)


IMPORTERS: Final[tuple[Importer, ...]] = (LangfuseObservations(),)
