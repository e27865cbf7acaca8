"""Causes of a difference, each on figures worked by hand, and what holds for any bill and any log."""

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.bill_names import name_key
from advisor.reconcile import reconcile
from advisor.reconciliation import Bill, BillLine, Reconciliation, Usage, UsageRow
from advisor.view_reconcile import reconcile_badge
from pricing.meters import Meter
from workloads.charge_words import KINDS

JUNE = [date(2026, 6, day) for day in range(1, 31)]


def used(day: int | None, usd: str, model: str = "model-a", **given_: Any) -> UsageRow:
    cost = {Meter.OUTPUT: Decimal(usd)}
    values: dict[str, Any] = {"records": 10, "cost": cost, "provider": "maker"} | given_
    return UsageRow(day=None if day is None else JUNE[day - 1], model=model, **values)


def billed(day: int | None, usd: str, model: str | None = "model-a", **given_: Any) -> BillLine:
    values: dict[str, Any] = {"kind": "usage", "meter": None, "provider": "maker"} | given_
    return BillLine(
        day=None if day is None else JUNE[day - 1], model=model, amount_usd=Decimal(usd), **values
    )


def compare(rows: Sequence[UsageRow], lines: Sequence[BillLine], **usage: Any) -> Reconciliation:
    found = reconcile(Usage(rows=tuple(rows), **usage), Bill(lines=tuple(lines)))
    check_sums(found)
    return found


def check_sums(found: Reconciliation) -> None:
    assert sum((cause.amount_usd for cause in found.causes), found.unexplained_usd) == found.difference_usd


def causes(found: Reconciliation) -> dict[str, str]:
    return {cause.code: f"{cause.amount_usd.normalize():f}" for cause in found.causes}


def evidence(found: Reconciliation, code: str) -> str:
    return next(cause.evidence for cause in found.causes if cause.code == code)


def month(usd: str = "10", **given_: Any) -> list[UsageRow]:
    return [used(day, usd, **given_) for day in range(1, 11)]


def month_billed(usd: str = "10", **given_: Any) -> list[BillLine]:
    return [billed(day, usd, **given_) for day in range(1, 11)]


def test_a_bill_that_agrees_has_no_causes() -> None:
    found = compare(month(), month_billed())
    assert (found.status, found.causes, found.unexplained_usd) == ("reconciled", (), 0)
    assert (found.computed_usd, found.billed_usd, found.compared_usd) == (100, 100, 100)
    assert found.covers_the_log


def test_what_nothing_explains_stays_and_the_tolerance_decides() -> None:
    found = compare(month(), [*month_billed()[:-1], billed(10, "13")])
    assert causes(found) == {}
    assert (found.unexplained_usd, found.status) == (3, "not_reconciled")
    assert found.unexplained_ratio == pytest.approx(3 / 103)
    wide = reconcile(
        Usage(rows=tuple(month())), Bill(lines=(*month_billed()[:-1], billed(10, "13"))), Decimal("0.03")
    )
    assert wide.is_reconciled


def test_tax_credit_discount_and_fee_lines_are_causes_by_themselves() -> None:
    lines = [
        *month_billed(),
        billed(1, "19", None, kind="tax"),
        billed(1, "-5", None, kind="credit", rows=2),
        billed(1, "-1.5", None, kind="discount"),
        billed(3, "0.30", None, kind="fee", meter="web_search_calls"),
    ]
    found = compare(month(), lines)
    assert causes(found) == {"tax": "19", "credits": "-5", "discount": "-1.5", "fees": "0.3"}
    assert evidence(found, "credits").startswith("2 lines")
    assert found.is_reconciled


def test_fees_that_the_log_computes_stand_against_the_bills_fees() -> None:
    row = used(1, "0", cost={Meter.OUTPUT: Decimal(10), Meter.WEB_SEARCH_CALLS: Decimal("0.25")})
    fee = billed(1, "0.30", None, kind="fee", meter="web_search_calls")
    assert causes(compare([row], [billed(1, "10"), fee])) == {"fees": "0.05"}


