"""What to do: its words, its cards, its plan, its JSON, and how a browser shows it."""

import json
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import advice_factory
import jsonschema
import pytest
import report_factory
from advice_factory import BATCH, CACHING, UNFIT, advised, saving

from advisor.analysis import Analysis
from advisor.numbers import MISSING
from advisor.recommendation import Recommendation
from advisor.render.html import render_html
from advisor.render.json import render_json, schema_json
from advisor.render.markdown import render_markdown
from advisor.render.table import render_table
from advisor.view import build_view
from advisor.view_advice import OPEN_CARDS
from advisor.view_advice_model import AdviceSection

GOLDEN = Path(__file__).parent / "golden"
KEYS = ("recommendations", "rejected", "plan")


def section_of(analysis: Analysis) -> AdviceSection:
    section = build_view(analysis).advice
    assert section is not None
    return section


def with_recommendations(*found: Recommendation, base: Analysis | None = None) -> Analysis:
    made = advised(base)
    assert made.advice is not None
    return replace(made, advice=replace(made.advice, recommendations=found))


def with_plan(**given: Any) -> Analysis:
    made = advised()
    assert made.advice is not None
    return replace(made, advice=replace(made.advice, plan=replace(made.advice.plan, **given)))


def test_the_fixture_adds_up() -> None:
    base = report_factory.demo()
    plan = advice_factory.plan(base.cost.total)
    assert plan.baseline_usd - plan.optimised_usd == plan.combined.expected
    assert sum(step.saving_usd for step in plan.steps) == plan.combined.expected
    assert sum(step.alone_usd for step in plan.steps) - plan.combined.expected == plan.overlap_usd


def test_the_verdict_says_a_month_and_the_part_of_the_bill() -> None:
    assert section_of(advised()).verdict == (
        "All 5 changes would together save about $4,910 a month (between $2,180 and $6,500): "
        "36 % of what this log costs at list prices."
    )


@pytest.mark.parametrize("days", [None, 0.4])
def test_a_short_log_says_nothing_of_a_month(days: float | None) -> None:
    base = replace(report_factory.demo(), period_days=days)
    short = replace(CACHING, saving_per_month=None)
    section = section_of(with_recommendations(short, base=base))
    assert "The one change found would save about $4,840 in this period" in section.verdict
    assert (section.cards[0].saves, section.cards[0].unit) == ("$2,310", "in this period")
    assert section.plan is not None
    assert section.plan.totals[0].note == "in this period"
    assert "a month" not in render_table(
        build_view(with_recommendations(short, base=base)), width=80, color=False
    )


def test_what_the_log_does_not_tell_is_said_to_be_a_bound() -> None:
    assert section_of(advised()).cards[4].saves == "up to $42.51"
    nothing_expected = with_plan(combined=saving("-3.5", "0", "41.9"), steps=())
    section = section_of(nothing_expected)
    assert "save up to $42.51 a month; how much of that, the log does not tell." in section.verdict
    assert section.plan is None


def test_a_bound_is_no_range() -> None:
    bound = replace(CACHING, saving_per_month=saving("0", "0", "193"))
    card = section_of(with_recommendations(bound)).cards[0]
    assert (card.saves, card.range) == ("up to $193", "a bound, not an estimate")


def test_a_range_without_width_is_not_shown() -> None:
    exact = replace(CACHING, saving_per_month=saving("20", "20", "20"))
    assert section_of(with_recommendations(exact)).cards[0].range == ""


def test_a_lever_beside_the_dominant_phase_is_said_to_be() -> None:
    fitting, beside = section_of(with_recommendations(BATCH, UNFIT)).cards
    assert not any("beside" in chip.text for chip in fitting.chips)
    assert fitting.phase == "acts on both phases"
    assert any("beside" in chip.text and chip.tone == "warn" for chip in beside.chips)


def test_six_are_open_and_the_rest_is_folded() -> None:
    section = section_of(with_recommendations(*[CACHING] * 9))
    assert (len(section.cards), len(section.more)) == (OPEN_CARDS, 3)
    assert section.more_label == "3 more changes"
    many = section_of(with_recommendations(*[CACHING] * 50))
    assert len(many.every_card) == 40
    assert many.left_out == "10 more recommendations in the JSON document."


@pytest.mark.parametrize(
    ("overlap", "words"),
    [
        ("393.65", "Added up they would promise $393.65 more than they save together."),
        ("0.001", "The steps do not overlap"),
        ("-12", "Together they save $12.00 more than they would add up to"),
    ],
)
def test_overlap_in_words(overlap: str, words: str) -> None:
    plan = section_of(with_plan(overlap_usd=Decimal(overlap))).plan
    assert plan is not None
    assert plan.overlap.startswith(words)


def test_three_totals_the_last_of_which_is_not_to_be_quoted() -> None:
    plan = section_of(advised()).plan
    assert plan is not None
    assert [(card.label, card.value) for card in plan.totals] == [
        ("Without a risk to answers", "$3,290"),
        ("After an evaluation", "$4,840"),
        ("Ceiling (do not quote)", "$6,410"),
    ]
    assert plan.totals[2].note == "$6,500 a month, if every assumption held to the full"
    assert "ceiling (do not quote) $6,410" in render_markdown(build_view(advised()))
    assert "Ceiling (do not quote)" in render_html(build_view(advised()))


