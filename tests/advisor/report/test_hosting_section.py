"""Self-hosting and the two phases: flat prefill, rising decode, a line a technique, and absence where nothing is known."""

from dataclasses import replace

import pandas as pd
import pytest
import report_factory

from advisor.document import document_of
from advisor.hosted_phases import HostedPhases, Modelled, mean_load, with_hosted_phases
from advisor.render.html import render_html
from advisor.view import build_view
from advisor.view_hosting_model import HostingSection
from pricing.meters import Meter
from workloads.latency import LatencyFit


def modelled() -> Modelled:
    found = with_hosted_phases(report_factory.demo(), None).hosted
    assert found is not None
    assert found.modelled is not None
    return found.modelled


def fit(wait: float, read: float | None, write: float | None, *, name: str = "chat") -> LatencyFit:
    return LatencyFit(
        workload=name,
        basis="ttft",
        requests=1_200,
        wait_seconds=wait,
        read_seconds_per_token=read,
        write_seconds_per_token=write,
        computed_tokens=10_000,
        output_tokens=101,
        explained=0.62,
    )


def section(*, one: Modelled | None = None, timed: tuple[LatencyFit, ...] = ()) -> HostingSection:
    analysis = replace(report_factory.demo(), hosted=HostedPhases(modelled=one, timed=timed))
    made = build_view(analysis).hosting
    assert made is not None
    return made


def test_without_evidence_there_is_no_section() -> None:
    page = render_html(build_view(report_factory.demo()))
    assert 'id="hosting"' not in page
    assert 'href="#hosting"' not in page


def test_a_log_of_money_alone_says_nothing() -> None:
    base = report_factory.demo()
    bare = replace(base, whole=replace(base.whole, tokens={}))
    assert with_hosted_phases(bare, None).hosted is None
    assert with_hosted_phases(bare, pd.DataFrame()).hosted is None


def test_the_mean_request_is_a_ratio_of_sums() -> None:
    base = report_factory.demo()
    tokens = {
        Meter.INPUT_UNCACHED: 3_000,
        Meter.CACHE_READ: 5_000,
        Meter.CACHE_WRITE_5M: 1_000,
        Meter.OUTPUT: 800,
    }
    load = mean_load(replace(base, whole=replace(base.whole, requests=4, tokens=tokens)))
    assert load is not None
    assert (load.input_tokens, load.cached_tokens, load.output_tokens) == (1_000, 1_250, 200)


def test_contexts_beyond_the_model_are_not_modelled() -> None:
    base = report_factory.demo()
    tokens = {Meter.INPUT_UNCACHED: 200_000 * 40, Meter.OUTPUT: 4_000}
    long = replace(base, whole=replace(base.whole, requests=40, tokens=tokens))
    assert with_hosted_phases(long, None).hosted is None


@pytest.mark.parametrize(("requests", "days"), [(29, 30.0), (500, 0.004), (500, None)])
def test_a_handful_or_a_moment_is_no_rate(requests: int, days: float | None) -> None:
    base = report_factory.demo()
    tokens = {Meter.INPUT_UNCACHED: 1_000 * requests, Meter.OUTPUT: 100 * requests}
    few = replace(base, period_days=days, whole=replace(base.whole, requests=requests, tokens=tokens))
    found = with_hosted_phases(few, None).hosted
    assert found is not None
    assert found.modelled is not None
    assert found.modelled.requests_per_second is found.modelled.busy_batch is None


def test_prefill_is_flat_and_decode_rises() -> None:
    made = section(one=modelled()).sweep
    assert made is not None
    speed, cost = made.charts
    for chart, rises in ((speed, True), (cost, False)):
        prefill, decode = chart.wide.lines
        heights = [dot.y for dot in decode.dots]
        assert heights == sorted(heights, reverse=rises)
        flat = [dot.y for dot in prefill.dots]
        assert max(flat) - min(flat) < 0.2 * (max(heights) - min(heights))
        for painted in (chart.wide, chart.narrow):
            plot, dots = painted.plot, [dot for line in painted.lines for dot in line.dots]
            inside = [plot.y <= dot.y <= plot.y + plot.height for dot in dots]
            assert all(inside)
            assert len(painted.x_ticks) > 2
    assert [row[0].text for row in made.table.rows][:3] == ["1", "2", "4"]
    assert "Latency is two numbers" in made.latency


def test_a_ring_marks_where_the_log_is() -> None:
    one = modelled()
    busy = one.busy_batch
    assert busy is not None
    made = section(one=one).sweep
    assert made is not None
    (ring,) = [place for place, dot in enumerate(made.charts[0].wide.lines[0].dots) if dot.marked]
    nearest = min(one.points, key=lambda point: abs(point.batch - busy))
    assert one.points[ring] == nearest


