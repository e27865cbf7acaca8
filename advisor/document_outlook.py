"""How the answers to finance's questions fill the JSON document."""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal

from advisor.analysis import Analysis
from advisor.budget import Check
from advisor.document_finance import (
    AnomaliesDoc,
    AnomalyDoc,
    BacktestDoc,
    BridgeDoc,
    CheckDoc,
    ForecastDoc,
    PeriodDoc,
    PriceStepDoc,
    RunRateDoc,
    SpanDoc,
    TermsDoc,
    VarianceDoc,
)
from advisor.document_money import maybe_money, money
from advisor.forecast import Forecast, Outlook, Span, method_of
from advisor.forecast_fit import RANGE_SHARE
from advisor.forecast_words import outlook_notes
from advisor.variance_periods import length
from advisor.variance_terms import Bridge
from advisor.variance_words import METHOD, listed, variance_notes


def forecast_doc(analysis: Analysis) -> ForecastDoc | None:
    """Return the forecast, or why there is none; None where nobody asked."""
    if analysis.finance is None:
        return None
    outlook = analysis.finance.outlook
    series, made = outlook.series, outlook.forecast
    return ForecastDoc(
        available=made is not None,
        reason=outlook.reason or None,
        first_day=None if series is None else series.first.isoformat(),
        last_day=None if series is None else (series.next_day - timedelta(days=1)).isoformat(),
        days_used=0 if series is None else len(series.amounts),
        empty_days=0 if series is None else series.empty_days,
        partial_days=_partial(outlook),
        range_share=RANGE_SHARE,
        method=method_of(outlook),
        month_end=None if made is None else _span(made.month),
        months=[] if made is None else [_span(one) for one in made.months],
        three_months=None if made is None else _span(made.ahead),
        backtest=None if made is None else _backtest(made),
        price_changes=[] if made is None else _steps(made),
        run_rate=_run_rate(outlook),
        notes=list(outlook_notes(analysis)),
    )


def _partial(outlook: Outlook) -> list[str]:
    series = outlook.series
    ends = () if series is None else (series.cut_first, series.cut_last)
    return [end[0].isoformat() for end in ends if end is not None]


def _span(one: Span) -> SpanDoc:
    return SpanDoc(
        first_day=one.first.isoformat(),
        last_day=one.last.isoformat(),
        spent=money(one.spent),
        low=money(one.low),
        expected=money(one.expected),
        high=money(one.high),
    )


def _backtest(made: Forecast) -> BacktestDoc:
    tried = made.backtest
    return BacktestDoc(
        horizon_days=tried.horizon_days, origins=tried.origins, error_ratio=round(tried.error_ratio, 6)
    )


def _steps(made: Forecast) -> list[PriceStepDoc]:
    return [
        PriceStepDoc(day=step.day.isoformat(), ratio=round(step.ratio, 6), models=list(step.models))
        for step in made.steps
    ]


def _run_rate(outlook: Outlook) -> RunRateDoc | None:
    if outlook.series is None or outlook.run_rate is None or outlook.run_rate_month is None:
        return None
    return RunRateDoc(
        month=outlook.run_rate_month.strftime("%Y-%m"),
        days_used=len(outlook.series.amounts),
        spent=money(outlook.run_rate_spent),
        month_end=money(outlook.run_rate),
    )


def variance_doc(analysis: Analysis) -> VarianceDoc | None:
    """Return why the bill changed, or why that is not said; None where nobody asked."""
    if analysis.finance is None:
        return None
    variance = analysis.finance.variance
    found, periods = variance.bridges, variance.periods
    if found is None or periods is None:
        return VarianceDoc(
            available=False,
            reason=variance.reason,
            basis="" if periods is None else periods.rule,
            method="",
            before=None,
            after=None,
            change=None,
            terms=None,
            workloads=[],
            notes=[],
        )
    return VarianceDoc(
        available=True,
        reason=None,
        basis=periods.rule,
        method=METHOD,
        before=_period(periods.before, found.whole.before, found.requests[0]),
        after=_period(periods.after, found.whole.after, found.requests[1]),
        change=money(found.whole.change),
        terms=_terms(found.whole),
        workloads=[
            BridgeDoc(
                name=one.name,
                before=money(one.before),
                after=money(one.after),
                change=money(one.change),
                terms=_terms(one),
            )
            for one in listed(found)
        ],
        notes=list(variance_notes(variance)),
    )


def _period(days: tuple[date, date], cost: Decimal, requests: int) -> PeriodDoc:
    return PeriodDoc(
        first_day=days[0].isoformat(),
        last_day=days[1].isoformat(),
        days=length(days),
        cost=money(cost),
        requests=requests,
    )


def _terms(one: Bridge) -> TermsDoc:
    return TermsDoc(**{driver.value: money(amount) for driver, amount in one.terms.items()})


def anomalies_doc(analysis: Analysis) -> AnomaliesDoc | None:
    """Return the unusual days, or why that is not said; None where nobody asked."""
    if analysis.finance is None:
        return None
    unusual = analysis.finance.unusual
    return AnomaliesDoc(
        available=not unusual.reason,
        reason=unusual.reason or None,
        least=money(unusual.least),
        found=[
            AnomalyDoc(
                day=one.day.isoformat(),
                workload=one.workload,
                cost=money(one.cost),
                expected=money(one.expected),
                score=round(one.score, 3),
                driver=None if one.driver is None else one.driver.value,
                leading_workload=one.leading,
                reference_day=one.reference.isoformat(),
            )
            for one in unusual.found
        ],
        more=unusual.more,
    )


def check_docs(checks: Sequence[Check]) -> list[CheckDoc]:
    """Return what comes of budgets."""
    return [
        CheckDoc(
            budget=one.budget.name,
            scope={key: list(names) for key, names in one.budget.scope.items()},
            limit=one.limit.value,
            allowed=money(one.allowed),
            found=maybe_money(one.found),
            verdict=one.verdict.value,
            basis=one.basis,
            unpriced_requests=one.unpriced,
        )
        for one in checks
    ]
