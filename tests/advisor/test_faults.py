"""Faults that users of other tools reported, as small inputs with the right answers worked by hand."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from advisor.analysis import Analysis
from advisor.options import AnalyseOptions
from advisor.render.html import render_html
from advisor.run import analyse
from advisor.view import build_view
from pricing.meters import Meter
from workloads.period import Period

TESTS = Path(__file__).resolve().parent.parent
PRICES = TESTS / "pricing" / "data" / "prices.json"
INPUTS = TESTS / "golden" / "faults"


def run(*names: str | Path, **options: Any) -> Analysis:
    given = AnalyseOptions(as_of=datetime(2026, 11, 29, tzinfo=UTC), price_files=(PRICES,), **options)
    return analyse([str(INPUTS / name) for name in names], given)


def codes(analysis: Analysis) -> dict[str, int]:
    found: dict[str, int] = {}
    for problem in analysis.data.problems:
        found[problem.code] = found.get(problem.code, 0) + problem.rows
    return found


def test_more_cached_than_prompt_tokens_is_never_negative() -> None:
    # Row 1: total 10,280 = 1,200 + 9,000 + 80: the cached part lies beside. Row 2: total 520 = 500 + 20, cached 800 is
    # impossible, so the prompt is 500 and at most that much was cached: $0.000825 to $0.00145.
    analysis = run("cached_exceeds_prompt.jsonl")
    assert analysis.whole.tokens[Meter.INPUT_UNCACHED] == 1200
    assert analysis.whole.tokens[Meter.CACHE_READ] == 9000 + 500
    assert (
        Decimal("0.01505") + Decimal("0.000825")
        <= analysis.cost.total
        <= Decimal("0.01505") + Decimal("0.00145")
    )
    assert "cached_exceeds_input" in codes(analysis)


def test_a_date_filter_filters_requests_not_sessions() -> None:
    analysis = run("sessions_over_days.jsonl", group_by=("session",), period=Period(since=date(2026, 9, 13)))
    assert [(item.name, item.whole.requests, item.whole.total) for item in analysis.workloads] == [
        ("S1", 1, Decimal("0.0015"))
    ]
    data = analysis.data
    assert data.rows_read == data.records + data.skipped + data.duplicates + data.ignored


def test_damaged_lines_are_named_by_line() -> None:
    analysis = run("damaged_lines.jsonl")
    lines = {place.line for problem in analysis.data.problems for place in problem.examples}
    assert lines == {2, 3, 6}
    assert (analysis.data.records, analysis.data.skipped) == (3, 3)


def test_amounts_are_added_before_they_are_rounded() -> None:
    analysis = run("rounding.csv")
    assert {item.name: item.whole.total for item in analysis.workloads} == dict.fromkeys(
        ("p1", "p2", "p3"), Decimal("0.0149")
    )
    assert analysis.cost.total == Decimal("0.0447")


def test_names_with_markup_and_formulas_are_text() -> None:
    page = render_html(build_view(run("hostile_names.csv")))
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)" in page


def test_hit_ratio_is_over_the_whole_prompt() -> None:
    analysis = run("hit_ratios.jsonl", group_by=("provider",))
    ratios = {item.name: item.cache_read_ratio for item in analysis.workloads}
    assert ratios == {"anthropic": pytest.approx(9000 / 10500), "openai": pytest.approx(0.75)}


def test_rows_without_a_cache_count_are_no_misses() -> None:
    analysis = run("missing_cache_counts.jsonl", group_by=("provider",))
    (workload,) = analysis.workloads
    assert workload.cache_read_ratio == pytest.approx(0.4)
    assert workload.cache_coverage == pytest.approx(0.5)


def test_rejected_calls_are_free_and_timed_out_ones_unknown() -> None:
    analysis = run("rejected_and_timed_out.json")
    assert analysis.whole.tokens[Meter.INPUT_UNCACHED] == 2000
    assert analysis.whole.tokens[Meter.OUTPUT] == 150
    assert analysis.cost.total == Decimal("0.00825")
    assert (analysis.data.ignored, analysis.data.unmeasured) == (1, 1)
    assert analysis.data.requests - analysis.data.unmeasured == 2


def test_an_answer_from_the_gateways_own_cache_is_no_call() -> None:
    analysis = run("own_cache.json")
    assert (analysis.data.requests, analysis.data.ignored) == (1, 1)
    assert analysis.cost.total == Decimal("0.0115")


def test_failed_tries_are_apart_from_the_billed_one() -> None:
    analysis = run("retries.json")
    assert (analysis.data.requests, analysis.data.ignored) == (1, 2)
    assert analysis.cost.total == Decimal("0.025275")
    assert analysis.cost.recorded_total is None  # a recorded 0 beside usage is no price


def test_amounts_in_cents_are_not_dollars() -> None:
    analysis = run("amounts_in_cents.json")
    assert analysis.cost.basis == "recorded"
    assert analysis.cost.total == Decimal("13.00")


def test_a_first_page_is_not_the_whole_period() -> None:
    analysis = run("first_page_only.json")
    assert analysis.cost.total == Decimal("2.25")
    assert codes(analysis)["more_pages"] == 1


def test_a_charge_in_ticks_stands_beside_the_computed_cost() -> None:
    analysis = run("charge_in_ticks.jsonl")
    assert analysis.cost.recorded_total == Decimal("0.00279")
    assert analysis.cost.total == Decimal("0.00281")


def test_one_line_of_200_megabytes(tmp_path: Path) -> None:
    def line(number: int) -> str:
        usage = {"input_tokens": 1000, "output_tokens": 100}
        message = {"id": f"m-{number}", "type": "message", "model": "demo-haiku", "usage": usage}
        row = {
            "type": "assistant",
            "timestamp": f"2026-06-01T10:0{number}:00Z",
            "sessionId": "s",
            "uuid": f"u-{number}",
        }
        return json.dumps({**row, "requestId": f"r-{number}", "message": message}) + "\n"

    path = tmp_path / "session.jsonl"
    with path.open("w") as log:
        log.write(line(1))
        log.write('{"type":"file-history-snapshot","messageId":"m-0","snapshot":{"blob":"')
        for _ in range(200):
            log.write("x" * (1 << 20))
        log.write('"}}\n' + line(2) + line(3))
    analysis = run(path)
    assert (analysis.data.records, analysis.data.ignored) == (3, 1)
    assert analysis.cost.total == Decimal("0.0045")


def test_an_explicit_cache_is_charged_for_as_long_as_it_was_kept() -> None:
    # 60,000 tokens for 20 minutes (deleted early) and 30,000 for 90 minutes: 65,000 token-hours at 4.50 per million.
    analysis = run("explicit_cache.jsonl")
    assert analysis.whole.tokens[Meter.CACHE_STORAGE_TOKEN_HOURS] == 65_000
    assert analysis.whole.cost[Meter.CACHE_STORAGE_TOKEN_HOURS] == Decimal("0.2925")
    # 400 x 1.25 + 60,000 x 0.125 + 100 x 10 per million.
    assert analysis.cost.total == Decimal("0.2925") + Decimal("0.009")
    assert (analysis.whole.requests, analysis.data.unmeasured) == (1, 0)


def test_a_model_that_charges_for_every_request_is_charged_so(tmp_path: Path) -> None:
    card = {"search-model": {"input": "1", "output": "1", "request_call": "0.012 per call"}}
    (tmp_path / "prices.json").write_text(json.dumps({"models": card}), "utf-8")
    rows = [
        {"timestamp": "2026-06-01T10:00:00Z", "model": name, "input_tokens": 1000, "output_tokens": 100}
        for name in ("search-model", "search-model", "demo-4o")
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    given = AnalyseOptions(
        as_of=datetime(2026, 11, 29, tzinfo=UTC), price_files=(PRICES, tmp_path / "prices.json")
    )
    analysis = analyse([str(tmp_path / "log.jsonl")], given)
    assert analysis.whole.tokens[Meter.REQUEST_CALLS] == 2
    assert analysis.whole.cost[Meter.REQUEST_CALLS] == Decimal("0.024")
    # 2 x 1,100 tokens at 1, and 1,000 at 2.50 with 100 at 10 per million.
    assert analysis.cost.total == Decimal("0.024") + Decimal("0.0022") + Decimal("0.0035")