def test_days_that_one_side_lacks() -> None:
    found = compare(month()[:8], month_billed()[2:])
    assert causes(found) == {"days_not_in_log": "20", "days_not_in_bill": "-20"}
    assert "2 days (9\N{EN DASH}10 Jun 2026)" in evidence(found, "days_not_in_log")
    assert "2 days (1\N{EN DASH}2 Jun 2026)" in evidence(found, "days_not_in_bill")
    assert found.compared_usd == 60


def test_a_bill_of_another_time_explains_nothing() -> None:
    found = compare(month(), [billed(20, "100")])
    assert found.status == "not_reconciled"
    assert "nothing could be compared" in found.notes[-1]


def test_models_that_one_side_lacks() -> None:
    found = compare([*month(), used(3, "0.5", "model-c")], [*month_billed(), billed(4, "7", "model-b")])
    assert causes(found) == {"models_not_in_log": "7", "models_not_in_bill": "-0.5"}
    assert "model-b" in evidence(found, "models_not_in_log")
    assert "model-c" in evidence(found, "models_not_in_bill")


def test_a_model_without_a_price_here_explains_what_is_billed_for_it() -> None:
    free = used(3, "0", "model-b", records=4, unpriced_records=4)
    found = compare([*month(), free], [*month_billed(), billed(3, "8", "Model B")])
    assert causes(found) == {"unpriced_models": "8"}
    assert found.causes[0].rows == 4


def test_a_part_without_a_price_explains_its_part_by_the_models_mean() -> None:
    # 8 records cost 10, so 2 without a price cost about 2.50: of the missing 4, 1.50 stays open.
    rows = [*month(), used(11, "10", "model-b", unpriced_records=2)]
    found = compare(rows, [*month_billed(), billed(11, "14", "model-b")])
    assert causes(found) == {"unpriced_models": "2.5"}
    assert found.unexplained_usd == Decimal("1.5")


@pytest.mark.parametrize(
    ("ratio", "cause", "words"),
    [
        ("0.5", "tier", "batch"),
        ("0.55", "tier", "region"),
        ("1.1", "region", "surcharge of 10 %"),
        ("2", "tier", "priority"),
        ("0.88", "discount", "an agreed discount of 12 %"),
    ],
)
def test_a_constant_ratio_has_a_meaning(ratio: str, cause: str, words: str) -> None:
    amount = Decimal(ratio) * 10
    found = compare(month(), month_billed(str(amount)))
    assert causes(found) == {cause: f"{((amount - 10) * 10).normalize():f}"}
    assert words in evidence(found, cause)
    assert "on 10 of 10 days" in evidence(found, cause)
    assert found.is_reconciled


def test_a_ratio_on_most_days_explains_no_more_than_each_day_lacks() -> None:
    lines = [*month_billed("8.8")[:8], billed(9, "10"), billed(10, "9.5")]
    found = compare(month(), lines)
    # Eight days lack 1.20 each and the last one 0.50, of which the discount may take all; the ninth lacks nothing.
    assert causes(found) == {"discount": "-10.1"}
    assert "on 8 of 10 days" in evidence(found, "discount")


def test_one_discount_on_all_models_is_said_once() -> None:
    rows = [*month(), *month("4", model="model-b")]
    lines = [*month_billed("9"), *month_billed("3.6", model="model-b")]
    found = compare(rows, lines)
    assert causes(found) == {"discount": "-14"}
    assert "billed 0.9 times the computed cost on 20 of 20 days of a model for all 2 models" in evidence(
        found, "discount"
    )


