"""The request ledger: its columns, their units, and what a missing value means.

One row is one record: a billed request, or a bucket of requests where the source only exports sums. An importer
gives the columns it knows; the rest are absent from the ledger of that run, which means the same as null.

A null count was not reported. It is not zero, and nothing here or later turns it into one.
"""

from typing import Final

from pricing.meters import Meter

RECORD: Final = "record"
"""Fate of a row that becomes a record."""
SKIPPED: Final = "skipped"
"""Fate of a row that should have been a record and could not be read; it is counted with file, line and reason."""
IGNORED: Final = "ignored"
"""Fate of a row that is no request by its source's own rules (a user's message, an idle day, a failed call)."""
DUPLICATE: Final = "duplicate"
"""Fate of a row that repeats a record already counted (a streamed snapshot, a replayed session, a second copy)."""

LEDGER_ROW: Final = "ledger_row"
"""Number of a row among all that a kept ledger ever had; only there."""
ROW_ID: Final = "stored_row"
"""Number of a row in its stored table; only where the rows have more columns than that, see ``workloads.storing``."""
PREFIX_COLUMNS: Final = (
    "log_row",
    "block_hashes",
    "block_tokens",
    "cache_scope",
    "prefix_hash",
    "prefix_tokens",
    "text_hashes",
    "text_block_tokens",
)
"""What cache replay needs and nothing else does."""
TEXTS: Final = "text_hashes"
"""There for every gateway that could keep the texts of prompts, also where it keeps none."""
PREFIX_NAMES: Final = ("block_hashes", "prefix_hash", TEXTS)
"""Those of them that tell what prompts begin with."""
METER_COLUMNS: Final = tuple(str(meter) for meter in Meter)
LABEL_COLUMNS: Final = ("project", "team", "application", "endpoint", "api_key", "environment")
"""What a workload can be grouped by, besides model and source."""

COLUMNS: Final[dict[str, str]] = {
    # provenance
    "source_file": "string",  # path as given; "-" for stdin
    "format": "string",  # name of the importer
    "fate": "string",  # one of the four above
    "reason": "string",  # why it is not a record; null for records
    "problem": "string",  # code of a repaired or doubtful count; null when the row is sound
    # time
    "started_at": "timestamp",  # UTC, naive; null: the source has no calendar time
    "usage_date": "date",  # the day a source states without a time; such a row keeps that day in every zone
    "elapsed_seconds": "float64",  # since the start of a trace that has no calendar
    "charge_only": "boolean",  # money without tokens (a line of a cost export): no request; null: false
    "charge_kind": "string",  # usage, tax, credit, fee, discount, see charge_words; null: usage
    "charge_meter": "string",  # the meter that a charge is for; null: it does not say
    "bucket_seconds": "int64",  # length of the bucket; null: one request
    # what was called
    "provider": "string",  # as logged; null: not stated
    "model": "string",  # as answered, else as asked; null: not stated (or, in a bucket, not grouped by)
    "service_tier": "string",  # as served, else as asked; null: not stated
    "region": "string",
    "requests": "int64",  # 1 for a request; a bucket's count; null: the bucket does not say
    # tokens: disjoint, see pricing.meters
    **dict.fromkeys(METER_COLUMNS, "int64"),
    "reasoning": "int64",  # subset of output
    # whose it is
    **dict.fromkeys(LABEL_COLUMNS, "string"),
    "session": "string",
    "user": "string",
    # how it went
    "stop_reason": "string",
    "status": "string",
    "ttft_seconds": "float64",
    "duration_seconds": "float64",
    "streaming": "boolean",
    "accepted": "int64",  # outcomes that were accepted: 1 or 0 of a request, a bucket's count; null: it does not say
    "recorded_cost_usd": "decimal(38, 12)",  # what the log says it cost; null: it does not say
    # what a prompt begins with, as the source names it; only there where a source does, or a run asks for it
    "log_row": "int64",  # place of the row among those that were read with it
    "block_hashes": "array<int64>",  # names of the prompt's blocks: equal where block and all before it are equal
    "block_tokens": "int64",  # tokens of a block; the last one may have fewer
    "cache_scope": "string",  # within which names mean the same; null: everywhere
    "prefix_hash": "string",  # name of the prefix that the caller asked to have cached
    "prefix_tokens": "int64",  # its size
    "text_hashes": "array<int64>",  # as block_hashes, of the prompt's text: see prefix_texts
    "text_block_tokens": "int64",  # tokens of such a block; the last one may have fewer
    # duplicates: rows equal in format, group and key are one call; the largest is kept, at the time of the first
    "dedup_group": "string",  # identity of the call (a message id); null: never a duplicate
    "dedup_key": "string",  # what tells calls of one group apart; null: nothing
    "dedup_number": "int64",  # as the key, beside it
    "dedup_yields": "boolean",  # goes when a row of its group stays that does not yield
    "dedup_size": "int64",  # larger wins
}
"""Ibis types by column name."""
