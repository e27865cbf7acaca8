"""The section on what to do: what it saves, how, and what was looked at and does not pay."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.analysis import Analysis
from advisor.recommendation import Confidence, Effort, Recommendation, Rejected, Risk, Saving
from advisor.view_advice_model import AdviceCard, AdviceSection
from advisor.view_model import Badge, Cell, Pair, Table, TableColumn
from advisor.view_plan import plan_part
from advisor.view_savings import MONTH, PERIOD, RISKS, USD, monthly, range_words, saving_words
from advisor.wording import TEXT_LIMIT, clean, full, name_cell, plural, sentence, tight
from pricing.meters import Phase
from pricing.units import DAYS_PER_MONTH

OPEN_CARDS: Final = 6
_MOST_CARDS: Final = 40
_OPEN_ROWS: Final = 8
_MOST_ROWS: Final = 200
_MOST_CODE_LINES: Final = 60
_TITLE_LIMIT: Final = 120

_PHASES: Final = {
    Phase.PREFILL: "acts on prefill",
    Phase.DECODE: "acts on decode",
    Phase.FEE: "acts on fees",
}
_ALL_PHASES: Final = "acts on both phases"
_CONFIDENCES: Final = {
    Confidence.MEASURED: "measured on this log",
    Confidence.MODELLED: "modelled from this log",
    Confidence.ASSUMED: "assumed: the log does not tell",
}
_EFFORTS: Final = {Effort.LOW: "little work", Effort.MEDIUM: "some work", Effort.HIGH: "much work"}
_RISK_TONES: Final = {Risk.NONE: "good", Risk.EVALUATE: "warn"}


def advice_section(analysis: Analysis) -> AdviceSection | None:
    """Return the section; None where nothing was looked for."""
    advice = analysis.advice
    if advice is None:
        return None
    cards = [_card(one) for one in advice.recommendations[:_MOST_CARDS]]
    left_out = len(advice.recommendations) - len(cards)
    more = cards[OPEN_CARDS:]
    rejected = advice.rejected[:_MOST_ROWS]
    return AdviceSection(
        verdict=_verdict(analysis),
        notes=_notes(analysis),
        currency_note=_currency_note(analysis.cost.currency),
        cards=tuple(cards[:OPEN_CARDS]),
        more=tuple(more),
        more_label=plural(len(more), "more change"),
        left_out=f"{plural(left_out, 'more recommendation')} in the JSON document." if left_out else "",
        plan=plan_part(analysis, advice.plan),
        rejected=_rejected("rejected", rejected[:_OPEN_ROWS], len(advice.rejected)),
        rejected_more=_rejected("rejected-more", rejected[_OPEN_ROWS:], len(advice.rejected)),
        rejected_label=f"{len(advice.rejected) - _OPEN_ROWS} more",
    )


def _verdict(analysis: Analysis) -> str:
    advice = analysis.advice
    if advice is None or not advice.recommendations:
        return "Nothing that was looked at would save money worth the change on this log."
    month, unit = monthly(analysis.period_days)
    saving = advice.plan.combined
    number = len(advice.recommendations)
    what = "The one change found would" if number == 1 else f"All {number} changes would together"
    if saving.expected <= 0:
        most = f"{what} save {saving_words(saving, month)} {unit}"
        return f"{most}; how much of that, the log does not tell."
    spread = range_words(saving, month)
    part = _part_of_bill(saving.expected, advice.plan.baseline_usd)
    return f"{what} save about {saving_words(saving, month)} {unit}{f' ({spread})' if spread else ''}{part}."


def _part_of_bill(amount: Decimal, bill: Decimal) -> str:
    return f": {numbers.share(amount / bill)} of what this log costs at list prices" if bill > 0 else ""


def _notes(analysis: Analysis) -> tuple[str, ...]:
    cost = analysis.cost
    notes: list[str] = []
    if analysis.advice is not None and analysis.advice.recommendations:
        notes.append(
            "Each card says what one change saves alone: this log, changed and priced again. Changes overlap, so "
            "what they save does not add up; the plan below the cards says what they save together."
        )
    factor, unit = monthly(analysis.period_days)
    if unit == MONTH:
        days = numbers.period(analysis.period_days)
        notes.append(
            f"Amounts a month are those of the log ({days}) times {factor:.2f}; a month is {DAYS_PER_MONTH} days."
        )
    notes.append("Amounts in this section are in USD, at list prices.")
    if cost.discounts or cost.commitments:
        notes.append("Negotiated discounts and commitments are not in them.")
    return tuple(notes)


def _currency_note(currency: str) -> str:
    if currency == USD:
        return ""
    return f"Savings are in USD; the rest of the report is in {clean(currency)}."


def _card(one: Recommendation) -> AdviceCard:
    proposal = one.proposal
    saving = one.saving if one.saving_per_month is None else one.saving_per_month
    workload = name_cell(proposal.workload)
    snippet = [] if proposal.snippet is None else proposal.snippet.expandtabs(4).splitlines()
    return AdviceCard(
        title=clean(proposal.title, _TITLE_LIMIT),
        workload=workload.text,
        workload_exact=workload.exact,
        saves=saving_words(saving),
        unit=PERIOD if one.saving_per_month is None else MONTH,
        exact=f"{numbers.money_exact(one.saving.expected, USD)} in this period, "
        f"of {numbers.money_exact(one.touched_usd, USD)} that it acts on",
        range=range_words(saving),
        phase=_ALL_PHASES if proposal.phase is None else _PHASES[proposal.phase],
        phase_kind="" if proposal.phase is None else proposal.phase.value,
        confidence=proposal.confidence.value,
        risk=RISKS[proposal.risk],
        chips=_chips(one),
        evidence=tuple(
            Pair(term=clean(fact.label, _TITLE_LIMIT), text=tight(clean(fact.value, TEXT_LIMIT)))
            for fact in proposal.evidence
        ),
        how=tuple(_plain(step) for step in proposal.how),
        assumptions=tuple(_plain(text) for text in proposal.assumptions),
        snippet="\n".join(full(line) for line in snippet[:_MOST_CODE_LINES]),
    )


def _plain(text: str) -> str:
    """A sentence without the marks that set off code in other places."""
    return sentence(text.replace("`", ""))


def _chips(one: Recommendation) -> tuple[Badge, ...]:
    proposal = one.proposal
    doubts = () if one.fits else (Badge(text="beside the phase that dominates this workload", tone="warn"),)
    return (
        Badge(text=_CONFIDENCES[proposal.confidence], tone="quiet"),
        Badge(text=_EFFORTS[proposal.effort], tone="quiet"),
        Badge(text=RISKS[proposal.risk], tone=_RISK_TONES[proposal.risk]),
        *doubts,
    )


def _rejected(slug: str, rows: Sequence[Rejected], whole: int) -> Table | None:
    if not rows:
        return None
    return Table(
        slug=slug,
        caption=f"{plural(whole, 'change')} that would not pay on this log",
        columns=(
            TableColumn(key="lever", title="Lever"),
            TableColumn(key="workload", title="Workload"),
            TableColumn(key="why", title="Why"),
            TableColumn(
                key="saving",
                title="Saves, USD",
                number=True,
                hint="Expected, in this period; below zero it would cost more",
            ),
        ),
        rows=tuple(
            (
                name_cell(one.lever.replace("_", " ").capitalize()),
                name_cell(one.workload, brief=True),
                Cell(text=sentence(one.reason)),
                _rejected_saving(one.saving),
            )
            for one in rows
        ),
    )


def _rejected_saving(saving: Saving) -> Cell:
    """A dash where there is no number: a lever that finds nothing to act on changes nothing."""
    if not (saving.low or saving.expected or saving.high):
        return Cell(text=numbers.MISSING, value="0")
    return Cell(
        text=saving_words(saving),
        exact=numbers.money_exact(saving.expected, USD),
        value=f"{saving.expected or saving.high:f}",
        note=range_words(saving),
    )
