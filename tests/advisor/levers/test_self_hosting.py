"""Own accelerators in the plan: last, only where even the dear end of the band saves, and never counted twice."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from advisor.cli import cli

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

DAY = 1_767_225_600


def analysed(
    folder: Path, usd_in: str, usd_out: str, *words: str, a_minute: int = 1, minutes: int = 2 * 1_440
) -> dict[str, Any]:
    rows = [
        {
            "id": f"c{minute}-{number}",
            "object": "chat.completion",
            "created": DAY + minute * 60 + number,
            "model": "test-4o",
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "x"}}
            ],
            "usage": {"prompt_tokens": 2_000, "completion_tokens": 400, "total_tokens": 2_400},
        }
        for minute in range(minutes)
        for number in range(a_minute)
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


def test_where_the_band_has_the_bill_in_it_no_total_counts_it(tmp_path: Path) -> None:
    busy = analysed(tmp_path, "30", "90", "--tpot-ms", "8", a_minute=60, minutes=300)
    low, expected, high = (busy["self_host"][0]["usd"][name] for name in ("low", "expected", "high"))
    assert high is None or Decimal(low) < Decimal(high)
    # a bill just above what is expected: 300 x 60 requests of 2,400 tokens
    per_mtok = Decimal(expected) * Decimal("1.02") / (Decimal(300 * 60) * 2_400 / 1_000_000)
    found = analysed(
        tmp_path, f"{per_mtok:.6f}", f"{per_mtok:.6f}", "--tpot-ms", "8", a_minute=60, minutes=300
    )
    assert found["self_host_comparison"]["answer"] == "straddles"
    assert all(one["lever"] != "self_hosting" for one in found["plan"]["steps"])
    one = next(one for one in found["recommendations"] if one["lever"] == "self_hosting")
    assert one["title"].endswith("(undecided)")
    assert any("no total counts this" in text for text in one["assumptions"])
    assert Decimal(one["saving"]["low"]) < 0 < Decimal(one["saving"]["expected"])
