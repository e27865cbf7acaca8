"""What a reader in a hurry takes away: the total, the phase that dominates, how far to trust both."""

from decimal import Decimal
from typing import Final

from advisor import numbers
from advisor.analysis import Analysis, CostReport, PhaseClass, PhaseMix
from advisor.charts import BarPart, plain_bar
from advisor.view_costs import effective_total, unconverted_usd
from advisor.view_model import Badge, Card, Headline, PhaseShare
from advisor.view_outlook import outlook
from advisor.view_reconcile import reconcile_badge
from advisor.wording import plural
from pricing.meters import CACHE_READ_METERS, INPUT_METERS, OUTPUT_METERS, Phase

_SHORT_DAYS: Final = 1.0


def is_partial(analysis: Analysis) -> bool:
    """Whether the total leaves out usage that has no known cost."""
    return not analysis.cost.complete or analysis.cost.coverage < 1 or bool(unconverted_usd(analysis.cost))


def headline(analysis: Analysis) -> Headline:
    """The first page: what was spent, where it went, and how far to trust it."""
    qualifier, amount, exact = _amount(analysis)
    period = numbers.period(analysis.period_days)
    spoken = f"{qualifier} {amount}".strip()
    spoken = spoken[0].upper() + spoken[1:]
    summary = f"{spoken} ({period}) for {plural(analysis.data.requests, 'request')}{_beside(analysis.cost)}"
    return Headline(
        qualifier=qualifier,
        amount=amount,
        exact=exact,
        period=period,
        verdict=_verdict(analysis),
        summary=summary,
        badges=_badges(analysis),
        cards=_cards(analysis),
        bar=_phase_bar(analysis),
        phases=_phases(analysis),
        outlook=outlook(analysis),
    )


def _amount(analysis: Analysis) -> tuple[str, str, str | None]:
    total = analysis.cost.total
    if analysis.data.records and not analysis.whole.is_priced:
        return "", "Cost unknown", None
    return ("at least" if is_partial(analysis) else ""), numbers.money(total), numbers.money_exact(total)


def _beside(cost: CostReport) -> str:
    """The costs that differ from the total, behind it."""
    others = (("list cost", cost.list_total), ("effective cost", effective_total(cost)))
    return "".join(f", {name} {numbers.money(amount)}" for name, amount in others if amount != cost.total)


def _phase_money(analysis: Analysis) -> dict[Phase, Decimal]:
    sums = dict.fromkeys(Phase, Decimal(0))
    for meter, amount in analysis.whole.cost.items():
        sums[meter.phase] += amount
    return sums


def _phases(analysis: Analysis) -> tuple[PhaseShare, ...]:
    sums = _phase_money(analysis)
    whole = sum(sums.values(), Decimal(0))
    if whole <= 0:
        return ()
    words = {
        Phase.PREFILL: ("Prefill", "reading prompts"),
        Phase.DECODE: ("Decode", "writing answers"),
        Phase.FEE: ("Fees", "search calls, cache storage"),
    }
    return tuple(
        PhaseShare(
            kind=phase.value,
            name=name,
            meaning=meaning,
            share=numbers.share(sums[phase] / whole),
            money=numbers.money(sums[phase]),
            exact=numbers.money_exact(sums[phase]),
        )
        for phase, (name, meaning) in words.items()
        if phase is not Phase.FEE or sums[phase]
    )


def _phase_bar(analysis: Analysis) -> tuple[BarPart, ...]:
    sums = _phase_money(analysis)
    whole = sum(max(amount, Decimal(0)) for amount in sums.values())
    if whole <= 0:
        return ()
    parts: list[BarPart] = []
    at = 0.0
    for phase in Phase:
        width = round(float(max(sums[phase], Decimal(0)) / whole) * 100, 2)
        if width > 0:
            parts.append(BarPart(x=round(at, 2), width=width, kind=phase.value))
        at += width
    return tuple(parts) or plain_bar(1.0)


def _verdict(analysis: Analysis) -> str:
    mix = analysis.cost_mix
    if analysis.data.records == 0:
        return "The log holds no requests."
    if analysis.cost.basis == "recorded":
        return "The log is a cost export: money without tokens, so how it splits into phases is not known."
    if not analysis.whole.is_priced:
        return "No request could be priced, so which phase dominates the bill is not known." + _time_words(
            analysis
        )
    if mix is None or not analysis.cost.total:
        return "Every price in the log is $0, so no phase can dominate the bill." + _time_words(analysis)
    return _mix_words(mix, "priced part of the bill" if is_partial(analysis) else "bill", _has_fees(analysis))


def _has_fees(analysis: Analysis) -> bool:
    return _phase_money(analysis)[Phase.FEE] != 0


