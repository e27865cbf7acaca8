"""Replayed reads of a workload's models, put together: the curve by lifetime, and what could be achieved."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from advisor.cache_costs import CacheCosts, cache_costs
from advisor.cache_reuse import CURVE_SECONDS, CurvePoint, Known, WorkloadReuse
from advisor.evidence import Cell, Split
from pricing.book import PriceBook
from pricing.cache_rules import CacheRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """What a replay says of one model in a workload.

    Attributes:
        cell: Workload, provider and model.
        known_by: What tells it.
        rule: Of the model's cache; None where it is not known.
        sums: ``requests``, ``text_tokens``, ``cacheable_0`` and, by place of the lifetime, what was read.
        reads: The name of those before the place: ``read_0_``, ``likely_0_``.
    """

    cell: Cell
    known_by: Known
    rule: CacheRule | None
    sums: Mapping[Any, Any]
    reads: str

    def read_tokens(self, place: int) -> int:
        """Tokens read with the lifetime in a place."""
        return int(self.sums[f"{self.reads}{place}"])


def workload_reuse(
    found: Iterable[Replayed],
    ages: Sequence[float],
    logged: Mapping[str, float | None],
    book: PriceBook,
    as_of: datetime,
) -> tuple[WorkloadReuse, ...]:
    """Return reuse by workload.

    Args:
        found: Of any workloads.
        ages: Seconds; the lifetimes that were replayed, in their places.
        logged: The share of prompts that is read today, by workload, of those to look at.
        book: Prices.
        as_of: Moment of the report.
    """
    every = list(found)
    out: list[WorkloadReuse] = []
    for name, ratio in logged.items():
        mine = [one for one in every if one.cell[0] == name]
        # What names of prompts tell is more than what sessions do.
        best = min((one.known_by for one in mine), key=list(Known).index, default=None)
        mine = [one for one in mine if one.known_by is best]
        if best is None or not any(int(one.sums["text_tokens"]) for one in mine):
            continue
        # Sessions of one turn each say nothing about what their prompts have in common.
        if best is Known.SESSIONS and not any(one.read_tokens(len(ages) - 1) for one in mine):
            continue
        out.append(_reuse(name, best, mine, ages, ratio, book, as_of))
    return tuple(out)


def _reuse(
    name: str,
    known_by: Known,
    mine: Sequence[Replayed],
    ages: Sequence[float],
    logged: float | None,
    book: PriceBook,
    as_of: datetime,
) -> WorkloadReuse:
    text = sum(int(one.sums["text_tokens"]) for one in mine)
    chosen = [_cheapest(one, ages, book, as_of) for one in mine if one.rule is not None]
    known = [one for one in chosen if one is not None]
    ratio = sum(tokens for _, tokens in known) / text if known else None
    return WorkloadReuse(
        workload=name,
        known_by=known_by,
        requests=sum(int(one.sums["requests"]) for one in mine),
        text_tokens=text,
        curve=tuple(
            CurvePoint(age, sum(one.read_tokens(ages.index(age)) for one in mine) / text)
            for age in CURVE_SECONDS
        ),
        logged_ratio=logged,
        lifetimes=tuple(sorted({lifetime for lifetime, tokens in known if tokens})),
        achievable_ratio=None if ratio is None else max(ratio, logged or 0.0),
    )


def _cheapest(
    one: Replayed, ages: Sequence[float], book: PriceBook, as_of: datetime
) -> tuple[str, int] | None:
    """Return the lifetime that costs least, with what it reads: nothing where none pays; without a price the usual one."""
    _, provider, model = one.cell
    costs: CacheCosts | None = None if model is None else cache_costs(book, as_of, provider, model)
    if one.rule is None:
        return None
    if costs is None:
        usual = one.rule.default_lifetime
        known = usual.shortest_seconds
        return None if known is None else (usual.name, one.read_tokens(ages.index(known)))
    best, least = ("", 0), 1.0
    for lifetime in one.rule.lifetimes:
        seconds = lifetime.shortest_seconds
        if seconds is None:
            continue
        read, text = one.read_tokens(ages.index(seconds)), int(one.sums["text_tokens"])
        split = Split(read / text, (int(one.sums["cacheable_0"]) - read) / text) if text else Split(0, 0)
        cost = costs.input_ratio(split, lifetime.write_meter)
        if cost < least:
            best, least = (lifetime.name, read), cost
    return best
