"""The cells of a cube that have a price, as arrays: what a page's summary is made from."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import numpy as np
import pandas as pd

from advisor.columns import integers, plain
from advisor.log_cuts import Pair
from advisor.what_if_targets import Dear
from pricing.meters import CACHE_WRITE_METERS, Meter

Array = Any

PROMPT: Final = (Meter.INPUT_UNCACHED, Meter.CACHE_READ, *CACHE_WRITE_METERS)
"""Text of prompts, of every kind."""
_ALWAYS: Final = (*PROMPT, Meter.OUTPUT)
_LONGEST_NAME: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The cells of a cube that have a price, as arrays of one length."""

    frame: pd.DataFrame
    meters: tuple[Meter, ...]
    counts: Array  # integers, a row a meter
    costs: list[int]
    context: Array  # integers, 0 where unknown
    cacheable: Array  # booleans
    instants: list[datetime]

    @classmethod
    def of(cls, frame: pd.DataFrame, as_of: datetime) -> "Cells":
        """Take the cells of a priced cube; those without a time are of the moment of the report."""
        present = [meter for meter in Meter if str(meter) in frame.columns]
        counts = {meter: integers(plain(frame[str(meter)]))[0] for meter in present}
        meters = tuple(m for m in Meter if m in _ALWAYS or (m in counts and bool((counts[m] != 0).any())))
        none = np.zeros(len(frame), dtype="int64")
        at = pd.to_datetime(frame["price_at"], utc=True).fillna(pd.Timestamp(as_of))
        uncached = str(Meter.INPUT_UNCACHED)
        return cls(
            frame=frame,
            meters=meters,
            counts=np.array([counts.get(meter, none) for meter in meters], dtype=object),
            costs=[sum(map(int, row)) for row in zip(*(frame[f"cost_{m}"] for m in present), strict=True)]
            or [0] * len(frame),  # a log may count no meter at all
            context=integers(plain(frame["context_tokens"]))[0],
            cacheable=frame[uncached].notna().to_numpy()
            if uncached in frame
            else np.zeros(len(frame), dtype=bool),
            instants=[one.to_pydatetime() for one in at],
        )

    def text(self, name: str) -> list[str | None]:
        """Return a column of texts; None where one is missing."""
        if name not in self.frame:
            return [None] * len(self.frame)
        return [
            value if isinstance(value, str) else None for value in self.frame[name].to_numpy(dtype=object)
        ]

    def pairs(self) -> list[Pair]:
        """Return provider and model of each cell, as logged."""
        return [
            (provider, str(model))
            for provider, model in zip(self.text("provider"), self.text("model"), strict=True)
        ]

    def dearest(self) -> list[Dear]:
        """Return the models by cost."""
        found: dict[Pair, list[int]] = {}
        for index, pair in enumerate(self.pairs()):
            found.setdefault(pair, []).append(index)
        models = [
            Dear(
                pair=pair,
                cost=sum(self.costs[index] for index in members),
                most_context_tokens=max(int(self.context[index]) for index in members),
            )
            for pair, members in found.items()
        ]
        return sorted(models, key=lambda one: (-one.cost, one.pair[1], one.pair[0] or ""))

    def workloads(self, most: int) -> list[str]:
        """Return the names of the dearest workloads."""
        found: dict[str, int] = {}
        for name, cost in zip(self.text("workload"), self.costs, strict=True):
            if name is not None and len(name) <= _LONGEST_NAME:
                found[name] = found.get(name, 0) + cost
        return sorted(found, key=lambda name: (-found[name], name))[:most]
