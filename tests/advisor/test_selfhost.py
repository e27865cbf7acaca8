"""``advisor selfhost``: a log's minutes against its bill; prices given, so that nothing hangs on a market."""

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from advisor import hosting_study
from advisor.cli import cli
from advisor.hosting_load import load_series, served_load
from pricing import fleet_search
from pricing.calibration import Band
from pricing.fleet import Fleet
from pricing.fleet_error import ReplicaBand
from pricing.fleet_load import EmptyLoadError
from pricing.gpu_prices import given_price

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

HOSTED = ("--model", "llama-3.1-8b", "--gpu", "h100", "--gpu-usd-per-hour", "2", "--as-of", "2026-06-30")
CHEAP = {"models": {"test-4o": {"input": "0.0001", "output": "0.0001", "cache_read": "0.0001"}}}
DEAR = {"models": {"test-4o": {"input": "300", "output": "900", "cache_read": "30"}}}
DAY = 1_767_225_600
"""1 January 2026."""


def log(
    folder: Path, requests: Sequence[tuple[int, int, int, int]], prices: dict[str, Any] = DEAR
) -> tuple[str, ...]:
    """Seconds after the day's start, prompt, of that cached, answer; returns the words of the command line."""
    rows = [
        {
            "id": f"c{number}",
            "object": "chat.completion",
            "created": DAY + at,
            "model": "test-4o",
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}
            ],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": output,
                "total_tokens": prompt + output,
                "prompt_tokens_details": {"cached_tokens": cached},
            },
        }
        for number, (at, prompt, cached, output) in enumerate(requests)
    ]
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "prices.json").write_text(json.dumps(prices))
    return str(folder / "log.jsonl"), "--prices", str(folder / "prices.json")


def steady(hours: int = 48) -> list[tuple[int, int, int, int]]:
    """A request a minute."""
    return [(minute * 60, 1_200, 200, 100) for minute in range(hours * 60)]


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["selfhost", *words], standalone_mode=False)


def message(result: Result) -> str:
    return getattr(result.exception, "message", str(result.exception))


def document(*words: str) -> dict[str, Any]:
    result = run(*words, "--json", "-")
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_one_replica_is_paid_for_every_hour_whatever_it_does(tmp_path: Path) -> None:
    found = document(*log(tmp_path, steady()), *HOSTED)
    way, whole = found["self_host"][0], found["self_host_comparison"]
    today = whole["today"]
    assert today["hours"] == 48
    assert today["busy_minutes"] == today["requests"] == 48 * 60
    assert today["cached_tokens"] == 200 * 48 * 60
    assert today["computed_tokens"] == 1_000 * 48 * 60
    assert (way["replicas"], way["gpus"]) == (1, 1)
    assert Decimal(way["usd"]["expected"]) == 2 * 48
    assert Decimal(way["usd_per_month"]["expected"]) == Decimal("730.5") * 2
    assert 0 < way["utilisation_ratio"] < 0.1
    assert way["ttft_ms"] <= 3_000
    assert way["tpot_ms"] <= 50
    assert way["answer"] == whole["answer"] == today["answer"] == "host"
    bill = (1_000 * 300 + 200 * 30 + 100 * 900) * Decimal(48 * 60) / 1_000_000
    assert Decimal(today["api_usd"]) == bill
    assert Decimal(whole["after_levers"]["api_usd"]) <= bill
    best = today["best"]
    assert best["break_even"]["utilisation_ratio"] == pytest.approx(
        float(Decimal(best["costs"][0]["busy_usd"]) / bill), rel=1e-4
    )
    assert way["break_even"]["volume_ratio"] < 1


def test_money_of_tokens_adds_up(tmp_path: Path) -> None:
    found = document(
        *log(tmp_path, steady()), *HOSTED, "--overhead", "on-call=1000", "--overhead", "network=10%"
    )
    load = found["self_host_comparison"]["today"]
    way = load["best"]
    prices = way["usd_per_mtok"]
    paid = (
        Decimal(prices["computed_input"]) * load["computed_tokens"]
        + Decimal(prices["cached_input"]) * load["cached_tokens"]
        + Decimal(prices["output"]) * load["output_tokens"]
    ) / 1_000_000
    expected = Decimal(96) * Decimal("1.1") + 1_000 * Decimal(48) / Decimal("730.5")
    assert float(paid) == pytest.approx(float(expected), rel=1e-4)
    assert Decimal(way["usd"]["expected"]) == pytest.approx(expected)
    assert set(way["costs"][0]["overheads_usd"]) == {"on-call", "network"}


def test_a_cheap_api_is_stayed_with(tmp_path: Path) -> None:
    words = log(tmp_path, steady(), CHEAP)
    result = run(*words, *HOSTED)
    assert result.exit_code == 0
    assert result.output.startswith("Stay on the API")
    assert document(*words, *HOSTED)["self_host"][0]["break_even"]["volume_ratio"] is None


