"""The sheets about what to do, the bill, the data, and own accelerators."""

from decimal import Decimal
from typing import Any, Final, cast

from advisor.analysis import Analysis
from advisor.recommendation import Advice, Saving
from advisor.reconciliation import Reconciliation
from advisor.render.xlsx_book import TEXT_LIMIT, Book, Cell, Sheet, formula, number, text, wrapped
from advisor.wording import clean
from pricing.meters import Phase

_ZERO: Final = Decimal(0)
_WIDE: Final = 60
_SPELT: Final = {"usd": "USD", "gpu": "GPU", "gpus": "GPUs", "ttft": "TTFT", "tpot": "TPOT"}
_PHASES: Final = {Phase.PREFILL: "prefill", Phase.DECODE: "decode", Phase.FEE: "fee"}


def recommendations(book: Book, analysis: Analysis) -> None:
    """Write what to do, and the plan; in USD at list prices, whatever the report's currency."""
    sheet = book.sheet("Recommendations")
    advice = analysis.advice
    if advice is None:
        sheet.put(
            0,
            0,
            Cell("Nothing was looked for: the log is money without usage, or nothing has a price.", "note"),
        )
        return
    sheet.put(
        0, 0, Cell("What to do, best first: USD at list prices, each alone on the bill as it is", "lead")
    )
    sheet.put(1, 0, Cell("Savings of several overlap: only the plan below may be added up.", "note"))
    titles = (
        "Title", "Workload", "Lever", "Acts on", "Low (period)", "Expected (period)", "High (period)", "Low / month",
        "Expected / month", "High / month", "Confidence", "Effort", "Risk", "Evidence", "Assumptions",
    )  # fmt: skip
    rows = [
        [
            text(one.proposal.title),
            text(one.proposal.workload),
            text(one.proposal.lever),
            text(_PHASES[one.proposal.phase] if one.proposal.phase else "both"),
            *_range(one.saving),
            *(_range(one.saving_per_month) if one.saving_per_month else [Cell(None)] * 3),
            text(one.proposal.confidence),
            text(one.proposal.effort),
            text(one.proposal.risk),
            wrapped("; ".join(f"{fact.label}: {fact.value}" for fact in one.proposal.evidence) or None),
            wrapped("; ".join(one.proposal.assumptions) or None),
        ]
        for one in advice.recommendations
    ]
    end = sheet.table(3, titles, rows, main=True)
    for column in (13, 14):
        sheet.wide(column, _WIDE)
    _plan(sheet, advice, end + 1)


def _range(saving: Saving) -> list[Cell]:
    return [number(amount, "signed") for amount in (saving.low, saving.expected, saving.high)]


def _plan(sheet: Sheet, advice: Advice, top: int) -> None:
    plan = advice.plan
    rows = [
        [
            text(step.title),
            text(step.workload),
            text(step.lever),
            text(step.risk),
            number(step.saving_usd, "signed"),
            number(step.alone_usd, "signed"),
        ]
        for step in plan.steps
    ]
    titles = (
        "The plan, in this order",
        "Workload",
        "Lever",
        "Risk",
        "Saves on what is left (USD)",
        "Saves alone (USD)",
    )
    end = sheet.table(top, titles, rows)
    first, last = top + 2, max(end, top + 2)
    steps = sum((step.saving_usd for step in plan.steps), _ZERO)
    figures = (
        ("Baseline", number(plan.baseline_usd, "signed")),
        ("All steps", formula(f"SUM(E{first}:E{last})", steps, "signed")),
        ("After the plan", formula(f"E{end + 1}-E{end + 2}", plan.baseline_usd - steps, "signed")),
        (
            "Promised too much by adding up",
            formula(f"SUM(F{first}:F{last})-E{end + 2}", plan.overlap_usd, "signed"),
        ),
    )
    for offset, (label, cell) in enumerate(figures):
        sheet.row(end + offset, [Cell(label, "strong"), Cell(None), Cell(None), Cell(None), cell])


def reconciliation(book: Book, analysis: Analysis) -> None:
    """Write computed cost against the bill."""
    sheet = book.sheet("Reconciliation")
    found = analysis.reconciliation
    if found is None:
        words = "No bill was given, so that nothing is reconciled: run advisor analyze LOG --bill BILL."
        sheet.put(0, 0, Cell(words, "note"))
        return
    sheet.put(0, 0, Cell("Computed cost against the bill, in USD, by UTC days", "lead"))
    sheet.put(1, 0, Cell(f"Status: {found.status.replace('_', ' ')}", "note"))
    causes = [[wrapped(one.code.replace("_", " ")), number(one.amount_usd, "signed"), wrapped(one.evidence)] for one in found.causes]  # fmt: skip
    sheet.row(3, [Cell("Computed", "strong"), number(found.computed_usd, "total")])
    sheet.row(4, [Cell("Billed", "strong"), number(found.billed_usd, "total")])
    sheet.row(5, [Cell("Difference", "strong"), formula("B5-B4", found.difference_usd, "signed")])
    end = sheet.table(7, ("Cause", "Amount (USD)", "What it rests on"), causes)
    explained = f"SUM(B9:B{max(end, 9)})"
    sheet.row(
        end, [Cell("Unexplained", "strong"), formula(f"B6-{explained}", found.unexplained_usd, "signed")]
    )
    ratio = f"IF(B5=0,0,ABS(B{end + 1}/B5))"
    sheet.row(end + 1, [Cell("of the bill", "strong"), formula(ratio, found.unexplained_ratio or 0, "ratio")])
    sheet.row(end + 2, [Cell("Tolerance", "strong"), number(found.tolerance_ratio, "ratio")])
    sheet.wide(2, _WIDE)
    _compared(sheet, found, end + 4)