def _mix_words(mix: PhaseMix, bill: str, fees: bool) -> str:  # noqa: FBT001
    prefill, decode = numbers.share(mix.prefill_share), numbers.share(mix.decode_share)
    of = f"{bill}, fees aside," if fees else bill
    if mix.phase_class is PhaseClass.PREFILL_DOMINATED:
        return (
            f"{prefill} of the {of} is prefill: reading prompts. Caching and trimming prompts act there; "
            f"shorter answers would touch only the other {decode}."
        )
    if mix.phase_class is PhaseClass.DECODE_DOMINATED:
        return (
            f"{decode} of the {of} is decode: writing answers. Shorter answers and less reasoning act there; "
            f"caching prompts would touch only the other {prefill}."
        )
    return (
        f"{prefill} of the {of} is prefill (reading prompts) and {decode} is decode (writing answers). "
        "Neither dominates overall, so look at each workload."
    )


def _time_words(analysis: Analysis) -> str:
    mix = analysis.time_mix
    if mix is None:
        return ""
    return f" On modelled GPU time, prefill takes {numbers.share(mix.prefill_share)} and decode {numbers.share(mix.decode_share)}."


def _badges(analysis: Analysis) -> tuple[Badge, ...]:
    cost, data = analysis.cost, analysis.data
    badges: list[Badge] = []
    if cost.unpriced:
        models = len({(row.provider, row.model) for row in cost.unpriced})
        missing = sum(row.requests for row in cost.unpriced)
        part = numbers.share(missing / data.requests) if data.requests else numbers.MISSING
        badges.append(
            Badge(
                text=f"total incomplete: {plural(models, 'model')} unpriced ({part} of requests)", tone="warn"
            )
        )
    badges.append(
        Badge(
            text=f"prices known for {numbers.share(cost.coverage)} of requests",
            tone="good" if cost.coverage == 1 else "quiet",
        )
    )
    badges.append(reconcile_badge(analysis.reconciliation))
    left = unconverted_usd(cost)
    if left:
        badges.append(
            Badge(text=f"{numbers.money(left, 'USD')} has no exchange rate and is in no total", tone="warn")
        )
    if data.unmeasured:
        text = f"{plural(data.unmeasured, 'record')} without usage: cost unknown, not zero"
        badges.append(Badge(text=text, tone="warn"))
    if data.skipped:
        badges.append(Badge(text=f"{plural(data.skipped, 'row')} could not be read", tone="warn"))
    weak = analysis.cost_mix.weak if analysis.cost_mix else None
    if weak:
        badges.append(Badge(text=f"phase is uncertain: {weak}", tone="warn"))
    return tuple(badges)


def _cards(analysis: Analysis) -> tuple[Card, ...]:
    whole, data = analysis.whole, analysis.data
    inputs = sum(whole.tokens.get(meter, 0) for meter in INPUT_METERS)
    outputs = sum(whole.tokens.get(meter, 0) for meter in OUTPUT_METERS)
    cached = [whole.tokens[meter] for meter in CACHE_READ_METERS if meter in whole.tokens]
    days = analysis.period_days
    a_day = f"{data.requests / days:,.0f} a day" if days and days >= _SHORT_DAYS else ""
    cache = (
        f"{numbers.share(sum(cached) / inputs)} read from cache"
        if cached and inputs
        else "cache reads not reported"
    )
    part = f"{numbers.share(outputs / (inputs + outputs))} of all tokens" if inputs + outputs else ""
    reasoning = (
        f"{numbers.share(whole.reasoning / outputs)} reasoning" if whole.reasoning and outputs else part
    )
    return (
        Card(label="Requests", value=numbers.count(data.requests), note=a_day),
        _unit_card(analysis),
        Card(label="Prompt tokens", value=numbers.tokens(inputs), exact=numbers.count(inputs), note=cache),
        Card(
            label="Answer tokens", value=numbers.tokens(outputs), exact=numbers.count(outputs), note=reasoning
        ),
        _gpu_card(analysis),
    )


def _unit_card(analysis: Analysis) -> Card:
    priced = analysis.whole.priced_requests
    if not priced:
        why = "the log does not count requests" if analysis.whole.is_priced else "nothing priced"
        return Card(label="Cost per request", value=numbers.MISSING, note=why)
    if unconverted_usd(analysis.cost):
        return Card(
            label="Cost per request", value=numbers.MISSING, note="a part is in USD: no exchange rate"
        )
    each = analysis.cost.total / priced
    note = f"{numbers.money_short(each * 1000)} per 1,000"
    label = "Cost per priced request" if priced < analysis.data.requests else "Cost per request"
    return Card(label=label, value=numbers.money(each), exact=numbers.money_exact(each), note=note)


def _gpu_card(analysis: Analysis) -> Card:
    mix = analysis.time_mix
    if mix is None:
        return Card(label="GPU time in decode", value=numbers.MISSING, note="token counts missing")
    return Card(
        label="GPU time in decode", value=numbers.share(mix.decode_share), note="modelled, not billed"
    )
