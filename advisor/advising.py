"""The evidence for advice, gathered from a run's own tables."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from advisor.advise import advise
from advisor.analysis import Analysis, Workload
from advisor.cache_bound import of_one_size
from advisor.cache_breaks import breaks_of
from advisor.cache_evidence import CacheFindings, cache_evidence
from advisor.evidence import Breaks, Cell, Ended, Evidence, LateReads, Pauses, Signals
from advisor.histories import histories_of
from advisor.levers import levers
from advisor.moves import moves
from advisor.recommendation import Level
from advisor.terms import Terms
from pricing.book import PriceBook
from pricing.frame import PricedCube
from pricing.meters import Meter
from workloads.arrivals import PAUSE_SECONDS
from workloads.endings import CUT_OFF, FAILED
from workloads.grouping import Grouping
from workloads.late_reads import late_reads
from workloads.prefix_sites import names_prefixes
from workloads.repeats import LATER, repeats
from workloads.survey import Survey

if TYPE_CHECKING:
    from advisor.offered import Offered

Connection = Any
Expr = Any
Frame = pd.DataFrame

_LEAST_SHARE: Final = Decimal("0.01")
_MOST_WORKLOADS: Final = 12
_LOOKED_AT = (
    *("workload", "provider", "model", "service_tier", "region", "price_at", "context_tokens"),
    *("bucketed", "records", "requests", "reasoning"),
)
_LARGEST_SUM: Final = 2**61
_COUNTED = ("context_tokens", "records", "requests", "reasoning")


def with_advice(
    analysis: Analysis,
    connection: Connection,
    records: Expr,
    grouping: Grouping,
    survey: Survey,
    listed: PricedCube,
    book: PriceBook,
    as_of: datetime,
    terms: Terms,
) -> Analysis:
    """Return an analysis with what to do about it; of a log without a price, only what caches would have read.

    Args:
        analysis: What is known of the log.
        connection: The engine that holds the records.
        records: Records of the asked days.
        grouping: How workloads are told apart.
        survey: What was asked of these records.
        listed: The cube at list prices in USD.
        book: Prices.
        as_of: Moment of the report.
        terms: What the user has negotiated, and was offered.
    """
    if not analysis.whole.is_priced:
        return _with_reuse(analysis, connection, records, grouping, survey, listed, book, as_of)
    seen, ended = survey.arrivals.result(), survey.endings.result()
    failed = _ended(ended, FAILED)
    looked_at = {workload.name: workload for workload in _worth_a_look(analysis)}
    theirs = seen[seen["workload"].isin(list(looked_at))]
    evidence = Evidence(
        cube=_lean(listed.frame),
        priced=listed,
        book=book,
        as_of=as_of,
        workloads=looked_at,
        signals={
            str(name): _with_failures(_signals(part), str(name), None if ended is None else failed)
            for name, part in theirs.groupby("workload")
        },
        pauses=_pauses(theirs),
        failed=failed,
        cut_off=_ended(ended, CUT_OFF),
        late_reads=_late_reads(connection, records, grouping, listed.frame),
        histories=histories_of(connection, records, grouping),
        shortest=_shortest(survey.sizes.result()),
        repeats=_repeats(repeats(connection, records, grouping)),
        offered=_offered(connection, records, listed, terms),
    )
    reachable = tuple(moves(evidence))
    found = cache_evidence(
        connection,
        records,
        grouping,
        seen,
        {name: workload.cache_read_ratio for name, workload in looked_at.items()},
        evidence.shortest,
        listed.frame,
        as_of,
        book,
        reachable,
        of_one_size(survey.sizes.result()),
    )
    broken = _breaks(found)
    evidence = replace(evidence, moves=reachable, caches=found.caches, breaks=broken)
    proposals = [proposal for lever in levers() for proposal in lever.find(evidence)]
    advice = advise(evidence, proposals, analysis.period_days)
    return replace(analysis, advice=advice, reuse=found.reuse)


def _offered(
    connection: Connection, records: Expr, listed: PricedCube, terms: Terms
) -> "tuple[Offered, ...]":
    if not terms.offers:
        return ()
    from advisor.offered import find_offered  # noqa: PLC0415  (only by runs with offers)

    return find_offered(connection, records, listed, terms.offers, terms.commitments)


def _with_reuse(
    analysis: Analysis,
    connection: Connection,
    records: Expr,
    grouping: Grouping,
    survey: Survey,
    listed: PricedCube,
    book: PriceBook,
    as_of: datetime,
) -> Analysis:
    if not names_prefixes(records):
        return analysis
    largest = sorted(analysis.workloads, key=lambda one: -one.whole.tokens.get(Meter.INPUT_UNCACHED, 0))
    ratios = {one.name: one.cache_read_ratio for one in largest[:_MOST_WORKLOADS]}
    seen = survey.arrivals.result()
    found = cache_evidence(connection, records, grouping, seen, ratios, {}, listed.frame, as_of, book)
    return replace(analysis, reuse=found.reuse)


def _worth_a_look(analysis: Analysis) -> list[Workload]:
    """Return the workloads that make the bill; what is saved on the others is next to nothing."""
    least = analysis.whole.total * _LEAST_SHARE
    return [one for one in analysis.workloads if one.whole.total >= least][:_MOST_WORKLOADS]


def _signals(part: Frame) -> Signals:
    def known(name: str) -> int | None:
        return int(part[name].sum()) if part[name].notna().any() else None

    return Signals(requests=int(part["requests"].sum()), cut_off=known("cut_off"), streamed=known("streamed"))


def _with_failures(signals: Signals, workload: str, failed: Mapping[Cell, Ended] | None) -> Signals:
    """Return the signals of a workload with what failed; None: the log does not say how requests end."""
    if failed is None:
        return signals
    mine = [one for cell, one in failed.items() if cell[0] == workload]
    return replace(
        signals,
        failed=sum(one.requests for one in mine),
        failed_tokens=sum(count for one in mine for meter, count in one.tokens.items() if meter.is_tokens),
    )


def _ended(ended: Frame | None, ending: str) -> dict[Cell, Ended]:
    return {} if ended is None else _used(ended[ended["ending"] == ending])


def _used(rows: Frame) -> dict[Cell, Ended]:
    meters = [meter for meter in Meter if str(meter) in rows.columns]
    return {
        _cell(row): Ended(
            requests=int(row["requests"]),
            tokens={meter: int(row[str(meter)]) for meter in meters if not pd.isna(row[str(meter)])},
        )
        for row in rows.to_dict("records")
    }


def _repeats(again: Frame | None) -> dict[Level, dict[Cell, Ended]]:
    """Return repeats by how long ago the same prompt may have been sent: 5 minutes, an hour, or as long as the log."""
    if again is None or again.empty:
        return {}
    keys = ["workload", "provider", "model"]
    places = dict(zip((Level.LOW, Level.EXPECTED, Level.HIGH), range(LATER + 1), strict=True))
    return {
        level: _used(
            again[again["within"] <= place].groupby(keys, dropna=False).sum(min_count=1).reset_index()
        )
        for level, place in places.items()
    }


def _pauses(seen: Frame) -> dict[Cell, Pauses]:
    return {
        _cell(row): Pauses(
            requests=int(row["requests"]),
            longer_than={seconds: int(row[f"pauses_{seconds}"]) for seconds in PAUSE_SECONDS},
        )
        for row in seen.to_dict("records")
    }


def _late_reads(
    connection: Connection, records: Expr, grouping: Grouping, cube: Frame
) -> dict[Cell, LateReads]:
    """Return what is read late; requests are only put in order where something was written for an hour."""
    name = str(Meter.CACHE_WRITE_1H)
    if name not in cube.columns or not cube[name].fillna(0).any():
        return {}
    return {
        _cell(row): LateReads(
            late_tokens=int(row["late_tokens"]),
            first_tokens=int(row["first_tokens"]),
            by_session=not int(row["without_session"]),
        )
        for row in late_reads(connection, records, grouping).to_dict("records")
    }


def _breaks(found: CacheFindings) -> dict[Cell, Breaks]:
    by_counts, by_names = breaks_of(found.turns.items()), breaks_of(found.named.items())
    # Where names tell more, they tell where prompts part; what it costs is what the log says.
    known = {
        cell: replace(
            one, block_tokens=by_names[cell].block_tokens, parted_tokens=by_names[cell].parted_tokens
        )
        if cell in by_names
        else one
        for cell, one in by_counts.items()
    }
    return {**by_names, **known}


def _cell(row: Mapping[Any, Any]) -> Cell:
    provider, model = (row[name] if isinstance(row[name], str) else None for name in ("provider", "model"))
    return str(row["workload"]), provider, model


def _shortest(sizes: Frame) -> dict[str, int]:
    """Return what nearly all prompts of a workload have at least: their first percentile, in tokens."""
    if "input_tokens_p01" not in sizes.columns:
        return {}
    known = sizes.dropna(subset=["input_tokens_p01"])
    return {
        str(name): int(tokens)
        for name, tokens in zip(known["workload"], known["input_tokens_p01"], strict=True)
    }


def _lean(cube: Frame) -> Frame:
    """Return what levers and prices look at, since it is changed over and over: plain types, no empty counts.

    What is not reported costs nothing and is nothing to act on, so that counts of meters are 0 there. How much reasoning is in
    an output, and how large a prompt is, stay unknown where they are.
    """
    meters = set(Meter)
    kept = [
        name
        for name in cube.columns
        if name in _LOOKED_AT or (name in meters and not cube[name].isna().all())
    ]
    columns: dict[str, Any] = {}
    for name in kept:
        column = cube[name]
        if name in meters or (name in _COUNTED and not column.isna().any()):
            counts = column.fillna(0)
            # Sums of what fits need not fit: past a quarter of the range Python's own integers count.
            fits = sum(map(int, counts)) < _LARGEST_SUM
            columns[name] = counts.to_numpy(dtype="int64" if fits else object)
        elif name == "bucketed":
            columns[name] = column.fillna(value=False).to_numpy(dtype=bool)
        elif name == "price_at":
            columns[name] = pd.to_datetime(column, utc=True).dt.tz_localize(None).to_numpy()
        elif isinstance(column.dtype, pd.StringDtype):
            columns[name] = column.to_numpy(dtype=object)
        else:
            columns[name] = column
    lean = pd.DataFrame(columns, index=cube.index)
    lean.columns = lean.columns.astype(object)
    return lean
