"""Own accelerators in the report: the answer, both sides by volume, tokens by utilisation; nothing where nobody asked."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.analysis import Analysis
from advisor.hosting import HostingOptions
from advisor.options import AnalyseOptions
from advisor.render.html import render_html
from advisor.run import analyse
from advisor.view import build_view

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")
ASKED = HostingOptions(models=("llama-3.1-8b",), gpus=("h100",), usd_per_gpu_hour=Decimal(2))


def analysed(folder: Path, asked: HostingOptions | None) -> Analysis:
    rows = [
        {
            "id": f"c{minute}",
            "object": "chat.completion",
            "created": 1_767_225_600 + minute * 60,
            "model": "test-4o",
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}
            ],
            "usage": {"prompt_tokens": 2_000, "completion_tokens": 400, "total_tokens": 2_400},
        }
        for minute in range(1_500)
    ]
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "prices.json").write_text(json.dumps({"models": {"test-4o": {"input": "30", "output": "90"}}}))
    options = AnalyseOptions(
        as_of=datetime(2026, 6, 30, tzinfo=UTC), price_files=(folder / "prices.json",), self_host=asked
    )
    return analyse([str(folder / "log.jsonl")], options)


def test_both_sides_are_drawn_by_volume(tmp_path: Path) -> None:
    analysis = analysed(tmp_path, ASKED)
    view = build_view(analysis)
    assert view.hosting is not None
    fleet, found = view.hosting.fleet, analysis.self_host
    assert fleet is not None
    assert found is not None
    assert found.left is not None
    assert found.left.best is not None
    assert fleet.verdict.startswith("Own accelerators would be cheaper")
    chart, best = fleet.chart, found.left.best
    assert chart is not None
    assert [line.series for line in chart.wide.lines] == [one.index for one in chart.legend]
    own = [usd for _, usd in best.by_volume]
    assert own == sorted(own)
    assert dict(best.by_volume)[1.0] == best.cost.usd
    assert fleet.ways is not None
    assert fleet.ways.rows[0][0].exact == "meta-llama/Llama-3.1-8B-Instruct"
    assert fleet.utilisation is not None
    output = [Decimal(row[-1].value) for row in fleet.utilisation.rows]
    assert output == sorted(output, reverse=True)
    assert output[0] == pytest.approx(output[-1] * 10)
    page = render_html(view)
    assert 'id="h-fleet"' in page
    assert "times this log's volume" in page.replace("&#39;", "'")


def test_nobody_asked(tmp_path: Path) -> None:
    view = build_view(analysed(tmp_path, None))
    assert view.hosting is None or view.hosting.fleet is None
    assert 'id="h-fleet"' not in render_html(view)


def test_a_target_that_nothing_meets_leaves_the_answer(tmp_path: Path) -> None:

    view = build_view(analysed(tmp_path, replace(ASKED, targets=replace(ASKED.targets, tpot_ms=0.01))))
    assert view.hosting is not None
    assert view.hosting.fleet is not None
    assert view.hosting.fleet.verdict.startswith("Stay on the API")
    assert view.hosting.fleet.chart is None
    assert 'id="h-fleet"' in render_html(view)
