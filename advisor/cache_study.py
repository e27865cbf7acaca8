"""What prompt caches would have done to a log: replayed over its arrivals, and priced as a changed cube."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from advisor.cache_reuse import CURVE_SECONDS
from pricing.book import PriceBook
from pricing.cache_math import break_even_hit_ratio
from pricing.cache_rules import CacheRule, Lifetime, multiples, rules_for
from pricing.charges import Unpriced, sheet_or_reason
from pricing.frame import PricedCube, price_cube
from pricing.meters import CACHE_WRITE_METERS, INPUT_METERS, Meter
from workloads import cube as scan
from workloads.cache_policies import Model, ModelPolicy, store_base, under
from workloads.cache_replay import Accesses, Hits, store_hits, sum_hits
from workloads.cube_columns import column
from workloads.grouping import Grouping
from workloads.period import Period
from workloads.rate_cuts import RateCuts

Connection = Any
Expr = Any

FREE_WRITES: Final = "5m, free writes"
STATED: Final = {
    "5m": (300, 1.25, 0.1),
    FREE_WRITES: (300, 1.0, 0.1),
    "30m": (1_800, 1.25, 0.1),
    "1h": (3_600, 2.0, 0.1),
}
"""Lifetime in seconds, and the multiples of the input price for a write and a read that most price lists have."""
AS_LOGGED: Final = "as logged"
NO_CACHE: Final = "none"
_ALL: Final = Grouping(("source",), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One way to cache, and what it comes to.

    Attributes:
        name: ``none``, ``as logged``, or a lifetime.
        hit_tokens: Read from the cache.
        written_tokens: Written, as far as that has a meter of its own.
        input_cost_ratio: Cost of prompts, against no cache; None without a price.
        cost_usd: Cost of everything, answers too; None without a price.
        saving_usd: Against what was logged; negative where it would cost more.
    """

    name: str
    hit_tokens: int
    written_tokens: int
    input_cost_ratio: float | None = None
    cost_usd: Decimal | None = None
    saving_usd: Decimal | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """The share of hits above which a lifetime of a model pays."""

    model: str
    lifetime: str
    write_multiple: float
    read_multiple: float
    hit_ratio: float | None


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


@dataclass(frozen=True, slots=True)
class _Offer:
    """A lifetime that a model's provider sells."""

    rule: CacheRule
    lifetime: Lifetime
    seconds: float


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
    offers = {model: _offers(model, as_of) for model in models}
    lifetimes = sorted({*CURVE_SECONDS, *(one.seconds for found in offers.values() for one in found)})
    hits = store_hits(connection, accesses, lifetimes)
    found = sum_hits(connection, accesses, hits, lifetimes)
    base = store_base(connection, records, accesses, hits)
    columns = {age: f"h{index}" for index, age in enumerate(lifetimes)}
    cubes = {AS_LOGGED: _price(connection, base, book, as_of)}
    for name, plan in _plans(offers, columns).items():
        cubes[name] = _price(connection, under(base, plan), book, as_of)
    policies = tuple(_policy(name, cubes) for name in cubes)
    priced = any(one.cost_usd for one in policies)
    return CacheStudy(
        accesses=accesses,
        logged_read_tokens=_tokens(cubes[AS_LOGGED], (Meter.CACHE_READ,)),
        policies=policies if priced else tuple(_stated(found, accesses)),
        best=best_of(policies if priced else _stated(found, accesses)),
        curve={age: found[age] for age in CURVE_SECONDS},
        break_even=tuple(_break_even(offers, book, as_of)),
        assumptions=tuple(_assumptions(offers, priced=priced)),
    )


def _models(connection: Connection, records: Expr) -> list[Model]:
    pairs = records.select(provider=column(records, "provider"), model=column(records, "model")).distinct()
    rows = connection.to_pyarrow(pairs).to_pylist()
    return sorted(
        ((row["provider"], row["model"]) for row in rows), key=lambda one: (one[0] or "", one[1] or "")
    )


def _offers(model: Model, as_of: datetime) -> list[_Offer]:
    """Return the lifetimes that can be had; of one that varies the shortest, and none that nobody states."""
    provider, name = model
    if name is None:
        return []
    return [
        _Offer(
            rule, lifetime, lifetime.seconds[0] if isinstance(lifetime.seconds, tuple) else lifetime.seconds
        )
        for rule in rules_for(provider, name, as_of)
        for lifetime in rule.lifetimes
        if lifetime.seconds is not None
    ]


