"""What changed between two analyses: cost, requests and tokens, and how much of it is volume, size and price.

A cost is requests x units a request x rate a unit, for each model and meter. The split changes one factor after the other,
always in this order:

1. volume: the requests of the later side, everything else as before;
2. size: then also its units (tokens, calls) per request;
3. price: then also its rate, which is what a unit really cost: tiers, discounts and the price list together.

The end of each step is the start of the next, so the three add up to the change to the last digit; the ends themselves are
rounded to 12 decimals. A model that one side does not have is volume, a meter that it does not have is size, and where
a side does not tell its requests, volume and size are one and stand under volume. Of workloads, price includes moves from
one model to another.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Final

from advisor.variance_terms import Bridge
from pricing.charges import exact_sum
from pricing.meters import TOKEN_METERS
from pricing.rules import EXACT

ZERO: Final = Decimal(0)
_PLACES: Final = 12
_TOKEN_NAMES: Final = frozenset(map(str, TOKEN_METERS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Effects:
    """What a change is made of; the three add up to it exactly."""

    volume: Decimal = ZERO
    size: Decimal = ZERO
    price: Decimal = ZERO

    @property
    def total(self) -> Decimal:
        """The change."""
        return exact_sum((self.volume, self.size, self.price))


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """One meter of one side.

    Attributes:
        requests: Requests behind it; 0 where they are not known.
        units: Tokens, calls or token-hours.
        cost: What they cost.
    """

    requests: int
    units: int
    cost: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A model or workload on one side.

    Attributes:
        requests: All of them.
        units: By meter, of all of them; ``reasoning`` is left out.
        cost: Of what has a price; None where nothing has.
        priced_requests: Requests behind ``cost_by_meter``; None: which ones have a price is not known.
        priced_units: Units behind ``cost_by_meter``.
        cost_by_meter: Adds up to the cost, but for money that a log states without units.
        complete: Whether all of it has a price.
    """

    requests: int = 0
    units: Mapping[str, int] = field(default_factory=dict[str, int])
    cost: Decimal | None = None
    priced_requests: int | None = None
    priced_units: Mapping[str, int] = field(default_factory=dict[str, int])
    cost_by_meter: Mapping[str, Decimal] = field(default_factory=dict[str, Decimal])
    complete: bool = True

    @property
    def tokens(self) -> int:
        """Tokens of all kinds."""
        return sum(count for meter, count in self.units.items() if meter in _TOKEN_NAMES)

    @property
    def absent(self) -> bool:
        """Whether this side has none of it, which costs nothing."""
        return not self.requests and not any(self.units.values()) and self.cost is None and self.complete

    @property
    def known_cost(self) -> Decimal | None:
        """The cost: 0 of what is absent, None where it is not known."""
        return ZERO if self.absent else self.cost


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A model or workload on both sides.

    Attributes:
        name: As it is shown.
        before: The earlier side.
        after: The later side.
        change: After less before; None where either cost is not known.
        effects: What the change is made of; None where that cannot be told.
        by_meter: The same of each meter.
    """

    name: str
    before: Part
    after: Part
    change: Decimal | None
    effects: Effects | None
    by_meter: Mapping[str, Effects]

    @property
    def partial(self) -> bool:
        """Whether the change is only that of what has a price."""
        return not (self.before.complete and self.after.complete)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeterRow:
    """A meter on both sides, over the models whose cost is known on both."""

    name: str
    before: Measure
    after: Measure
    effects: Effects | None

    @property
    def change(self) -> Decimal:
        """After less before."""
        return EXACT.subtract(self.after.cost, self.before.cost)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What is said of one side as a whole.

    Attributes:
        name: The file.
        period: First and last day, in words.
        days: Length of the period; None without times.
        price_book: Hash of the prices.
        requests: All.
        tokens: All.
        total: Cost of what has a price.
        complete: Whether all of it has.
    """

    name: str
    period: str
    days: float | None
    price_book: str
    requests: int
    tokens: int
    total: Decimal
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """Two analyses side by side.

    Attributes:
        currency: Of all amounts.
        before: The earlier side.
        after: The later side.
        change: Of the models whose cost is known on both sides.
        effects: What it is made of; None where a log states money without tokens.
        uncompared_before: Part of the earlier total of models whose later cost is not known.
        uncompared_after: The other way round.
        models, workloads, meters: Largest change first; then those whose change is not known.
        notes: What a reader must know.
    """

    currency: str
    before: Side
    after: Side
    change: Decimal
    effects: Effects | None
    uncompared_before: Decimal
    uncompared_after: Decimal
    models: tuple[Row, ...]
    workloads: tuple[Row, ...]
    meters: tuple[MeterRow, ...]
    notes: tuple[str, ...]
    drivers: Bridge | None = None
    """What it is made of by driver, all usage together; None: a side does not hold what that takes."""


