"""What ways to cache come to for a log without prices: in multiples of the input price that most price lists have."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from advisor.cache_plans import FREE_WRITES, MIXED, NO_CACHE, PINGS, Policy, ping_name
from workloads.cache_replay import Accesses, Hits
from workloads.prefix_uses import BLOCK_BASES

Connection = Any
Expr = Any

_READ: Final = 0.1
_SHORT, _LONG = 1.25, 2.0
_LIFETIMES: Final = (
    ("5m", 300, _SHORT),
    (FREE_WRITES, 300, 1.0),
    ("30m", 1_800, _SHORT),
    ("1h", 3_600, _LONG),
)
"""Name, seconds, and multiple for a write."""


def stated(
    connection: Connection, accesses: Accesses, found: Mapping[float, Hits], longer: Expr
) -> Iterator[Policy]:
    """Yield the policies.

    Args:
        connection: The engine.
        accesses: What was replayed.
        found: Hits by lifetime.
        longer: See ``workloads.prefix_policies.store_longer``.
    """
    whole = accesses.input_tokens
    yield Policy(name=NO_CACHE, hit_tokens=0, written_tokens=0, input_cost_ratio=1.0)
    for name, age, write in _LIFETIMES:
        hit = found[age].hit_tokens
        yield _policy(name, whole, hit, (whole - hit) * write)
    sums = _sums(connection, accesses, longer)
    if accesses.basis in BLOCK_BASES:
        hit, stable = sums["mixed_read"], sums["stable"] - sums["stable_read"]
        yield _policy(MIXED, whole, hit, stable * _LONG + (whole - hit - stable) * _SHORT)
    for most in PINGS:
        hit, pinged = sums[f"read_{most}"], sums[f"pinged_{most}"]
        cost = (whole - hit) * _SHORT + pinged * _READ
        yield _policy(ping_name(most), whole, hit, cost, sums[f"sent_{most}"])


def _policy(name: str, whole: int, hit: int, other_cost: float, pings: int = 0) -> Policy:
    return Policy(
        name=name,
        hit_tokens=hit,
        written_tokens=whole - hit,
        pings=pings,
        input_cost_ratio=(hit * _READ + other_cost) / whole if whole else None,
    )


def _sums(connection: Connection, accesses: Accesses, longer: Expr) -> dict[str, int]:
    rows = longer.join(accesses.table.select("request", "whole"), "request")
    names = ("stable", "stable_read", "mixed_read")
    sums = {name: rows[name].sum() for name in names}
    for most in PINGS:
        sums |= {
            f"read_{most}": rows[f"read_{most}"].sum(),
            f"sent_{most}": rows[f"sent_{most}"].sum(),
            f"pinged_{most}": (rows[f"sent_{most}"] * rows.whole).sum(),
        }
    row = connection.to_pyarrow(rows.agg(**sums)).to_pylist()[0]
    return {name: int(value or 0) for name, value in row.items()}
