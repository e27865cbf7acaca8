"""Prometheus: scrapes of the counters of vLLM, SGLang, Text Generation Inference and llama.cpp.

Where it comes from: saved answers of ``/metrics``, one scrape a file (read in the order of their names, ``t9`` before
``t10``) or one after another in a file; with times behind the values where something added them.

One row is: a line. Of the counters of one server and model in one scrape the first becomes a bucket that holds them all:
how much they GREW since the scrape before. A counter that fell was restarted, and counts from zero. The first scrape only
says where the counting starts.

Token fields: prompt tokens INCLUDE the hits of the prefix cache (queries and hits count tokens; a prompt that is computed
again after a pre-emption is counted again, so hits may be inflated); where only queries and hits were kept, queries stand
for the prompt. llama.cpp counts only the prompt tokens that it had to read, and no hits.

Time zone: times behind values are epoch milliseconds; without them a bucket has no time and an unknown length.

What it cannot tell: sizes of single requests, users; what was used between the last scrape and a restart. Histograms are
not read.
"""

from collections.abc import Sequence
from typing import Final

import ibis

from workloads.accounting import split_input
from workloads.expressions import NO_TEXT, is_true, to_whole
from workloads.importers import Columns, Importer, TextImporter
from workloads.ledger import IGNORED, RECORD
from workloads.raw import Lines
from workloads.times import parse_instant, seconds_between

RESTARTED: Final = "counter_restarted"
"""Problem of a bucket in which a counter fell: what was used before the restart and after the last scrape is lost."""

_COUNTERS: Final = {
    "prompt": (
        "vllm:prompt_tokens",
        "sglang:prompt_tokens",
        "llamacpp:prompt_tokens",
        "tgi_request_input_length_sum",
    ),
    "output": (
        "vllm:generation_tokens",
        "sglang:generation_tokens",
        "llamacpp:tokens_predicted",
        "tgi_request_generated_tokens_sum",
    ),
    "queries": ("vllm:prefix_cache_queries",),
    "hits": ("vllm:prefix_cache_hits", "sglang:cached_tokens"),
    "old_queries": ("vllm:gpu_prefix_cache_queries",),
    "old_hits": ("vllm:gpu_prefix_cache_hits",),
    "requests": ("vllm:request_success", "sglang:num_requests", "tgi_request_input_length_count"),
}
"""What is counted, and what the servers call it, without ``_total``; the order says which line becomes the bucket."""

_SERVERS: Final = ("vllm:", "sglang:", "llamacpp:", "tgi_")
_LINE: Final = r"^([A-Za-z_:][A-Za-z0-9_:]*?)(?:_total)?(?:\{(.*)\})?\s+(\S+)(?:\s+(\d+))?$"
_DETAIL: Final = r',\s*(?:cache_source|finished_reason|is_streaming)="[^"]*"'
"""Labels that split a counter; their parts are added up."""
_MODEL: Final = r',\s*(?:model_name|model|model_id)="([^"]*)"'
_FILE_NUMBER: Final = r"(\d+)[^0-9]*$"


