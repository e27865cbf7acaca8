"""The run: load -> price -> slice -> classify, ending in one Analysis. Nothing here prints or reads the clock."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from importlib import metadata
from typing import Any

import pandas as pd

from advisor import slices as cut
from advisor.analysis import (
    Analysis,
    CostReport,
    DataReport,
    DaySlice,
    Distribution,
    ModelSlice,
    PriceRow,
    Problem,
    Provenance,
    ShapeBin,
    Slice,
    Unpriced,
    Workload,
)
from advisor.options import AnalyseOptions
from advisor.problems import data_problems, money_problems, sources_of
from pricing.book import PriceBook, load_book
from pricing.errors import PricingError
from pricing.frame import PricedCube, price_cube
from pricing.meters import Meter
from pricing.phases import REFERENCE
from pricing.units import SECONDS_PER_DAY
from workloads import cube as scan
from workloads.grouping import Grouping, choose_grouping
from workloads.ledger import DUPLICATE, IGNORED, RECORD, SKIPPED
from workloads.load import Loaded, LoadReport, NothingReadableError, load
from workloads.relations import connect

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Scanned:
    """What the scan of the ledger gave: all that later steps need of the log."""

    priced: PricedCube
    grouping: Grouping
    sizes: pd.DataFrame
    shapes: pd.DataFrame


def analyse(paths: Sequence[str], options: AnalyseOptions, progress: Progress = lambda _: None) -> Analysis:
    """Return the analysis of the logs behind paths.

    Args:
        paths: Files, folders, globs or ``-``.
        options: Everything that decides the numbers.
        progress: Called with a few words at the start of each step.

    Raises:
        workloads.sources.SourceError: When a path leads to no file, or no record could be read.
        pricing.errors.PriceFileError: When a price file is malformed.
    """
    connection = connect(memory_limit=options.memory_limit)
    book = load_book(options.price_files)
    loaded = load(connection, paths, options.load, progress)
    progress("adding up tokens")
    records = scan.prepare(connection, loaded.ledger, options.period)
    if not connection.execute(records.count()):
        raise NothingReadableError(_outside(options), loaded.report)
    scanned = _scan(connection, records, book, options)
    progress("writing the answer")
    return _assemble(loaded, scanned, book, options)


def _outside(options: AnalyseOptions) -> str:
    period = options.period
    span = " ".join(
        f"{word} {day}" for word, day in (("since", period.since), ("until", period.until)) if day is not None
    )
    return f"records were read, but none lies in the asked days ({span}, {period.timezone})"


def _scan(connection: Any, records: Any, book: PriceBook, options: AnalyseOptions) -> Scanned:
    grouping = choose_grouping(connection, records, options.group_by)
    keys = book.rate_keys(scan.models_of(connection, records))
    cuts = scan.RateCuts(
        breakpoints=keys.breakpoints,
        context_thresholds=keys.context_thresholds,
        clock_edges=keys.clock_edges,
        clocked=keys.clocked,
    )
    cube = scan.usage_cube(connection, records, grouping, cuts)
    return Scanned(
        priced=price_cube(cube, book, as_of=options.as_of),
        grouping=grouping,
        sizes=scan.size_quantiles(connection, records, grouping),
        shapes=scan.shapes(connection, records, grouping),
    )


def _assemble(loaded: Loaded, scanned: Scanned, book: PriceBook, options: AnalyseOptions) -> Analysis:
    priced = scanned.priced
    whole = cut.whole(priced)
    unpriced = cut.unpriced(priced)
    weak = cut.weakness(whole, priced.frame)
    problems = data_problems(loaded.report) + money_problems(unpriced, _warnings(priced)) + _doubts(priced)
    first, last = _instant(priced.frame["price_at"].min()), _instant(priced.frame["last_at"].max())
    return Analysis(
        data=_data(loaded.report, whole, priced, (first, last), options, problems),
        whole=whole,
        cost=_cost(whole, unpriced, priced),
        cost_mix=cut.cost_mix(whole, weak),
        time_mix=cut.time_mix(priced.frame, weak),
        by_day=tuple(_days(priced)),
        by_model=_models(priced, book, options.as_of),
        workloads=_workloads(scanned),
        workload_rule=scanned.grouping.rule,
        shapes=tuple(_shape_bins(scanned.shapes)),
        prices=_prices(priced),
        time_basis=REFERENCE.words,
        provenance=Provenance(
            version=metadata.version("token-cost-advisor"),
            command=options.command,
            as_of=options.as_of,
            price_book=book.version,
            price_book_sha256=book.sha256,
            assumptions=tuple(_assumptions(priced, options)),
        ),
        period_days=_period_days(first, last, priced),
    )


def _data(
    report: LoadReport,
    whole: Slice,
    priced: PricedCube,
    span: tuple[datetime | None, datetime | None],
    options: AnalyseOptions,
    problems: list[Problem],
) -> DataReport:
    records = whole.records
    # Records outside the asked days were read and are not counted: they are ignored, so that the sum holds.
    outside = report.rows(RECORD) - records
    return DataReport(
        rows_read=report.rows(),
        records=records,
        requests=whole.requests,
        skipped=report.rows(SKIPPED),
        duplicates=report.rows(DUPLICATE),
        ignored=report.rows(IGNORED) + outside,
        unmeasured=int(priced.frame["unmeasured"].sum()),
        first_request=span[0],
        last_request=span[1],
        timezone=options.period.timezone,
        sources=sources_of(report),
        problems=tuple(problems),
    )


def _cost(whole: Slice, unpriced: tuple[Unpriced, ...], priced: PricedCube) -> CostReport:
    frame = priced.frame
    tokens = sum(count for meter, count in whole.tokens.items() if meter.is_tokens)
    lost = sum(count for item in unpriced for meter, count in item.tokens.items() if meter.is_tokens)
    by_records = float((frame["records"].where(frame["sheet"] >= 0, 0)).sum()) / max(whole.records, 1)
    recorded = int(frame["recorded"].sum())
    amounts = [Decimal(str(value)) for value in frame["recorded_cost_usd"].dropna()]
    return CostReport(
        currency="USD",
        total=whole.total,
        list_total=whole.total,
        by_meter=whole.cost,
        coverage=whole.priced_requests / whole.requests if whole.requests else by_records,
        token_coverage=(tokens - lost) / tokens if tokens else 1.0,
        unpriced=unpriced,
        recorded_total=sum(amounts, Decimal(0)) if recorded else None,
        recorded_requests=recorded,
    )


def _days(priced: PricedCube) -> Iterator[DaySlice]:
    by_model: dict[Hashable, dict[str, Decimal]] = {}
    for key, part in cut.slices(priced, ["day", "model_resolved"]).items():
        day, model = key if isinstance(key, tuple) else (key, None)
        by_model.setdefault(_day(day), {})[str(model or "(no model)")] = part.total
    rows = {_day(key): part for key, part in cut.slices(priced, ["day"]).items()}
    for day in sorted(rows, key=lambda value: (value is None, value or date.min)):
        yield DaySlice(day=day, whole=rows[day], by_model=by_model.get(day, {}))


def _day(value: Any) -> date | None:
    return None if value is None or pd.isna(value) else pd.Timestamp(value).date()


def _instant(value: Any) -> datetime | None:
    return None if value is None or pd.isna(value) else pd.Timestamp(value).to_pydatetime()


def _models(priced: PricedCube, book: PriceBook, as_of: datetime) -> tuple[ModelSlice, ...]:
    out = []
    frame = priced.frame
    newest = frame.groupby(["provider_resolved", "model_resolved"], dropna=False)["price_at"].max()
    latest = {cut_key: at for cut_key, at in zip(map(_pair, newest.index), newest, strict=True)}
    for key, part in cut.slices(priced, ["provider_resolved", "model_resolved"]).items():
        provider, model = _pair(key)
        at = latest[provider, model]
        rates = _standard_rates(book, provider, model, as_of if pd.isna(at) else at.to_pydatetime())
        out.append(
            ModelSlice(
                provider=provider,
                model=model or "(no model)",
                whole=part,
                input_usd_per_mtok=rates.get(Meter.INPUT_UNCACHED),
                output_usd_per_mtok=rates.get(Meter.OUTPUT),
            )
        )
    return tuple(sorted(out, key=lambda item: (-item.whole.total, -item.whole.requests, item.model)))


def _pair(key: Any) -> tuple[str | None, str | None]:
    provider, model = key
    return (provider if isinstance(provider, str) else None, model if isinstance(model, str) else None)


def _standard_rates(
    book: PriceBook, provider: str | None, model: str | None, at: datetime
) -> dict[Meter, Decimal]:
    if model is None:
        return {}
    try:
        return dict(book.find(provider, model).resolve(at, None, None).rates)
    except PricingError:
        return {}


def _workloads(scanned: Scanned) -> tuple[Workload, ...]:
    priced = scanned.priced
    sizes = scanned.sizes.set_index("workload").to_dict("index")
    parts = dict(iter(priced.frame.groupby("workload", dropna=False)))
    out = []
    for name, part in cut.slices(priced, ["workload"]).items():
        frame = parts[name]
        weak = cut.weakness(part, frame)
        size = sizes.get(name, {})
        known = float(frame["cache_input_known"].fillna(0).sum())
        out.append(
            Workload(
                name=str(name),
                labels=dict.fromkeys(scanned.grouping.keys, str(name))
                if len(scanned.grouping.keys) == 1
                else {},
                models=_names_by_cost(priced, frame),
                whole=part,
                cost_mix=cut.cost_mix(part, weak),
                time_mix=cut.time_mix(frame, weak),
                input_tokens=_distribution(size, "input_tokens"),
                output_tokens=_distribution(size, "output_tokens"),
                cache_read_ratio=float(frame["cache_read_known"].fillna(0).sum()) / known if known else None,
                cache_coverage=float(frame["cache_records"].sum()) / max(part.records, 1),
                ttft_seconds=_distribution(size, "ttft_seconds"),
                duration_seconds=_distribution(size, "duration_seconds"),
                first_request=_instant(frame["price_at"].min()),
                last_request=_instant(frame["last_at"].max()),
            )
        )
    return tuple(sorted(out, key=lambda item: (-item.whole.total, -item.whole.requests, item.name)))


def _names_by_cost(priced: PricedCube, frame: pd.DataFrame) -> tuple[str, ...]:
    costs = [name for name in frame.columns if name.startswith("cost_")]
    totals: dict[str, int] = {}
    for model, row in zip(
        frame["model_resolved"], frame[costs].itertuples(index=False, name=None), strict=True
    ):
        name = model if isinstance(model, str) else "(no model)"
        totals[name] = totals.get(name, 0) + sum(row)
    del priced
    return tuple(sorted(totals, key=lambda name: (-totals[name], name)))


def _distribution(row: dict[Any, Any], name: str) -> Distribution | None:
    values = [row.get(f"{name}_{part}") for part in ("mean", "p50", "p90", "p99")]
    if any(value is None or pd.isna(value) for value in values):
        return None
    mean, p50, p90, p99 = (float(value) for value in values if value is not None)
    return Distribution(mean=mean, p50=p50, p90=p90, p99=p99)


def _shape_bins(frame: pd.DataFrame) -> Iterator[ShapeBin]:
    def edges(index: int) -> tuple[float, float]:
        return (
            (0.0, 1.0)
            if index < 0
            else (10 ** (index / scan.BINS_PER_DECADE), 10 ** ((index + 1) / scan.BINS_PER_DECADE))
        )

    for row in frame.itertuples():
        input_low, input_high = edges(int(row.input_bin))
        output_low, output_high = edges(int(row.output_bin))
        yield ShapeBin(
            workload=str(row.workload),
            input_low=input_low,
            input_high=input_high,
            output_low=output_low,
            output_high=output_high,
            requests=int(row.requests),
        )


def _prices(priced: PricedCube) -> tuple[PriceRow, ...]:
    frame = priced.frame
    rows: dict[tuple[Any, ...], PriceRow] = {}
    for meter in cut.meters_in(frame):
        counts = frame[str(meter)]
        used = frame.loc[counts.notna() & (counts.fillna(0) != 0) & (frame["sheet"] >= 0), "sheet"]
        for index in sorted(set(used)):
            sheet = priced.sheets[index]
            row = PriceRow(
                provider=sheet.provider,
                model=sheet.model,
                meter=meter,
                usd_per_unit=sheet.rates[meter],
                rule=sheet.rule_for(meter),
                valid_from=sheet.valid_from,
                valid_until=sheet.valid_until,
                source=sheet.source,
                retrieved=sheet.retrieved,
            )
            rows.setdefault((row.provider, row.model, meter, row.usd_per_unit, row.rule, row.valid_from), row)
    order = list(Meter)
    return tuple(
        sorted(
            rows.values(), key=lambda row: (row.provider or "", row.model, order.index(row.meter), row.rule)
        )
    )


def _warnings(priced: PricedCube) -> Iterator[tuple[str, int]]:
    frame = priced.frame
    calls = frame["requests"].fillna(frame["records"]).groupby(frame["sheet"]).sum()
    for index, rows in calls.items():
        if int(index) >= 0:
            sheet = priced.sheets[int(index)]
            for text in sheet.warnings:
                yield f"{sheet.model}: {text}", int(rows)


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


def _assumptions(priced: PricedCube, options: AnalyseOptions) -> Iterator[str]:
    if priced.frame["price_at"].isna().any():
        yield f"Records without a time are priced as of {options.as_of:%Y-%m-%d}."
    if options.load.model:
        yield f"Records that name no model are taken as {options.load.model}, as asked."
    if options.load.provider:
        yield f"Records that name no provider are taken as {options.load.provider}, as asked."
    if priced.frame["bucketed"].any():
        yield "Buckets are priced at the short-context rates: the sizes of their requests are not known."
    yield "Times without an offset are UTC."
    yield "A cache write whose lifetime is not logged has the provider's default lifetime."


def _period_days(first: datetime | None, last: datetime | None, priced: PricedCube) -> float | None:
    days = priced.frame["day"].dropna()
    if days.empty:
        return None
    if first is None or last is None:
        return float((pd.Timestamp(days.max()) - pd.Timestamp(days.min())).days + 1)
    return (last - first).total_seconds() / SECONDS_PER_DAY
