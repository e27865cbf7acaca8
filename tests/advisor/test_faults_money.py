"""Faults about prices that users of other tools reported: the money of every row, and what is said beside it."""

import json
import os
import subprocess
import sys
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from advisor.analysis import Analysis, Problem
from advisor.bill import read_bill
from advisor.document import document_of
from advisor.options import AnalyseOptions
from advisor.render.html import render_html
from advisor.render.markdown import render_markdown
from advisor.run import analyse
from advisor.view import build_view
from pricing.meters import Meter
from workloads.period import Period

TESTS = Path(__file__).resolve().parent.parent
PRICES = TESTS / "pricing" / "data" / "prices.json"
INPUTS = TESTS / "golden" / "faults"


def run(name: str, *more_prices: Path, **options: Any) -> Analysis:
    given = AnalyseOptions(
        as_of=datetime(2026, 11, 29, tzinfo=UTC), price_files=(PRICES, *more_prices), **options
    )
    return analyse([str(INPUTS / name)], given)


def by_day(analysis: Analysis) -> list[Decimal]:
    """Cost of each day of an input that has one row a day."""
    return [day.whole.total for day in analysis.by_day]


def usd(*amounts: str) -> list[Decimal]:
    return [Decimal(amount) for amount in amounts]


def said(analysis: Analysis, code: str) -> list[Problem]:
    return [problem for problem in analysis.data.problems if problem.code == code]


def test_the_tier_that_served_a_request_is_charged_not_the_one_that_was_asked() -> None:
    # 2,000 x 1.25 + 1,000 x 10 per million = 0.0125; flex half, priority twice. Asked and served: flex and flex, flex and
    # default, auto and priority, priority and flex.
    analysis = run("served_tiers.jsonl")
    assert by_day(analysis) == usd("0.00625", "0.0125", "0.025", "0.00625")
    assert not said(analysis, "standard_price_used")


def test_a_region_in_the_model_id_has_its_premium_and_a_card_may_state_another(tmp_path: Path) -> None:
    # 4,000 x 3 + 2,000 x 15 per million = 0.042; a geographic profile 1.1 times that.
    def costs(analysis: Analysis) -> dict[str, Decimal]:
        return {item.name.partition(":0")[0]: item.whole.total for item in analysis.workloads}

    assert costs(run("regional_ids.jsonl")) == {
        "anthropic.demo-sonnet-v1": Decimal("0.042"),
        "global.anthropic.demo-sonnet-v1": Decimal("0.042"),
        "apac.anthropic.demo-sonnet-v1": Decimal("0.0462"),
        "us.anthropic.demo-sonnet-v1": Decimal("0.0462"),
    }
    own = tmp_path / "own.json"
    card = {"input": "3", "output": "15", "region_multiplier": {"us": "1.25", "global": "0.9"}}
    own.write_text(json.dumps({"models": {"demo-sonnet": card}}), "utf-8")
    assert costs(run("regional_ids.jsonl", own)) == {
        "anthropic.demo-sonnet-v1": Decimal("0.042"),
        "global.anthropic.demo-sonnet-v1": Decimal("0.0378"),
        "apac.anthropic.demo-sonnet-v1": Decimal("0.042"),
        "us.anthropic.demo-sonnet-v1": Decimal("0.0525"),
    }


def test_a_bucket_is_discounted_once_and_an_undocumented_tier_not_at_all() -> None:
    # 2,000,000 x 1.25 + 100,000 x 10 per million = 3.50. Batch; flex; a batch of flex: once half. A tier that nobody
    # documents, and a batch of priority requests: the standard price, with its dollars.
    analysis = run("batch_and_tier.json")
    assert by_day(analysis) == usd("1.75", "1.75", "1.75", "3.50", "3.50")
    flagged = said(analysis, "standard_price_used")
    assert [(problem.amount_usd, problem.rows) for problem in flagged] == [(Decimal("3.5"), 20)] * 2
    assert ["'incentivized-tier'" in flagged[0].message, "'batch of priority'" in flagged[1].message] == [
        True
    ] * 2
    view = build_view(analysis)
    for page in (render_html(view), render_markdown(view)):
        assert "incentivized-tier" in page