def test_one_model_in_batch_leaves_the_other_alone() -> None:
    rows = [*month(), *month("4", model="model-b")]
    lines = [*month_billed(), *month_billed("2", model="model-b")]
    found = compare(rows, lines)
    assert causes(found) == {"tier": "-20"}
    assert "billed 0.5 times the computed cost on 10 of 10 days for model-b" in evidence(found, "tier")


def test_a_bill_that_is_larger_at_no_published_ratio_stays_unexplained() -> None:
    found = compare(month(), month_billed("12.3"))
    assert causes(found) == {}
    assert found.status == "not_reconciled"


def test_amounts_in_cents_are_asked_about() -> None:
    found = compare(month(), month_billed("1000"))
    assert found.status == "not_reconciled"
    assert "cents" in found.notes[-1]


def test_tiers_that_the_bill_names_and_the_log_does_not() -> None:
    # Half of each day's tokens went through the batch tier: 5 at half the price is 2.50.
    lines = [*month_billed("5"), *month_billed("2.5", tier="batch")]
    found = compare(month(), lines)
    assert causes(found) == {"tier": "-25"}
    assert "say batch" in evidence(found, "tier")


def test_a_tier_that_both_sides_name_is_no_cause() -> None:
    rows = [*month("5"), *month("2.5", tier="batch")]
    lines = [*month_billed("5"), *month_billed("2.5", tier="batch")]
    assert causes(compare(rows, lines)) == {}


def test_a_region_that_the_bill_names() -> None:
    lines = [*month_billed("5"), *month_billed("5.5", region="us")]
    assert causes(compare(month(), lines)) == {"region": "5"}


def test_failed_calls_that_are_priced_and_not_billed() -> None:
    failed = (used(2, "0.7"), used(5, "0.3"))
    lines = [*month_billed()]
    lines[1], lines[4] = billed(2, "9.3"), billed(5, "9.7")
    found = compare(month(), lines, failed=failed)
    assert causes(found) == {"failed_calls": "-1"}


def test_failed_calls_do_not_hide_a_discount() -> None:
    failed = tuple(used(day, "0.4") for day in range(1, 11))
    found = compare(month(), month_billed("8.8"), failed=failed)
    assert causes(found) == {"discount": "-12"}


def test_failed_calls_that_are_billed_and_have_no_counts() -> None:
    # Nine measured calls cost 9, so one that failed cost about 1; 1.20 more than computed are billed.
    rows = [*month(), used(12, "9", records=9), used(12, "0", records=1, unmeasured=True, cost={})]
    failed = (used(12, "0", records=1, unmeasured=True, cost={}),)
    found = compare(rows, [*month_billed(), billed(12, "10.2")], failed=failed)
    assert causes(found) == {"failed_calls": "1"}
    assert found.unexplained_usd == Decimal("0.2")


def test_a_log_that_starts_within_a_day() -> None:
    rows = [used(1, "4"), *month()[1:]]
    found = compare(rows, month_billed(), first=datetime(2026, 6, 1, 14, 2, tzinfo=UTC))
    assert causes(found) == {"partial_days": "6"}
    assert "14:02" in evidence(found, "partial_days")


def test_hours_that_are_missing_explain_twice_their_share_at_most() -> None:
    rows = [*month()[:-1], used(10, "2")]
    found = compare(rows, month_billed(), last=datetime(2026, 6, 10, 21, 36, tzinfo=UTC))
    assert causes(found) == {"partial_days": "2"}  # a tenth of the day: a fifth of its 10
    assert found.unexplained_usd == 6


def test_the_last_days_of_a_bill_may_be_late() -> None:
    lines = [*month_billed()[:8], billed(9, "7"), billed(10, "1")]
    found = compare(month(), lines)
    assert causes(found) == {"late_data": "-12"}
    assert (
        "2 days (9\N{EN DASH}10 Jun 2026) at the bill's end: $8.00 billed of $20.00 computed, while 8 of 8"
        in evidence(found, "late_data")
    )