def test_what_is_asked_is_priced(tmp_path: Path) -> None:
    words = log(tmp_path, steady())
    found = document(
        *words,
        *HOSTED,
        "--redundancy",
        "1",
        "--owned-usd",
        "30000",
        "--precision",
        "bf16",
        "--engine",
        "sglang",
    )
    way = found["self_host"][0]
    assert (way["precision"], way["engine"], way["redundancy"], way["gpus"]) == ("bf16", "sglang", 1, 2)
    kinds = {(one["kind"], one["replicas_by_the_hour"]) for one in way["costs"]}
    assert kinds == {("given", False), ("given", True), ("owned", False)}


def test_targets_that_nothing_meets_are_refused_with_the_nearest(tmp_path: Path) -> None:
    result = run(*log(tmp_path, steady()), *HOSTED, "--tpot-ms", "0.1")
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "Stay on the API" in result.output
    assert "no deployment meets TTFT 3,000 ms and TPOT 0 ms" in result.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "llama-3.1-9b"), "Nearest"),
        (("--model", "llama-3.1-8b", "--gpu", "h101"), "h100"),
        (("--model", "llama-3.1-8b", "--gpu", "m3-ultra"), "--gpu-usd-per-hour"),
        (("--model", "llama-3.1-8b", "--gpu-usd-per-hour", "2"), "--gpu NAME"),
        (("--model", "llama-3.1-8b", "--gpu", "h100", "--gpu-usd-per-hour", "two"), "no amount of USD"),
        (("--overhead", "much"), "NAME=USD"),
        (("--precision", "fp7"), "not known"),
    ],
)
def test_names_and_prices_that_are_not_known_are_refused(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    result = run(*log(tmp_path, steady(1)), "--as-of", "2026-06-30", *words)
    assert said in message(result)
    assert getattr(result.exception, "code", 2) == 2


def test_before_the_first_offer_nothing_is_compared(tmp_path: Path) -> None:
    result = run(*log(tmp_path, steady(1)), "--as-of", "2020-01-01")
    assert "no accelerator has a listed price by 2020-01-01" in result.output
    assert isinstance(result.exception, SystemExit)
    assert result.exception.code == 3


def test_a_way_that_is_sure_goes_before_one_that_is_only_cheap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prices = {
        "l40s": given_price("l40s", Decimal("1.5")),
        "h100-pcie": given_price("h100-pcie", Decimal("2.5")),
    }
    monkeypatch.setattr(hosting_study, "prices_of", lambda *_: prices)
    band = Band(low=0.5, high=2.0, median_error=0.2, rows=100)

    def bands(grid: Any, rows: Any, sized: Sequence[Fleet], *_: Any) -> tuple[ReplicaBand, ...]:
        del grid, rows
        highs = [2 if one.deployment.accelerator.id == "l40s" else 1 for one in sized]
        return tuple(ReplicaBand(low=1, high=high, missed_ratio=0.0, ttft=band, tpot=band) for high in highs)

    monkeypatch.setattr(fleet_search, "replica_bands", bands)
    requests = steady(1)
    rate = f"{Decimal('2.7') * 1_000_000 / (len(requests) * 1_300):.6f}"
    card = {"models": {"test-4o": {"input": rate, "output": rate, "cache_read": rate}}}
    words = (
        *log(tmp_path, requests, card),
        "--model",
        "llama-3.1-8b",
        "--precision",
        "fp8",
        "--as-of",
        "2026-06-30",
    )
    found = document(*words)
    cheapest, side = found["self_host"][0], found["self_host_comparison"]["after_levers"]
    assert (cheapest["accelerator"], cheapest["answer"]) == ("l40s", "straddles")
    assert (side["best"]["accelerator"], side["best"]["answer"], side["answer"]) == (
        "h100-pcie",
        "host",
        "host",
    )
    assert found["plan"]["steps"][-1]["title"] == "Host Llama-3.1-8B-Instruct on 1 x H100 PCIe"
    assert "The cheapest on paper" in found["self_host_comparison"]["verdict"]


def test_own_rows_are_found(tmp_path: Path) -> None:
    (tmp_path / "chips.toml").write_text(
        '[[accelerator]]\nid = "acme-1"\nvendor = "Acme"\nname = "Acme One"\nform = "PCIe"\nmemory_gb = 64\n'
        'memory_bandwidth_gb_s = 2000\nbf16_dense_tflops = 400\nsource = "data sheet"\nverified = "yes"\n'
    )
    found = document(
        *log(tmp_path, steady()), "--model", "llama-3.1-8b", "--gpu", "acme-1", "--gpu-usd-per-hour", "1",
        "--accelerators", str(tmp_path / "chips.toml"), "--as-of", "2026-06-30",
    )  # fmt: skip
    assert found["self_host"][0]["accelerator"] == "acme-1"


def test_without_a_model_those_of_a_like_class_are_looked_at(tmp_path: Path) -> None:
    found = document(
        *log(tmp_path, steady()),
        "--gpu",
        "h200",
        "--gpu-usd-per-hour",
        "3",
        "--as-of",
        "2026-06-30",
        "--tpot-ms",
        "100",
    )
    assert "large open models" in found["self_host_comparison"]["chosen_by"]
    assert "your own evaluation" in found["self_host_comparison"]["chosen_by"]
    assert len({one["model"] for one in found["self_host"]}) > 1


def test_an_open_model_of_the_log_is_hosted_itself_beside_those_of_its_size(tmp_path: Path) -> None:
    words = log(tmp_path, steady(24))
    text = (tmp_path / "log.jsonl").read_text().replace("test-4o", "qwen3-32b")
    (tmp_path / "log.jsonl").write_text(text)
    (tmp_path / "prices.json").write_text(
        json.dumps({"models": {"qwen3-32b": {"input": "0.1", "output": "0.3"}}})
    )
    found = document(*words, "--gpu", "h200", "--gpu-usd-per-hour", "3", "--as-of", "2026-06-30")
    chosen = found["self_host_comparison"]["chosen_by"]
    assert chosen.startswith(
        "Qwen/Qwen3-32B, which the log itself uses, and similarly large open models (16 to 66 B"
    )
    assert "Qwen/Qwen3-32B" in {one["model"] for one in found["self_host"]}


def test_one_workload_alone(tmp_path: Path) -> None:
    words = log(tmp_path, [*steady(24), *((second, 3_000, 0, 500) for second in range(0, 86_400, 120))])
    lines = (tmp_path / "log.jsonl").read_text().splitlines()
    other = [
        line.replace("test-4o", "test-4o-mini") if '"prompt_tokens": 3000' in line else line for line in lines
    ]
    (tmp_path / "log.jsonl").write_text("\n".join(other) + "\n")
    card = {"input": "30", "output": "90", "cache_read": "3"}
    (tmp_path / "prices.json").write_text(json.dumps({"models": {"test-4o": card, "test-4o-mini": card}}))
    found = document(*words, *HOSTED, "--group-by", "model", "--workload", "test-4o-mini")
    today = found["self_host_comparison"]["today"]
    assert (today["requests"], today["computed_tokens"], today["output_tokens"]) == (
        720,
        720 * 3_000,
        720 * 500,
    )
    assert Decimal(today["api_usd"]) == 720 * (Decimal(3_000) * 30 + Decimal(500) * 90) / 1_000_000
    named = [
        one["workload"]
        for part in ("recommendations", "rejected")
        for one in found[part]
        if one["lever"] == "self_hosting"
    ]
    assert named == ["test-4o-mini"]
    unknown = run(*words, *HOSTED, "--group-by", "model", "--workload", "nobody")
    assert "the log has: test-4o" in message(unknown)
    assert getattr(unknown.exception, "code", 0) == 2


def test_a_short_log_is_not_made_a_month(tmp_path: Path) -> None:
    result = run(*log(tmp_path, steady(3)), *HOSTED)
    assert "for the log's 3 h" in result.output
    assert "a month" not in result.output


def test_plain_analysis_has_none(tmp_path: Path) -> None:
    words = log(tmp_path, steady(1))
    found = json.loads(
        CliRunner()
        .invoke(cli, ["analyze", *words, "--json", "-", "--as-of", "2026-06-30"], standalone_mode=False)
        .stdout
    )
    assert found["self_host"] == []
    assert found["self_host_comparison"] is None


def minutes(**columns: list[Any]) -> pd.DataFrame:
    rows = len(columns["minute"])
    usual: dict[str, list[Any]] = {
        "bucket_minutes": [1] * rows, "provider": [None] * rows, "model": ["m"] * rows, "requests": [1.0] * rows,
        "computed_tokens": [100.0] * rows, "cached_tokens": [0.0] * rows, "output_tokens": [10.0] * rows,
        "silent": [0.0] * rows,
    }  # fmt: skip
    return pd.DataFrame({**usual, **columns})


def test_buckets_are_spread_and_models_added() -> None:
    frame = minutes(
        minute=[60, 61, 61],
        bucket_minutes=[3, 1, 1],
        requests=[30.0, 1.0, 2.0],
        computed_tokens=[3_000.0, 100.0, 50.0],
    )
    found = load_series(frame, {(None, "m"): 2.0})
    assert list(found.minutes) == [60, 61, 62]
    assert list(found.requests) == [10.0, 13.0, 10.0]
    assert list(found.computed_tokens) == [2_000.0, 2_300.0, 2_000.0]
    assert found.spread
    assert found.hours == 1
    assert served_load(frame, 95, 0).peak_requests == 13


def test_nothing_in_a_log_is_no_load() -> None:
    with pytest.raises(EmptyLoadError):
        load_series(minutes(minute=[5], requests=[0.0]), {})
