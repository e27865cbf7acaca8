"""Any table whose columns have recognisable names, or are named by the user.

Where it comes from: a CSV, Parquet or flat JSONL that somebody's own code writes.

One row is: a request; a bucket when a column gives the number of requests. A line that says ``Total`` (``Subtotal``, ``Sum``)
instead of a time, a model or a label adds up others and is none.

Token fields: found by name (``workloads.vocabulary``) or by ``--map target=column``. Whether the prompt count holds
the cached part is decided by each row's total where there is one, else by the convention the column names belong to.

Time zone: times without an offset are UTC; bare dates stay that date. Small numbers are seconds since a start that has no
date. ``accepted`` is whether what came of a request was accepted: a word, 1 or 0, and in a bucket a count.

What it cannot tell: whatever has no column.
"""

from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, NO_WHOLE_COUNT, is_negative, split_input, zero
from workloads.expressions import FALSE, NO_TEXT, TRUE, is_true, not_negative, text_of
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.outcomes import ACCEPTED_NAMES, accepted
from workloads.table import Table
from workloads.times import begins_with_date
from workloads.vocabulary import (
    ADDITIVE_NAMES,
    COST_NAMES,
    COUNTS,
    DURATIONS,
    LABELS,
    REQUESTS_NAMES,
    STREAMING_NAMES,
    TIME_NAMES,
)

_ID_NAMES: Final = ("request_id", "response_id", "generation_id", "call_id", "id")
_FAILED: Final = ("error", "failure", "failed", "timeout", "cancelled")
_HTTP_ERROR: Final = 400
_TOTALS: Final = (
    r"(?i)^\W*((grand|sub|overall)?[ _-]*(totals?|sum)|overall|summe|gesamt(summe)?)\W*(\(.*\)\W*)?$"
)
"""What stands instead of a time, a model or a label in a line that adds up others."""
_SMALLEST_EPOCH: Final = 1e8

TARGETS: Final[dict[str, tuple[str, ...]]] = {
    **COUNTS,
    "time": TIME_NAMES,
    **LABELS,
    "requests": REQUESTS_NAMES,
    "recorded_cost_usd": COST_NAMES,
    "streaming": STREAMING_NAMES,
    "accepted": ACCEPTED_NAMES,
    "request_id": _ID_NAMES,
}
"""What ``--map`` can name, and the column names that are recognised for it."""


def find_columns(names: frozenset[str], mapping: dict[str, str]) -> dict[str, str]:
    """Return which column of a table is taken for which target, the user's mapping first.

    Args:
        names: Column names in normal form.
        mapping: Target -> column name in normal form, as the user said.
    """
    taken = set(mapping.values())
    found = dict(mapping)
    for target, synonyms in TARGETS.items():
        if target in found:
            continue
        match = next((name for name in synonyms if name in names and name not in taken), None)
        if match is not None:
            found[target] = match
            taken.add(match)
    return found


class GenericTable(TableImporter):
    """A table with recognisable column names."""

    name = "table"
    title = "Any table with recognisable columns (CSV, JSONL, Parquet), or named with --map"

    def __init__(self, mapping: dict[str, str] | None = None) -> None:
        """Keep the user's own names of columns (target -> column in normal form)."""
        self.mapping = mapping or {}

    def claims_columns(self, names: frozenset[str]) -> bool:
        """Return whether a prompt or output count can be found."""
        found = find_columns(names, self.mapping)
        return "output" in found or "prompt" in found or "input_uncached" in found

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        found = find_columns(frozenset(table.names), self.mapping)
        counts = {name: table.count(found[name]) for name in COUNTS if name in found}
        requests = table.count(found["requests"]) if "requests" in found else ibis.literal(1, type="int64")
        columns: dict[str, Any] = {
            **_fates(table, found, counts),
            **(_times(table, found["time"]) if "time" in found else {}),
            **{name: table.text(found[name]) for name in LABELS if name in found},
            **_seconds(table),
            **_meters(counts, found),
            "requests": requests,
            "dedup_size": ibis.literal(0, type="int64"),
        }
        if "requests" in found:
            columns["bucket_seconds"] = ibis.cases((requests > 1, 0), else_=ibis.null("int64"))
        if "streaming" in found:
            columns["streaming"] = table.text(found["streaming"]).lower().isin(("true", "1", "yes"))
        if "accepted" in found:
            columns["accepted"] = accepted(table.text(found["accepted"]), requests)
        if "recorded_cost_usd" in found:
            columns["recorded_cost_usd"] = table.number(found["recorded_cost_usd"])
        if "request_id" in found:
            columns["dedup_group"] = table.text(found["request_id"])
            columns["dedup_key"] = _replay_key(table, found)
        return columns


