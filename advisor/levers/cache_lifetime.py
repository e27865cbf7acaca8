"""Caches that cost more than they save: written for an hour where five minutes do, or written and hardly ever read.

Where the log names what prompts begin with, a replay also says which lifetimes not to choose.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

import pandas as pd

from advisor import numbers
from advisor.cache_changes import LONG, READ, WRITES, cache_change, logged_models, only, shortened, uncached
from advisor.cache_costs import cache_costs
from advisor.cells import rows_of
from advisor.cube_changes import single_rows, tokens_in
from advisor.evidence import Cell, Evidence
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk
from pricing.cache_rules import rules_for
from pricing.errors import PricingError
from pricing.meters import Meter, Phase

NAME: Final = "cache_lifetime"
_MINUTES_5, _HOUR = 300, 3_600
_UNEVEN: Final = 2
"""Times the writes that one prefix for all would have needed, up to which all are taken to share one."""
_Late = Mapping[Level, Fraction]
"""Part of the reads that would be writes."""


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield proposals for each workload: to write for a shorter time, not to write at all, and what loses."""
    for name in evidence.workloads:
        shorter: dict[Cell, _Late] = {}
        dearer: dict[Cell, _Late] = {}
        unread: list[Cell] = []
        for cell in _cells(evidence.cube, name):
            part = evidence.cube[rows_of(evidence.cube, cell)].reset_index(drop=True)
            cost = evidence.cost_of(part)
            without = evidence.cost_of(uncached(part, rows_of(part, cell)))
            late = _late(evidence, cell, part)
            brief = None if late is None else evidence.cost_of(shortened(part, cell, late[Level.EXPECTED]))
            if late is not None and brief is not None and brief < min(cost, without):
                shorter[cell] = late
            elif without < cost:
                unread.append(cell)
            elif late is not None:
                dearer[cell] = late
        # What loses is looked at as well, so that the amount is said.
        if shorter or dearer:
            yield _shorter(evidence, name, shorter or dearer)
        if unread:
            yield _unread(evidence, name, unread)
        yield from _not_for(evidence, name)


def _not_for(evidence: Evidence, name: str) -> Iterator[Proposal]:
    """Yield the lifetimes that cost more than no cache where another one pays, so that the amount is said."""
    logged = logged_models(evidence, name)
    for (workload, provider, model), shares in evidence.caches.items():
        if workload != name or model is None or (provider, model) not in logged:
            continue
        costs = cache_costs(evidence.book, evidence.as_of, provider, model)
        best = None if costs is None else costs.cheapest(shares)
        if costs is None or best is None or best.measured is None:
            continue
        for one in shares:
            if one.splits and costs.of(one) > 1:
                yield Proposal(
                    lever=NAME,
                    workload=name,
                    title=f"Write to the cache for {one.lifetime} instead of {best.lifetime}",
                    phase=Phase.PREFILL,
                    change=cache_change(name, {(provider, model): one}),
                    confidence=Confidence.MEASURED,
                    effort=Effort.LOW,
                    risk=Risk.NONE,
                    evidence=(Fact(label="Known by", value=one.basis),),
                )


def _shorter(evidence: Evidence, name: str, late: Mapping[Cell, _Late]) -> Proposal:
    reads, written, long = _sums(evidence, late)
    by_session = all(cell in evidence.late_reads and evidence.late_reads[cell].by_session for cell in late)
    replayed = all(_measured_late(evidence, cell) is not None for cell in late)
    lost = sum(
        int(tokens_in(evidence.cube, rows_of(evidence.cube, cell), READ) * one[Level.EXPECTED])
        for cell, one in late.items()
    )
    return Proposal(
        lever=NAME,
        workload=name,
        title="Write to the cache for 5 minutes instead of 1 hour",
        phase=Phase.PREFILL,
        change=_change_shorter(late),
        confidence=Confidence.MEASURED if replayed else Confidence.MODELLED,
        effort=Effort.LOW,
        risk=Risk.NONE,
        evidence=(
            Fact(label="Written for an hour", value=f"{numbers.tokens(long)} tokens"),
            Fact(
                label="Read",
                value=f"{numbers.tokens(reads)} tokens, {_each(reads, written)} for each written",
            ),
            Fact(label="Of that, after more than 5 minutes", value=f"{numbers.tokens(lost)} tokens"),
        ),
        assumptions=(
            *_assumed(by_session=by_session, replayed=replayed),
            "Each read keeps an entry for 5 more minutes, without a charge.",
        ),
        how=(
            "Leave the lifetime away where the marker sets one: 5 minutes are what is meant then.",
            "Keep one hour for prompts that come back after 5 to 60 minutes.",
        ),
        snippet='"cache_control": {"type": "ephemeral"}  # without "ttl": "1h"',
    )


def _assumed(*, by_session: bool, replayed: bool) -> tuple[str, ...]:
    if replayed:
        return (
            "The log's own prompts replayed with both lifetimes: what only the longer one reads is written again.",
        )
    whose = (
        "by session, and expected: what a session's first request reads as well, high: not."
        if by_session
        else "all requests share what they read, as the few writes say."
    )
    return (
        f"What is read more than 5 minutes after the request before would be written again; {whose}",
        "Low: twice as much is late.",
    )


