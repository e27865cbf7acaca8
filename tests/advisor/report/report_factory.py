"""Builds analyses without reading a log: a month like the demo's, small ones, and ones that try to break a page."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from advisor.analysis import (
    Analysis,
    CostReport,
    DataReport,
    DaySlice,
    Distribution,
    Location,
    ModelSlice,
    PhaseClass,
    PhaseMix,
    PriceRow,
    Problem,
    Provenance,
    ShapeBin,
    Slice,
    Source,
    Unpriced,
    Workload,
)
from pricing.meters import Meter, Phase

START = datetime(2026, 10, 1, tzinfo=UTC)
MILLION = Decimal(1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    provider: str | None
    name: str
    rates: Mapping[Meter, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    name: str
    model: Model
    requests: int
    size_in: int
    size_out: int
    cached: float | None = None
    labelled: bool = True
    spread: float = 0.28
    gpu_prefill: float = 0.3
    start_day: int = 0
    weekend: float = 0.6
    ttft: float | None = None


def card(provider: str | None, name: str, usd_in: str, usd_read: str, usd_out: str) -> Model:
    rates = {Meter.INPUT_UNCACHED: usd_in, Meter.CACHE_READ: usd_read, Meter.OUTPUT: usd_out}
    return Model(provider=provider, name=name, rates=rates)


SONNET = card("anthropic", "claude-sonnet-4-5", "3", "0.3", "15")
HAIKU = card("anthropic", "claude-haiku-4-5", "1", "0.1", "5")
GPT = card("openai", "gpt-5", "1.25", "0.125", "10")
MINI = card("openai", "gpt-5-mini", "0.25", "0.025", "2")
GEMINI = card("google", "gemini-2.5-flash", "0.3", "0.03", "2.5")
FREE = card("self-hosted", "llama-3.3-70b", "0", "0", "0")

SPECS = (
    Spec(
        name="support-bot",
        model=SONNET,
        requests=182_400,
        size_in=9_400,
        size_out=310,
        cached=0.42,
        gpu_prefill=0.55,
        ttft=0.9,
    ),
    Spec(
        name="doc-summarise",
        model=GPT,
        requests=96_100,
        size_in=21_500,
        size_out=640,
        cached=None,
        gpu_prefill=0.61,
        weekend=0.2,
    ),
    Spec(
        name="code-agent",
        model=SONNET,
        requests=24_800,
        size_in=31_000,
        size_out=1_900,
        cached=0.83,
        gpu_prefill=0.31,
        ttft=1.6,
    ),
    Spec(
        name="report-writer",
        model=GPT,
        requests=41_700,
        size_in=1_150,
        size_out=2_600,
        cached=0.05,
        gpu_prefill=0.04,
    ),
    Spec(
        name="rag-search",
        model=HAIKU,
        requests=210_000,
        size_in=3_900,
        size_out=180,
        cached=0.0,
        gpu_prefill=0.48,
    ),
    Spec(
        name="classify-tickets",
        model=MINI,
        requests=402_300,
        size_in=820,
        size_out=12,
        cached=0.31,
        spread=0.2,
        gpu_prefill=0.66,
    ),
    Spec(
        name="translate",
        model=GEMINI,
        requests=58_200,
        size_in=640,
        size_out=610,
        cached=None,
        gpu_prefill=0.07,
        start_day=11,
    ),
    Spec(
        name="(unlabelled)",
        model=MINI,
        requests=9_350,
        size_in=2_400,
        size_out=420,
        cached=0.1,
        labelled=False,
        spread=0.5,
    ),
)


def slice_of(spec: Spec, part: float = 1.0) -> Slice:
    requests = round(spec.requests * part)
    mean = math.exp((spec.spread * math.log(10)) ** 2 / 2)
    inputs, outputs = round(requests * spec.size_in * mean), round(requests * spec.size_out * mean)
    tokens = {Meter.INPUT_UNCACHED: inputs, Meter.OUTPUT: outputs}
    if spec.cached is not None:
        tokens[Meter.CACHE_READ] = round(inputs * spec.cached)
        tokens[Meter.INPUT_UNCACHED] = inputs - tokens[Meter.CACHE_READ]
    cost = {meter: Decimal(spec.model.rates[meter]) * units / MILLION for meter, units in tokens.items()}
    return Slice(
        records=requests,
        requests=requests,
        tokens=tokens,
        reasoning=None,
        cost=cost,
        priced_requests=requests,
    )


def added(slices: Sequence[Slice]) -> Slice:
    tokens: dict[Meter, int] = {}
    cost: dict[Meter, Decimal] = {}
    for one in slices:
        for meter, units in one.tokens.items():
            tokens[meter] = tokens.get(meter, 0) + units
        for meter, amount in one.cost.items():
            cost[meter] = cost.get(meter, Decimal(0)) + amount
    known = [one.reasoning for one in slices if one.reasoning is not None]
    return Slice(
        records=sum(one.records for one in slices),
        requests=sum(one.requests for one in slices),
        tokens=tokens,
        reasoning=sum(known) if known else None,
        cost=cost,
        priced_requests=sum(one.priced_requests for one in slices),
    )


def mix(basis: str, prefill: float, decode: float, weak: str | None = None) -> PhaseMix:
    part = prefill / (prefill + decode) if prefill + decode else 0.0
    kind = PhaseClass.BALANCED
    if part >= 2 / 3:
        kind = PhaseClass.PREFILL_DOMINATED
    elif part <= 1 / 3:
        kind = PhaseClass.DECODE_DOMINATED
    return PhaseMix(
        basis=basis,
        prefill=prefill,
        decode=decode,
        prefill_share=part,
        decode_share=1 - part,
        phase_class=kind,
        distance=min(abs(part - 1 / 3), abs(part - 2 / 3)),
        weak=weak,
        explanation=f"Prefill takes {prefill:,.0f} and decode {decode:,.0f}, so prefill is {part:.0%} of both.",
    )


def cost_mix(whole: Slice, weak: str | None = None) -> PhaseMix | None:
    if not whole.priced_requests or not whole.total:
        return None
    prefill = sum(c for m, c in whole.cost.items() if m.phase is Phase.PREFILL)
    decode = sum(c for m, c in whole.cost.items() if m.phase is Phase.DECODE)
    return mix("cost", float(prefill), float(decode), weak)


def lognormal(median: float, spread: float) -> Distribution:
    return Distribution(
        mean=median * math.exp((spread * math.log(10)) ** 2 / 2),
        p50=float(median),
        p90=median * 10 ** (1.2816 * spread),
        p99=median * 10 ** (2.3263 * spread),
    )


def workload(spec: Spec, *, buckets: bool = False) -> Workload:
    whole = slice_of(spec)
    weak = "only 12 requests" if spec.requests < 30 else None
    time = whole.tokens[Meter.OUTPUT] * 0.02 if whole.requests else 1.0
    return Workload(
        name=spec.name,
        labels={"project": spec.name if spec.labelled else None},
        models=(spec.model.name,),
        whole=whole,
        cost_mix=cost_mix(whole, weak),
        time_mix=mix("gpu_time", time * spec.gpu_prefill, time * (1 - spec.gpu_prefill), weak),
        input_tokens=None if buckets else lognormal(spec.size_in, spec.spread),
        output_tokens=None if buckets else lognormal(spec.size_out, spec.spread),
        cache_read_ratio=spec.cached,
        cache_coverage=0.0 if spec.cached is None else 1.0,
        ttft_seconds=None if spec.ttft is None else lognormal(spec.ttft, 0.2),
        duration_seconds=None,
        first_request=START,
        last_request=START + timedelta(days=30),
    )


def shapes(spec: Spec, per_decade: int = 8) -> list[ShapeBin]:
    def weights(median: float) -> list[tuple[float, float, float]]:
        centre = math.log10(median)
        low = math.floor((centre - 3 * spec.spread) * per_decade)
        high = math.ceil((centre + 3 * spec.spread) * per_decade)
        edges = [edge / per_decade for edge in range(low, high + 1)]
        phi = [0.5 * (1 + math.erf((edge - centre) / spec.spread / math.sqrt(2))) for edge in edges]
        pairs = zip(edges, edges[1:], phi, phi[1:], strict=False)
        return [(10**a, 10**b, p1 - p0) for a, b, p0, p1 in pairs]

    return [
        ShapeBin(
            workload=spec.name, input_low=x0, input_high=x1, output_low=y0, output_high=y1, requests=number
        )
        for x0, x1, wx in weights(spec.size_in)
        for y0, y1, wy in weights(spec.size_out)
        if (number := round(spec.requests * wx * wy))
    ]


def by_days(specs: Sequence[Spec], days: int) -> tuple[DaySlice, ...]:
    rows: list[DaySlice] = []
    for index in range(days):
        day = START.date() + timedelta(days=index)
        parts: list[tuple[Spec, Slice]] = []
        for spec in specs:
            if index < spec.start_day:
                continue
            shape = [
                (spec.weekend if (START.date() + timedelta(days=i)).weekday() > 4 else 1.0) * (1 + 0.006 * i)
                for i in range(spec.start_day, days)
            ]
            parts.append((spec, slice_of(spec, shape[index - spec.start_day] / sum(shape))))
        models: dict[str, Decimal] = {}
        for spec, one in parts:
            models[spec.model.name] = models.get(spec.model.name, Decimal(0)) + one.total
        rows.append(DaySlice(day=day, whole=added([one for _, one in parts]), by_model=models))
    return tuple(rows)


def by_models(specs: Sequence[Spec]) -> tuple[ModelSlice, ...]:
    models = {spec.model.name: spec.model for spec in specs}
    rows = [
        ModelSlice(
            provider=model.provider,
            model=name,
            whole=added([slice_of(spec) for spec in specs if spec.model.name == name]),
            input_usd_per_mtok=Decimal(model.rates[Meter.INPUT_UNCACHED]),
            output_usd_per_mtok=Decimal(model.rates[Meter.OUTPUT]),
        )
        for name, model in models.items()
    ]
    return tuple(sorted(rows, key=lambda row: -row.whole.total))


def prices(specs: Sequence[Spec]) -> tuple[PriceRow, ...]:
    models = {spec.model.name: spec.model for spec in specs}
    return tuple(
        PriceRow(
            provider=model.provider,
            model=model.name,
            meter=meter,
            usd_per_unit=Decimal(usd),
            rule="base",
            valid_from=datetime(2026, 3, 1, tzinfo=UTC),
            valid_until=None,
            source="genai-prices 0.2.3",
            retrieved=date(2026, 9, 28),
        )
        for model in models.values()
        for meter, usd in model.rates.items()
    )


PROVENANCE = Provenance(
    version="0.1.0",
    command="advisor analyze usage-2026-10.jsonl -o report.html",
    as_of=datetime(2026, 11, 2, 9, 30, tzinfo=UTC),
    price_book="genai-prices 0.2.3 + overlay of 2026-10-15",
    price_book_sha256="5f3c1d2e" * 8,
    assumptions=(
        "Records without a service tier were priced at the standard tier.",
        "Cache writes without a lifetime were priced as 5-minute writes.",
    ),
)


def analysis(specs: Sequence[Spec] = SPECS, *, days: int = 30, buckets: bool = False) -> Analysis:
    """An analysis whose parts agree with one another."""
    slices = [slice_of(spec) for spec in specs]
    whole = added(slices)
    rows = sorted((workload(spec, buckets=buckets) for spec in specs), key=lambda w: -w.whole.total)
    seconds = (
        sum(w.time_mix.prefill for w in rows if w.time_mix),
        sum(w.time_mix.decode for w in rows if w.time_mix),
    )
    records = whole.records
    return Analysis(
        data=DataReport(
            rows_read=records + 1_204,
            records=records,
            requests=whole.requests,
            skipped=96,
            duplicates=1_020,
            ignored=88,
            unmeasured=0,
            first_request=START + timedelta(minutes=4),
            last_request=START + timedelta(days=days, minutes=-2),
            timezone="UTC",
            sources=(Source(path="usage-2026-10.jsonl", format="openai-chat", rows=records + 1_204),),
            problems=(
                Problem(
                    code="duplicate_id",
                    severity="info",
                    message="Rows repeat a request id and were counted once.",
                    rows=1_020,
                    examples=(Location(file="usage-2026-10.jsonl", line=88_214),),
                ),
                Problem(
                    code="bad_json",
                    severity="error",
                    message="Rows are not valid JSON and could not be read.",
                    rows=96,
                    examples=tuple(
                        Location(file="usage-2026-10.jsonl", line=n) for n in (411, 90_112, 310_446, 310_447)
                    ),
                ),
            ),
        ),
        whole=whole,
        cost=CostReport(
            currency="USD",
            total=whole.total,
            list_total=whole.total,
            by_meter=whole.cost,
            coverage=1.0,
            token_coverage=1.0,
            unpriced=(),
            recorded_total=None,
            recorded_requests=0,
        ),
        cost_mix=cost_mix(whole),
        time_mix=mix("gpu_time", *seconds) if rows else None,
        by_day=by_days(specs, days),
        by_model=by_models(specs),
        workloads=tuple(rows),
        workload_rule="Grouped by the label project, the first of project, team, application, endpoint and API key that the log has.",
        shapes=() if buckets else tuple(bin_ for spec in specs for bin_ in shapes(spec)),
        prices=prices(specs),
        time_basis="Llama 3.1 70B in FP8 on 4x H100 SXM with tensor parallelism, 32 sequences a batch; ±35 % error band.",
        provenance=PROVENANCE,
        period_days=float(days),
    )


def with_unpriced(base: Analysis) -> Analysis:
    """The same analysis with two models more that have no price."""
    rows = (
        Unpriced(
            provider="openai",
            model="ft:gpt-4o-mini:acme::A1b2",
            requests=1_820,
            tokens={Meter.INPUT_UNCACHED: 2_114_000, Meter.OUTPUT: 301_500},
            reason="no price card for a fine-tuned model",
        ),
        Unpriced(
            provider=None,
            model="internal-7b",
            requests=260,
            tokens={Meter.INPUT_UNCACHED: 190_400},
            reason="unknown model; nearest names: mistral-7b",
        ),
    )
    extra = sum(row.requests for row in rows)
    requests = base.whole.requests + extra
    whole = replace(base.whole, records=base.whole.records + extra, requests=requests)
    data = replace(
        base.data,
        rows_read=base.data.rows_read + extra,
        records=base.data.records + extra,
        requests=requests,
        unmeasured=14,
        problems=(
            *base.data.problems,
            Problem(code="unpriced", severity="warning", message="Models have no price.", rows=extra),
        ),
    )
    cost = replace(base.cost, coverage=base.whole.requests / requests, token_coverage=0.9994, unpriced=rows)
    return replace(base, data=data, whole=whole, cost=cost)


def demo() -> Analysis:
    """A month of eight workloads, two days missing, a little unpriced."""
    base = with_unpriced(analysis())
    gaps = {date(2026, 10, 13), date(2026, 10, 14)}
    return replace(base, by_day=tuple(row for row in base.by_day if row.day not in gaps))


def nothing_priced() -> Analysis:
    base = analysis(SPECS[:2])
    bare = replace(base.whole, cost={}, priced_requests=0)
    rows = tuple(
        replace(w, whole=replace(w.whole, cost={}, priced_requests=0), cost_mix=None) for w in base.workloads
    )
    cost = replace(
        base.cost,
        total=Decimal(0),
        list_total=Decimal(0),
        by_meter={},
        coverage=0.0,
        token_coverage=0.0,
        unpriced=(
            Unpriced(
                provider=None, model="mystery", requests=bare.requests, tokens=bare.tokens, reason="unknown"
            ),
        ),
    )
    models = tuple(
        replace(
            m,
            whole=replace(m.whole, cost={}, priced_requests=0),
            input_usd_per_mtok=None,
            output_usd_per_mtok=None,
        )
        for m in base.by_model
    )
    days = tuple(
        replace(d, whole=replace(d.whole, cost={}, priced_requests=0), by_model={}) for d in base.by_day
    )
    return replace(
        base, whole=bare, cost=cost, cost_mix=None, workloads=rows, by_model=models, by_day=days, prices=()
    )


def no_times() -> Analysis:
    base = analysis(SPECS[:3])
    data = replace(base.data, first_request=None, last_request=None)
    day = DaySlice(day=None, whole=base.whole, by_model={})
    return replace(base, data=data, by_day=(day,), period_days=None)


def free_models() -> Analysis:
    return analysis((replace(SPECS[0], model=FREE),))


def one_request() -> Analysis:
    return analysis((replace(SPECS[0], requests=1),), days=1)


def zero_sizes() -> Analysis:
    base = analysis(SPECS[:2])
    zero = ShapeBin(
        workload="support-bot", input_low=0, input_high=1, output_low=0, output_high=1, requests=500
    )
    no_answer = replace(zero, input_low=1000.0, input_high=1500.0, requests=900)
    return replace(base, shapes=(*base.shapes, zero, no_answer))


HOSTILE = (
    '=HYPERLINK("http://evil.example","click")',
    "<script>alert(1)</script>",
    "\u202egnp.exe\u202c",
    "x" * 10_000,
    "two\nlines\r\nand\ttabs",
    "",
    "\x1b[31mred\x1b[0m \x07bell",
    "a|b `code` **bold** [link](javascript:alert(1)) @everyone #1 https://evil.example",
    'quote" onmouseover="alert(1)',
    "日本語のワークロード",
    "\ud800 lone",
    "{{ view }} {% raw %}",
)


def ugly() -> Analysis:
    """Names that try to break out of every rendering."""
    specs = tuple(
        replace(
            SPECS[i % len(SPECS)],
            name=name,
            start_day=0,
            model=replace(SONNET, name=name, provider=name or None),
        )
        for i, name in enumerate(HOSTILE)
    )
    base = analysis(specs)
    problem = Problem(
        code="<b>",
        severity="<i>",
        message="\x1b]0;title\x07<img src=x onerror=alert(1)>",
        rows=1,
        examples=(Location(file="<a>\n", line=1),),
    )
    data = replace(
        base.data,
        problems=(problem,),
        sources=(Source(path="/" + "d" * 300 + "/<x>.csv", format="<f>", rows=1),),
    )
    made = replace(base.provenance, command="advisor '<script>'", assumptions=("<script>alert(2)</script>",))
    return replace(base, data=data, provenance=made)


def crowded(workloads: int = 10_000, models: int = 500) -> Analysis:
    """More names than a page can list."""
    cards = [replace(HAIKU, name=f"model-{i:03d}") for i in range(models)]
    specs = [
        replace(SPECS[4], name=f"job-{i:05d}", requests=40 + i % 7, model=cards[i % models], start_day=0)
        for i in range(workloads)
    ]
    small = analysis(specs[:60], days=3)
    rows = sorted((workload(spec) for spec in specs), key=lambda w: -w.whole.total)
    whole = added([w.whole for w in rows])
    cost = replace(small.cost, total=whole.total, list_total=whole.total, by_meter=whole.cost)
    data = replace(
        small.data, requests=whole.requests, records=whole.records, rows_read=whole.records + 1_204
    )
    return replace(
        small,
        whole=whole,
        cost=cost,
        data=data,
        workloads=tuple(rows),
        by_model=by_models(specs[:models]),
        shapes=tuple(bin_ for spec in specs[:300] for bin_ in shapes(spec, 3)),
        prices=prices(specs[:models]),
    )


def two_years() -> Analysis:
    return analysis(SPECS[:3], days=730)
