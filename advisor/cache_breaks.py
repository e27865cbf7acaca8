"""Breaks of caches by cell, from what was counted and replayed."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

import pandas as pd

from advisor.evidence import Breaks, Cell
from advisor.recommendation import Level

Row = Mapping[Any, Any]

_LOST: Final = dict(zip(Level, ("lost_none", "lost_half", "lost_any"), strict=True))
"""By how much has to be missing for a read to count as broken."""


def breaks_of(rows: Iterable[tuple[Cell, Row]]) -> dict[Cell, Breaks]:
    """Return the breaks of those of some cells that have any.

    Args:
        rows: With the columns of ``workloads.cache_breaks.break_sums``.
    """
    found: dict[Cell, Breaks] = {}
    for cell, row in rows:
        if "broken" in row and int(row["broken"]):
            blocks: Any = row.get("block_tokens")
            found[cell] = Breaks(
                turns=int(row["turns"]),
                broken=int(row["broken"]),
                lost_tokens={level: int(row[name]) for level, name in _LOST.items()},
                parted_tokens=int(row["parted_tokens"]) // int(row["broken"]),
                block_tokens=int(blocks) if blocks and not pd.isna(blocks) else None,
            )
    return found


def common_words(row: Row) -> str:
    """Return where the prompts of a cell part from those before them, in words; nothing where no names of blocks tell."""
    blocks: Any = row.get("block_tokens")
    common: Any = row.get("common_tokens")
    if not blocks or pd.isna(blocks) or common is None or pd.isna(common):
        return ""
    return f"; half of them part from all before at block {int(common) // int(blocks) + 1}, after {int(common):,} tokens, or earlier"
