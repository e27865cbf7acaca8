"""History of long conversations by cell, from what was counted."""

from typing import Any, Final

from advisor.evidence import Cell, History
from advisor.recommendation import Level
from workloads.grouping import Grouping
from workloads.history import TURNS, history

Connection = Any
Expr = Any

_TURN: Final = dict(zip(Level, reversed(TURNS), strict=True))
"""After which prompts stay as large as they are: low the twentieth, high the fifth."""


def histories_of(connection: Connection, records: Expr, grouping: Grouping) -> dict[Cell, History]:
    """Return the history of long sessions by workload, provider and model; nothing where no session is long."""
    frame = history(connection, records, grouping)
    found: dict[Cell, History] = {}
    for row in () if frame is None else frame.to_dict("records"):
        provider, model = (
            row[name] if isinstance(row[name], str) else None for name in ("provider", "model")
        )
        found[str(row["workload"]), provider, model] = History(
            turns=int(row["turns"]),
            grown=int(row["grown"]),
            later=int(row["later"]),
            early_mean=row["first_tokens"] / row["fifths"] if row["fifths"] else 0.0,
            later_mean=row["later_tokens"] / row["later"] if row["later"] else 0.0,
            above={level: int(row[f"above_{turn}"]) for level, turn in _TURN.items()},
            cached_tokens=int(row["cached_tokens"]),
        )
    return found
