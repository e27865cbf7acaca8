"""Own accelerators in the plan: last, only where even the dear end of the band saves, and never counted twice."""

import json
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from advisor.cli import cli
from pricing import fleet_search
from pricing.calibration import Band
from pricing.fleet import Fleet
from pricing.fleet_error import ReplicaBand

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

DAY = 1_767_225_600


def analysed(folder: Path, usd_in: str, usd_out: str, *words: str) -> dict[str, Any]:
    rows = [
        {
            "id": f"c{minute}",
            "object": "chat.completion",
            "created": DAY + minute * 60,
            "model": "test-4o",
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}
            ],
            "usage": {"prompt_tokens": 2_000, "completion_tokens": 400, "total_tokens": 2_400},
        }
        for minute in range(2 * 1_440)
    ]
    (folder / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "prices.json").write_text(
        json.dumps({"models": {"test-4o": {"input": usd_in, "output": usd_out, "cache_read": usd_in}}})
    )
    given = [
        "selfhost", str(folder / "log.jsonl"), "--prices", str(folder / "prices.json"), "--as-of", "2026-06-30",
        "--model", "llama-3.1-8b", "--gpu", "h100", "--gpu-usd-per-hour", "2", *words, "--json", "-",
    ]  # fmt: skip
    found: dict[str, Any] = json.loads(CliRunner().invoke(cli, given, standalone_mode=False).stdout)
    return found


def money(texts: dict[str, str]) -> dict[str, Decimal]:
    return {name: Decimal(text) for name, text in texts.items()}


def test_what_saves_in_any_case_is_the_last_step(tmp_path: Path) -> None:
    found = analysed(tmp_path, "30", "90")
    plan, side = found["plan"], found["self_host_comparison"]["after_levers"]
    last = plan["steps"][-1]
    assert (last["lever"], last["workload"], last["risk"]) == ("self_hosting", "all workloads", "evaluate")
    assert Decimal(last["saving"]) == pytest.approx(Decimal(side["api_usd"]) - 96)
    assert Decimal(last["after"]) == Decimal(plan["optimised"])
    assert Decimal(plan["baseline"]) - Decimal(plan["optimised"]) == sum(
        Decimal(one["saving"]) for one in plan["steps"]
    )
    combined = money(plan["combined_saving"])
    assert combined["low"] <= combined["expected"] <= combined["high"] <= Decimal(plan["baseline"])
    assert Decimal(plan["totals"]["no_risk"]) <= combined["expected"]
    one = next(one for one in found["recommendations"] if one["lever"] == "self_hosting")
    saving = money(one["saving"])
    assert saving["low"] <= saving["expected"] <= saving["high"] <= Decimal(one["touched_usd"])
    assert saving["expected"] == pytest.approx(
        Decimal(found["self_host_comparison"]["today"]["api_usd"]) - 96
    )
    assert "vllm serve meta-llama/Llama-3.1-8B-Instruct" in one["snippet"]
    assert (one["risk"], one["effort"], one["confidence"]) == ("evaluate", "high", "modelled")


def test_what_does_not_pay_is_named_with_the_number(tmp_path: Path) -> None:
    found = analysed(tmp_path, "0.01", "0.01")
    assert all(one["lever"] != "self_hosting" for one in found["plan"]["steps"])
    one = next(one for one in found["rejected"] if one["lever"] == "self_hosting")
    assert Decimal(one["saving"]["expected"]) < 0
    assert "against" in one["reason"]


def test_where_the_band_has_the_bill_in_it_no_total_counts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    band = Band(low=0.5, high=2.0, median_error=0.2, rows=100)

    def bands(grid: Any, rows: Any, sized: Sequence[Fleet], *_: Any) -> tuple[ReplicaBand, ...]:
        del grid, rows
        return tuple(
            ReplicaBand(low=one.replicas, high=one.replicas + 2, missed_ratio=0.0, ttft=band, tpot=band)
            for one in sized
        )

    monkeypatch.setattr(fleet_search, "replica_bands", bands)
    # one replica is $96 for the two days, three are $288; the bill is $100
    per_mtok = Decimal(100) / (Decimal(2 * 1_440) * 2_400 / 1_000_000)
    found = analysed(tmp_path, f"{per_mtok:.6f}", f"{per_mtok:.6f}")
    assert found["self_host_comparison"]["answer"] == "straddles"
    assert all(one["lever"] != "self_hosting" for one in found["plan"]["steps"])
    one = next(one for one in found["recommendations"] if one["lever"] == "self_hosting")
    assert one["title"].endswith("(undecided)")
    assert any("no total counts this" in text for text in one["assumptions"])
    assert Decimal(one["saving"]["low"]) == pytest.approx(Decimal(100 - 288), abs=Decimal("0.01"))
    assert Decimal(one["saving"]["expected"]) == pytest.approx(Decimal(4), abs=Decimal("0.01"))
