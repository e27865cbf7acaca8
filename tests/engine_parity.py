"""What an engine gives for a ledger, in a form that can be compared: integers and amounts as they are, floats rounded."""

import math
from decimal import Decimal
from typing import Any

import pandas as pd

from workloads.arrivals import arrivals
from workloads.cube import models_of, prepare, shapes, usage_cube
from workloads.endings import endings
from workloads.grouping import choose_grouping
from workloads.latency import latency_sums
from workloads.minutes import minutes
from workloads.period import Period
from workloads.rate_cuts import RateCuts
from workloads.sizes import size_quantiles

EXACT = 2**53
MEASURED = ("decode_context", "prefill_context")


def answers(
    connection: Any, ledger: Any, cuts: RateCuts | None = None, keys: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return all tables that a report is made from."""
    records = prepare(connection, ledger, Period())
    grouping = choose_grouping(connection, records, keys)
    asked = {
        "cube": usage_cube(connection, records, grouping, cuts or RateCuts()),
        "sizes": size_quantiles(connection, records, grouping),
        "shapes": shapes(connection, records, grouping),
        "arrivals": arrivals(connection, records, grouping),
        "endings": endings(connection, records, grouping),
        "latencies": latency_sums(connection, records, grouping),
        "minutes": minutes(connection, records),
    }
    tables = {name: None if frame is None else rows_of_frame(frame) for name, frame in asked.items()}
    return {"rule": grouping.rule, "models": models_of(connection, records), **tables}


def cube(connection: Any, ledger: Any, cuts: RateCuts) -> list[dict[str, Any]]:
    """Return the usage cube alone, by workloads as the log offers them."""
    records = prepare(connection, ledger, Period())
    grouping = choose_grouping(connection, records, ())
    return rows_of_frame(usage_cube(connection, records, grouping, cuts))


def assert_same(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Check that integers, amounts and words are equal, and floats up to the order in which they were added."""
    assert found.keys() == expected.keys()
    for name, rows in expected.items():
        if not isinstance(rows, list) or not rows or not isinstance(rows[0], dict):
            assert found[name] == rows, name
            continue
        assert len(found[name]) == len(rows), name
        for one, other in zip(found[name], rows, strict=True):
            assert one.keys() == other.keys(), (name, one.keys() ^ other.keys())
            unlike = {key: (one[key], value) for key, value in other.items() if not _alike(one[key], value)}
            assert not unlike, (name, unlike)


def _alike(one: Any, other: Any) -> bool:
    # A quantile of one engine is 4419.999999999999 where the other's is 4420; two whole numbers are never merely close.
    if float in {type(one), type(other)} and {type(one), type(other)} <= {int, float}:
        return math.isclose(one, other, rel_tol=1e-9)
    return type(one) is type(other) and bool(one == other)


def rows_of_frame(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table in a fixed order."""
    rows = [{str(name): _plain(value) for name, value in row.items()} for row in frame.to_dict("records")]
    keys = sorted({name for row in rows for name, value in row.items() if not isinstance(value, float)})
    rows.sort(key=lambda row: [repr(row[name]) for name in keys if name not in MEASURED])
    # A column of nulls says as much as one that is not there.
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


def _plain(value: Any) -> Any:
    if value is None or value is pd.NaT or value is pd.NA or value != value:  # noqa: PLR0124  (not a number)
        return None
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else format(value.normalize(), "f")
    if hasattr(value, "item"):
        value = value.item()
    # An integer beside nulls comes as a float.
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return int(value)
    return str(value) if hasattr(value, "isoformat") else value