class PrometheusScrapes(TextImporter):
    """Scrapes in the text format."""

    name = "prometheus"
    spans_files = True
    title = "Prometheus scrapes of vLLM, SGLang, TGI and llama.cpp (growth of counters)"

    def claims_lines(self, lines: Sequence[str]) -> bool:
        """See ``TextImporter.claims_lines``."""
        return any(line.startswith(_SERVERS) and line.rstrip()[-1:].isdigit() for line in lines)

    def steps(self, lines: Lines) -> Columns:
        """See ``TextImporter.steps``."""
        if not lines.has_step("prom_value"):
            return _parsed(lines)
        step = lines.step
        series = [step("prom_name"), step("prom_labels")]
        if not lines.has_step("prom_scrape"):
            nth = ibis.row_number().over(ibis.window(group_by=[lines.file, *series], order_by=lines.row))
            return {"prom_scrape": nth}
        if not lines.has_step("prom_before"):
            order = [
                step("prom_at"),
                step("prom_folder"),
                step("prom_number"),
                lines.file,
                step("prom_scrape"),
            ]
            sequence = ibis.window(group_by=series, order_by=order)
            return {
                "prom_before": step("prom_value").lag().over(sequence),
                "prom_since": step("prom_at").lag().over(sequence),
            }
        bucket = ibis.window(group_by=[lines.file, step("prom_scrape"), step("prom_server")])
        fell = is_true(step("prom_value") < step("prom_before"))
        growth = ibis.cases((fell, step("prom_value")), else_=step("prom_value") - step("prom_before"))
        kind = step("prom_kind")
        sums = {
            f"prom_{name}": to_whole(ibis.cases((kind == name, growth)).sum().over(bucket))
            for name in _COUNTERS
        }
        place = ibis.window(
            group_by=[lines.file, step("prom_scrape"), step("prom_server")],
            order_by=[ibis.coalesce(step("prom_rank"), len(_COUNTERS)), lines.row],
        )
        return {
            **sums,
            "prom_fell": is_true((fell & kind.notnull()).any().over(bucket)),
            "prom_place": ibis.row_number().over(place),
        }

    def ledger_of_lines(self, lines: Lines) -> Columns:
        """See ``TextImporter.ledger_of_lines``."""
        step = lines.step
        output = step("prom_output")
        # Some versions write the counters of the prefix cache under both names.
        whole = ibis.coalesce(step("prom_prompt"), step("prom_queries"), step("prom_old_queries"))
        hits = ibis.coalesce(step("prom_hits"), step("prom_old_hits"))
        uncached, reads, problem = split_input(
            whole, cached=hits, written=ibis.null("int64"), output=output, total=None, additive=False
        )
        counter, chosen = step("prom_kind").notnull(), step("prom_place") == 0
        first = whole.isnull() & output.isnull()
        idle = is_true(ibis.coalesce(whole, 0) + ibis.coalesce(output, 0) == 0)
        return {
            "fate": ibis.cases((counter & chosen & ~first & ~idle, RECORD), else_=IGNORED),
            "reason": ibis.cases(
                (~counter, "metric that counts no tokens"),
                (~chosen, "counted in the bucket of its scrape"),
                (first, "first scrape: nothing to compare with"),
                (idle, "no tokens since the scrape before"),
                else_=NO_TEXT,
            ),
            "problem": ibis.cases((step("prom_fell"), RESTARTED), else_=problem),
            "started_at": step("prom_since"),
            "bucket_seconds": ibis.coalesce(
                to_whole(seconds_between(step("prom_since"), step("prom_at"))), 0
            ),
            "model": step("prom_server").re_extract(_MODEL, 1).nullif(""),
            "requests": step("prom_requests"),
            "input_uncached": uncached,
            "cache_read": reads,
            "output": output,
        }


def _parsed(lines: Lines) -> Columns:
    """Return what a line says: counter, labels, value, time; and where its file comes in the order of files."""
    text = lines.text
    name, labels = text.re_extract(_LINE, 1), text.re_extract(_LINE, 2)
    kinds = {known: kind for kind, group in _COUNTERS.items() for known in group}
    ranks = {known: rank for rank, group in enumerate(_COUNTERS.values()) for known in group}
    return {
        "prom_name": name,
        "prom_labels": labels,
        "prom_server": (name.re_extract("^[a-z]+", 0) + "," + labels).re_replace(_DETAIL, ""),
        "prom_kind": ibis.cases(*[(name == known, kind) for known, kind in kinds.items()]),
        "prom_rank": ibis.cases(*[(name == known, rank) for known, rank in ranks.items()]),
        "prom_value": text.re_extract(_LINE, 3).try_cast("float64"),
        "prom_at": parse_instant(text.re_extract(_LINE, 4).nullif("")),
        "prom_folder": lines.file.re_replace(_FILE_NUMBER, ""),
        "prom_number": lines.file.re_extract(_FILE_NUMBER, 1).try_cast("int64"),
    }


IMPORTERS: Final[tuple[Importer, ...]] = (PrometheusScrapes(),)
