"""Who pays: money by a label, what carries no label as a row of its own, and rules to share that among the others.

Every amount is exact. What a rule of sharing rounds goes to the last row that takes part, so that what was shared is the sum
of its parts; percentages are rounded by largest remainder and add up to 100.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Context, Decimal
from typing import Final

from advisor import slices as cut
from advisor.analysis import Workload
from pricing.charges import exact_sum
from pricing.frame import PricedCube
from workloads.grouping import UNLABELLED

ZERO: Final = Decimal(0)
_WIDE: Final = Context(prec=400)
_PLACES: Final = Decimal("1e-12")
_HUNDRED: Final = Decimal(100)
_MOST_WORKLOADS: Final = 500
_CENT_PERCENT: Final = 10_000
"""Hundredths of a percent in the whole."""


class SharingError(ValueError):
    """A rule of sharing that is none: the value seen, and what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """How money without a label is shared among those that have one.

    Attributes:
        rule: ``none`` (it stays a row of its own), ``even``, ``proportional`` (to their own money), or ``fixed``.
        percents: Of a fixed rule: name -> percent; they add up to 100.
    """

    rule: str = "none"
    percents: Mapping[str, Decimal] | None = None

    @property
    def words(self) -> str:
        """The rule in words."""
        if self.percents is not None:
            shares = ", ".join(f"{name} {percent.normalize():f} %" for name, percent in self.percents.items())
            return f"what carries no label is shared by fixed shares ({shares})"
        return {
            "even": "what carries no label is shared evenly",
            "proportional": "what carries no label is shared in proportion to own cost",
        }.get(self.rule, "what carries no label is a row of its own")


@dataclass(frozen=True, slots=True, kw_only=True)
class AllocationRow:
    """What one name pays.

    Attributes:
        name: The value of the label.
        untagged: Whether it is the row of what carries no label.
        requests: Requests of it.
        direct: Its own money, of what has a price.
        shared: What it takes of the money without a label; of that row, what it gives away (negative).
        percent: Its part of all, to hundredths; all rows add up to 100 where there is money at all.
        unpriced: Requests of it without a price, which are in no amount.
        gathered: How many names it stands for; 0: it is one name.
    """

    name: str
    untagged: bool
    requests: int
    direct: Decimal
    shared: Decimal = ZERO
    percent: Decimal = ZERO
    unpriced: int = 0
    gathered: int = 0

    @property
    def total(self) -> Decimal:
        """Own and shared money together."""
        return exact_sum((self.direct, self.shared))


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """Money by one label.

    Attributes:
        key: The label, or the keys of the workloads.
        rows: Dearest first; what carries no label comes last.
        sharing: How that was shared.
    """

    key: str
    rows: tuple[AllocationRow, ...]
    sharing: Sharing

    @property
    def total(self) -> Decimal:
        """Of all rows; sharing does not change it."""
        return exact_sum(row.total for row in self.rows)

    @property
    def untagged_ratio(self) -> float:
        """Part of the money that carries no label, before sharing."""
        whole = exact_sum(row.direct for row in self.rows)
        lost = exact_sum(row.direct for row in self.rows if row.untagged)
        return float(_WIDE.divide(lost, whole)) if whole else 0.0


def parse_sharing(text: str | None) -> Sharing:
    """Return a rule of sharing from ``even``, ``proportional``, ``none`` or ``red=60,blue=40``.

    Raises:
        SharingError: It is none of these, or fixed shares do not add up to 100.
    """
    word = (text or "none").strip()
    if word in ("none", "even", "proportional"):
        return Sharing(rule=word)
    percents: dict[str, Decimal] = {}
    for item in word.split(","):
        name, mark, number = item.rpartition("=")
        try:
            percent = Decimal(number.strip().removesuffix("%").strip())
        except ArithmeticError:
            percent = Decimal("NaN")
        if not mark or not name.strip() or not percent.is_finite() or percent < 0:
            raise SharingError(
                f"{item!r} is no share; write even, proportional, none, or fixed percents such as red=60,blue=40"
            )
        percents[name.strip()] = percents.get(name.strip(), ZERO) + percent
    whole = exact_sum(percents.values())
    if whole != _HUNDRED:
        raise SharingError(f"fixed shares must add up to 100 percent, these are {whole.normalize():f}")
    return Sharing(rule="fixed", percents=percents)


