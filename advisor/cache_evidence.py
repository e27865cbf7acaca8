"""What prompt caches could do for a log: replayed where it names prefixes or sessions, a bound where it only counts."""

from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fractions import Fraction
from math import ceil
from typing import Any

import pandas as pd

from advisor.cache_bound import most_common
from advisor.cache_breaks import common_words
from advisor.cache_curves import Replayed, workload_reuse
from advisor.cache_reuse import CURVE_SECONDS, Known, WorkloadReuse
from advisor.evidence import CacheShares, Split
from advisor.recommendation import Level
from advisor.rerouting import Move
from pricing.book import PriceBook
from pricing.cache_rules import CacheRule, Lifetime, rules_for
from pricing.meters import CACHE_WRITE_METERS, Meter
from workloads.grouping import Grouping
from workloads.prefix_reads import prefix_reads
from workloads.prefix_sites import names_prefixes
from workloads.session_reads import Smallest, session_reads

Connection = Any
Expr = Any
Frame = pd.DataFrame
Row = Mapping[Any, Any]
Cell = tuple[str, str | None, str | None]
"""Workload, provider and model as logged."""

_TEXT = (Meter.INPUT_UNCACHED, Meter.CACHE_READ, *CACHE_WRITE_METERS)


@dataclass(frozen=True, slots=True)
class CacheFindings:
    """What each lifetime that can be had would have done, by cell, reuse by workload, and the replay of named prompts."""

    caches: Mapping[Cell, tuple[CacheShares, ...]]
    reuse: tuple[WorkloadReuse, ...]
    named: Mapping[Cell, Row]
    turns: Mapping[Cell, Row]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Known:
    """What the log says of a cell: its text and what of it is read today, its arrivals, its turns if it names sessions."""

    text_tokens: int
    read_tokens: int
    arrivals: Row | None
    turns: Row | None
    shortest_tokens: int
    are_equal: bool = False
    """Whether all prompts have the same number of tokens."""
    reads_told: bool = False
    """Whether the log says what was read from a cache, be it nothing."""
    place: int = 0
    """Of the cache among those that the turns were replayed with."""
    named: bool = False
    """Whether the turns were replayed by names of what prompts begin with."""


