"""Where prices change, as plain numbers: what the scan cuts records by."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RateCuts:
    """Where prices change, for the models of a log; plain numbers, so that this package needs no prices.

    Attributes:
        breakpoints: UTC instants at which some rate changes.
        context_thresholds: Prompt sizes above which (strictly) some rate changes.
        clock_edges: Minutes of the UTC week (Monday 00:00 is 0) at which some rate changes.
        clocked: ``(provider, model)`` as logged, of the models with such hours.
        regional: ``(provider, model)`` as logged, of the models whose price depends on the region.
        per_call: ``(provider, model)`` as logged, of the models that charge for every request.
        api_keys: Keys as logged, whose price is their own.
    """

    breakpoints: Sequence[datetime] = ()
    context_thresholds: Sequence[int] = ()
    clock_edges: Sequence[int] = ()
    clocked: Sequence[tuple[str | None, str]] = ()
    regional: Sequence[tuple[str | None, str]] = ()
    per_call: Sequence[tuple[str | None, str]] = ()
    api_keys: Sequence[str] = ()