def test_a_bill_that_never_agreed_is_not_late() -> None:
    lines = [billed(day, str(5 + day % 4 * 2)) for day in range(1, 10)]
    assert "late_data" not in causes(compare(month()[:9], lines))


def test_rounding_explains_half_a_unit_a_line() -> None:
    half = Decimal("0.005")
    rows = [used(day, "0.013") for day in range(1, 11)]
    lines = [billed(day, "0.01", rounding_usd=half) for day in range(1, 11)]
    assert causes(compare(rows, lines)) == {"rounding": "-0.03"}
    far = [billed(day, "0.03", rounding_usd=half) for day in range(1, 11)]
    found = compare(rows, far)
    assert causes(found) == {}
    assert found.unexplained_usd == Decimal("0.17")


def test_usage_of_other_providers_is_set_aside() -> None:
    rows = [*month(), *month("3", model="model-x", provider="elsewhere")]
    found = compare(rows, month_billed())
    assert causes(found) == {"other_providers": "-30"}
    assert found.is_reconciled
    assert not found.covers_the_log


def test_a_log_that_does_not_say_who_is_paid_is_compared_by_model() -> None:
    rows = [replace(row, provider="maker", stated=False) for row in month()]
    assert causes(compare(rows, month_billed(provider="cloud"))) == {}


def test_a_bill_without_models_is_compared_by_day() -> None:
    rows = [*month(), *month("4", model="model-b")]
    found = compare(rows, month_billed("14", model=None))
    assert causes(found) == {}
    assert found.is_reconciled


def test_names_that_cannot_be_matched_are_compared_by_day() -> None:
    found = compare(month(), month_billed("10", model="SKU-77Q"))
    assert (causes(found), found.compared_usd) == ({}, 100)


def test_usage_without_a_time_is_compared_over_the_whole_period() -> None:
    found = compare([used(None, "100")], month_billed())
    assert causes(found) == {}
    assert found.is_reconciled
    assert [row.key for row in found.by_day] == [None]


def test_daily_totals_beside_their_models_are_counted_once() -> None:
    found = compare(month(), [*month_billed(), *month_billed("10", model=None)])
    assert (found.billed_usd, causes(found)) == (100, {})
    assert "counted" in found.notes[0] or "left out" in found.notes[0]


def test_tables_by_day_model_and_meter_show_both_sides() -> None:
    rows = [
        used(1, "0", cost={Meter.OUTPUT: Decimal(6), Meter.CACHE_READ: Decimal(4)}),
        used(2, "5", "model-b"),
    ]
    lines = [
        billed(1, "6", meter="output"),
        billed(1, "3", meter="cache_read"),
        billed(2, "5", "model-b", meter="output"),
    ]
    found = compare(rows, lines)
    assert [(row.key, row.computed_usd, row.billed_usd) for row in found.by_day] == [
        (JUNE[0], 10, 9),
        (JUNE[1], 5, 5),
    ]
    assert [(row.key, row.difference_usd) for row in found.by_model] == [("model-a", -1), ("model-b", 0)]
    assert [(row.key, row.computed_usd, row.billed_usd) for row in found.by_meter] == [
        ("cache_read", 4, 3),
        ("output", 11, 11),
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Claude Haiku 4.5", "claude-haiku-4-5-20251001"),
        ("ClaudeHaiku4.5", "us.anthropic.claude-haiku-4-5-20251001-v1:0"),
        ("Claude4Sonnet", "claude-sonnet-4"),
        ("anthropic/claude-4.5-sonnet-20250929", "claude-sonnet-4-5"),
        ("gpt 4o 0806", "gpt-4o-2024-08-06"),
        ("NovaLite", "amazon.nova-lite-v1:0"),
        ("claude-sonnet-4@20250514", "claude-sonnet-4"),
    ],
)
def test_names_of_one_model(one: str, other: str) -> None:
    assert name_key(one) == name_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("gpt-4o", "gpt-4o-mini"), ("claude-opus-4", "claude-opus-4-1"), ("o4-mini", "gpt-4o-mini")],
)
def test_names_of_two_models(one: str, other: str) -> None:
    assert name_key(one) != name_key(other)


