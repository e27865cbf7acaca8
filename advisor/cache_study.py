"""What prompt caches would have done to a log: replayed over its arrivals, and priced as a changed cube."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from advisor.cache_plans import (
    AS_LOGGED,
    DEFAULT,
    LONG_SECONDS,
    MIXED,
    NO_CACHE,
    PING,
    PINGS,
    SHORT_SECONDS,
    Offer,
    Policy,
    best_of,
    offers,
    plans,
)
from advisor.cache_reuse import CURVE_SECONDS
from advisor.cache_stated import stated
from pricing.book import PriceBook
from pricing.cache_math import break_even_hit_ratio, most_pings
from pricing.cache_rules import multiples
from pricing.charges import Unpriced, sheet_or_reason
from pricing.frame import PricedCube, price_cube
from pricing.meters import CACHE_WRITE_METERS, INPUT_METERS, Meter
from workloads import cube as scan
from workloads.cache_policies import Model, pings_of, store_base, under
from workloads.cache_replay import Accesses, Hits, store_hits, sum_hits
from workloads.cube_columns import column
from workloads.grouping import Grouping
from workloads.period import Period
from workloads.prefix_policies import store_longer
from workloads.rate_cuts import RateCuts

Connection = Any
Expr = Any

_Cubes = tuple[PricedCube, ...]
"""The records of a policy and, where it has some, its pings."""
_ALL: Final = Grouping(("source",), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """The share of hits above which a lifetime of a model pays."""

    model: str
    lifetime: str
    write_multiple: float
    read_multiple: float
    hit_ratio: float | None
    pings: int | None
    """The most pings over one pause that do not lose, where a request follows; None where a read is free."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStudy:
    """All that a replay says.

    Attributes:
        accesses: What was replayed.
        logged_read_tokens: What the log itself says was read from a cache.
        policies: What was tried.
        best: Name of the cheapest policy; None where nothing could be priced or nothing beats the log.
        curve: Hits by lifetime in seconds, when a use keeps an entry alive.
        break_even: By model and lifetime.
        assumptions: What a reader must know.
    """

    accesses: Accesses
    logged_read_tokens: int
    policies: tuple[Policy, ...]
    best: str | None
    curve: Mapping[float, Hits]
    break_even: tuple[BreakEven, ...]
    assumptions: tuple[str, ...]


def study(
    connection: Connection,
    records: Expr,
    accesses: Accesses,
    book: PriceBook,
    as_of: datetime,
) -> CacheStudy:
    """Return what caches would have done.

    Args:
        connection: The engine.
        records: The ledger's records of the asked days.
        accesses: Its accesses.
        book: Prices.
        as_of: Moment of the report; the rules of the caches are those of then.
    """
    models = _models(connection, records)
    offered = {model: offers(model, as_of) for model in models}
    lifetimes = sorted({*CURVE_SECONDS, *(one.seconds for found in offered.values() for one in found)})
    hits = store_hits(connection, accesses, lifetimes)
    longer = store_longer(connection, accesses, SHORT_SECONDS, LONG_SECONDS, PINGS)
    found = sum_hits(connection, accesses, hits, lifetimes)
    base = store_base(connection, records, accesses, hits.join(longer, "request"))
    columns = {age: f"h{index}" for index, age in enumerate(lifetimes)}
    cubes: dict[str, _Cubes] = {AS_LOGGED: (_price(connection, base, book, as_of),)}
    for name, plan in plans(offered, columns, accesses.basis).items():
        pings = pings_of(base, plan)
        cubes[name] = (
            _price(connection, under(base, plan), book, as_of),
            *(() if pings is None else (_price(connection, pings, book, as_of),)),
        )
    every = [_policy(name, cubes) for name in cubes]
    priced = any(one.cost_usd for one in every)
    policies = tuple(_with_best_pings(every if priced else list(stated(connection, accesses, found, longer))))
    return CacheStudy(
        accesses=accesses,
        logged_read_tokens=_tokens(cubes[AS_LOGGED], (Meter.CACHE_READ,)),
        policies=policies,
        best=best_of(policies),
        curve={age: found[age] for age in CURVE_SECONDS},
        break_even=tuple(_break_even(offered, book, as_of)),
        assumptions=tuple(_assumptions(offered, policies, priced=priced)),
    )


def _models(connection: Connection, records: Expr) -> list[Model]:
    pairs = records.select(provider=column(records, "provider"), model=column(records, "model")).distinct()
    rows = connection.to_pyarrow(pairs).to_pylist()
    return sorted(
        ((row["provider"], row["model"]) for row in rows), key=lambda one: (one[0] or "", one[1] or "")
    )