def _unread(evidence: Evidence, name: str, cells: list[Cell]) -> Proposal:
    reads, written, _ = _sums(evidence, cells)
    pauses = [evidence.pauses[cell] for cell in cells if cell in evidence.pauses]
    soon = sum(one.requests - 1 - one.longer_than[_MINUTES_5] for one in pauses)
    seen = sum(one.requests for one in pauses)
    came = (
        (Fact(label="Requests within 5 minutes of the one before", value=numbers.share(soon / seen)),)
        if seen
        else ()
    )
    return Proposal(
        lever=NAME,
        workload=name,
        title="Stop writing to a cache that is hardly read, or find out why it is not",
        phase=Phase.PREFILL,
        change=_change_unread(evidence, cells),
        confidence=Confidence.MEASURED,
        effort=Effort.LOW,
        risk=Risk.NONE,
        evidence=(
            Fact(label="Written to a cache", value=f"{numbers.tokens(written)} tokens"),
            Fact(
                label="Read",
                value=f"{numbers.tokens(reads)} tokens, {_each(reads, written)} for each written",
            ),
            *came,
        ),
        assumptions=(
            "Without a cache the same text is plain input: exact, of what the log counts.",
            "The saving is that of not writing; a prefix that is found again would save more.",
        ),
        how=(
            "Compare two prompts that came soon after one another: the first letter that differs ends what can be read.",
            "Move dates, names, ids and lists in random order behind what never changes; fix the order of tools.",
            "Where prompts have nothing in common, or come too seldom, take the marker off (OpenAI: explicit mode).",
        ),
    )


def _each(reads: int, written: int) -> str:
    return numbers.ratio(reads / written) if written else numbers.MISSING


def _sums(evidence: Evidence, cells: Mapping[Cell, _Late] | list[Cell]) -> tuple[int, int, int]:
    """Return the tokens of some cells that are read, written, and written for an hour."""
    rows = [rows_of(evidence.cube, cell) for cell in cells]
    columns = ((READ,), WRITES, (LONG,))
    reads, written, long = (
        sum(tokens_in(evidence.cube, one, name) for one in rows for name in names) for names in columns
    )
    return reads, written, long


def _late(evidence: Evidence, cell: Cell, part: Any) -> _Late | None:
    """Return which part of the reads would be writes with 5 minutes; None where that cannot be had, or is not known."""
    _, provider, model = cell
    if model is not None and (measured := _measured_late(evidence, cell)) is not None:
        return measured if _has_both(evidence, provider, model) else None
    known, pauses = evidence.late_reads.get(cell), evidence.pauses.get(cell)
    if known is None or pauses is None or model is None or not _has_both(evidence, provider, model):
        return None
    every = rows_of(part, cell)
    reads, long = tokens_in(part, every, READ), tokens_in(part, every, LONG)
    written = sum(tokens_in(part, every, name) for name in WRITES)
    if not long:
        return None
    starts = 1 + pauses.longer_than[_HOUR]
    if not known.by_session and written * pauses.requests > _UNEVEN * starts * (reads + written):
        return None
    late = known.late_tokens + (known.first_tokens if known.by_session else 0)
    by_level = {Level.LOW: 2 * late, Level.EXPECTED: late, Level.HIGH: known.late_tokens}
    return {
        level: min(Fraction(1), Fraction(count, reads)) if reads else Fraction(0)
        for level, count in by_level.items()
    }


def _measured_late(evidence: Evidence, cell: Cell) -> _Late | None:
    """Return which part of the reads of an hour a replay does not have with 5 minutes; None where nothing was replayed."""
    by_meter = {one.write_meter: one.measured for one in evidence.caches.get(cell, ())}
    short, long = by_meter.get(Meter.CACHE_WRITE_5M), by_meter.get(Meter.CACHE_WRITE_1H)
    if short is None or long is None or not long.read_ratio:
        return None
    return dict.fromkeys(Level, 1 - Fraction(short.read_ratio) / Fraction(long.read_ratio))


def _has_both(evidence: Evidence, provider: str | None, model: str) -> bool:
    """Return whether both lifetimes can be had, at rates of their own."""
    rules = rules_for(provider, model, evidence.as_of)
    both = {Meter.CACHE_WRITE_5M, Meter.CACHE_WRITE_1H}
    if not any(both <= {one.write_meter for one in rule.lifetimes} for rule in rules):
        return False
    try:
        sheet = evidence.book.find(provider, model).resolve(evidence.as_of, None, None)
    except PricingError:
        return False
    return both <= set(sheet.rates) and not both & set(sheet.fallbacks)


def _cells(cube: Any, name: str) -> Iterator[Cell]:
    """Yield the models of a workload whose single requests write to a cache."""
    written = [cube[column].fillna(0) > 0 for column in WRITES if column in cube.columns]
    if not written:
        return
    rows = single_rows(cube, name) & pd.concat(written, axis=1).any(axis=1)
    pairs = cube.loc[rows, ["provider", "model"]].drop_duplicates()
    for provider, model in pairs.itertuples(index=False, name=None):
        words = [word if isinstance(word, str) else None for word in (provider, model)]
        yield name, words[0], words[1]


def _change_shorter(late: Mapping[Cell, _Late]) -> Change:
    def change(cube: Any, level: Level) -> Any:
        out = cube
        for cell, parts in late.items():
            out = shortened(out, cell, parts[level])
        return out

    return change


def _change_unread(evidence: Evidence, cells: list[Cell]) -> Change:
    def change(cube: Any, level: Level) -> Any:
        del level
        out = cube
        for cell in cells:
            rows = rows_of(out, cell)
            plain = uncached(out, rows)
            # A step before may have mended the cache.
            if rows.any() and evidence.cost_of(only(plain, rows)) < evidence.cost_of(only(out, rows)):
                out = plain
        return out

    return change
