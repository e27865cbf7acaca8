"""Records as they would have been under a cache policy: the same prompts, other meters.

The whole text of a prompt (plain, read from a cache and written to one, as logged) is told apart anew: what the replay
found is read, what could be cached beyond it is written, the rest is plain. Audio, images and answers stay as they are.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import ibis

from pricing.meters import CACHE_WRITE_METERS, Meter
from workloads.cache_replay import Accesses, Basis
from workloads.cube_columns import column, total
from workloads.ledger import COLUMNS
from workloads.relations import store

Connection = Any
Expr = Any
Model = tuple[str | None, str | None]
"""Provider and model as logged."""

_TEXT = (Meter.INPUT_UNCACHED, Meter.CACHE_READ, *CACHE_WRITE_METERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPolicy:
    """What the cache of one model does under a policy.

    Attributes:
        hits: Column of the stored hits (see ``cache_replay.store_hits``); None: nothing is cached.
        write_meter: What a write is charged as.
        minimum_tokens: Prefixes below are not cached.
        granularity_tokens: Cached prefixes are whole multiples of it.
        stable: What holds where the stable part of a prompt is large enough to be kept longer; see ``prefix_policies``.
        pings: Column of the pings after each request; each reads its cached prefix again and answers with one token.
    """

    hits: str | None
    write_meter: Meter = Meter.INPUT_UNCACHED
    minimum_tokens: int = 1
    granularity_tokens: int = 1
    stable: "StablePart | None" = None
    pings: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StablePart:
    """A beginning of prompts that is kept longer than the rest.

    Attributes:
        tokens: Column of its size.
        hits: Column of what was found of it.
        all_hits: Column of what was found of the whole prompt.
        write_meter: What writing it is charged as.
    """

    tokens: str
    hits: str
    all_hits: str
    write_meter: Meter


def store_base(connection: Connection, records: Expr, accesses: Accesses, hits: Expr) -> Expr:
    """Return the records with their hits and the size of what could be cached, stored: the ground of every policy.

    Args:
        connection: The engine.
        records: The ledger's records, with ``log_row``.
        accesses: What was replayed.
        hits: The stored hits of ``cache_replay.store_hits``.
    """
    replayed = accesses.table.left_join(hits, "request").drop("request_right")
    names = [name for name in hits.columns if name != "request"]
    known = replayed.select("log_row", *names, prefix=_prefix(replayed, accesses.basis))
    text = total(records, _TEXT)
    joined = records.mutate(text=text).left_join(known, "log_row").drop("log_row_right")
    return store(connection, "cache_base", joined)


def _prefix(requests: Expr, basis: Basis) -> Expr:
    """Return how much of a prompt can be written to a cache: what was marked, else all of it."""
    return requests.prefix_tokens if basis is Basis.PREFIXES else requests.whole


def under(base: Expr, models: Mapping[Model, ModelPolicy]) -> Expr:
    """Return the records under a policy.

    Args:
        base: See ``store_base``.
        models: What each model's cache does; requests of models that are not here, and those without a place in the
            replay, stay as they were logged.
    """
    cells = {model: _is(base, model) & base.prefix.notnull() & base.text.notnull() for model in models}
    reads = {model: _reads(base, policy) for model, policy in models.items()}
    writes = {model: _writes(base, policy, reads[model]) for model, policy in models.items()}
    plain = {
        model: base.text
        - reads[model]
        - sum(tokens for meter, tokens in writes[model].items() if meter is not Meter.INPUT_UNCACHED)
        for model in models
    }
    columns = {
        "input_uncached": _choose(cells, plain, column(base, "input_uncached")),
        "cache_read": _choose(cells, reads, column(base, "cache_read")),
    }
    for meter in CACHE_WRITE_METERS:
        mine = {model: writes[model].get(meter, ibis.literal(0)) for model in models}
        columns[str(meter)] = _choose(cells, mine, column(base, str(meter)))
    kept = [name for name in base.columns if name in COLUMNS and name not in columns]
    return base.select(*kept, **{name: value.cast("int64") for name, value in columns.items()})


def _is(base: Expr, model: Model) -> Expr:
    provider, name = column(base, "provider"), column(base, "model")
    same_name = name.isnull() if model[1] is None else name == model[1]
    return same_name & (provider.isnull() if model[0] is None else provider == model[0])


def _cacheable(base: Expr, policy: ModelPolicy) -> Expr:
    """Return how much of a prompt the cache would hold after the request."""
    return _eligible(ibis.least(base.prefix, base.text), policy) if policy.hits else ibis.literal(0)


def _reads(base: Expr, policy: ModelPolicy) -> Expr:
    if policy.hits is None:
        return ibis.literal(0)
    found = ibis.coalesce(base[policy.hits], 0)
    if policy.stable is not None:
        all_hits = ibis.coalesce(base[policy.stable.all_hits], 0)
        found = ibis.cases((_stable(base, policy, policy.stable) > 0, all_hits), else_=found)
    return ibis.least(_eligible(ibis.least(found, base.text), policy), _cacheable(base, policy))


def _stable(base: Expr, policy: ModelPolicy, part: StablePart) -> Expr:
    """Return how much of a prompt is kept longer: nothing where that is too little to be cached by itself."""
    return _eligible(ibis.least(ibis.coalesce(base[part.tokens], 0), base.text), policy)


def _writes(base: Expr, policy: ModelPolicy, reads: Expr) -> dict[Meter, Expr]:
    every = _cacheable(base, policy) - reads
    if policy.stable is None:
        return {policy.write_meter: every}
    whole = _stable(base, policy, policy.stable)
    found = ibis.least(_eligible(ibis.coalesce(base[policy.stable.hits], 0), policy), reads)
    longer = ibis.least(ibis.greatest(whole - found, 0), every)
    return {policy.write_meter: every - longer, policy.stable.write_meter: longer}


def pings_of(base: Expr, models: Mapping[Model, ModelPolicy]) -> Expr | None:
    """Return the pings of a policy as records, those after one request in one row; None where it has none.

    ``ping_tokens`` is the size of one ping, whatever the number of pings in the row: their rates depend on it.
    """
    pinging = {model: policy for model, policy in models.items() if policy.pings}
    if not pinging:
        return None
    cells = {model: _is(base, model) & base.prefix.notnull() & base.text.notnull() for model in pinging}
    counts = {model: ibis.coalesce(base[policy.pings], 0) for model, policy in pinging.items()}
    sizes = {model: _cacheable(base, policy) for model, policy in pinging.items()}
    rows = base.mutate(
        sent=_choose(cells, counts, ibis.literal(0)), size=_choose(cells, sizes, ibis.literal(0))
    )
    rows = rows.filter((rows.sent > 0) & (rows["size"] > 0))
    counted = {*map(str, Meter), "reasoning", "recorded_cost_usd"}
    kept = [name for name in rows.columns if name in COLUMNS and name not in counted | {"requests"}]
    return rows.select(
        *kept,
        requests=rows.sent.cast("int64"),
        cache_read=(rows.sent * rows["size"]).cast("int64"),
        output=rows.sent.cast("int64"),
        ping_tokens=rows["size"].cast("int64"),
    )


def _eligible(tokens: Expr, policy: ModelPolicy) -> Expr:
    whole = tokens - tokens % policy.granularity_tokens
    return ibis.cases((tokens >= policy.minimum_tokens, whole), else_=0)


def _choose(cells: Mapping[Model, Expr], values: Mapping[Model, Expr], otherwise: Expr) -> Expr:
    branches: Sequence[tuple[Expr, Expr]] = [(cells[model], values[model]) for model in cells]
    return ibis.cases(*branches, else_=otherwise) if branches else otherwise
