"""What the report says."""

from dataclasses import replace
from decimal import Decimal

import pytest
import report_factory

from advisor import wording
from advisor.analysis import Analysis, PhaseClass
from advisor.view import build_view
from pricing.meters import Meter


def test_an_incomplete_total_is_a_lower_bound(demo: Analysis) -> None:
    headline = build_view(demo).headline
    assert headline.qualifier == "at least"
    assert headline.summary.startswith("At least $")
    assert "(30 days)" in headline.summary
    assert any("2 models unpriced" in badge.text and badge.tone == "warn" for badge in headline.badges)
    assert "priced part" in headline.verdict


def test_a_complete_total_is_stated_plainly() -> None:
    headline = build_view(report_factory.analysis()).headline
    assert headline.qualifier == ""
    assert headline.badges[0].text == "prices known for 100 % of requests"
    assert headline.badges[0].tone == "good"


@pytest.mark.parametrize(
    ("prefill", "decode", "words"),
    [
        (71, 29, "71 % of the bill is prefill"),
        (20, 80, "80 % of the bill is decode"),
        (50, 50, "Neither dominates"),
    ],
)
def test_the_verdict_names_the_phase(prefill: float, decode: float, words: str) -> None:
    base = report_factory.analysis()
    verdict = build_view(replace(base, cost_mix=report_factory.mix("cost", prefill, decode))).headline.verdict
    assert words in verdict


def test_fees_are_said_to_be_aside() -> None:
    base = report_factory.analysis()
    whole = replace(base.whole, cost={**base.whole.cost, Meter.WEB_SEARCH_CALLS: Decimal(12)})
    view = build_view(replace(base, whole=whole))
    assert "fees aside" in view.headline.verdict
    assert [phase.name for phase in view.headline.phases] == ["Prefill", "Decode", "Fees"]


def test_nothing_priced_shows_no_amount() -> None:
    view = build_view(report_factory.nothing_priced())
    assert view.headline.amount == "Cost unknown"
    assert view.headline.phases == ()
    assert "could be priced" in view.headline.verdict
    assert all("$" not in row[1].text for row in view.workloads.table.rows)


def test_free_is_not_unknown() -> None:
    view = build_view(report_factory.free_models())
    assert view.headline.amount == "$0.00"
    assert "Every price in the log is $0" in view.headline.verdict


def test_no_times_means_no_day_chart() -> None:
    view = build_view(report_factory.no_times())
    assert view.days.wide is None
    assert "no request in the log carries a time" in view.days.absent.lower()


def test_buckets_mean_no_phase_map() -> None:
    view = build_view(report_factory.analysis(buckets=True))
    assert view.phase_map.wide is None
    assert "per request" in view.phase_map.absent


def test_missing_days_are_said(demo: Analysis) -> None:
    view = build_view(demo)
    assert any("nothing for 2 days" in note for note in view.days.notes)
    assert view.days.wide is not None
    assert len(view.days.wide.gaps) == 1
    assert view.days.table is not None
    assert len(view.days.table.rows) == 30


@pytest.mark.parametrize(
    ("days", "grain", "most"), [(1, "day", 1), (124, "day", 124), (125, "week", 19), (730, "week", 106)]
)
def test_long_periods_are_gathered(days: int, grain: str, most: int) -> None:
    view = build_view(report_factory.analysis(report_factory.SPECS[:2], days=days))
    assert view.days.grain == grain
    assert view.days.wide is not None
    assert len(view.days.wide.columns) <= most
    assert (f"into {grain}s" in " ".join(view.days.notes)) == (grain != "day")


def test_days_add_up_to_their_table(demo: Analysis) -> None:
    table = build_view(demo).days.table
    assert table is not None
    for row in table.rows:
        amounts = [Decimal(cell.value) for cell in row[2:]]
        if amounts[0] >= 0:
            assert abs(amounts[0] - sum(amounts[1:])) < Decimal("0.00001")


def test_every_workload_says_its_class_and_doubt() -> None:
    specs = (replace(report_factory.SPECS[0], requests=12), report_factory.SPECS[3])
    view = build_view(report_factory.analysis(specs))
    mixes = {name.text: mix for name, mix in view.workloads.table.picked("name", "mix")}
    assert mixes["support-bot"].note == "Prefill-dominated"
    assert mixes["support-bot"].warning == "uncertain: only 12 requests"
    assert mixes["report-writer"].note == "Decode-dominated"
    assert mixes["report-writer"].warning == ""
    assert [note.kind for note in view.workloads.classes] == ["prefill", "decode"]


def test_unreported_cache_is_a_dash_and_zero_is_zero(demo: Analysis) -> None:
    cells = {
        name.text: cache.text for name, cache in build_view(demo).workloads.table.picked("name", "cache")
    }
    assert cells["doc-summarise"] == "—"
    assert cells["rag-search"] == "0 %"


def test_a_crowd_is_cut_with_the_rest_counted() -> None:
    analysis = report_factory.crowded()
    view = build_view(analysis)
    table = view.workloads.table
    assert len(table.rows) == 50
    assert table.rest is not None
    assert table.rest[0].text == "9,950 other workloads"
    shown = sum(w.whole.total for w in analysis.workloads[:50])
    assert table.rest[1].exact is not None
    assert Decimal(table.rest[1].exact.replace("$", "").replace(",", "")) == analysis.whole.total - shown
    assert "9,950 more workloads" in table.note
    assert len(view.meters.asymmetry.rows) == 50
    assert view.prices.note


def test_the_equation_adds_up(demo: Analysis) -> None:
    total, *terms = [int(card.value.replace(",", "")) for card in build_view(demo).data.terms]
    assert total == sum(terms)


def test_unlabelled_is_grey_on_the_map(demo: Analysis) -> None:
    view = build_view(demo)
    assert all(series.label != "(unlabelled)" for series in view.phase_map.legend)
    assert view.phase_map.legend[-1].index == -1


def test_the_view_is_the_same_twice(demo: Analysis) -> None:
    assert build_view(demo) == build_view(demo)


def test_every_meter_and_class_has_words() -> None:
    assert set(wording.METER_LABELS) == set(Meter)
    assert (
        set(wording.CLASS_NAMES)
        == set(wording.CLASS_LEVERS)
        == set(wording.CLASS_MEANINGS)
        == set(PhaseClass)
    )


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("", "(empty)"),
        (" \n\t", "(empty)"),
        ("two\nlines", "two lines"),
        ("\u202egnp.exe", "\ufffdgnp.exe"),
        ("\x1b[31mred\x1b[0m", "\ufffdred\ufffd"),
        ("x" * 100, "x" * 47 + "…"),
        ("می‌خواهم", "می‌خواهم"),
    ],
)
def test_clean(raw: str, shown: str) -> None:
    assert wording.clean(raw) == shown


def test_full_keeps_what_was_cut_and_shows_what_was_hidden() -> None:
    cell = wording.name_cell("a\u202eb" + "x" * 100)
    assert cell.exact == "a\\u202eb" + "x" * 100
    assert wording.name_cell("plain").exact is None
