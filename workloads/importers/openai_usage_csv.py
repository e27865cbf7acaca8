"""OpenAI: the usage export of the dashboard.

Where it comes from: ``completions_usage_*.csv`` of the usage dashboard.

One row is: a bucket (day, hour or minute) of ``num_model_requests`` calls.

Token fields: ``input_tokens`` INCLUDES cached and cache-write tokens of all modalities; ``input_text_tokens`` and its
siblings are the uncached tokens of that modality. ``output_tokens`` includes reasoning, audio and images.

Time zone: the epoch columns are UTC and authoritative, the ISO columns may lack an offset; a bucket of a day is that
UTC day in every zone.

What it cannot tell: sizes of single requests; reasoning.
"""

from typing import Final

import ibis

from pricing.units import SECONDS_PER_DAY
from workloads.accounting import NEGATIVE_COUNT, NO_WHOLE_COUNT, is_negative, split_input, zero
from workloads.expressions import NO_TEXT, at_most, not_negative
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.table import Table
from workloads.usage_tiers import usage_tier


class OpenAIUsageCsv(TableImporter):
    """The usage dashboard's completions export."""

    name = "openai-usage-csv"
    title = "OpenAI dashboard: completions usage CSV (buckets)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"start_time", "end_time", "num_model_requests", "input_tokens", "output_tokens"} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        count = table.count
        prompt, output = count("input_tokens"), count("output_tokens")
        cached = count("input_cached_tokens")
        written = count("input_cache_write_tokens")
        written_12h = count("input_cache_write_12h_tokens")
        uncached, reads, problem = split_input(
            prompt, cached=cached, written=written, output=output, total=None, additive=False
        )
        idle = table.text("input_tokens").isnull() & table.text("output_tokens").isnull()
        unreadable = table.unreadable("input_tokens") | table.unreadable("output_tokens")
        negative = is_negative(prompt, output, cached, written)
        audio_in, audio_out = count("input_audio_tokens"), count("output_audio_tokens")
        audio_cached = at_most(count("input_cached_audio_tokens"), reads)
        image_in, image_out = count("input_image_tokens"), count("output_image_tokens")
        batch = table.text("batch").lower().isin(("true", "1", "yes"))
        bucket = (table.number("end_time") - table.number("start_time")).cast("int64")
        return {
            "fate": ibis.cases((idle, IGNORED), (unreadable | negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (idle, "idle bucket"),
                (unreadable, NO_WHOLE_COUNT),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            "problem": problem,
            **table.time("start_time"),
            # A bucket of a day is that UTC day in every zone: it cannot be cut anew.
            "usage_date": ibis.cases(
                (bucket >= SECONDS_PER_DAY, table.time("start_time")["started_at"].date()),
                else_=ibis.null("date"),
            ),
            "bucket_seconds": bucket,
            "provider": ibis.literal("openai"),
            "model": table.text("model"),
            "service_tier": usage_tier(batch, table.text("service_tier")),
            "requests": count("num_model_requests"),
            "input_uncached": not_negative(uncached - zero(audio_in) - zero(image_in)),
            "cache_read": reads - zero(audio_cached),
            "audio_cache_read": audio_cached.nullif(0),
            "cache_write_30m": written - zero(written_12h),
            "cache_write_12h": written_12h,
            "audio_input": audio_in.nullif(0),
            "image_input": image_in.nullif(0),
            "output": output - zero(audio_out) - zero(image_out),
            "audio_output": audio_out.nullif(0),
            "image_output": image_out.nullif(0),
            "project": ibis.coalesce(table.text("project_name"), table.text("project_id")),
            "api_key": ibis.coalesce(table.text("api_key_name"), table.text("api_key_id")),
            "user": table.text("user_id"),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (OpenAIUsageCsv(),)
