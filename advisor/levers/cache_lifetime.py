"""Caches that cost more than they save: written for an hour where five minutes do, or written and hardly ever read."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

import pandas as pd

from advisor import numbers
from advisor.cells import rows_of
from advisor.cube_changes import single_rows, tokens_in
from advisor.evidence import Cell, Evidence
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk
from pricing.cache_rules import rules_for
from pricing.errors import PricingError
from pricing.meters import CACHE_WRITE_METERS, Meter, Phase

NAME: Final = "cache_lifetime"
_UNCACHED: Final = str(Meter.INPUT_UNCACHED)
_READ: Final = str(Meter.CACHE_READ)
_SHORT: Final = str(Meter.CACHE_WRITE_5M)
_LONG: Final = str(Meter.CACHE_WRITE_1H)
_WRITES: Final = tuple(map(str, CACHE_WRITE_METERS))
_MINUTES_5, _HOUR = 300, 3_600
_UNEVEN: Final = 2
"""Times the writes that one prefix for all would have needed, up to which all are taken to share one."""
_Late = Mapping[Level, Fraction]
"""Part of the reads that would be writes."""


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield up to two proposals for each workload: to write for a shorter time, and not to write at all."""
    for name in evidence.workloads:
        shorter: dict[Cell, _Late] = {}
        dearer: dict[Cell, _Late] = {}
        unread: list[Cell] = []
        for cell in _cells(evidence.cube, name):
            part = evidence.cube[rows_of(evidence.cube, cell)].reset_index(drop=True)
            cost = evidence.cost_of(part)
            without = evidence.cost_of(_uncached(part, rows_of(part, cell)))
            late = _late(evidence, cell, part)
            brief = None if late is None else evidence.cost_of(_shortened(part, cell, late[Level.EXPECTED]))
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


def _shorter(evidence: Evidence, name: str, late: Mapping[Cell, _Late]) -> Proposal:
    reads, written, long = _sums(evidence, late)
    by_session = all(evidence.late_reads[cell].by_session for cell in late)
    lost = sum(
        int(tokens_in(evidence.cube, rows_of(evidence.cube, cell), _READ) * one[Level.EXPECTED])
        for cell, one in late.items()
    )
    return Proposal(
        lever=NAME,
        workload=name,
        title="Write to the cache for 5 minutes instead of 1 hour",
        phase=Phase.PREFILL,
        change=_change_shorter(late),
        confidence=Confidence.MODELLED,
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
            (
                "What is read more than 5 minutes after the request before would be written again; "
                + (
                    "by session, and expected: what a session's first request reads as well, high: not."
                    if by_session
                    else "all requests share what they read, as the few writes say."
                )
            ),
            "Low: twice as much is late.",
            "Each read keeps an entry for 5 more minutes, without a charge.",
        ),
        how=(
            "Leave the lifetime away where the marker sets one: 5 minutes are what is meant then.",
            "Keep one hour for prompts that come back after 5 to 60 minutes.",
        ),
        snippet='"cache_control": {"type": "ephemeral"}  # without "ttl": "1h"',
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
    columns = ((_READ,), _WRITES, (_LONG,))
    reads, written, long = (
        sum(tokens_in(evidence.cube, one, name) for one in rows for name in names) for names in columns
    )
    return reads, written, long


def _late(evidence: Evidence, cell: Cell, part: Any) -> _Late | None:
    """Return which part of the reads would be writes with 5 minutes; None where that cannot be had, or is not known."""
    _, provider, model = cell
    known, pauses = evidence.late_reads.get(cell), evidence.pauses.get(cell)
    if known is None or pauses is None or model is None or not _has_both(evidence, provider, model):
        return None
    every = rows_of(part, cell)
    reads, long = tokens_in(part, every, _READ), tokens_in(part, every, _LONG)
    written = sum(tokens_in(part, every, name) for name in _WRITES)
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
    rows = single_rows(cube, name)
    pairs = cube.loc[rows, ["provider", "model"]].drop_duplicates()
    for provider, model in pairs.itertuples(index=False, name=None):
        words = [word if isinstance(word, str) else None for word in (provider, model)]
        cell = (name, words[0], words[1])
        if any(tokens_in(cube, rows_of(cube, cell), column) for column in _WRITES):
            yield cell


def _change_shorter(late: Mapping[Cell, _Late]) -> Change:
    def change(cube: Any, level: Level) -> Any:
        out = cube
        for cell, parts in late.items():
            out = _shortened(out, cell, parts[level])
        return out

    return change


def _change_unread(evidence: Evidence, cells: list[Cell]) -> Change:
    def change(cube: Any, level: Level) -> Any:
        del level
        out = cube
        for cell in cells:
            rows = rows_of(out, cell)
            plain = _uncached(out, rows)
            # A step before may have mended the cache.
            if rows.any() and evidence.cost_of(_only(plain, rows)) < evidence.cost_of(_only(out, rows)):
                out = plain
        return out

    return change


def _only(cube: Any, rows: Any) -> Any:
    return cube[rows].reset_index(drop=True)


def _uncached(cube: Any, rows: Any) -> Any:
    """Return the cube with what some rows read and write as plain input."""
    return _moved(cube, rows, {name: Fraction(1) for name in (_READ, *_WRITES)}, _UNCACHED)


def _shortened(cube: Any, cell: Cell, late: Fraction) -> Any:
    """Return the cube with a cell's writes for an hour as such for 5 minutes, and what is read late as well."""
    rows = rows_of(cube, cell)
    if not tokens_in(cube, rows, _LONG):
        return cube
    return _moved(cube, rows, {_LONG: Fraction(1), _READ: late}, _SHORT)


def _moved(cube: Any, rows: Any, parts: Mapping[str, Fraction], target: str) -> Any:
    """Return the cube with parts of some columns (rounded up, in some rows) in another one."""
    new: dict[str, list[int | None]] = {}
    gained = [0] * len(cube)
    for name, part in parts.items():
        if name not in cube.columns:
            continue
        values: list[int | None] = []
        for place, (value, mine) in enumerate(zip(cube[name], rows, strict=True)):
            count = None if pd.isna(value) else int(value)
            gone = -(-count * part.numerator // part.denominator) if mine and count else 0
            gained[place] += gone
            values.append(None if count is None else count - gone)
        new[name] = values
    present = target in cube.columns
    old = cube[target] if present else pd.Series([None] * len(cube), index=cube.index, dtype="Int64")
    if not present and not any(gained):
        return cube
    new[target] = [
        (None if pd.isna(value) else int(value)) if not more else more + (0 if pd.isna(value) else int(value))
        for value, more in zip(old, gained, strict=True)
    ]
    kinds = {name: cube[name].dtype if name in cube.columns else "Int64" for name in new}
    return cube.assign(
        **{name: pd.Series(values, index=cube.index, dtype=kinds[name]) for name, values in new.items()}
    )