def test_a_bucket_of_many_requests_has_the_short_price_and_says_so() -> None:
    # 4 requests of 1,000,000 tokens together: 1,000,000 x 5 + 20,000 x 30 per million, not the price above 272,000.
    analysis = run("large_bucket.json")
    assert analysis.cost.total == Decimal("5.60")
    (problem,) = said(analysis, "price_warning")
    assert "above 272,000 prompt tokens was not applied" in problem.message
    assert problem.amount_usd == Decimal("5.60")


def test_peak_hours_end_at_their_last_minute_and_rest_at_weekends() -> None:
    # 500,000 x 0.20 + 1,000,000 x 0.02 + 100,000 x 0.60 per million = 0.18. Mon 01:00 and Tue 03:59:59.999 are peak, Wed
    # 04:00 is not, Fri 09:59:59 is, Sat 02:00 and Mon 10:00 are not.
    assert by_day(run("peak_hours.jsonl")) == usd("0.36", "0.36", "0.18", "0.36", "0.18", "0.18")


def test_lines_that_are_shown_add_up_to_the_total_that_is_shown() -> None:
    # Three times 0.0149: with two decimals the lines would be 0.01 each beside a total of 0.04.
    view = build_view(run("rounding.csv"))
    page = render_markdown(view)
    assert "$0.045" in page
    assert page.count("$0.015") >= 3
    assert "$0.04 " not in page
    assert "$0.01 " not in page


@pytest.mark.parametrize(
    ("terms", "sign", "amount"), [([], "$", "1.239"), (["--currency", "EUR"], "€", "1.1151")]
)
def test_the_sign_follows_the_currency_and_never_the_locale(
    tmp_path: Path, terms: list[str], sign: str, amount: str
) -> None:
    # 1,234,000 x 1 + 1,000 x 5 per million = 1.239; at 0.9 euros a dollar 1.1151.
    if terms:
        (tmp_path / "fx.csv").write_text("month,rate\n2026-06,0.9\n", "utf-8")
        terms = [*terms, "--fx", str(tmp_path / "fx.csv")]
    command = [
        sys.executable,
        "-m",
        "advisor",
        "analyze",
        str(INPUTS / "one_project.csv"),
        "--prices",
        str(PRICES),
    ]
    command += [
        *terms,
        "--as-of",
        "2026-07-01T00:00:00Z",
        "-q",
        "--json",
        "a.json",
        "--markdown",
        "a.md",
        "-o",
        "a.html",
    ]
    written: list[list[bytes]] = []
    for locale in ("C", "cs_CZ.UTF-8"):
        env = {
            **os.environ,
            "LC_ALL": locale,
            "LANG": locale,
            "PYTHONPATH": str(TESTS.parent),
            "PYTHONUTF8": "1",
        }
        subprocess.run(command, cwd=tmp_path, env=env, check=True)
        written.append([(tmp_path / name).read_bytes() for name in ("a.json", "a.md", "a.html")])
    assert written[0] == written[1]
    document, note, page = (content.decode("utf-8") for content in written[1])
    assert json.loads(document)["cost"]["total"] == amount
    assert all(f"{sign}1." in text for text in (note, page))
    assert all("Kč" not in text for text in (document, note, page))


def test_kinds_of_cursor_rows_are_billed_included_or_free() -> None:
    # The two input columns lie side by side (4,000 + 1,000 + 20,000 + 500 = the row's own 25,500), so the row costs
    # 4,000 x 3.75 + 1,000 x 3 + 20,000 x 0.30 + 500 x 15 per million. Billed is what the column says: 0.05 for the first;
    # "Included" is no charge of 0.05 and no price of 0, and "-" is no request.
    analysis = run("cursor_kinds.csv")
    assert by_day(analysis) == usd("0.0315", "0.0141")
    assert analysis.whole.tokens[Meter.CACHE_WRITE_5M] == 6000
    assert (analysis.cost.recorded_total, analysis.cost.recorded_requests) == (Decimal("0.05"), 1)
    assert (analysis.data.rows_read, analysis.data.requests, analysis.data.ignored) == (3, 2, 1)


def test_a_search_costs_when_it_is_made_not_when_it_is_offered() -> None:
    # 3 + 0 + 2 searches at 0.01. Tokens: 2,000 x 3 + 200 x 15, and twice 2,000 x 1.25 + 200 x 10, per million.
    analysis = run("search_fees.jsonl")
    assert by_day(analysis) == usd("0.039", "0.0045", "0.0245")
    assert analysis.whole.tokens[Meter.WEB_SEARCH_CALLS] == 5
    assert analysis.cost.by_meter[Meter.WEB_SEARCH_CALLS] == Decimal("0.05")


