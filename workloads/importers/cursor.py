"""Cursor: the export of usage events.

Where it comes from: "Export CSV" of the dashboard's usage page, of one person or of a team.

One row is: a usage event.

Token fields: ``Input (w/ Cache Write)`` are the tokens written to the cache and ``Input (w/o Cache Write)`` those that were
not: two columns that do not overlap; with ``Cache Read`` and ``Output Tokens`` they add up to ``Total Tokens``.

Time zone: UTC; older exports state bare dates, which stay those dates.

What it cannot tell: a write's lifetime (taken as 5 minutes); what an event cost that the plan includes (the cost column
has a word then); which events two exports share (an event has no id: do not load overlapping exports).
"""

from typing import Any, Final

import ibis

from workloads.accounting import CONTRADICTS_SOURCE, NEGATIVE_COUNT, NO_WHOLE_COUNT, is_negative, zero
from workloads.expressions import NO_TEXT, TRUE, is_true
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.table import Table

_WRITTEN: Final = "input_w_cache_write"
_UNCACHED: Final = "input_w_o_cache_write"
_READ: Final = ("cache_read", "cache_read_tokens")
_OUTPUT: Final = ("output_tokens", "output")
_TOTAL: Final = ("total_tokens", "tokens")
_COST: Final = ("cost", "cost_usd", "cost_to_you", "api_cost")
_FREE: Final = "(?i)(no charge|not charged)"


class CursorCsv(TableImporter):
    """Usage events, in all header generations."""

    name = "cursor-csv"
    title = "Cursor: usage events CSV"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"date", _WRITTEN, _UNCACHED} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        text = table.text
        named = [_UNCACHED, _WRITTEN, *(table.first(names) or "" for names in (_READ, _OUTPUT, _TOTAL))]
        uncached, written, reads, output, total = [table.count(name) for name in named]
        money = table.number(table.first(_COST) or "")
        used = zero(uncached) + zero(written) + zero(reads) + zero(output)
        blank = text("date").isnull()
        unreadable = table.unreadable(named[0]) | table.unreadable(named[1]) | table.unreadable(named[3])
        negative = is_negative(uncached, written, reads, output)
        paid = is_true(money > 0)
        free = is_true(text("kind").re_search(_FREE)) & ~paid
        nothing = (used == 0) & ~unreadable & ~paid
        return {
            "fate": ibis.cases(
                (blank | free | nothing, IGNORED), (unreadable | negative, SKIPPED), else_=RECORD
            ),
            "reason": ibis.cases(
                (blank, "row without a date"),
                (free, "failed call that was not charged"),
                (nothing, "event without tokens or charge"),
                (unreadable, NO_WHOLE_COUNT),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            "problem": ibis.cases((is_true(total != used), CONTRADICTS_SOURCE), else_=NO_TEXT),
            **table.time("date"),
            "charge_only": ibis.cases((used == 0, TRUE)),
            "model": text("model"),
            "requests": ibis.cases((used == 0, 0), else_=1).cast("int64"),
            "input_uncached": uncached,
            "cache_read": reads,
            "cache_write_5m": written,
            "output": output,
            "session": text("cloud_agent_id"),
            "application": text("automation_id"),
            "user": _user(table),
            "recorded_cost_usd": money,
        }


def _user(table: Table) -> Any:
    return ibis.coalesce(table.text("user"), table.text("user_email"))


IMPORTERS: Final[tuple[Importer, ...]] = (CursorCsv(),)
