"""The whole run on small logs: money worked by hand, rows that add up, classes by amounts and never by ratios."""

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from advisor.analysis import Analysis
from advisor.options import AnalyseOptions
from advisor.run import analyse
from pricing.meters import Meter
from workloads.load import LoadOptions, NothingReadableError
from workloads.period import Period
from workloads.phase_mix import PhaseClass

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

AS_OF = datetime(2026, 7, 1, tzinfo=UTC)
PRICES = {
    "unit": "USD per 1,000,000 tokens",
    "models": {
        "test-4o": {"input": "2.50", "output": "10.00", "cache_read": "1.25", "batch_multiplier": "0.5"},
        "test-claude": {
            "input": "3.00",
            "output": "15.00",
            "cache_read": "0.30",
            "cache_write_5m": "3.75",
            "cache_write_1h": "6.00",
        },
    },
}


def chat(
    number: int,
    prompt: int,
    output: int,
    *,
    model: str = "test-4o",
    cached: int | None = None,
    at: str = "2026-06-15T12:00:00Z",
    **envelope: Any,
) -> dict[str, Any]:
    usage: dict[str, Any] = {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
    }
    if cached is not None:
        usage["prompt_tokens_details"] = {"cached_tokens": cached}
    body = {"id": f"c{number}", "object": "chat.completion", "model": model, "usage": usage}
    return {"timestamp": at, **envelope, "response": body}


def run(folder: Path, lines: Sequence[dict[str, Any] | str], **options: Any) -> Analysis:
    log, prices = folder / "log.jsonl", folder / "prices.json"
    texts = [item if isinstance(item, str) else json.dumps(item) for item in lines]
    log.write_text("\n".join(texts) + "\n", encoding="utf-8")
    prices.write_text(json.dumps(PRICES), encoding="utf-8")
    return analyse([str(log)], AnalyseOptions(as_of=AS_OF, price_files=(prices,), **options))


def test_the_bill_is_exact(tmp_path: Path) -> None:
    claude = {
        "type": "message",
        "id": "m1",
        "model": "test-claude",
        "usage": {
            "input_tokens": 1_000,
            "output_tokens": 200,
            "cache_read_input_tokens": 10_000,
            "cache_creation_input_tokens": 3_000,
            "cache_creation": {"ephemeral_5m_input_tokens": 1_000, "ephemeral_1h_input_tokens": 2_000},
        },
    }
    lines = [
        chat(1, 1_500, 420, cached=1_024, app="bot"),
        chat(2, 333, 7, app="bot"),
        {"timestamp": "2026-06-16T00:00:00Z", "app": "agent", "response": claude},
    ]
    found = run(tmp_path, lines)
    # test-4o: (476 + 333) x 2.50 + 1,024 x 1.25 + 427 x 10.00 = 2,022.5 + 1,280 + 4,270 = 7,572.5
    # test-claude: 1,000 x 3 + 10,000 x 0.30 + 1,000 x 3.75 + 2,000 x 6 + 200 x 15 = 24,750
    assert found.cost.by_meter == {
        Meter.INPUT_UNCACHED: Decimal("0.0050225"),
        Meter.CACHE_READ: Decimal("0.00428"),
        Meter.CACHE_WRITE_5M: Decimal("0.00375"),
        Meter.CACHE_WRITE_1H: Decimal("0.012"),
        Meter.OUTPUT: Decimal("0.00727"),
    }
    assert found.cost.total == Decimal("0.0323225")
    assert {row.model: row.whole.total for row in found.by_model} == {
        "test-claude": Decimal("0.02475"),
        "test-4o": Decimal("0.0075725"),
    }
    assert {row.day: row.whole.total for row in found.by_day} == {
        date(2026, 6, 15): Decimal("0.0075725"),
        date(2026, 6, 16): Decimal("0.02475"),
    }
    assert {row.name: row.whole.total for row in found.workloads} == {
        "agent": Decimal("0.02475"),
        "bot": Decimal("0.0075725"),
    }
    assert found.cost.complete
    assert (found.cost.coverage, found.cost.token_coverage) == (1.0, 1.0)


def test_a_batch_call_has_its_multiplier(tmp_path: Path) -> None:
    line = chat(1, 1_000_000, 0) | {"custom_id": "x"}
    assert run(tmp_path, [line]).cost.total == Decimal("1.25")


def test_every_part_adds_up_to_the_whole(tmp_path: Path) -> None:
    lines = [
        chat(i, 100 + i * 7, i, cached=i, app=f"a{i % 3}", at=f"2026-06-{10 + i % 9}T01:00:00Z")
        for i in range(60)
    ]
    found = run(tmp_path, lines)
    for parts in (found.by_day, found.by_model, found.workloads):
        assert sum((part.whole.total for part in parts), Decimal(0)) == found.cost.total
        assert sum(part.whole.requests for part in parts) == found.data.requests == 60
        assert sum(part.whole.tokens[Meter.OUTPUT] for part in parts) == found.whole.tokens[Meter.OUTPUT]


