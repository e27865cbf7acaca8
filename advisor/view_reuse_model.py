"""What the section on reuse holds, as plain data: see ``advisor.view_model``."""

from dataclasses import dataclass

from advisor.charts import Series
from advisor.curves import Curves
from advisor.view_model import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class ReuseSection:
    """What caches would have read: now and at best, and by how long they keep it."""

    lead: str
    now: Table
    legend: tuple[Series, ...]
    wide: Curves
    narrow: Curves
    description: str
    notes: tuple[str, ...]
    table: Table
