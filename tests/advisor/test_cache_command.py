"""``advisor cache``: replays and what they would have cost, worked by hand."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from advisor.cli import cli

PRICES = {
    "models": {
        "claude-sonnet-4-5": {
            "input": "3",
            "output": "15",
            "cache_read": "0.30",
            "cache_write_5m": "3.75",
            "cache_write_1h": "6",
        }
    }
}


def run(*words: str) -> Result:
    return CliRunner().invoke(cli, ["cache", *words], standalone_mode=False)


def message(result: Result) -> str:
    return getattr(result.exception, "message", str(result.exception))


def trace(folder: Path, *requests: tuple[float, int, list[int]]) -> str:
    path = folder / "trace.jsonl"
    rows = [
        {"timestamp": int(at * 1000), "input_length": size, "output_length": 10, "hash_ids": blocks}
        for at, size, blocks in requests
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return str(path)


def answer(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run(*words, "--json", "-").stdout)
    return found


FOUR = [1, 2, 3, 4]
"""A prompt of 2,048 tokens: above the minimum of 1,024 of the model that the tests use."""


def test_one_lifetime(tmp_path: Path) -> None:
    path = trace(tmp_path, (0, 2048, FOUR), (200, 2048, FOUR), (600, 2048, FOUR))
    found = answer(path, "--ttl", "300")
    assert (found["hit_tokens"], found["input_tokens"], found["requests"]) == (2048, 3 * 2048, 3)
    assert found["hit_ratio"] == pytest.approx(1 / 3)
    assert answer(path, "--ttl", "450")["hit_tokens"] == 2 * 2048
    assert answer(path, "--ttl", "450", "--no-refresh")["hit_tokens"] == 2048
    assert answer(path, "--capacity-blocks", "3")["hit_tokens"] == 2 * 3 * 512
    assert answer(path, "--ttl", "450", "--measure-last", "0.34")["input_tokens"] == 2048


def test_policies_are_priced_as_changed_cubes(tmp_path: Path) -> None:
    path = trace(tmp_path, (0, 2048, FOUR), (200, 2048, FOUR), (1200, 2048, FOUR))
    (tmp_path / "prices.json").write_text(json.dumps(PRICES), "utf-8")
    found = answer(
        path,
        "--model",
        "claude-sonnet-4-5",
        "--provider",
        "anthropic",
        "--prices",
        str(tmp_path / "prices.json"),
    )
    policies = {one["name"]: one for one in found["policies"]}
    answers = 30 * 15
    # 5 minutes: written, read, written. An hour: written, read, read. USD per million tokens.
    costs = {
        "as logged": 3 * 2048 * 3 + answers,
        "none": 3 * 2048 * 3 + answers,
        "5m": 2 * 2048 * 3.75 + 2048 * 0.3 + answers,
        "1h": 2048 * 6 + 2 * 2048 * 0.3 + answers,
    }
    # All of it is stable. Two pings (after the second and the third request) do not bridge 1,000 s, three do; the last
    # prompt is pinged in vain. A ping reads a prompt and answers with one token.
    ping = 2048 * 0.3 + 15
    costs |= {"provider default": costs["5m"]}
    costs |= {"mixed 1h + 5m": costs["1h"], "5m + 3 pings": 2048 * 3.75 + 2 * 2048 * 0.3 + answers + 6 * ping}
    assert {name: float(one["cost_usd"]) for name, one in policies.items()} == pytest.approx(
        {name: cost / 1e6 for name, cost in costs.items()}
    )
    assert policies["5m + 3 pings"]["pings"] == 6
    assert found["best"] == "5m + 3 pings"
    assert float(policies["5m"]["saving_usd"]) == pytest.approx((costs["none"] - costs["5m"]) / 1e6)


def test_a_prefix_below_the_models_minimum_is_not_cached(tmp_path: Path) -> None:
    path = trace(tmp_path, (0, 1000, [1, 2]), (1, 1000, [1, 2]))
    found = answer(path, "--model", "claude-sonnet-4-5", "--provider", "anthropic")
    names = ["as logged", "none", "5m", "1h", "provider default", "mixed 1h + 5m", "5m + 1 ping"]
    assert {one["name"]: one["hit_tokens"] for one in found["policies"]} == dict.fromkeys(names, 0)
    assert found["hit_tokens"] == 1000  # what was common, whatever a provider makes of it


def test_a_cache_that_costs_more_than_it_saves_is_not_best(tmp_path: Path) -> None:
    """Every prompt is another one: writing them all is a loss."""
    path = trace(tmp_path, *[(at, 2048, [at * 10 + depth for depth in range(4)]) for at in range(5)])
    found = answer(path, "--model", "claude-sonnet-4-5", "--provider", "anthropic")
    assert found["best"] in ("none", "as logged")
    assert all(float(one["saving_usd"]) <= 0 for one in found["policies"])


def test_a_log_without_prices_is_told_in_multiples(tmp_path: Path) -> None:
    path = trace(tmp_path, (0, 2048, FOUR), (200, 2048, FOUR))
    found = answer(path)
    ratios = {one["name"]: one["input_cost_ratio"] for one in found["policies"]}
    assert ratios["5m"] == pytest.approx((1.25 + 0.1) / 2)
    assert ratios["1h"] == pytest.approx((2 + 0.1) / 2)
    assert found["best"] == "5m"
    assert {one["cost_usd"] for one in found["policies"]} == {None}


def test_what_cannot_be_replayed_says_why(tmp_path: Path) -> None:
    path = tmp_path / "counts.jsonl"
    path.write_text('{"timestamp":"2026-06-01","model":"m","input_tokens":10,"output_tokens":1}\n', "utf-8")
    assert "it has no block hashes, no fingerprints of prefixes and no sessions" in message(run(str(path)))
    assert "--ttl or --capacity-blocks, not both" in message(
        run(str(path), "--ttl", "1", "--capacity-blocks", "1")
    )
    assert "no such file" in message(run(str(tmp_path / "nowhere.jsonl"))).lower()