def test_rows_read_are_records_and_the_rest(tmp_path: Path) -> None:
    lines = [
        chat(1, 10, 1, status=200),
        chat(1, 10, 1, status=200),
        chat(2, 10, 1, at="2026-05-01T00:00:00Z"),
        "{broken",
        {
            "timestamp": "2026-06-15T12:00:00Z",
            "status": 429,
            "response": None,
            "error": {"message": "slow down"},
        },
        chat(3, -1, 1),
        {
            "timestamp": "2026-06-15T12:00:00Z",
            "response": {"id": "u", "object": "chat.completion", "model": "test-4o", "usage": None},
        },
    ]
    data = run(tmp_path, lines, period=Period(since=date(2026, 6, 1))).data
    assert (data.rows_read, data.records, data.skipped, data.duplicates, data.ignored) == (7, 2, 2, 1, 2)
    assert data.unmeasured == 1
    assert data.rows_read == data.records + data.skipped + data.duplicates + data.ignored
    assert [(source.format, source.rows) for source in data.sources if source.format == "openai"]
    assert sum(source.rows for source in data.sources) == 7


def test_damaged_rows_are_problems_with_places(tmp_path: Path) -> None:
    problems = run(tmp_path, [chat(1, 10, 1), "{broken", "", "{broken too"]).data.problems
    (found,) = [problem for problem in problems if problem.code == "skipped_rows"]
    assert found.rows == 2
    assert [(Path(place.file).name, place.line) for place in found.examples] == [
        ("log.jsonl", 2),
        ("log.jsonl", 4),
    ]


def test_what_has_no_price_is_named_and_the_total_incomplete(tmp_path: Path) -> None:
    found = run(
        tmp_path,
        [
            chat(1, 1_000_000, 0),
            chat(2, 500, 30, model="nobody-knows-9b"),
            chat(3, 500, 40, model="nobody-knows-9b"),
        ],
    )
    assert found.cost.total == Decimal("2.5")
    assert not found.cost.complete
    (item,) = found.cost.unpriced
    assert (item.model, item.requests) == ("nobody-knows-9b", 2)
    assert item.tokens == {Meter.INPUT_UNCACHED: 1_000, Meter.OUTPUT: 70}
    assert found.cost.coverage == pytest.approx(1 / 3)
    assert [problem.code for problem in found.data.problems if problem.severity == "error"] == ["unpriced"]


def test_what_the_log_says_it_cost_is_kept_apart(tmp_path: Path) -> None:
    found = run(
        tmp_path, [chat(1, 1_000_000, 0, cost_usd=0.1), chat(2, 1_000_000, 0, cost_usd=0.2), chat(3, 0, 0)]
    )
    assert found.cost.total == Decimal(5)
    assert found.cost.recorded_total == Decimal("0.3")
    assert found.cost.recorded_requests == 2


# ---- phases


def test_a_long_prompt_with_a_brief_answer_is_prefill_dominated(tmp_path: Path) -> None:
    found = run(tmp_path, [chat(i, 20_000, 50) for i in range(40)])
    assert found.cost_mix is not None
    # 20,000 x 2.50 against 50 x 10.00
    assert found.cost_mix.prefill_share == pytest.approx(50_000 / 50_500)
    assert found.cost_mix.phase_class is PhaseClass.PREFILL_DOMINATED
    assert found.cost_mix.weak is None


def test_a_short_prompt_with_a_long_answer_is_decode_dominated_on_both_bases(tmp_path: Path) -> None:
    found = run(tmp_path, [chat(i, 200, 2_000) for i in range(40)])
    assert found.cost_mix is not None
    assert found.time_mix is not None
    assert found.cost_mix.decode_share == pytest.approx(20_000 / 20_500)
    assert found.cost_mix.phase_class is PhaseClass.DECODE_DOMINATED
    assert found.time_mix.phase_class is PhaseClass.DECODE_DOMINATED


def test_the_class_is_of_sums_and_never_a_mean_of_ratios(tmp_path: Path) -> None:
    # 999 tiny requests are nearly all decode, and one huge prompt makes the bill.
    lines = [chat(i, 1, 10, app="x") for i in range(999)] + [chat(999, 1_000_000, 1, app="x")]
    found = run(tmp_path, lines)
    (workload,) = found.workloads
    assert workload.cost_mix is not None
    prefill, decode = 2.5 * 1_000_999, 10.0 * 9_991
    assert workload.cost_mix.prefill_share == pytest.approx(prefill / (prefill + decode))
    assert workload.cost_mix.phase_class is PhaseClass.PREFILL_DOMINATED


def test_cached_prompt_tokens_are_prefill(tmp_path: Path) -> None:
    found = run(tmp_path, [chat(i, 8_000, 100, cached=8_000) for i in range(40)])
    assert found.cost_mix is not None
    assert found.cost_mix.prefill_share == pytest.approx(8_000 * 1.25 / (8_000 * 1.25 + 1_000))