def test_a_log_beyond_one_deployment_has_replicas() -> None:
    one = modelled()
    rate = one.points[-1].requests_per_second * 3.5
    many = replace(one, requests_per_second=rate)
    assert many.replicas == 4
    assert many.busy_batch is not None
    assert one.points[-1].batch / 10 < many.busy_batch <= one.points[-1].batch
    made = section(one=many).sweep
    assert made is not None
    assert "on each of 4 such deployments" in " ".join(made.notes)


def test_without_times_nothing_is_ringed() -> None:
    made = section(one=replace(modelled(), requests_per_second=None)).sweep
    assert made is not None
    assert not any(dot.marked for chart in made.charts for line in chart.wide.lines for dot in line.dots)
    assert "Ringed" not in " ".join(made.notes)


def test_without_a_price_there_are_no_dollars() -> None:
    made = section(one=replace(modelled(), price=None))
    assert made.sweep is not None
    assert [chart.slug for chart in made.sweep.charts] == ["speed"]
    assert "$" not in " ".join(made.sweep.notes) + made.sweep.lead
    assert "in" not in [column.key for column in made.sweep.table.columns]


def test_each_technique_has_its_phase_and_a_number_of_this_log() -> None:
    table = section(one=modelled()).techniques
    assert table is not None
    effects = {row[0].text: tuple(cell.text for cell in row[1:3]) for row in table.rows}
    none = "\N{EN DASH}"
    assert effects["Chunked prefill"] == effects["Paged KV cache"] == (none, none)
    assert effects["Disaggregation"][0] == effects["Speculative decoding"][0] == none
    assert effects["Prefix cache"][1] == none
    assert none not in effects["Quantisation"]
    assert all(effect.startswith("\N{DIVISION SIGN}") for effect in effects["Local machine"])
    assert all(any(char.isdigit() for char in row[3].text) for row in table.rows)


def test_sizes_that_nobody_knows_have_no_longest_prompt() -> None:
    table = section(one=replace(modelled(), longest=None)).techniques
    assert table is not None
    assert "Chunked prefill" not in [row[0].text for row in table.rows]


@pytest.mark.parametrize(
    ("one", "kind"),
    [
        (fit(0.2, 20e-6, 30e-3), "decode"),
        (fit(0.2, 500e-6, 10e-3), "prefill"),
        (fit(9.0, 20e-6, 10e-3), "neither"),
        (fit(2.0, 200e-6, 20e-3), "both"),
        (fit(0.2, None, None), "neither"),
    ],
)
def test_a_workload_waits_on_what_takes_more_than_half(one: LatencyFit, kind: str) -> None:
    assert one.waits_on == kind


def test_waits_are_listed_slowest_first_with_the_levers_that_occur() -> None:
    made = section(
        timed=(fit(0.2, 20e-6, 30e-3), fit(0.2, 500e-6, 10e-3, name="search"), fit(0.1, None, None, name="x"))
    )
    assert made.sweep is None
    assert made.techniques is None
    assert made.waits is not None
    texts = [[cell.text for cell in row] for row in made.waits.rows]
    assert texts[0] == ["search", "6.2 s", "200 ms", "500 ms", "10 ms", "Reading the prompt"]
    assert texts[1] == ["chat", "3.4 s", "200 ms", "20 ms", "30 ms", "Writing the answer"]
    assert {pair.term for pair in made.levers} == {
        "Neither phase",
        "Reading the prompt",
        "Writing the answer",
    }


def test_the_document_has_what_each_workload_waits_on() -> None:
    base = report_factory.demo()
    name = base.workloads[0].name
    made = document_of(
        replace(base, hosted=HostedPhases(modelled=None, timed=(fit(0.2, 500e-6, 10e-3, name=name),)))
    )
    waits = [workload.latency.waits for workload in made.workloads]
    assert waits[0] is not None
    assert (waits[0].waits_on, waits[0].read_seconds_per_token) == ("prefill", 500e-6)
    assert set(waits[1:]) == {None}


def test_the_page_has_charts_with_titles_and_tables_under_them() -> None:
    analysis = with_hosted_phases(report_factory.demo(), None)
    assert analysis.hosted is not None
    timed = replace(analysis.hosted, timed=(fit(0.2, 20e-6, 30e-3, name="<b>bold</b>"),))
    page = render_html(build_view(replace(analysis, hosted=timed)))
    for words in (
        'id="hosting"',
        'href="#hosting"',
        'id="t-sweep"',
        'id="t-techniques"',
        'id="t-waits"',
        "data-t=",
    ):
        assert words in page
    assert "<b>bold" not in page
    assert "nan" not in page.lower().split('id="hosting"')[1].split("</section>")[0]
