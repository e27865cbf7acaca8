"""Azure: the published LLM inference traces.

Where it comes from: ``AzureLLMInferenceTrace_*.csv`` of Azure's public dataset (2023, 2024; 2025 with images).

One row is: a request.

Token fields: ``ContextTokens`` is the whole prompt (no cache counts), ``GeneratedTokens`` the answer.

Time zone: none is stated; taken as UTC.

What it cannot tell: model, user, errors, caching.
"""

from typing import Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative
from workloads.expressions import NO_TEXT
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import RECORD, SKIPPED
from workloads.table import Table


class AzureTrace(TableImporter):
    """The trace files."""

    name = "azure-trace"
    title = "Azure LLM inference trace (CSV)"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {"timestamp", "context_tokens", "generated_tokens"} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        prompt, output = table.count("context_tokens"), table.count("generated_tokens")
        missing = prompt.isnull() | output.isnull()
        negative = is_negative(prompt, output)
        return {
            "fate": ibis.cases((missing | negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (missing, "a token count is missing or no whole number"),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            **table.time("timestamp"),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": prompt,
            "output": output,
        }


IMPORTERS: Final[tuple[Importer, ...]] = (AzureTrace(),)
