"""Batches of JSON records that are read by a plan: strictly at first, and with care where that fails."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import ibis

from workloads import relations
from workloads.batches import Batch
from workloads.count_texts import as_texts, counts
from workloads.json_plan import JsonPlan, read_plan
from workloads.odd_counts import find_odd
from workloads.raw import ROW_COLUMN
from workloads.schema import Schema, only, widened
from workloads.sources import InputFile, Kind

Expr = Any
Connection = Any


def planned_batch(files: tuple[InputFile, ...], plan: JsonPlan, *, wide: bool = False) -> Batch:
    """Return the batch that reads JSON records by a plan: strictly at first, and with care where that fails."""
    plan = replace(plan, parts=tuple(replace(part, wide=wide) for part in plan.parts))

    def careful(connection: Connection, some: tuple[InputFile, ...]) -> Batch:
        whole = frozenset(counts(plan.schema))
        texts = as_texts(only(plan.schema, whole | plan.odd), whole)
        odd = find_odd(connection, json_records(connection, some, texts), whole) if whole else frozenset()
        return _batch(some, replace(plan, odd=plan.odd | odd), wide=wide)

    return replace(_batch(files, plan, wide=wide, strict=True), careful=careful)


def _batch(files: tuple[InputFile, ...], plan: JsonPlan, *, wide: bool, strict: bool = False) -> Batch:
    def raw(connection: Connection, some: Sequence[InputFile]) -> Expr:
        schema = widened(plan.schema) if wide else plan.schema
        records = json_records(connection, some, schema, strict=strict)
        return records.mutate(**{ROW_COLUMN: ibis.row_number()}) if plan.ordered else records

    return Batch(files, raw, lambda table: read_plan(plan, table), plan, wide, plan.ordered)


def json_records(
    connection: Connection, files: Sequence[InputFile], schema: Schema, *, strict: bool = False
) -> Expr:
    """Return the records of files of one layout; ``strict`` as in ``workloads.relations``."""
    lines = files[0].kind is Kind.JSON_LINES
    read = relations.json_lines if lines else relations.json_documents
    return read(connection, files, schema, strict=strict)
