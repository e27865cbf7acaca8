"""What every row of a FOCUS file must keep, checked before it is written; ``focus-validator`` misses half of it."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from typing import Any, Final, cast

from advisor.render.focus_columns import ALLOWED, COLUMNS, MANDATORY, MAY_BE_NULL, NUMBER, TIME
from advisor.render.focus_rows import is_formula
from pricing.rules import EXACT

Row = Mapping[str, str]

_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_NUMBER: Final = re.compile(r"-?\d+\.\d+")
_CURRENCY: Final = re.compile(r"[A-Z]{3}")
_UNIT: Final = re.compile(r"(?:(\d+) )?((?:[A-Z][A-Za-z]*-)?[A-Z][A-Za-z]*s)")
_STANDARD_DETAILS: Final = frozenset(
    ("CoreCount", "DiskMaxIops", "DiskSpace", "DiskType", "GpuCount", "InstanceType", "InstanceSeries")
)
"""Keys of price details that FOCUS defines; all others begin with x_."""
_REMEMBERED: Final = 1 << 17
"""Cells of a file are mostly the same: what is wrong with that many is found out once."""
_PRODUCTS: Final = (
    ("ListCost", "ListUnitPrice"),
    ("ContractedCost", "ContractedUnitPrice"),
)


def faults(rows: Iterable[Row]) -> Iterator[str]:
    """Yield what is wrong with rows, a sentence each: row (1 is the first below the header), column, value, rule."""
    for number, row in enumerate(rows, 1):
        for fault in row_faults(row):
            yield f"row {number}: {fault}"


def row_faults(row: Row) -> Iterator[str]:
    """Yield what is wrong with one row; an absent column is a fault where FOCUS has it mandatory."""
    for name in MANDATORY:
        if name not in row:
            yield f"{name}: the column is missing"
        elif not row[name] and name not in MAY_BE_NULL:
            yield f"{name}: is empty, and must not be"
    for name, cell in row.items():
        yield from _cell_faults(name, cell)
    yield from _money_faults(row)
    yield from _period_faults(row)
    yield from _usage_faults(row)


@lru_cache(_REMEMBERED)
def _cell_faults(name: str, cell: str) -> tuple[str, ...]:
    return tuple(_cell_faults_of(name, cell))


def _cell_faults_of(name: str, cell: str) -> Iterator[str]:
    if name not in COLUMNS and not name.startswith("x_") and not name[:1].isupper():
        yield f"{name}: a column of one's own begins with x_"
    if not cell:
        return
    kind = COLUMNS.get(name)
    if is_formula(cell):
        yield f"{name}: {cell!r:.60} would be a formula in a spreadsheet"
    if kind == NUMBER and not _NUMBER.fullmatch(cell):
        yield f"{name}: {cell!r:.60} is not a decimal such as 5.0"
    if kind == TIME and not _TIME.fullmatch(cell):
        yield f"{name}: {cell!r:.60} is not an instant such as 2026-10-01T00:00:00Z"
    if name in ALLOWED and cell not in ALLOWED[name]:
        yield f"{name}: {cell!r:.60} is not allowed: {', '.join(sorted(ALLOWED[name]))}"
    if name in ("BillingCurrency", "PricingCurrency") and not _CURRENCY.fullmatch(cell):
        yield f"{name}: {cell!r:.60} is not a currency such as USD"
    if name in ("PricingUnit", "ConsumedUnit") and not _UNIT.fullmatch(cell):
        yield f"{name}: {cell!r:.60} is not a unit such as Tokens or 1000000 Tokens"
    if name in ("Tags", "SkuPriceDetails"):
        yield from _json_faults(name, cell)


def _json_faults(name: str, cell: str) -> Iterator[str]:
    try:
        value: Any = json.loads(cell)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        yield f"{name}: {cell!r:.60} is not a JSON object"
    elif name == "SkuPriceDetails":
        for key in cast("dict[str, Any]", value):
            if not key.startswith("x_") and key not in _STANDARD_DETAILS:
                yield f"{name}: the key {key!r:.60} must begin with x_"


def _money_faults(row: Row) -> Iterator[str]:
    quantity = _number(row, "PricingQuantity")
    for cost_name, price_name in _PRODUCTS:
        cost, price = _number(row, cost_name), _number(row, price_name)
        if None not in (cost, price, quantity) and cost != EXACT.multiply(price or 0, quantity or 0):
            yield f"{cost_name}: {cost} is not {price_name} {price} x PricingQuantity {quantity}"
    consumed, pricing = (
        _UNIT.fullmatch(row.get("ConsumedUnit", "")),
        _UNIT.fullmatch(row.get("PricingUnit", "")),
    )
    used = _number(row, "ConsumedQuantity")
    if consumed and pricing and consumed[2] == pricing[2] and used is not None and quantity is not None:
        sizes = [Decimal(unit[1] or 1) for unit in (consumed, pricing)]
        if EXACT.multiply(used, sizes[0]) != EXACT.multiply(quantity, sizes[1]):
            yield f"ConsumedQuantity: {used} {row['ConsumedUnit']} are not {quantity} x {row['PricingUnit']}"


def _period_faults(row: Row) -> Iterator[str]:
    spans: dict[str, tuple[datetime, datetime]] = {}
    for name in ("ChargePeriod", "BillingPeriod"):
        cells = [row.get(f"{name}{end}", "") for end in ("Start", "End")]
        if all(map(_TIME.fullmatch, cells)):
            start, end = map(datetime.fromisoformat, cells)
            spans[name] = (start, end)
            if start >= end:
                yield f"{name}End: {cells[1]} is not after {cells[0]}"
    if len(spans) > 1:
        charge, billing = spans["ChargePeriod"], spans["BillingPeriod"]
        if not billing[0] <= charge[0] < billing[1]:
            yield f"ChargePeriodStart: {row['ChargePeriodStart']} is outside the billing period"


def _usage_faults(row: Row) -> Iterator[str]:
    category = row.get("ChargeCategory")
    if category == "Usage":
        for name in ("PricingQuantity", "PricingUnit", "ConsumedQuantity", "ConsumedUnit"):
            if not row.get(name):
                yield f"{name}: is empty, and usage must have it"
    elif category and row.get("ConsumedQuantity"):
        yield f"ConsumedQuantity: only usage has one, this is {category}"
    if category == "Purchase" and row.get("ChargeFrequency") == "Usage-Based":
        yield "ChargeFrequency: a purchase is not Usage-Based"
    if category != "Usage" and row.get("PricingQuantity") and not row.get("PricingUnit"):
        yield "PricingUnit: is empty beside a quantity"
    for prefix in ("SubAccount", "BillingAccount"):
        if row.get(f"{prefix}Type") and not row.get(f"{prefix}Id"):
            yield f"{prefix}Id: is empty beside a type"


def _number(row: Row, name: str) -> Decimal | None:
    cell = row.get(name)
    try:
        return Decimal(cell) if cell else None
    except InvalidOperation:
        return None