def cache_evidence(
    connection: Connection,
    records: Expr,
    grouping: Grouping,
    seen: Frame,
    workloads: Mapping[str, float | None],
    shortest: Mapping[str, float],
    cube: Frame,
    as_of: datetime,
    book: PriceBook,
    moves: Sequence[Move] = (),
    equal: Container[str] = (),
) -> CacheFindings:
    """Return what each lifetime that can be had would have done, by workload, provider and model.

    For a model that a move leads to and that the workload does not have: what the cache of that model would have done to
    the prompts of the model that they come from, in its tokens and under its rules.

    Args:
        connection: The engine that holds the records.
        records: Records of the asked days.
        grouping: How workloads are told apart.
        seen: See ``workloads.arrivals.arrivals``.
        workloads: Those to look at, with the share of their prompts that is read from a cache today.
        shortest: Tokens that nearly all prompts of a workload have, by workload.
        cube: The usage cube.
        as_of: Moment of the report; the rules of the caches are those of then.
        book: Prices.
        moves: Where requests could go.
        equal: Workloads whose prompts all have the same number of tokens.
    """
    arrivals = {_cell(row): row for row in seen[seen["workload"].isin(workloads)].to_dict("records")}
    cells = _cells(cube, workloads) if names_prefixes(records) else list(arrivals)
    rules = {cell: rule for cell in cells if (rule := _rule(cell, as_of)) is not None}
    elsewhere = [_elsewhere(move, as_of) for move in moves]
    reached = {
        one.target: one
        for one in reversed([one for one in elsewhere if one is not None])
        if one.source in cells and one.target not in cells
    }
    every = (*rules.values(), *(one.rule for one in reached.values()))
    offered = {age for rule in every for one in rule.lifetimes if (age := one.shortest_seconds)}
    lifetimes: list[float] = sorted({*CURVE_SECONDS, *offered})
    taken: dict[tuple[str | None, str], list[Smallest]] = {
        (provider, str(model)): [Smallest(rule.minimum_tokens, rule.granularity_tokens)]
        for (_, provider, model), rule in rules.items()
    }
    places = {target: _place(one, taken) for target, one in reached.items()}
    replayed = session_reads(connection, records, grouping, taken, lifetimes)
    turns = {} if replayed is None else {_cell(row): row for row in replayed.to_dict("records")}
    named = prefix_reads(connection, records, grouping, taken, lifetimes)
    rows = {} if named is None else {_cell(row): row for row in named.frame.to_dict("records")}
    # Names tell more than sessions do, but not where few of the prompts have any.
    prefixes = {cell: row for cell, row in rows.items() if 2 * row["text_tokens"] >= _told(turns.get(cell))}

    def known(cell: Cell) -> _Known:
        text, read = _logged(cube, cell)
        return _Known(
            text_tokens=text,
            read_tokens=read,
            arrivals=arrivals.get(cell),
            turns=prefixes.get(cell, turns.get(cell)),
            shortest_tokens=int(shortest.get(cell[0]) or 0),
            are_equal=cell[0] in equal,
            reads_told=workloads.get(cell[0]) is not None,
            named=cell in prefixes,
        )

    out: dict[Cell, tuple[CacheShares, ...]] = {}
    for cell, rule, mine in (
        *((cell, rule, known(cell)) for cell, rule in rules.items()),
        *(
            (cell, one.rule, _in_other_tokens(known(one.source), one.ratio, places[cell]))
            for cell, one in reached.items()
        ),
    ):
        found = [shares for one in rule.lifetimes if (shares := _shares(rule, one, mine, lifetimes))]
        if found:
            out[cell] = tuple(found)
    by_names = Known.BLOCKS if named is None else Known(named.basis.value)
    replays = (
        *(_replayed(cell, by_names, rules.get(cell), row, "read_0_") for cell, row in prefixes.items()),
        *(_replayed(cell, Known.SESSIONS, rules.get(cell), row, "likely_0_") for cell, row in turns.items()),
    )
    return CacheFindings(out, workload_reuse(replays, lifetimes, workloads, book, as_of), prefixes, turns)


def _told(row: Row | None) -> int:
    return 0 if row is None else int(row["text_tokens"])


def _replayed(cell: Cell, known_by: Known, rule: CacheRule | None, sums: Row, reads: str) -> Replayed:
    return Replayed(cell=cell, known_by=known_by, rule=rule, sums=sums, reads=reads)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Elsewhere:
    """The cache of a model that requests could go to."""

    source: Cell
    target: Cell
    ratio: Fraction
    """Tokens there for one token of the source."""
    rule: CacheRule


def _elsewhere(move: Move, as_of: datetime) -> _Elsewhere | None:
    route = move.route
    target = (route.workload, route.provider, route.target)
    rule = _rule(target, as_of)
    if rule is None:
        return None
    source = (route.workload, route.provider, route.source)
    return _Elsewhere(source=source, target=target, ratio=move.ratios.usual, rule=rule)


def _place(one: _Elsewhere, taken: dict[tuple[str | None, str], list[Smallest]]) -> int:
    """Return which of the caches of the source's prompts this one is; one that is not there yet is added."""
    _, provider, model = one.source
    smallest = Smallest(
        ceil(one.rule.minimum_tokens / one.ratio), max(1, ceil(one.rule.granularity_tokens / one.ratio))
    )
    caches = taken.setdefault((provider, str(model)), [])
    if smallest not in caches:
        caches.append(smallest)
    return caches.index(smallest)


def _in_other_tokens(known: _Known, ratio: Fraction, place: int) -> _Known:
    """Return what is known of some prompts in the tokens of another model, for one of the caches that they could be in."""
    turns = None
    if known.turns is not None:
        counted = (f"cacheable_{place}", f"likely_{place}_", f"most_{place}_")
        turns = {
            name: int(value * ratio) if str(name).startswith(counted) else value
            for name, value in known.turns.items()
        }
    return _Known(
        text_tokens=int(known.text_tokens * ratio),
        read_tokens=ceil(known.read_tokens * ratio),
        arrivals=known.arrivals,
        turns=turns,
        shortest_tokens=int(known.shortest_tokens * ratio),
        are_equal=known.are_equal,
        reads_told=known.reads_told,
        place=place,
        named=known.named,
    )