def _compared(sheet: Sheet, found: Reconciliation, top: int) -> None:
    for title, parts in (("Day", found.by_day), ("Model", found.by_model), ("Meter", found.by_meter)):
        if not parts:
            continue
        rows = [
            [
                text("(not told)" if part.key is None else str(part.key)),
                number(part.computed_usd, "signed"),
                number(part.billed_usd, "signed"),
                formula(f"C{top + 2 + offset}-B{top + 2 + offset}", part.difference_usd, "signed"),
            ]
            for offset, part in enumerate(parts)
        ]
        top = sheet.table(top, (title, "Computed (USD)", "Billed (USD)", "Difference (USD)"), rows) + 1


def data_quality(book: Book, analysis: Analysis) -> None:
    """Write what was read and left out, every problem, and the files."""
    data = analysis.data
    sheet = book.sheet("Data quality")
    sheet.put(0, 0, Cell("Rows read = records + skipped + duplicates + ignored", "lead"))
    counts = ("rows_read", "records", "skipped", "duplicates", "ignored", "unmeasured", "requests")
    for offset, name in enumerate(counts, 2):
        sheet.row(offset, [text(name.replace("_", " ").capitalize()), number(getattr(data, name))])
    sheet.row(9, [Cell("Rows unaccounted for", "strong"), formula("B3-SUM(B4:B7)", 0, "count")])
    problems = [
        [
            wrapped(one.message),
            text(one.severity),
            number(one.rows),
            number(one.amount_usd, "money"),
            wrapped("; ".join(place.file if place.line is None else f"{place.file}:{place.line}" for place in one.examples) or None),
        ]
        for one in data.problems
    ]  # fmt: skip
    end = sheet.table(11, ("Problem", "Severity", "Rows", "Amount (USD)", "Examples"), problems, main=True)
    unpriced = [
        [
            text(one.model),
            text(one.provider),
            number(one.requests),
            number(sum(one.tokens.values())),
            wrapped(one.reason),
        ]
        for one in analysis.cost.unpriced
    ]
    titles = ("Without a price, in no amount", "Provider", "Requests", "Tokens", "Why")
    end = sheet.table(end + 1, titles, unpriced)
    sources = [[text(one.path), text(one.format), number(one.rows)] for one in data.sources]
    sheet.table(end + 1, ("File", "Format", "Rows"), sources)
    for column in (0, 4):
        sheet.wide(column, _WIDE)


def self_host(book: Book, analysis: Analysis) -> None:
    """Write the ways to host the load beside the API bill, where they were asked for."""
    if analysis.self_host is None:
        return
    from advisor.document_hosting import comparison_doc, hosting_docs  # noqa: PLC0415  (only where it was asked for)

    sheet = book.sheet("Self-host")
    found = comparison_doc(analysis.self_host)
    sheet.put(
        0,
        0,
        Cell("Own accelerators against the API bill, cheapest first; USD for the period of the log", "lead"),
    )
    sheet.put(1, 0, Cell(clean(found.verdict, TEXT_LIMIT), "note"))
    for offset, (label, side) in enumerate(
        (("API bill", found.today), ("API bill after its own levers", found.after_levers))
    ):
        bill = None if side is None else Decimal(side.api_usd)
        sheet.row(3 + offset, [Cell(label, "strong"), number(bill, "money")])
    ways = [_flat(one.model_dump(mode="json")) for one in hosting_docs(analysis.self_host)]
    names = list(dict.fromkeys(name for way in ways for name in way))
    rows = [[_plain(way.get(name)) for name in names] for way in ways]
    sheet.table(6, [_title(name) for name in names], rows, main=True)


def _flat(value: dict[str, Any], before: str = "") -> dict[str, Any]:
    """Single values, those of inner parts under both names; lists are left to the document."""
    flat: dict[str, Any] = {}
    for name, part in value.items():
        if isinstance(part, dict):
            flat |= _flat(cast("dict[str, Any]", part), f"{before}{name} ")
        elif not isinstance(part, list):
            flat[before + name] = part
    return flat


def _title(name: str) -> str:
    words = " ".join(_SPELT.get(word, word) for word in name.replace("_", " ").split())
    return words[:1].upper() + words[1:]


def _plain(value: Any) -> Cell:
    if isinstance(value, bool) or value is None:
        return text(None if value is None else "yes" if value else "no")
    if isinstance(value, str):
        try:
            return number(Decimal(value), "money")
        except ArithmeticError:
            return text(value)
    return number(value, "factor" if isinstance(value, float) else "count")
