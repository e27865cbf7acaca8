"""What levers look at: the cube of the log, its workloads, and how to price a changed cube."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from advisor.analysis import Distribution, Workload
from advisor.recommendation import Level
from advisor.rerouting import Move
from pricing.book import PriceBook
from pricing.frame import PricedCube, RowCosts, row_costs
from pricing.meters import Meter

if TYPE_CHECKING:  # offers are only read where there are some
    from advisor.offered import Offered

Frame = Any


@dataclass(frozen=True, slots=True)
class Split:
    """How a cache tells the text of prompts apart: part that is read, and part that is written."""

    read_ratio: float
    written_ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheShares:
    """What a cache of one lifetime would have done to one model's prompts in a workload.

    Attributes:
        lifetime: Name of the lifetime, as its provider has it.
        write_meter: What a write is charged as.
        splits: By how much is taken for granted; a level that is not there is as logged.
        basis: How that is known, in words.
        measured: What the prompts of the log, replayed block by block, give under it, also where that is no more than
            is read today; None where the log does not name what prompts begin with.
        by_size: Whether what is expected rests on all prompts being of one size.
    """

    lifetime: str
    write_meter: Meter
    splits: Mapping[Level, Split]
    basis: str
    measured: Split | None = None
    by_size: bool = False

    @property
    def is_modelled(self) -> bool:
        """Whether something is expected of it; else it is a bound."""
        return Level.EXPECTED in self.splits


@dataclass(frozen=True, slots=True, kw_only=True)
class Signals:
    """Counts of a workload that are in no cube; None where the log does not say.

    Attributes:
        requests: Single requests (buckets are left out).
        cut_off: Requests whose answer was cut off at its limit.
        failed: Requests that failed.
        failed_tokens: Tokens of those.
        streamed: Requests that were streamed.
        gap_seconds: Seconds between starts of requests.
        busiest_hour_ratio: Part of the requests in the busiest hour of the day.
    """

    requests: int
    cut_off: int | None = None
    failed: int | None = None
    failed_tokens: int | None = None
    streamed: int | None = None
    gap_seconds: Distribution | None = None
    busiest_hour_ratio: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pauses:
    """When requests of one model in a workload came.

    Attributes:
        requests: Single ones with a time.
        longer_than: How often a request started more than so many seconds after the one before.
    """

    requests: int
    longer_than: Mapping[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Requests of one model in a workload that ended alike (or are alike otherwise), and what they used, of what is reported."""

    requests: int
    tokens: Mapping[Meter, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class LateReads:
    """What one model's requests in a workload read from a cache after more than five minutes.

    Attributes:
        late_tokens: More than that after the request before.
        first_tokens: By the first request of a session: the log does not tell after how long.
        by_session: Whether requests are told apart by session; else all are taken to share what they read.
    """

    late_tokens: int
    first_tokens: int
    by_session: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Breaks:
    """Turns of one model in a workload that read less from a cache than the turn before had left there, while it was alive.

    Attributes:
        turns: Soon after the one before and with no shorter prompt.
        broken: Those of them that had less than half of what was there.
        lost_tokens: That were missing: where nothing was read, less than half, or less at all.
        parted_tokens: What broken turns still had in common with what was there, in the mean.
        block_tokens: Of the blocks that tell it; None where it is the log's own counts that do.
    """

    turns: int
    broken: int
    lost_tokens: Mapping[Level, int]
    parted_tokens: int
    block_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Sessions of more than ten turns of one model in a workload.

    Attributes:
        turns: All but the first of each.
        grown: Those of them whose prompt has room for the one before it and its answer.
        later: Turns after the tenth.
        early_mean: Tokens of a prompt at the fifth turn.
        later_mean: Tokens of a prompt after the tenth.
        above: Old text that prompts have above that of an earlier turn, paid as plain input: the 20th, the 10th, the 5th.
        cached_tokens: The same above the 10th, read from a cache or written to one.
    """

    turns: int
    grown: int
    later: int
    early_mean: float
    later_mean: float
    above: Mapping[Level, int]
    cached_tokens: int


Cell = tuple[str, str | None, str | None]
"""Workload, provider and model as logged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything that a lever may use.

    Attributes:
        cube: The usage cube in USD terms, without costs: see ``workloads.cube.usage_cube``.
        priced: The same, priced at list prices.
        book: Prices.
        as_of: Moment of the report.
        workloads: By name, as in the report; their cost mixes have the class.
        signals: By workload.
        caches: By (workload, provider, model) as logged: what each lifetime that can be had would have done. Also for
            models that ``moves`` lead to: what it would do to the prompts that go there.
        pauses: By the same.
        failed: Requests that failed and used tokens, by the same.
        cut_off: Requests whose answer was cut off at its limit, by the same; those that failed are not among them.
        late_reads: By the same; only where something was written for an hour.
        breaks: By the same; only where some turn is broken.
        histories: Of long sessions, by the same; empty where there are none.
        shortest: Tokens that nearly all prompts of a workload have, by workload: their first percentile.
        repeats: Requests whose whole prompt was sent before, by how long ago that may be, then by the same; empty where no log
            proves it.
        moves: To smaller models, best first within a workload.
        offered: Provisioned throughput that the user could have, with what of the log it covers.
    """

    cube: Frame
    priced: PricedCube
    book: PriceBook
    as_of: datetime
    workloads: Mapping[str, Workload]
    signals: Mapping[str, Signals] = field(default_factory=dict[str, Signals])
    caches: Mapping[tuple[str, str | None, str | None], tuple[CacheShares, ...]] = field(
        default_factory=dict[tuple[str, str | None, str | None], tuple[CacheShares, ...]]
    )
    pauses: Mapping[Cell, Pauses] = field(default_factory=dict[Cell, Pauses])
    failed: Mapping[Cell, Ended] = field(default_factory=dict[Cell, Ended])
    cut_off: Mapping[Cell, Ended] = field(default_factory=dict[Cell, Ended])
    late_reads: Mapping[Cell, LateReads] = field(default_factory=dict[Cell, LateReads])
    breaks: Mapping[Cell, Breaks] = field(default_factory=dict[Cell, Breaks])
    histories: Mapping[Cell, History] = field(default_factory=dict[Cell, History])
    shortest: Mapping[str, int] = field(default_factory=dict[str, int])
    repeats: Mapping[Level, Mapping[Cell, Ended]] = field(default_factory=dict[Level, Mapping[Cell, Ended]])
    moves: tuple[Move, ...] = ()
    offered: "tuple[Offered, ...]" = ()

    def cost_of(self, cube: Frame) -> Decimal:
        """The list cost of a changed cube in USD, of what has a price."""
        found = self.costs_of(cube)
        return found.to_usd(int(sum(found.costs)))

    def costs_of(self, cube: Frame) -> RowCosts:
        """The list cost of each row of a changed cube."""
        return row_costs(cube, self.book, as_of=self.as_of)


def total_usd(priced: PricedCube) -> Decimal:
    """The cost of a priced cube, exact."""
    names = [name for name in priced.frame.columns if name.startswith("cost_")]
    return priced.to_usd(sum(int(value) for name in names for value in priced.frame[name]))


def costs_by(priced: PricedCube, keys: Iterable[Any]) -> dict[Any, Decimal]:
    """The costs of a priced cube by a key of each row, exact."""
    names = [name for name in priced.frame.columns if name.startswith("cost_")]
    sums: dict[Any, int] = {}
    rows = priced.frame[names].itertuples(index=False, name=None)
    for key, row in zip(keys, rows, strict=True):
        sums[key] = sums.get(key, 0) + sum(int(value) for value in row)
    return {key: priced.to_usd(value) for key, value in sums.items()}