def test_tokens_of_a_tool_are_input_once() -> None:
    # Row 1: 9,900 = 200 + 300 + 400 + 9,000, so the tool's tokens lie beside the prompt. Row 2: 9,800 = 9,500 + 300, so
    # they are inside it. 9,200 x 1.25 + 700 x 10 and 9,500 x 1.25 + 300 x 10 per million.
    analysis = run("tool_tokens.jsonl")
    tokens = [day.whole.tokens for day in analysis.by_day]
    assert [(one[Meter.INPUT_UNCACHED], one[Meter.OUTPUT]) for one in tokens] == [(9200, 700), (9500, 300)]
    assert [day.whole.reasoning or 0 for day in analysis.by_day] == [400, 0]
    assert by_day(analysis) == usd("0.0185", "0.014875")


def test_a_recorded_zero_beside_tokens_is_no_price() -> None:
    # 2,000 x 1.25 + 8,000 x 0.125 + 400 x 10 per million = 0.0075, computed where the client wrote 0 and where it wrote
    # 0.008; the model without a price has none, whatever the client wrote.
    analysis = run("recorded_zero.jsonl")
    assert [(day.whole.is_priced, day.whole.total) for day in analysis.by_day] == [
        (True, Decimal("0.0075")),
        (False, 0),
        (True, Decimal("0.0075")),
    ]
    assert [unpriced.model for unpriced in analysis.cost.unpriced] == ["mystery-3"]
    assert (analysis.cost.recorded_total, analysis.cost.recorded_requests) == (Decimal("0.008"), 1)
    document = document_of(analysis)
    assert [row.cost for row in document.by_day] == ["0.0075", None, "0.0075"]
    assert (document.cost.basis, document.cost.complete) == ("computed", False)


def test_an_unknown_model_is_named_with_its_tokens_and_the_total_is_incomplete() -> None:
    # 3,000 x 5 + 400 x 25 per million = 0.025 is all that can be priced.
    analysis = run("unknown_model.jsonl")
    (unpriced,) = analysis.cost.unpriced
    assert (unpriced.model, unpriced.requests) == ("mystery-7", 2)
    assert (unpriced.tokens[Meter.INPUT_UNCACHED], unpriced.tokens[Meter.OUTPUT]) == (100_000, 12_000)
    assert (analysis.cost.total, analysis.cost.complete) == (Decimal("0.025"), False)
    assert analysis.cost.coverage == pytest.approx(1 / 3)
    view = build_view(analysis)
    for page in (render_html(view), render_markdown(view)):
        assert "mystery-7" in page


def test_the_lines_of_a_cost_report_are_in_cents() -> None:
    bill = read_bill([str(INPUTS / "amounts_in_cents.json")], Period())
    assert sorted(line.amount_usd for line in bill.lines) == usd("0.0025", "5.2225", "7.775")


def test_a_charge_that_the_provider_sent_stands_beside_the_computed_one() -> None:
    cost = document_of(run("charge_in_ticks.jsonl")).cost
    assert cost.recorded_total is not None
    assert Decimal(cost.recorded_total) - Decimal(cost.total) == Decimal("-0.00002")


def test_a_flat_plan_is_paid_once_and_never_added_to_what_the_tokens_would_cost(tmp_path: Path) -> None:
    # Each of two days: 1,000,000 x 5 + 20,000,000 x 0.50 + 200,000 x 25 per million = 20. The plan is 200 for all of June.
    plan = {"name": "seat", "covers": "throughput", "models": ["demo-opus"], "usd_per_month": "200"}
    path = tmp_path / "plan.json"
    path.write_text(json.dumps({"commitments": [plan]}), "utf-8")
    analysis = run("flat_plan.jsonl", discount_files=(path,))
    assert [day.day for day in analysis.by_day] == [date(2026, 6, 1), date(2026, 6, 30)]
    assert (analysis.cost.list_total, analysis.cost.effective_total) == (Decimal(40), Decimal(200))
    assert "$240" not in render_markdown(build_view(analysis))
