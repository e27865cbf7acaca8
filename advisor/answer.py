"""From a stored ledger to the Analysis: price -> slice -> classify. Nothing here prints or reads the clock."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from importlib import metadata
from typing import Any

import pandas as pd

from advisor import breakdown
from advisor import slices as cut
from advisor.advising import with_advice
from advisor.analysis import Analysis, CostReport, DataReport, Problem, Provenance, Slice, Unpriced
from advisor.billing import UTC, with_bill
from advisor.cell_facts import of_all, weakness
from advisor.cost_lines import with_cost_lines
from advisor.finance import with_finance
from advisor.hosted_phases import with_hosted_phases
from advisor.log_cuts import log_cuts
from advisor.options import AnalyseOptions
from advisor.price_doubts import free_models, price_problems
from advisor.problems import data_problems, sources_of, unpriced_problems
from advisor.reconciliation import Bill
from advisor.terms import USD, Settled, Terms, settle
from advisor.unit_scan import Spread, spreads
from advisor.what_if_cube import with_what_if
from pricing.book import PriceBook
from pricing.frame import PricedCube, price_cube
from pricing.reference_point import reference_point
from pricing.units import SECONDS_PER_DAY
from workloads import cube as scan
from workloads.grouping import Grouping, choose_grouping, looked_over
from workloads.ledger import DUPLICATE, IGNORED, RECORD, SKIPPED
from workloads.load import Loaded, LoadReport, NothingReadableError
from workloads.survey import Survey, begin_survey

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Scanned:
    """What the scan of the ledger gave: all that later steps need of the log."""

    priced: PricedCube
    """In the currency of the report, after discounts."""
    listed: PricedCube
    """At list prices in USD: what advice is made from."""
    settled: Settled
    """The same in USD, and what discounts, commitments and the exchange did."""
    charge_records: int
    """Lines of cost exports beside usage: they are the same money again, kept for reconciliation."""
    grouping: Grouping
    survey: Survey


def answer(
    connection: Any,
    loaded: Loaded,
    book: PriceBook,
    options: AnalyseOptions,
    progress: Progress,
    terms: Terms,
    bill: Bill | None = None,
) -> Analysis:
    """Return the analysis of a loaded log.

    Args:
        connection: The engine that holds the ledger.
        loaded: The ledger and its account.
        book: Prices.
        options: Everything that decides the numbers.
        progress: Called with a few words at the start of each step.
        terms: What the user negotiated, and the rates of the report's currency.
        bill: A provider's bill to compare with.

    Raises:
        advisor.reconciliation.BillError: When the log has nothing computed that the bill could be compared with.
        workloads.load.NothingReadableError: When no record lies in the asked days.
    """
    progress("adding up tokens")
    records = scan.prepare(connection, loaded.ledger, options.period)
    if not connection.execute(records.count()):
        raise NothingReadableError(_outside(options), loaded.report)
    scanned = _scan(connection, records, book, options, terms)
    progress("writing the answer")
    analysis = _assemble(loaded, scanned, book, options, terms)

    def by_label(key: str) -> PricedCube:
        own = looked_over(connection, loaded.ledger, Grouping((key,), key, options.show_users))
        priced, charges = _price(connection, records, own, book, options, terms)
        return settle(cut.of_charges(priced, charges) if priced.frame.empty else priced, terms, options).shown

    def spread() -> dict[str, Spread]:
        return spreads(connection, records, scanned.priced, book)

    analysis = with_finance(analysis, scanned.priced, scanned.listed, book, options, by_label, spread)
    analysis = with_what_if(analysis, scanned.listed, book, options.as_of)
    keys = scanned.grouping.keys
    analysis = with_cost_lines(analysis, scanned.listed, scanned.settled, keys, terms, options)
    if not scanned.listed.frame["charge_only"].any():
        progress("looking for savings")
        tables = (scanned.grouping, scanned.survey, scanned.listed)
        analysis = with_advice(analysis, connection, records, *tables, book, options.as_of, terms)
    analysis = with_hosted_phases(analysis, scanned.survey.latencies.result())
    if bill is None:
        return analysis

    def price_in_usd(some: Any) -> PricedCube:
        return settle(_price(connection, some, scanned.grouping, book, options, terms)[0], terms, options).usd

    priced = scanned.settled.usd if options.period.timezone == UTC else None
    return with_bill(analysis, bill, options, connection, loaded.ledger, price_in_usd, priced)


def _outside(options: AnalyseOptions) -> str:
    period = options.period
    days = (("since", period.since), ("until", period.until))
    span = " ".join(f"{word} {day}" for word, day in days if day is not None)
    return f"records were read, but none lies in the asked days ({span}, {period.timezone})"


def _price(
    connection: Any,
    records: Any,
    grouping: Grouping,
    book: PriceBook,
    options: AnalyseOptions,
    terms: Terms,
) -> tuple[PricedCube, pd.DataFrame]:
    """Return the cube of some records at list prices, and the cube of those that are money already."""
    cuts = log_cuts(scan.models_of(connection, records), book, terms)
    cube = scan.usage_cube(connection, records, grouping, cuts)
    charged = cube["charge_only"].astype(bool)
    priced = price_cube(cube[~charged].reset_index(drop=True), book, as_of=options.as_of)
    return priced, cube[charged].reset_index(drop=True)


def _scan(connection: Any, records: Any, book: PriceBook, options: AnalyseOptions, terms: Terms) -> Scanned:
    grouping = choose_grouping(connection, records, options.group_by, show_users=options.show_users)
    survey = begin_survey(connection, records, grouping)
    priced, charges = _price(connection, records, grouping, book, options, terms)
    if priced.frame.empty:
        priced = cut.of_charges(priced, charges)
    settled = settle(priced, terms, options)
    return Scanned(
        priced=settled.shown,
        listed=priced,
        settled=settled,
        charge_records=int(charges["records"].sum()) if not priced.frame["charge_only"].all() else 0,
        grouping=grouping,
        survey=survey,
    )


def _assemble(
    loaded: Loaded, scanned: Scanned, book: PriceBook, options: AnalyseOptions, terms: Terms
) -> Analysis:
    priced = scanned.priced
    whole = cut.whole(priced)
    unpriced = cut.unpriced(priced)
    weak = weakness(whole, of_all(priced.frame))
    problems = [
        *data_problems(loaded.report),
        *unpriced_problems(unpriced),
        *price_problems(scanned.settled, book, terms, options.as_of),
        *_doubts(priced),
    ]
    first, last = map(breakdown.instant, (priced.frame["price_at"].min(), priced.frame["last_at"].max()))
    return Analysis(
        data=_data(loaded.report, whole, scanned, (first, last), options, problems),
        whole=whole,
        cost=_cost(whole, unpriced, scanned.settled),
        cost_mix=cut.cost_mix(whole, weak),
        time_mix=cut.time_mix(cut.phase_work(priced.frame).sum().to_dict(), weak),
        by_day=tuple(breakdown.days(priced)),
        by_model=breakdown.models(priced, book, options.as_of),
        by_tier=breakdown.tiers(priced),
        workloads=breakdown.workloads(priced, scanned.grouping, scanned.survey.sizes.result()),
        workload_rule=scanned.grouping.rule,
        shapes=tuple(breakdown.shape_bins(scanned.survey.shapes.result())),
        prices=breakdown.prices(priced),
        time_basis=reference_point().words,
        provenance=Provenance(
            version=metadata.version("token-cost-advisor"),
            command=options.command,
            as_of=options.as_of,
            price_book=book.version,
            price_book_sha256=book.sha256,
            assumptions=tuple(_assumptions(priced, options, terms)),
        ),
        period_days=_period_days(first, last, priced),
    )


def _data(
    report: LoadReport,
    whole: Slice,
    scanned: Scanned,
    span: tuple[datetime | None, datetime | None],
    options: AnalyseOptions,
    problems: list[Problem],
) -> DataReport:
    records = whole.records + scanned.charge_records
    # Records outside the asked days were read and are not counted: they are ignored, so that the sum holds.
    outside = report.rows(RECORD) - records
    return DataReport(
        rows_read=report.rows(),
        records=records,
        requests=whole.requests,
        skipped=report.rows(SKIPPED),
        duplicates=report.rows(DUPLICATE),
        ignored=report.rows(IGNORED) + outside,
        unmeasured=int(scanned.priced.frame["unmeasured"].sum()),
        first_request=span[0],
        last_request=span[1],
        timezone=options.period.timezone,
        sources=sources_of(report),
        problems=tuple(problems),
    )


def _cost(whole: Slice, unpriced: tuple[Unpriced, ...], settled: Settled) -> CostReport:
    frame = settled.shown.frame
    tokens = sum(count for meter, count in whole.tokens.items() if meter.is_tokens)
    lost = sum(count for item in unpriced for meter, count in item.tokens.items() if meter.is_tokens)
    by_records = float((frame["records"].where(frame["sheet"] != cut.UNPRICED, 0)).sum()) / max(
        whole.records, 1
    )
    recorded = int(frame["recorded"].sum())
    stated = sum((Decimal(str(value)) for value in frame["recorded_cost_usd"].dropna()), Decimal(0))
    basis = "recorded" if len(frame) and frame["charge_only"].all() else "computed"
    total = stated if basis == "recorded" else whole.total
    list_total = total if whole.list_cost is None else whole.list_cost
    return CostReport(
        currency=USD if settled.conversion is None else settled.conversion.currency,
        total=total,
        list_total=total if basis == "recorded" else list_total,
        effective_total=total + settled.adjustment if settled.uses else None,
        discounts=settled.discounts,
        commitments=settled.uses,
        conversion=settled.conversion,
        free_models=free_models(settled.usd),
        by_meter=whole.cost,
        coverage=whole.priced_requests / whole.requests if whole.requests else by_records,
        token_coverage=(tokens - lost) / tokens if tokens else 1.0,
        unpriced=unpriced,
        basis=basis,
        recorded_total=stated if recorded else None,
        recorded_requests=recorded,
    )


def _doubts(priced: PricedCube) -> list[Problem]:
    frame = priced.frame
    found = []
    unmeasured, silent = int(frame["unmeasured"].sum()), int(frame["requests_unknown"].sum())
    untimed = int(frame.loc[frame["price_at"].isna(), "records"].sum())
    for code, severity, rows, message in (
        (
            "unmeasured",
            "warning",
            unmeasured,
            "records without any token count: what they used is unknown, not zero",
        ),
        ("requests_unknown", "info", silent, "buckets that do not say how many requests they hold"),
        ("no_time", "info", untimed, "records without a calendar time: they are on no day"),
    ):
        if rows:
            found.append(Problem(code=code, severity=severity, message=message, rows=rows))
    return found


def _assumptions(priced: PricedCube, options: AnalyseOptions, terms: Terms) -> Iterator[str]:
    if priced.frame["price_at"].isna().any():
        yield f"Records without a time are priced as of {options.as_of:%Y-%m-%d}."
    if options.load.model:
        yield f"Records that name no model are taken as {options.load.model}, as asked."
    if options.load.provider:
        yield f"Records that name no provider are taken as {options.load.provider}, as asked."
    if priced.frame["charge_only"].any():
        yield "The log is a cost export: its amounts are shown as they are, and nothing is computed from tokens."
    elif priced.frame["bucketed"].any():
        yield "Buckets are priced at the short-context rates: the sizes of their requests are not known."
    yield from terms.assumptions
    yield "Times without an offset are UTC."
    yield "A cache write whose lifetime is not logged has the provider's default lifetime."


def _period_days(first: datetime | None, last: datetime | None, priced: PricedCube) -> float | None:
    days = priced.frame["day"].dropna()
    if days.empty:
        return None
    if first is None or last is None or priced.frame["bucketed"].all():
        return float((pd.Timestamp(days.max()) - pd.Timestamp(days.min())).days + 1)
    return (last - first).total_seconds() / SECONDS_PER_DAY