@pytest.mark.parametrize(
    ("safe", "notes"),
    [
        ("4838.18", ["$4,910 a month", "no step needs one"]),
        ("0", ["no step is without one", "$4,910 a month"]),
    ],
)
def test_a_total_of_nothing_says_why(safe: str, notes: list[str]) -> None:
    plan = section_of(with_plan(safe_usd=Decimal(safe))).plan
    assert plan is not None
    assert [card.note for card in plan.totals[:2]] == notes


def test_the_waterfall_falls_from_the_bill_to_what_remains() -> None:
    plan = section_of(advised()).plan
    assert plan is not None
    for chart in (plan.wide, plan.narrow):
        first, *steps, last = chart.rungs
        assert first.bar.x == last.bar.x
        edge = first.bar.x + first.bar.width
        for rung in steps:
            assert rung.bar.x + rung.bar.width == pytest.approx(edge)
            edge = rung.bar.x
        assert last.bar.x + last.bar.width == pytest.approx(edge)
        assert last.join is None
        assert all(rung.join is not None for rung in chart.rungs[:-1])


def test_a_long_plan_ends_in_one_bar_for_the_small_steps() -> None:
    base = advised()
    assert base.advice is not None
    one = base.advice.plan.steps[-1]
    steps = tuple(replace(one, after_usd=Decimal(9000 - index)) for index in range(25))
    plan = section_of(with_plan(steps=steps)).plan
    assert plan is not None
    assert len(plan.wide.rungs) == 12
    assert plan.wide.rungs[-2].title.text == "16 smaller steps"
    assert plan.wide.rungs[-2].amount.text == "\N{MINUS SIGN}$16.00"
    assert len(plan.table.rows) == 25


@pytest.mark.parametrize("make", [advice_factory.not_advised, advice_factory.nothing_looked_at_pays])
def test_nothing_to_do_is_said_in_a_sentence(make: Callable[[], Analysis]) -> None:
    section = section_of(make())
    assert section.verdict == "Nothing that was looked at would save money worth the change on this log."
    assert section.cards == ()
    assert section.plan is None
    for text in (
        render_html(build_view(make())),
        render_markdown(build_view(make())),
        render_table(build_view(make()), width=120, color=False),
    ):
        assert section.verdict in text


def test_what_does_not_pay_is_listed_with_its_number() -> None:
    table = section_of(advice_factory.not_advised()).rejected
    assert table is not None
    assert [cell.text for cell in table.rows[0]] == [
        "Prompt caching",
        "rag-search",
        "Cache the shared start of the prompt: it would cost more than it saves.",
        "\N{MINUS SIGN}$118",
    ]
    assert [row[3].text for row in table.rows[1:]] == ["$0.0009", "up to $2.50", MISSING]
    assert section_of(advice_factory.nothing_looked_at_pays()).rejected is None


def test_where_nothing_was_looked_for_there_is_no_section() -> None:
    view = build_view(report_factory.demo())
    assert view.advice is None
    assert "What to do" not in render_html(view)
    assert "What to do" not in render_table(view, width=80, color=False)


def test_savings_stay_in_usd_where_the_report_is_not() -> None:
    base = report_factory.demo()
    euro = advised(replace(base, cost=replace(base.cost, currency="EUR")))
    view = build_view(euro)
    assert section_of(euro).cards[0].saves == "$2,340"
    note = "Savings are in USD; the rest of the report is in EUR."
    assert note in render_html(view)
    assert note in render_markdown(view)
    assert note in render_table(view, width=100, color=False)
    assert "rest of the report" not in render_html(build_view(advised()))


def test_code_keeps_its_lines_and_loses_what_cannot_be_seen() -> None:
    hostile = replace(CACHING.proposal, snippet="if a:\n\tb = '\x1b[31m<\u202e'\r\n")
    section = section_of(with_recommendations(replace(CACHING, proposal=hostile)))
    assert section.cards[0].snippet == "if a:\n    b = '\\x1b[31m<\\u202e'"


def test_five_lines_for_a_terminal() -> None:
    text = render_table(build_view(with_recommendations(*[CACHING] * 9)), width=100, color=False)
    assert text.count("· save $2,340 a month: Cache the shared start of the prompt (support-bot)") == 5
    assert "and 4 more" in text


def document_of(analysis: Analysis) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(render_json(analysis))
    jsonschema.validate(made, json.loads(schema_json()))
    return {key: made[key] for key in KEYS}


def test_golden_json(check_golden: Callable[[Path, str], None]) -> None:
    text = json.dumps(document_of(advised()), indent=1, ensure_ascii=False) + "\n"
    check_golden(GOLDEN / "advice.json", text)


def test_an_empty_advice_in_json() -> None:
    document = document_of(advice_factory.nothing_looked_at_pays())
    assert document["recommendations"] == document["rejected"] == document["plan"]["steps"] == []
    assert document["plan"]["baseline"] == document["plan"]["optimised"]
    assert document_of(report_factory.demo()) == {"recommendations": [], "rejected": [], "plan": None}


def test_the_schema_refuses_a_word_that_it_does_not_know() -> None:
    made = json.loads(render_json(advised()))
    made["recommendations"][0]["risk"] = "some"
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(made, json.loads(schema_json()))