def _plans(
    offers: Mapping[Model, list[_Offer]], columns: Mapping[float, str]
) -> dict[str, dict[Model, ModelPolicy]]:
    """Return what each model does under each policy: without a cache, and by lifetime where its provider sells that."""
    plans: dict[str, dict[Model, ModelPolicy]] = {
        NO_CACHE: {model: ModelPolicy(hits=None) for model in offers}
    }
    every = sorted({(one.seconds, one.lifetime.name) for found in offers.values() for one in found})
    for name in dict.fromkeys(name for _, name in every):
        plans[name] = {
            model: ModelPolicy(
                hits=columns[one.seconds],
                write_meter=one.lifetime.write_meter,
                minimum_tokens=one.rule.minimum_tokens,
                granularity_tokens=one.rule.granularity_tokens,
            )
            for model, found in offers.items()
            for one in found
            if one.lifetime.name == name
        }
    return plans


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
    return price_cube(scan.usage_cube(connection, prepared, _ALL, cuts), book, as_of=as_of)


def _tokens(cube: PricedCube, meters: Iterable[Meter]) -> int:
    frame = cube.frame
    return sum(int(frame[str(meter)].fillna(0).sum()) for meter in meters if str(meter) in frame.columns)


def _cost(cube: PricedCube, meters: Iterable[Meter]) -> Decimal:
    frame = cube.frame
    return cube.to_usd(
        sum(
            int(value)
            for meter in meters
            if f"cost_{meter}" in frame.columns
            for value in frame[f"cost_{meter}"]
        )
    )


def _policy(name: str, cubes: Mapping[str, PricedCube]) -> Policy:
    cube, plain, logged = cubes[name], cubes[NO_CACHE], cubes[AS_LOGGED]
    priced = bool((cube.frame["sheet"] >= 0).all())
    prompts, without = _cost(cube, INPUT_METERS), _cost(plain, INPUT_METERS)
    cost = _cost(cube, Meter)
    return Policy(
        name=name,
        hit_tokens=_tokens(cube, (Meter.CACHE_READ,)),
        written_tokens=_tokens(cube, CACHE_WRITE_METERS),
        input_cost_ratio=float(prompts / without) if priced and without else None,
        cost_usd=cost if priced else None,
        saving_usd=_cost(logged, Meter) - cost if priced else None,
    )


def _stated(found: Mapping[float, Hits], accesses: Accesses) -> Iterator[Policy]:
    """Return policies of a log without prices, by the multiples that most price lists have."""
    whole = accesses.input_tokens
    yield Policy(name=NO_CACHE, hit_tokens=0, written_tokens=0, input_cost_ratio=1.0)
    for name, (age, write, read) in STATED.items():
        hit = found[age].hit_tokens
        ratio = (hit * read + (whole - hit) * write) / whole if whole else None
        yield Policy(name=name, hit_tokens=hit, written_tokens=whole - hit, input_cost_ratio=ratio)


def best_of(policies: Iterable[Policy]) -> str | None:
    """Return the name of the cheapest policy, of equal ones the first; None where nothing has a price."""
    # What a write costs is not for the caller to choose.
    known = [one for one in policies if one.input_cost_ratio is not None and one.name != FREE_WRITES]

    def cost(one: Policy) -> Decimal:
        return Decimal(str(one.input_cost_ratio)) if one.cost_usd is None else one.cost_usd

    return min(known, key=cost).name if known else None


def _break_even(
    offers: Mapping[Model, list[_Offer]], book: PriceBook, as_of: datetime
) -> Iterator[BreakEven]:
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
                )


def _assumptions(offers: Mapping[Model, list[_Offer]], *, priced: bool) -> Iterator[str]:
    if priced:
        unknown = sorted({model or "(no model)" for (_, model), found in offers.items() if not found})
        if unknown:
            yield f"No rule of a prompt cache is known for {', '.join(unknown)}: left as logged."
        yield "A lifetime that varies is taken at its shortest."
    else:
        yield "The log names no model with a price: multiples of the input price that most lists have, 0.1 for a read."
    yield "Every prompt is written as far as it was not read; a use keeps an entry alive."
    yield "An entry can be read by whatever starts after it: calls at one moment read what the first of them writes."