@pytest.mark.parametrize(("requests", "weak"), [(29, "only 29 requests"), (30, None), (1, "only 1 request")])
def test_few_requests_are_weak(tmp_path: Path, requests: int, weak: str | None) -> None:
    found = run(tmp_path, [chat(i, 10, 10) for i in range(requests)])
    assert found.cost_mix is not None
    assert found.cost_mix.weak == weak


def test_an_unpriced_workload_has_no_mix_by_cost_but_one_by_time(tmp_path: Path) -> None:
    found = run(tmp_path, [chat(1, 10, 10, app="a"), chat(2, 10, 10, model="nobody-knows-9b", app="b")])
    (lost,) = [row for row in found.workloads if row.name == "b"]
    assert lost.cost_mix is None
    assert lost.time_mix is not None


# ---- periods, names, times


def test_days_are_calendar_days_of_the_zone(tmp_path: Path) -> None:
    lines = [chat(1, 1_000_000, 0, at="2026-06-15T23:30:00Z"), chat(2, 0, 100_000, at="2026-06-15T21:59:00Z")]
    utc, berlin = run(tmp_path, lines), run(tmp_path, lines, period=Period(timezone="Europe/Berlin"))
    assert [row.day for row in utc.by_day] == [date(2026, 6, 15)]
    assert [(row.day, row.whole.total) for row in berlin.by_day] == [
        (date(2026, 6, 15), Decimal(1)),
        (date(2026, 6, 16), Decimal("2.5")),
    ]
    day = Period(timezone="Europe/Berlin", since=date(2026, 6, 16), until=date(2026, 6, 16))
    assert run(tmp_path, lines, period=day).cost.total == Decimal("2.5")


def test_a_period_without_records_is_said(tmp_path: Path) -> None:
    with pytest.raises(NothingReadableError, match=r"none lies in the asked days \(since 2030-01-01, UTC\)"):
        run(tmp_path, [chat(1, 1, 1)], period=Period(since=date(2030, 1, 1)))


def test_the_model_and_provider_of_a_log_without_names(tmp_path: Path) -> None:
    log = tmp_path / "trace.csv"
    log.write_text("TIMESTAMP,ContextTokens,GeneratedTokens\n2026-06-15 00:00:00.0000000,1000000,100000\n")
    prices = tmp_path / "p.json"
    prices.write_text(json.dumps(PRICES))
    options = AnalyseOptions(
        as_of=AS_OF, price_files=(prices,), load=LoadOptions(model="test-4o", provider="openai")
    )
    found = analyse([str(log)], options)
    assert found.cost.total == Decimal("3.5")
    assert "Records that name no model are taken as test-4o, as asked." in found.provenance.assumptions


def test_records_without_a_time_are_priced_as_of_the_report_and_are_on_no_day(tmp_path: Path) -> None:
    log = chat(1, 1_000_000, 0)
    del log["timestamp"]
    found = run(tmp_path, [log])
    assert [row.day for row in found.by_day] == [None]
    assert found.period_days is None
    assert found.provenance.assumptions[0] == "Records without a time are priced as of 2026-07-01."


def test_the_order_of_lines_changes_nothing(tmp_path: Path) -> None:
    lines = [
        chat(i, 100 * i, i, app=f"a{i % 4}", at=f"2026-06-{10 + i % 5}T0{i % 10}:00:00Z") for i in range(40)
    ]
    one, other = run(tmp_path, lines), run(tmp_path, lines[::-1])
    assert one.by_day == other.by_day
    assert one.workloads == other.workloads
    assert one.by_model == other.by_model
    assert one.cost == other.cost


def test_group_by(tmp_path: Path) -> None:
    lines = [chat(1, 10, 1, team="x", app="p"), chat(2, 10, 1, team="y", app="p"), chat(3, 10, 1, app="p")]
    found = run(tmp_path, lines, group_by=("team", "application"))
    assert {row.name for row in found.workloads} == {"x / p", "y / p", "(unlabelled) / p"}
    assert found.workload_rule == "grouped by team, application as asked"


def test_the_azure_traces_cost_their_tokens_times_the_rates() -> None:
    folder = Path(__file__).parents[2].parent / "shared" / "data" / "traces" / "azure"
    files = [str(folder / f"AzureLLMInferenceTrace_{name}.csv") for name in ("code", "conv")]
    if not all(Path(file).is_file() for file in files):
        pytest.skip("the Azure traces are not at hand")
    options = AnalyseOptions(as_of=AS_OF, load=LoadOptions(provider="openai", model="gpt-4o"))
    found = analyse(files, options)
    prompt, answer = 18_059_974 + 22_361_870, 245_896 + 4_088_665
    assert found.whole.tokens == {Meter.INPUT_UNCACHED: prompt, Meter.OUTPUT: answer}
    (model,) = found.by_model
    assert model.input_usd_per_mtok is not None
    assert model.output_usd_per_mtok is not None
    expected = (prompt * model.input_usd_per_mtok + answer * model.output_usd_per_mtok) / 1_000_000
    assert found.cost.total == expected
    assert (model.input_usd_per_mtok, model.output_usd_per_mtok) == (Decimal("2.5"), Decimal(10))
    assert (found.data.rows_read, found.data.requests) == (28_185, 28_185)
