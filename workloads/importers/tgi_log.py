"""Text Generation Inference: the router's log.

Where it comes from: what ``text-generation-router`` prints, as text: a line that ends in ``Success`` for each request,
with its times in a span.

One row is: a line; only the ``Success`` lines are requests.

Token fields: the log has none. The output is worked out, and every row says so: the server divides ``inference_time`` by
the generated tokens to get ``time_per_token``, so their quotient is the count. Prompt tokens stay unknown; forks that
write ``prompt_tokens`` and ``generated_tokens`` into the span are read as they say.

Time zone: the time in front of a line is UTC.

What it cannot tell: the model, prompt tokens, cached tokens, users. Scrapes of ``/metrics`` have the prompt's sums.
"""

from collections.abc import Sequence
from typing import Any, Final

import ibis

from pricing.units import MICROSECONDS_PER_SECOND
from workloads.expressions import NO_TEXT, to_whole
from workloads.importers import Columns, Importer, TextImporter
from workloads.ledger import IGNORED, RECORD
from workloads.raw import Lines
from workloads.times import parse_instant

FROM_TIMES: Final = "output_from_times"
"""Problem of a row whose output is a quotient of two times."""

_SECONDS: Final = {"ns": 1e-9, "µs": 1e-6, "us": 1e-6, "ms": 1e-3, "s": 1.0}
_STARTED: Final = r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,6})?)"


class TgiLog(TextImporter):
    """The router's log."""

    name = "tgi-log"
    title = "Text Generation Inference router log (output tokens from times)"

    def claims_lines(self, lines: Sequence[str]) -> bool:
        """See ``TextImporter.claims_lines``."""
        return any('inference_time="' in line and 'time_per_token="' in line for line in lines)

    def ledger_of_lines(self, lines: Lines) -> Columns:
        """See ``TextImporter.ledger_of_lines``."""
        text = lines.text
        request = text.contains('time_per_token="') & text.endswith("Success")
        total, each = _seconds(text, "total_time"), _seconds(text, "time_per_token")
        counted = _count(text, "generated_tokens")
        worked_out = to_whole(_seconds(text, "inference_time") / each.nullif(0.0))
        return {
            "fate": ibis.cases((request, RECORD), else_=IGNORED),
            "reason": ibis.cases((request, NO_TEXT), else_="log line that is no answered request"),
            "problem": ibis.cases((counted.isnull() & worked_out.notnull(), FROM_TIMES), else_=NO_TEXT),
            "started_at": _start(text, total),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": _count(text, "prompt_tokens"),
            "output": ibis.coalesce(counted, worked_out),
            "duration_seconds": total,
            "endpoint": text.re_extract(r"\bINFO ([a-z_]+)\{", 1).nullif(""),
            "streaming": text.contains("generate_stream{"),
        }


def _seconds(text: Any, name: str) -> Any:
    """Return a duration as Rust writes it (``1.5s``, ``12.3ms``, ``45µs``) in seconds."""
    pattern = name + r'="([0-9.]+)(ns|µs|us|ms|s)"'
    unit = text.re_extract(pattern, 2)
    factor = ibis.cases(*[(unit == word, value) for word, value in _SECONDS.items()])
    return text.re_extract(pattern, 1).try_cast("float64") * factor


def _count(text: Any, name: str) -> Any:
    return text.re_extract(r"\b" + name + r'="(?:Some\()?(\d+)', 1).try_cast("int64")


def _start(text: Any, total: Any) -> Any:
    """Return when the request began: the line is written when it ends."""
    ended = parse_instant(text.re_extract(_STARTED, 1).nullif(""))
    return ended - to_whole(ibis.coalesce(total, 0.0) * MICROSECONDS_PER_SECOND).as_interval("us")


IMPORTERS: Final[tuple[Importer, ...]] = (TgiLog(),)