def _fates(table: Table, found: dict[str, str], counts: dict[str, Any]) -> Columns:
    header = FALSE
    unreadable = FALSE
    blank = TRUE
    for target in counts:
        name = found[target]
        unreadable = unreadable | table.unreadable(name)
        header = header | table.is_header(name)
        blank = blank & table.is_blank(name)
    negative = is_negative(*counts.values())
    failed = FALSE
    if "status" in found:
        status = table.text(found["status"]).lower()
        failed = status.isin(_FAILED) | (status.try_cast("int64") >= _HTTP_ERROR)
    failed = blank & is_true(failed)
    # A line of a log that neither counts tokens nor names a model is no call of one.
    other = blank & (table.is_blank(found["model"]) if "model" in found else TRUE)
    header = is_true(header)
    whole = _adds_up(table, found)
    return {
        "fate": ibis.cases(
            (header | whole | failed | other, IGNORED), (unreadable | negative, SKIPPED), else_=RECORD
        ),
        "reason": ibis.cases(
            (header, "repeated header"),
            (whole, "line that adds up others"),
            (failed, "failed call without usage"),
            (other, "row without token counts"),
            (unreadable, NO_WHOLE_COUNT),
            (negative, NEGATIVE_COUNT),
            else_=NO_TEXT,
        ),
    }


def _adds_up(table: Table, found: dict[str, str]) -> Any:
    """Return whether a row is a total of others, as exports end with, and no request."""
    named = [name for name in ("time", "model", *LABELS) if name in found and table.is_text(found[name])]
    if not named:
        return FALSE
    said = ibis.coalesce(*(table.text(found[name]) for name in named)).re_search(_TOTALS)
    if named[0] != "time":
        return is_true(said)
    # Hardly a row is without a time, and only these need a look at their words.
    timeless = table.time(found["time"])["started_at"].isnull()
    return ibis.cases((timeless, is_true(said)), else_=FALSE)


def _times(table: Table, name: str) -> Columns:
    """Return the time columns; a number that is no epoch of this century is seconds since the start of a trace."""
    times = table.time(name)
    if table.is_time(name):
        return times
    text = table.text(name)
    # To try to read a date as a number is dear.
    number = ibis.cases((begins_with_date(text), ibis.null("float64")), else_=text.try_cast("float64"))
    offset = is_true(number < _SMALLEST_EPOCH)
    at: Columns = {column: ibis.cases((~offset, value)) for column, value in times.items()}
    return {**at, "elapsed_seconds": ibis.cases((offset, number))}


def _seconds(table: Table) -> Columns:
    columns: dict[str, Any] = {}
    for target, synonyms in DURATIONS.items():
        for name, per_second in synonyms:
            if table.has(name):
                columns[target] = table.number(name).cast("float64") / per_second
                break
    return columns


def _meters(counts: dict[str, Any], found: dict[str, str]) -> Columns:
    missing = ibis.null("int64")
    lifetimes = ("cache_write_5m", "cache_write_30m", "cache_write_1h", "cache_write_12h")
    split = [counts[name] for name in lifetimes if name in counts]
    split_sum = sum((zero(count) for count in split[1:]), zero(split[0])) if split else None
    # A general write count holds its split by lifetime; the rest of it has the short lifetime.
    written = counts.get("cache_write", split_sum)
    columns: dict[str, Any] = {name: counts[name] for name in lifetimes if name in counts}
    if "cache_write" in counts:
        longer = sum((zero(counts[name]) for name in lifetimes[1:] if name in counts), ibis.literal(0))
        columns["cache_write_5m"] = not_negative(counts["cache_write"] - longer)
    if "input_uncached" in counts:
        columns["input_uncached"], columns["cache_read"] = (
            counts["input_uncached"],
            counts.get("cache_read", missing),
        )
    elif "prompt" in counts:
        additive = found.get("cache_read") in ADDITIVE_NAMES and found["prompt"] == "input_tokens"
        columns["input_uncached"], columns["cache_read"], columns["problem"] = split_input(
            counts["prompt"],
            cached=counts.get("cache_read", missing),
            written=missing if written is None else written,
            output=counts.get("output", missing),
            total=counts.get("total"),
            additive=additive,
        )
    for name in (
        "output",
        "reasoning",
        "audio_input",
        "audio_output",
        "image_input",
        "image_output",
        "web_search_calls",
    ):
        if name in counts:
            columns[name] = counts[name]
    for part, whole in (
        ("audio_input", "input_uncached"), ("image_input", "input_uncached"),
        ("audio_output", "output"), ("image_output", "output"),
    ):  # fmt: skip
        if part in columns and whole in columns:
            columns[whole] = not_negative(columns[whole] - zero(columns[part]))
    return columns


def _replay_key(table: Table, found: dict[str, str]) -> Any:
    parts = [
        text_of(table.text(found[name]))
        for name in ("time", "prompt", "input_uncached", "output")
        if name in found
    ]
    key = parts[0]
    for part in parts[1:]:
        key = key + "|" + part
    return key


IMPORTERS: Final[tuple[Importer, ...]] = (GenericTable(),)
