"""vLLM: the throughput lines of the server's log.

Where it comes from: what ``vllm serve`` prints, a line every ten seconds or so while there is work: ``Avg prompt
throughput: 123.4 tokens/s, Avg generation throughput: 56.7 tokens/s, ...``.

One row is: a line. A throughput line is a bucket of unknown many requests.

Token fields: tokens are throughput x interval, so they are estimates, and every row says so. The interval is the median
distance of an engine's lines (ten seconds for a single one). Prompt tokens INCLUDE what the prefix cache gave; its hit
rate in the line is an average over many requests from before and is not used.

Time zone: the log has the server's local time without a year: rows keep the seconds since the first line. With an ISO
time in front of the line (``docker logs -t``) that is taken; without an offset it counts as UTC.

What it cannot tell: requests, cached tokens, users. The model is the one that the server said it loads. Scrapes of
``/metrics`` tell more: prefer them.
"""

from collections.abc import Sequence
from typing import Any, Final

import ibis

from pricing.units import SECONDS_PER_DAY
from workloads.expressions import NO_TEXT, not_negative, to_whole
from workloads.importers import Columns, Importer, TextImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Lines
from workloads.times import seconds_between

FROM_THROUGHPUT: Final = "tokens_from_throughput"
"""Problem of every row: its tokens are a rate times an interval."""

_MARK: Final = "Avg prompt throughput:"
_PROMPT: Final = r"Avg prompt throughput: ([0-9.]+) tokens/s"
_OUTPUT: Final = r"Avg generation throughput: ([0-9.]+) tokens/s"
_ENGINE: Final = r"([A-Za-z0-9_ ]+): Avg prompt throughput"
_MODEL: Final = r"(?:\bmodel=|--model[ =]|'model(?:_tag)?': )'?([^', )]+)"
_ISO: Final = r"^(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d{1,6})?)\d*(Z|[+-]\d\d:?\d\d)?"
_MONTH_DAY: Final = r"\b(\d\d-\d\d \d\d:\d\d:\d\d)\b"
_ANY_LEAP_YEAR: Final = "2000-"
_DEFAULT_SECONDS: Final = 10.0
_YEAR_SECONDS: Final = 366 * SECONDS_PER_DAY
"""From one new year to the next in a leap year, which is where months and days without a year are put."""


class VllmLog(TextImporter):
    """The server's log."""

    name = "vllm-log"
    title = "vLLM server log (throughput lines; tokens are estimates)"

    def claims_lines(self, lines: Sequence[str]) -> bool:
        """See ``TextImporter.claims_lines``."""
        return any(_MARK in line and "Avg generation throughput:" in line for line in lines)

    def steps(self, lines: Lines) -> Columns:
        """See ``TextImporter.steps``."""
        text = lines.text
        if not lines.has_step("vllm_at"):
            iso = text.re_extract(_ISO, 1) + text.re_extract(_ISO, 2)
            calendar = iso.nullif("").try_cast("timestamp('UTC')").cast("timestamp")
            bare = (_ANY_LEAP_YEAR + text.re_extract(_MONTH_DAY, 1).nullif("")).try_cast("timestamp")
            return {
                "vllm_at": ibis.coalesce(calendar, bare),
                "vllm_calendar": calendar.notnull(),
                "vllm_engine": text.re_extract(_ENGINE, 1).strip(),
                "vllm_model": text.re_extract(_MODEL, 1).nullif(""),
                "vllm_rate": text.contains(_MARK),
            }
        engine = [lines.file, lines.step("vllm_rate"), lines.step("vllm_engine")]
        if not lines.has_step("vllm_gap"):
            before = lines.step("vllm_at").lag().over(ibis.window(group_by=engine, order_by=lines.row))
            gap = seconds_between(before, lines.step("vllm_at"))
            so_far = ibis.window(group_by=lines.file, order_by=lines.row, following=0)
            return {
                "vllm_gap": gap.nullif(0.0),
                "vllm_first": lines.step("vllm_at").first().over(so_far),
                "vllm_models": lines.step("vllm_model").count().over(so_far),
            }
        interval = lines.step("vllm_gap").median().over(ibis.window(group_by=engine))
        turn = ibis.window(group_by=[lines.file, lines.step("vllm_models")])
        return {
            "vllm_interval": ibis.coalesce(interval, _DEFAULT_SECONDS),
            "vllm_loaded": lines.step("vllm_model").max().over(turn),
        }

    def ledger_of_lines(self, lines: Lines) -> Columns:
        """See ``TextImporter.ledger_of_lines``."""
        interval = lines.step("vllm_interval")
        prompt, output = (_tokens(lines.text, pattern, interval) for pattern in (_PROMPT, _OUTPUT))
        work = lines.step("vllm_rate") & prompt.notnull() & output.notnull()
        idle = work & (prompt == 0) & (output == 0)
        first, at = lines.step("vllm_first"), lines.step("vllm_at")
        elapsed = ibis.coalesce(seconds_between(first, at), _YEAR_SECONDS - seconds_between(at, first))
        start = at - to_whole(interval).as_interval("s")
        calendar = lines.step("vllm_calendar")
        return {
            "fate": ibis.cases(
                (work & ~idle, RECORD), (lines.step("vllm_rate") & ~work, SKIPPED), else_=IGNORED
            ),
            "reason": ibis.cases(
                (idle, "interval without tokens"),
                (work, NO_TEXT),
                (lines.step("vllm_rate"), "a throughput that is no number of tokens"),
                else_="log line without throughput",
            ),
            "problem": ibis.literal(FROM_THROUGHPUT),
            "started_at": ibis.cases((calendar, start)),
            "elapsed_seconds": ibis.cases((~calendar, not_negative(elapsed - interval))),
            "bucket_seconds": to_whole(interval),
            "model": lines.step("vllm_loaded"),
            "input_uncached": prompt,
            "output": output,
        }


def _tokens(text: Any, pattern: str, interval: Any) -> Any:
    rate = text.re_extract(pattern, 1).try_cast("float64")
    return to_whole(rate * interval)


IMPORTERS: Final[tuple[Importer, ...]] = (VllmLog(),)
