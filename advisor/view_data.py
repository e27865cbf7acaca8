"""The sections that a reader checks the report by: data quality, prices, method."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from advisor import numbers
from advisor.analysis import Analysis, InputHash, Location, PriceRow, Problem, Unpriced
from advisor.view_model import Card, Cell, DataSection, MethodSection, Pair, Table, TableColumn
from advisor.view_workloads import SHOWN
from advisor.wording import (
    BASES,
    GLOSSARY,
    METER_LABELS,
    TEXT_LIMIT,
    clean,
    full,
    name_cell,
    plural,
    sentence,
)
from pricing.meters import FEE_METERS, Meter

_EXAMPLES: Final = 3
_INPUTS: Final = 40
_PRICE_ROWS: Final = 300
_PATH_LIMIT: Final = 64
_SEVERITIES: Final = ("error", "warning", "info")
_SEVERITY_WORDS: Final = {
    "error": "Error: not in the totals",
    "warning": "Warning: numbers may be off",
    "info": "For information",
}


def data_section(analysis: Analysis) -> DataSection:
    """What was read, what was not, and what that does to the numbers."""
    data = analysis.data
    terms = (
        Card(label="rows read", value=numbers.count(data.rows_read)),
        Card(label="records", value=numbers.count(data.records), note="used"),
        Card(label="skipped", value=numbers.count(data.skipped), note="could not be read"),
        Card(label="duplicates", value=numbers.count(data.duplicates), note="counted once"),
        Card(label="ignored", value=numbers.count(data.ignored), note="not usage"),
    )
    return DataSection(
        terms=terms,
        facts=_facts(analysis),
        problems=_problems(data.problems),
        sources=_sources(analysis),
        unpriced=_unpriced(analysis.cost.unpriced),
    )


def _facts(analysis: Analysis) -> tuple[str, ...]:
    data, cost = analysis.data, analysis.cost
    facts = [f"{plural(data.records, 'record')} stand for {plural(data.requests, 'request')}."]
    if data.unmeasured:
        facts.append(f"{plural(data.unmeasured, 'record')} carry no usage at all: unknown, not zero.")
    if data.first_request and data.last_request:
        facts.append(
            f"First request {numbers.moment(data.first_request)}, last {numbers.moment(data.last_request)}."
        )
    facts.append(
        f"Prices are known for {numbers.share(cost.coverage)} of requests and {numbers.share(cost.token_coverage)} of tokens."
    )
    if cost.free_models:
        named = ", ".join(clean(model) for model in cost.free_models[:_EXAMPLES])
        more = len(cost.free_models) - _EXAMPLES
        facts.append(
            f"Free by their price, which is known to be $0: {named}{f' and {more} more' if more > 0 else ''}."
        )
    if cost.recorded_total is not None:
        facts.append(
            f"The log itself states {numbers.money(cost.recorded_total)} for {plural(cost.recorded_requests, 'request')}; "
            "this report computes its own amounts."
        )
    return tuple(facts)


def _problems(problems: tuple[Problem, ...]) -> Table:
    order = {name: index for index, name in enumerate(_SEVERITIES)}
    ranked = sorted(problems, key=lambda p: (order.get(p.severity, len(order)), -p.rows, p.code))
    columns = (
        TableColumn(key="message", title="Problem"),
        TableColumn(key="severity", title="Severity"),
        TableColumn(key="rows", title="Rows", number=True),
        TableColumn(key="examples", title="Where"),
    )
    rows = tuple(
        (
            Cell(text=clean(p.message, TEXT_LIMIT), note=clean(p.code)),
            Cell(
                text=_SEVERITY_WORDS.get(p.severity, clean(p.severity)),
                value=str(order.get(p.severity, len(order))),
            ),
            Cell(text=numbers.count(p.rows), value=str(p.rows)),
            Cell(text=", ".join(_place(where) for where in p.examples[:_EXAMPLES]) or numbers.MISSING),
        )
        for p in ranked[:SHOWN]
    )
    more = len(ranked) - len(rows)
    note = f"{plural(more, 'more kind')} of problem not listed." if more > 0 else ""
    return Table(slug="problems", caption="Problems found in the data", columns=columns, rows=rows, note=note)


def _place(where: Location) -> str:
    path = _path(where.file)
    return path if where.line is None else f"{path}:{where.line}"


def _path(path: str) -> str:
    """A path on one line; a long one keeps its end, which tells files apart."""
    line = clean(path, TEXT_LIMIT)
    return line if len(line) <= _PATH_LIMIT else "…" + line[-_PATH_LIMIT + 1 :]


def _sources(analysis: Analysis) -> Table:
    sources = analysis.data.sources
    columns = (
        TableColumn(key="path", title="Source"),
        TableColumn(key="format", title="Read as"),
        TableColumn(key="rows", title="Rows", number=True),
    )
    rows = tuple(
        (
            Cell(text=_path(s.path), exact=full(s.path) if _path(s.path) != s.path else None),
            Cell(text=clean(s.format)),
            Cell(text=numbers.count(s.rows), value=str(s.rows)),
        )
        for s in sources[:SHOWN]
    )
    rest = sources[SHOWN:]
    rest_row = (
        Cell(text=f"{len(rest):,d} other sources"),
        Cell(text=""),
        Cell(text=numbers.count(sum(s.rows for s in rest))),
    )
    return Table(
        slug="sources", caption="Sources", columns=columns, rows=rows, rest=rest_row if rest else None
    )


def _unpriced(unpriced: tuple[Unpriced, ...]) -> Table:
    columns = (
        TableColumn(key="model", title="Unpriced model"),
        TableColumn(key="requests", title="Requests", number=True),
        TableColumn(key="tokens", title="Tokens", number=True),
        TableColumn(key="reason", title="Reason"),
    )
    rows = tuple(
        (
            name_cell(u.model, note=clean(u.provider) if u.provider else "provider not stated"),
            Cell(text=numbers.count(u.requests), value=str(u.requests)),
            _token_cell(u.tokens),
            Cell(text=clean(u.reason, TEXT_LIMIT)),
        )
        for u in unpriced[:SHOWN]
    )
    more = len(unpriced) - len(rows)
    note = f"{plural(more, 'more model')} not listed." if more > 0 else ""
    return Table(
        slug="unpriced",
        caption="Usage without a price: not in any total",
        columns=columns,
        rows=rows,
        note=note,
    )


def _token_cell(tokens: Mapping[Meter, int]) -> Cell:
    total = sum(number for meter, number in tokens.items() if meter.is_tokens)
    detail = ", ".join(f"{METER_LABELS[m]} {numbers.count(tokens[m])}" for m in Meter if m in tokens)
    return Cell(text=numbers.tokens(total), exact=detail or None, value=str(total))


def price_table(analysis: Analysis) -> Table:
    """Every rate that was used, for the models that the report lists."""
    listed = {(row.provider, row.model) for row in analysis.by_model[:SHOWN]}
    wanted = [
        row for row in analysis.prices if not analysis.by_model[SHOWN:] or (row.provider, row.model) in listed
    ]
    columns = (
        TableColumn(key="model", title="Model"),
        TableColumn(key="meter", title="Meter"),
        TableColumn(
            key="rate", title="Price, $/M", number=True, hint="USD per million tokens; fees per unit"
        ),
        TableColumn(key="rule", title="Rule"),
        TableColumn(key="valid", title="Valid"),
        TableColumn(key="source", title="Source"),
        TableColumn(key="retrieved", title="Retrieved"),
    )
    shown = wanted[:_PRICE_ROWS]
    more = len(analysis.prices) - len(shown)
    note = f"{plural(more, 'more price')} not listed; the JSON document has them all." if more else ""
    return Table(
        slug="prices", caption="Prices used", columns=columns, rows=tuple(map(_price_row, shown)), note=note
    )


def _price_row(row: PriceRow) -> tuple[Cell, ...]:
    since = numbers.day(row.valid_from) if row.valid_from else ""
    until = numbers.day(row.valid_until) if row.valid_until else ""
    valid = f"{since or 'always'} \N{EN DASH} {until or 'open'}" if since or until else numbers.MISSING
    return (
        name_cell(row.model, note=clean(row.provider) if row.provider else "", brief=True),
        Cell(text=METER_LABELS[row.meter], value=str(list(Meter).index(row.meter))),
        Cell(
            text=numbers.rate(row.usd_per_unit),
            value=f"{row.usd_per_unit:f}",
            note=_rate_note(row),
        ),
        Cell(text=clean(row.rule, 80)),
        Cell(text=valid, value=row.valid_from.isoformat() if row.valid_from else "0"),
        name_cell(row.source, limit=60),
        Cell(text=row.retrieved.isoformat() if row.retrieved else numbers.MISSING),
    )


def _rate_note(row: PriceRow) -> str:
    if row.meter in FEE_METERS:
        return "per unit"
    return "" if row.usd_per_unit else "free"


def _inputs(inputs: Sequence[InputHash]) -> Iterator[Pair]:
    for one in inputs[:_INPUTS]:
        digest = f"SHA-256 {one.sha256}" if one.sha256 else "not hashed: the inputs are large"
        yield Pair(term=f"Input {_path(one.path)}", text=f"{digest}, {one.size_bytes:,d} bytes")
    if len(inputs) > _INPUTS:
        yield Pair(term="More inputs", text=f"{len(inputs) - _INPUTS:,d} not listed")


def method_section(analysis: Analysis) -> MethodSection:
    """How the numbers were made and what it takes to make them again."""
    made = analysis.provenance
    rule = Pair(term="Workloads", text=sentence(analysis.workload_rule))
    deployment = Pair(term="Reference deployment", text=sentence(analysis.time_basis, 2 * TEXT_LIMIT))
    return MethodSection(
        bases=(*BASES, deployment, rule),
        assumptions=tuple(map(sentence, made.assumptions)),
        provenance=(
            Pair(term="Made by", text=f"token-cost-advisor {clean(made.version)}"),
            Pair(term="Command", text=clean(made.command, 2 * TEXT_LIMIT)),
            Pair(term="As of", text=numbers.moment(made.as_of)),
            Pair(term="Price book", text=clean(made.price_book, TEXT_LIMIT)),
            Pair(term="Price book SHA-256", text=clean(made.price_book_sha256, 80)),
            *_inputs(made.inputs),
            Pair(
                term="Currency",
                text=f"{clean(analysis.cost.currency)}; list and effective amounts are computed, not invoiced",
            ),
        ),
        glossary=GLOSSARY,
    )