def split(before: Measure, after: Measure) -> Effects:
    """Return what a change of one meter is made of: volume, then size, then price."""
    if not before.units and not before.requests:
        scaled = resized = after.cost
    elif not after.units and not after.requests:
        scaled = resized = ZERO
    else:
        resized = _times(before.cost, after.units, before.units) if before.units else after.cost
        known = before.requests and after.requests
        scaled = _times(before.cost, after.requests, before.requests) if known else resized
    return Effects(
        volume=EXACT.subtract(scaled, before.cost),
        size=EXACT.subtract(resized, scaled),
        price=EXACT.subtract(after.cost, resized),
    )


def _times(cost: Decimal, up: int, down: int) -> Decimal:
    """Return a cost times a ratio, to 12 decimals; exact where nothing changes."""
    if up == down:
        return cost
    return EXACT.scaleb(Decimal(round(Fraction(cost) * up / down * 10**_PLACES)), -_PLACES)


def added(effects: Iterable[Effects]) -> Effects:
    """Return the sum of effects, one by one."""
    every = list(effects)
    return Effects(
        volume=exact_sum(one.volume for one in every),
        size=exact_sum(one.size for one in every),
        price=exact_sum(one.price for one in every),
    )


def rows(before: Mapping[str, Part], after: Mapping[str, Part]) -> tuple[Row, ...]:
    """Return what each name has on both sides, largest change first, what is not known last."""
    names = dict.fromkeys((*before, *after))
    made = [_row(name, before.get(name, Part()), after.get(name, Part())) for name in names]
    return tuple(sorted(made, key=lambda row: (row.change is None, -abs(row.change or ZERO), row.name)))


def _row(name: str, before: Part, after: Part) -> Row:
    old, new = before.known_cost, after.known_cost
    if old is None or new is None:
        return Row(name=name, before=before, after=after, change=None, effects=None, by_meter={})
    by_meter = dict(_by_meter(before, after)) if _splits(before) and _splits(after) else None
    return Row(
        name=name,
        before=before,
        after=after,
        change=EXACT.subtract(new, old),
        effects=None if by_meter is None else added(by_meter.values()),
        by_meter=by_meter or {},
    )


def _splits(part: Part) -> bool:
    """Whether the units behind a cost are known."""
    return part.absent or (
        part.priced_requests is not None and exact_sum(part.cost_by_meter.values()) == part.cost
    )


def measure(part: Part, meter: str) -> Measure:
    """Return one meter of what has a price."""
    return Measure(
        requests=part.priced_requests or 0,
        units=part.priced_units.get(meter, 0),
        cost=part.cost_by_meter.get(meter, ZERO),
    )


def _by_meter(before: Part, after: Part) -> Iterator[tuple[str, Effects]]:
    for meter in dict.fromkeys((*before.cost_by_meter, *after.cost_by_meter)):
        yield meter, split(measure(before, meter), measure(after, meter))


def meter_rows(models: Iterable[Row]) -> tuple[MeterRow, ...]:
    """Return what each meter changed by, over the models whose cost is known on both sides."""
    compared = [row for row in models if row.change is not None]
    names = dict.fromkeys(
        meter for row in compared for part in (row.before, row.after) for meter in part.cost_by_meter
    )
    made: list[MeterRow] = []
    for name in names:
        effects = [row.by_meter[name] for row in compared if name in row.by_meter]
        told = all(row.effects is not None for row in compared)
        made.append(
            MeterRow(
                name=name,
                before=_summed(measure(row.before, name) for row in compared),
                after=_summed(measure(row.after, name) for row in compared),
                effects=added(effects) if told else None,
            )
        )
    return tuple(sorted(made, key=lambda row: (-abs(row.change), row.name)))


def _summed(measures: Iterable[Measure]) -> Measure:
    every = list(measures)
    return Measure(
        requests=sum(one.requests for one in every),
        units=sum(one.units for one in every),
        cost=exact_sum(one.cost for one in every),
    )