def allocation(key: str, priced: PricedCube, sharing: Sharing) -> Allocation:
    """Return the money of a cube by its workloads.

    Args:
        key: What its workloads are.
        priced: The cube.
        sharing: What becomes of money without a label.
    """
    lost = priced.frame[priced.frame["sheet"] == cut.UNPRICED]
    counts = lost["requests"].fillna(lost["records"]).groupby(lost["workload"]).sum()
    rows = [
        AllocationRow(
            name=str(name),
            untagged=_is_untagged(str(name)),
            requests=part.requests,
            direct=part.total,
            unpriced=int(counts.get(name, 0)),
        )
        for name, part in cut.slices(priced, ["workload"]).items()
    ]
    return Allocation(key=key, rows=shared_out(rows, sharing), sharing=sharing)


def by_workload(workloads: Sequence[Workload], sharing: Sharing) -> Allocation:
    """Return the money of a report's own workloads; beyond the dearest five hundred they are one row.

    Args:
        workloads: Dearest first.
        sharing: What becomes of money without a label.
    """
    named = [one for one in workloads if not _is_untagged(one.name)]
    kept = [*named[:_MOST_WORKLOADS], *(one for one in workloads if _is_untagged(one.name))]
    rows = [
        AllocationRow(
            name=one.name,
            untagged=_is_untagged(one.name),
            requests=one.whole.requests,
            direct=one.whole.total,
            unpriced=one.whole.requests - one.whole.priced_requests,
        )
        for one in kept
    ]
    rest = [one.whole for one in named[_MOST_WORKLOADS:]]
    if rest:
        rows.append(
            AllocationRow(
                name=f"({len(rest):,} more)",
                untagged=False,
                requests=sum(one.requests for one in rest),
                direct=exact_sum(one.total for one in rest),
                unpriced=sum(one.requests - one.priced_requests for one in rest),
                gathered=len(rest),
            )
        )
    return Allocation(key="workload", rows=shared_out(rows, sharing), sharing=sharing)


def _is_untagged(name: str) -> bool:
    return all(part == UNLABELLED for part in name.split(" / "))


def shared_out(rows: Sequence[AllocationRow], sharing: Sharing) -> tuple[AllocationRow, ...]:
    """Return rows with the money without a label shared out, and with their percentages."""
    named = sorted((row for row in rows if not row.untagged), key=lambda row: (-row.direct, row.name))
    rest = [row for row in rows if row.untagged]
    pool = exact_sum(row.direct for row in rest)
    if sharing.percents is not None:
        missing = [name for name in sharing.percents if name not in {row.name for row in named}]
        named += [AllocationRow(name=name, untagged=False, requests=0, direct=ZERO) for name in missing]
    weights = _weights(named, sharing)
    if pool and weights and sum(weights, ZERO):
        parts = _parts(pool, weights)
        named = [replace(row, shared=part) for row, part in zip(named, parts, strict=True)]
        rest = [replace(row, shared=-row.direct) for row in rest]
    named.sort(key=lambda row: (-row.total, row.name))
    every = (*named, *rest)
    percents = _percents([row.total for row in every])
    return tuple(replace(row, percent=percent) for row, percent in zip(every, percents, strict=True))


def _weights(named: Sequence[AllocationRow], sharing: Sharing) -> list[Decimal]:
    if sharing.percents is not None:
        return [sharing.percents.get(row.name, ZERO) for row in named]
    if sharing.rule == "proportional" and any(row.direct for row in named):
        return [max(row.direct, ZERO) for row in named]
    return [Decimal(row.gathered or 1) for row in named] if sharing.rule in ("even", "proportional") else []


def _parts(pool: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """Return parts of an amount by weights; they add up to it exactly."""
    whole = exact_sum(weights)
    parts = [
        _WIDE.divide(_WIDE.multiply(pool, weight), whole).quantize(_PLACES, context=_WIDE)
        for weight in weights
    ]
    last = max(place for place, weight in enumerate(weights) if weight)
    parts[last] = exact_sum((parts[last], pool, *(-part for part in parts)))
    return parts


def _percents(amounts: Sequence[Decimal]) -> list[Decimal]:
    """Return the part of each amount in percent, to hundredths by largest remainder, so that they add up to 100."""
    whole = exact_sum(amounts)
    if whole <= 0:
        return [ZERO] * len(amounts)
    exact = [_WIDE.divide(_WIDE.multiply(amount, Decimal(_CENT_PERCENT)), whole) for amount in amounts]
    floors = [int(one.to_integral_value("ROUND_FLOOR", _WIDE)) for one in exact]
    left = _CENT_PERCENT - sum(floors)
    by_remainder = sorted(range(len(exact)), key=lambda place: (floors[place] - exact[place], place))
    for place in by_remainder[:left]:
        floors[place] += 1
    return [Decimal(one).scaleb(-2) for one in floors]