# ---- what holds for any two sides

money = st.decimals(min_value="-50", max_value="500", places=9, allow_nan=False)
cost = st.decimals(min_value="0", max_value="500", places=13, allow_nan=False)
days = st.sampled_from([*JUNE[:6], None])
models = st.sampled_from(["model-a", "Model B", "model-b", "sku-1", "zeta", None])
providers = st.sampled_from(["maker", "cloud", None])
tiers = st.sampled_from([None, "batch", "priority", "odd"])

rows_of_a_log = st.builds(
    UsageRow,
    day=days,
    provider=providers,
    model=models,
    tier=tiers,
    stated=st.booleans(),
    cost=st.dictionaries(st.sampled_from([Meter.OUTPUT, Meter.WEB_SEARCH_CALLS]), cost, max_size=2),
    records=st.integers(1, 9),
    unpriced_records=st.integers(0, 1),
    unmeasured=st.booleans(),
)
lines_of_a_bill = st.builds(
    BillLine,
    day=days,
    provider=providers,
    model=models,
    meter=st.sampled_from([None, "output", "web_search_calls"]),
    kind=st.sampled_from([*KINDS, "usage", "usage", "usage"]),
    amount_usd=money,
    rows=st.integers(1, 9),
    rounding_usd=st.sampled_from([Decimal(0), Decimal("0.005")]),
    tier=tiers,
    region=st.sampled_from([None, "us", "eu-west-1"]),
)


@settings(max_examples=300, deadline=None)
@given(st.lists(rows_of_a_log, max_size=12), st.lists(lines_of_a_bill, max_size=12), st.integers(0, 9))
def test_causes_and_rest_are_the_difference_in_any_order(
    rows: list[UsageRow], lines: list[BillLine], seed: int
) -> None:
    span = {
        "first": datetime(2026, 6, 1, 9, tzinfo=UTC),
        "last": datetime(2026, 6, 6, 15, tzinfo=UTC),
        "failed": tuple(rows[:2]),
    }
    found = compare(rows, lines, **span)
    shuffle = random.Random(seed)  # noqa: S311  (a test's order of rows)
    mixed_rows, mixed_lines = (
        shuffle.sample(rows, len(rows)),
        shuffle.sample(lines, len(lines)),
    )
    assert compare(mixed_rows, mixed_lines, **span) == found


@settings(max_examples=150, deadline=None)
@given(
    st.lists(cost, min_size=1, max_size=6),
    st.lists(money, min_size=1, max_size=6),
    st.sampled_from([None, "us"]),
)
def test_what_stays_open_in_a_cell_only_shrinks(
    used_: list[Decimal],
    billed_: list[Decimal],
    region: str | None,
) -> None:
    rows = [used(1, str(amount)) for amount in used_]
    lines = [
        billed(1, str(amount), rounding_usd=Decimal("0.005"), tier="batch", region=region)
        for amount in billed_
    ]
    (cell,) = compare(rows, lines, failed=tuple(rows[:1])).by_day
    assert cell.unexplained_usd is not None
    assert abs(cell.unexplained_usd) <= abs(cell.difference_usd)
    assert cell.unexplained_usd * cell.difference_usd >= 0


def test_nothing_is_proven_by_a_bill_with_missing_pages() -> None:
    usage, lines = Usage(rows=tuple(month())), tuple(month_billed())
    assert reconcile(usage, Bill(lines=lines)).is_reconciled
    found = reconcile(usage, Bill(lines=lines, is_complete=False))
    assert (found.is_reconciled, found.unexplained_usd) == (False, 0)
    assert reconcile_badge(found).text == "Not reconciled: pages or parts of the bill are missing"
