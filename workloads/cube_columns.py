"""Ledger columns as the cube needs them: a column that a run's sources do not give reads as typed nulls."""

from collections.abc import Sequence
from typing import Any

import ibis

from pricing.meters import INPUT_METERS, OUTPUT_METERS, Meter
from workloads.ledger import COLUMNS

Expr = Any


def column(ledger: Expr, name: str) -> Expr:
    """Return a ledger column, or nulls of its type when the run has none."""
    return ledger[name] if name in ledger.columns else ibis.null(COLUMNS[name])


def present_meters(ledger: Expr) -> list[Meter]:
    """Return the meters that the run's sources give."""
    return [meter for meter in Meter if str(meter) in ledger.columns]


def total(ledger: Expr, meters: Sequence[Meter]) -> Expr:
    """Return the sum of some meters of each record; null when the record reports none of them."""
    counts = [ledger[str(meter)] for meter in meters if str(meter) in ledger.columns]
    if not counts:
        return ibis.null("int64")
    known = counts[0].notnull()
    amount = ibis.coalesce(counts[0], 0)
    for count in counts[1:]:
        known = known | count.notnull()
        amount = amount + ibis.coalesce(count, 0)
    return ibis.cases((known, amount), else_=ibis.null("int64"))


def with_sizes(ledger: Expr) -> Expr:
    """Return the ledger with ``input_tokens`` (whole prompt) and ``output_tokens`` of each record."""
    return ledger.mutate(input_tokens=total(ledger, INPUT_METERS), output_tokens=total(ledger, OUTPUT_METERS))