def _cell(row: Row) -> Cell:
    provider, model = (row[name] if isinstance(row[name], str) else None for name in ("provider", "model"))
    return str(row["workload"]), provider, model


def _cells(cube: Frame, workloads: Collection[str]) -> list[Cell]:
    """Return the models of some workloads."""
    mine = cube.loc[cube["workload"].isin(workloads), ["workload", "provider", "model"]]
    return [_cell(row) for row in mine.drop_duplicates().to_dict("records")]


def _rule(cell: Cell, as_of: datetime) -> CacheRule | None:
    """Return the rule of the cache that is free to keep; what is paid by the hour pays only for who plans it."""
    _, provider, model = cell
    found = rules_for(provider, model, as_of) if model is not None else ()
    return next((rule for rule in found if rule.storage_meter is None), None)


def _logged(cube: Frame, cell: Cell) -> tuple[int, int]:
    """Return tokens of prompt text in the cube, and those of them that were read from a cache."""
    workload, provider, model = cell
    mine = (cube["workload"] == workload) & (cube["model"] == model)
    mine &= cube["provider"].isna() if provider is None else cube["provider"] == provider
    sums = {
        meter: int(cube.loc[mine, str(meter)].fillna(0).sum())
        for meter in _TEXT
        if str(meter) in cube.columns
    }
    return sum(sums.values()), sums.get(Meter.CACHE_READ, 0)


def _shares(
    rule: CacheRule, lifetime: Lifetime, known: _Known, lifetimes: Sequence[float]
) -> CacheShares | None:
    seconds = lifetime.shortest_seconds
    if seconds is None or not known.text_tokens:
        return None
    if known.named and known.turns is not None:
        return _measured(lifetime, known, known.turns, lifetimes.index(seconds))
    # A cache that works by itself would have read prompts that are one text, and the log would say so.
    alike = known.are_equal and (rule.placement == "explicit" or not known.reads_told)
    bound, basis = most_common(rule, seconds, known.shortest_tokens, known.arrivals, are_equal=alike)
    tokens: dict[Level, tuple[int, int]] = {Level.HIGH: bound}
    if alike:
        tokens[Level.EXPECTED] = bound
    if known.turns is not None:
        place, cacheable = lifetimes.index(seconds), int(known.turns[f"cacheable_{known.place}"])
        likely, most = (int(known.turns[f"{name}_{known.place}_{place}"]) for name in ("likely", "most"))
        replayed = dict.fromkeys((Level.LOW, Level.EXPECTED), (likely, cacheable - likely))
        if likely > known.read_tokens:
            basis = (
                f"a replay of {int(known.turns['requests']):,} requests with sessions: prompts begin with the one before "
                f"and its answer where they have room for both"
            )
        tokens = {**replayed, Level.HIGH: max((most, cacheable - most), bound)}
    splits = {
        level: _split(*counts, known.text_tokens)
        for level, counts in tokens.items()
        # What is read already is not a saving.
        if counts[0] > known.read_tokens
    }
    if not splits:
        return None
    by_size = known.turns is None and alike
    return CacheShares(
        lifetime=lifetime.name, write_meter=lifetime.write_meter, splits=splits, basis=basis, by_size=by_size
    )


def _measured(lifetime: Lifetime, known: _Known, turns: Row, number: int) -> CacheShares:
    read, cacheable = int(turns[f"read_{known.place}_{number}"]), int(turns[f"cacheable_{known.place}"])
    split = _split(read, cacheable - read, known.text_tokens)
    return CacheShares(
        lifetime=lifetime.name,
        write_meter=lifetime.write_meter,
        splits=dict.fromkeys(Level, split) if read > known.read_tokens else {},
        basis=f"a replay of {int(turns['requests']):,} requests by what their prompts begin with{common_words(turns)}",
        measured=split,
    )


def _split(read_tokens: int, written_tokens: int, text_tokens: int) -> Split:
    read = min(1.0, read_tokens / text_tokens)
    return Split(read, min(1.0 - read, written_tokens / text_tokens))
