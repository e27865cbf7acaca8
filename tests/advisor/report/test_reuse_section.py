"""What caches would read: the table, the curve, and that both are absent where the log has no evidence."""

from dataclasses import replace
from typing import Any

import report_factory

from advisor.cache_reuse import CURVE_SECONDS, CurvePoint, Known, WorkloadReuse
from advisor.document import document_of
from advisor.numbers import MISSING
from advisor.render.html import render_html
from advisor.view import build_view
from advisor.view_reuse_model import ReuseSection


def reuse(workload: str = "support-bot", **given: Any) -> WorkloadReuse:
    ratios = [place / 20 for place in range(len(CURVE_SECONDS))]
    values: dict[str, Any] = {
        "workload": workload,
        "known_by": Known.BLOCKS,
        "requests": 1_200,
        "text_tokens": 1_000_000,
        "curve": tuple(CurvePoint(*pair) for pair in zip(CURVE_SECONDS, ratios, strict=True)),
        "logged_ratio": 0.05,
        "lifetimes": ("5m",),
        "achievable_ratio": 0.2,
    }
    return WorkloadReuse(**values | given)


def section(*found: WorkloadReuse) -> ReuseSection:
    made = build_view(replace(report_factory.demo(), reuse=found)).reuse
    assert made is not None
    return made


def test_without_evidence_there_is_no_section() -> None:
    analysis = report_factory.demo()
    assert build_view(analysis).reuse is None
    page = render_html(build_view(analysis))
    assert 'id="reuse"' not in page
    assert 'href="#reuse"' not in page


def test_today_stands_beside_what_could_be() -> None:
    made = section(reuse(), reuse("new", logged_ratio=None, achievable_ratio=None, lifetimes=()))
    first, second = ([cell.text for cell in row] for row in made.now.rows)
    assert first[1:] == ["5.0 %", "20 %", "5m", "1,200", "names of the prompts' blocks"]
    assert second[1:4] == ["not logged", MISSING, "no cache of its models is known"]


def test_the_curve_never_falls_and_a_ring_marks_the_lifetime_that_costs_least() -> None:
    made = section(reuse())
    for chart in (made.wide, made.narrow):
        (line,) = chart.lines
        levels = [dot.y for dot in line.dots]
        assert levels == sorted(levels, reverse=True)
        assert [place for place, dot in enumerate(line.dots) if dot.marked] == [CURVE_SECONDS.index(300)]
        assert all(chart.plot.y <= level <= chart.plot.y + chart.plot.height for level in levels)
    assert len(made.narrow.x_ticks) < len(made.wide.x_ticks) == len(CURVE_SECONDS)
    assert "5 min" in [tick.label for tick in made.narrow.x_ticks]


def test_numbers_behind_the_chart_are_those_of_the_curve() -> None:
    made = section(reuse())
    (row,) = made.table.rows
    assert [float(cell.value) for cell in row[1:]] == [place / 20 for place in range(len(CURVE_SECONDS))]
    assert [column.title for column in made.table.columns][1:6] == ["10 s", "30 s", "1 min", "2 min", "5 min"]


def test_names_are_shown_as_text() -> None:
    page = render_html(build_view(replace(report_factory.demo(), reuse=(reuse("<b>bot</b>"),))))
    assert "<b>bot" not in page
    assert "&lt;b&gt;bot" in page


def test_the_document_has_the_curve() -> None:
    analysis = report_factory.demo()
    name = analysis.workloads[0].name
    found = document_of(replace(analysis, reuse=(reuse(name),))).workloads
    assert found[0].cache.reuse is not None
    assert found[0].cache.reuse.curve[-1].lifetime_seconds is None
    assert found[0].cache.reuse.achievable_ratio == 0.2
    assert found[1].cache.reuse is None
