"""BurstGPT: the published trace of ChatGPT and GPT-4 calls of a campus.

Where it comes from: ``BurstGPT_*.csv`` of the public dataset, with or without the columns ``Session ID`` and
``Elapsed time``.

One row is: a request. A failed one has no response tokens: nothing was answered, so it is no request here.

Token fields: ``Request tokens`` is the whole prompt (no cache counts), ``Response tokens`` the answer.

Time zone: none; ``Timestamp`` is seconds since midnight of the first day, which has no date.

What it cannot tell: dates, exact model versions, users, caching.
"""

from typing import Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative
from workloads.expressions import NO_TEXT, is_true
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.table import Table


class BurstGPTTrace(TableImporter):
    """The trace files."""

    name = "burstgpt"
    title = "BurstGPT request trace (CSV)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"timestamp", "request_tokens", "response_tokens", "log_type"} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        prompt, output = table.count("request_tokens"), table.count("response_tokens")
        missing = prompt.isnull() | output.isnull()
        negative = is_negative(prompt, output)
        failed = is_true(output == 0)
        return {
            "fate": ibis.cases((missing | negative, SKIPPED), (failed, IGNORED), else_=RECORD),
            "reason": ibis.cases(
                (missing, "a token count is missing or no whole number"),
                (negative, NEGATIVE_COUNT),
                (failed, "failed call without an answer"),
                else_=NO_TEXT,
            ),
            "elapsed_seconds": table.number("timestamp").cast("float64"),
            "model": table.text("model"),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": prompt,
            "output": output,
            "application": table.text("log_type"),
            "session": table.text("session_id"),
            "duration_seconds": table.number("elapsed_time").cast("float64"),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (BurstGPTTrace(),)