def _price(connection: Connection, records: Expr, book: PriceBook, as_of: datetime) -> PricedCube:
    keys = book.rate_keys(scan.models_of(connection, records))
    cuts = RateCuts(
        breakpoints=keys.breakpoints,
        context_thresholds=keys.context_thresholds,
        clock_edges=keys.clock_edges,
        clocked=keys.clocked,
        regional=keys.regional,
        per_call=keys.per_call,
    )
    prepared = scan.prepare(connection, records, Period())
    if "ping_tokens" in records.columns:
        prepared = prepared.mutate(input_tokens=prepared.ping_tokens)
    return price_cube(scan.usage_cube(connection, prepared, _ALL, cuts), book, as_of=as_of)


def _tokens(cubes: _Cubes, meters: Iterable[Meter]) -> int:
    frame = cubes[0].frame
    return sum(int(frame[str(meter)].fillna(0).sum()) for meter in meters if str(meter) in frame.columns)


def _cost(cubes: _Cubes, meters: Iterable[Meter]) -> Decimal:
    names = [f"cost_{meter}" for meter in meters]
    sums = (
        cube.to_usd(
            sum(int(value) for name in names if name in cube.frame.columns for value in cube.frame[name])
        )
        for cube in cubes
    )
    return sum(sums, Decimal(0))


def _policy(name: str, cubes: Mapping[str, _Cubes]) -> Policy:
    mine, plain, logged = cubes[name], cubes[NO_CACHE], cubes[AS_LOGGED]
    priced = all(bool((cube.frame["sheet"] >= 0).all()) for cube in mine)
    prompts, without = _cost(mine, INPUT_METERS), _cost(plain, INPUT_METERS)
    cost = _cost(mine, Meter)
    return Policy(
        name=name,
        hit_tokens=_tokens(mine, (Meter.CACHE_READ,)),
        written_tokens=_tokens(mine, CACHE_WRITE_METERS),
        pings=sum(int(cube.frame["requests"].sum()) for cube in mine[1:]),
        input_cost_ratio=float(prompts / without) if priced and without else None,
        cost_usd=cost if priced else None,
        saving_usd=_cost(logged, Meter) - cost if priced else None,
    )


def _with_best_pings(policies: Sequence[Policy]) -> Iterator[Policy]:
    """Yield the policies, and of those that differ in the number of pings only the cheapest."""
    pinging = [one for one in policies if PING in one.name]
    best = best_of(pinging) or (pinging[0].name if pinging else None)
    yield from (one for one in policies if one not in pinging or one.name == best)


def _break_even(offers: Mapping[Model, list[Offer]], book: PriceBook, as_of: datetime) -> Iterator[BreakEven]:
    for (provider, model), found in offers.items():
        for one in found:
            sheet = sheet_or_reason(
                book,
                provider,
                model or "",
                at=as_of,
                context_tokens=None,
                service_tier=one.rule.service_tier,
            )
            both = None if isinstance(sheet, Unpriced) else multiples(sheet, one.lifetime)
            if both is not None:
                yield BreakEven(
                    model=model or "",
                    lifetime=one.lifetime.name,
                    write_multiple=both.write,
                    read_multiple=both.read,
                    hit_ratio=break_even_hit_ratio(both.write, both.read),
                    pings=most_pings(both.write, both.read),
                )


def _assumptions(
    offers: Mapping[Model, list[Offer]], policies: Iterable[Policy], *, priced: bool
) -> Iterator[str]:
    if priced:
        unknown = sorted({model or "(no model)" for (_, model), found in offers.items() if not found})
        if unknown:
            yield f"No rule of a prompt cache is known for {', '.join(unknown)}: left as logged."
        yield "A lifetime that varies is taken at its shortest."
    else:
        yield "The log names no model with a price: multiples of the input price that most lists have, 0.1 for a read."
        yield "Without a model and its provider there is no default of theirs to replay: name them with --model and --provider."
    yield "Every prompt is written as far as it was not read; a use keeps an entry alive."
    yield "An entry can be read by whatever starts after it: calls at one moment read what the first of them writes."
    names = [one.name for one in policies]
    if DEFAULT in names:
        yield (
            f"{DEFAULT}: the lifetime that holds when nobody chooses one; where a cache has to be asked for, as if it were."
        )
    if MIXED in names:
        yield f"{MIXED}: what at least half of the prompts that may share entries begin with is kept for an hour."
    if any(PING in name for name in names):
        yield (
            "Pings: each reads the last prompt again just before its entry expires, and answers with one token, until a "
            "request goes on from it. The number of pings that costs least is shown."
        )
