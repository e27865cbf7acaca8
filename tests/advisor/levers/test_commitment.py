"""Provisioned throughput that was offered: last of the API's levers, judged by the log's minutes, never at a loss."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from advisor.options import AnalyseOptions
from advisor.recommendation import Advice, Recommendation, Rejected, Risk
from advisor.run import analyse

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis")

AS_OF = datetime(2026, 11, 29, tzinfo=UTC)
START = datetime(2026, 11, 2, tzinfo=UTC)
PRICES = {"models": {"own": {"input": "2", "output": "10"}, "other": {"input": "2", "output": "10"}}}
DAYS = 2
OFFER: dict[str, Any] = {
    "name": "unit", "models": ["own"], "usd_per_hour": "0.10", "tokens_per_minute": 1_500, "output_counts_as": 5,
}  # fmt: skip


def advice(folder: Path, *offers: dict[str, Any], every: int = 1, days: int = DAYS, **more: Any) -> Advice:
    """One request of 1,000 and 100 tokens, $0.003, in every so many minutes."""
    rows = [
        {
            "timestamp": (START + timedelta(minutes=minute)).isoformat(),
            "model": "own", "application": "app", "input_tokens": 1_000, "output_tokens": 100, **more,
        }
        for minute in range(0, days * 1_440, every)
    ]  # fmt: skip
    log, prices, terms = folder / "log.jsonl", folder / "prices.json", folder / "terms.json"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    prices.write_text(json.dumps(PRICES), "utf-8")
    terms.write_text(json.dumps({"offers": [{**OFFER, **one} for one in offers]}), "utf-8")
    options = AnalyseOptions(as_of=AS_OF, price_files=(prices,), discount_files=(terms,))
    found = analyse([str(log)], options).advice
    assert found is not None
    return found


def of(found: Advice) -> tuple[list[Recommendation], list[Rejected]]:
    return (
        [one for one in found.recommendations if one.proposal.lever == "commitment"],
        [one for one in found.rejected if one.lever == "commitment"],
    )


def test_a_steady_load_is_served_for_less(tmp_path: Path) -> None:
    """A unit is full in every minute: $0.10 an hour for what costs 60 times $0.003."""
    found = advice(tmp_path, {})
    (one,), rejected = of(found)
    assert not rejected
    hours = Decimal(DAYS * 24)
    bill = DAYS * 1_440 * Decimal("0.003")
    assert one.saving.expected == bill - hours / 10
    assert one.saving.low == bill * Decimal("0.8") - hours / 10
    assert one.touched_usd == bill
    assert (one.proposal.risk, one.proposal.phase, one.proposal.workload) == (Risk.NONE, None, "own")
    assert any("from 56 % of use on, and 100 %" in fact.value for fact in one.proposal.evidence)
    last = found.plan.steps[-1]
    assert (last.lever, last.after_usd) == ("commitment", found.plan.optimised_usd)
    assert found.plan.baseline_usd - found.plan.optimised_usd == found.plan.combined.expected
    assert 0 < found.plan.safe_usd <= found.plan.combined.expected <= found.plan.ceiling_usd
    assert found.plan.optimised_usd > 0


def test_a_unit_that_stands_idle_is_a_loss_and_is_rejected_with_its_number(tmp_path: Path) -> None:
    kept, (one,) = of(advice(tmp_path, {}, every=3))
    assert not kept
    third = DAYS * 1_440 // 3 * Decimal("0.003")
    # The log ends two minutes sooner: its last request is no later.
    hours = Decimal(DAYS * 1_440 - 2) / 60
    assert abs(one.saving.expected - (third - hours / 10)) < Decimal("0.00001")
    assert "pays from 56 % of use on, and 33 % would be used" in one.reason


def test_what_would_lose_with_a_fifth_less_load_is_no_advice(tmp_path: Path) -> None:
    kept, (one,) = of(advice(tmp_path, {"usd_per_hour": "0.16"}))
    assert not kept
    assert one.saving.expected > 0 > one.saving.low
    assert "if a fifth of it goes" in one.reason


def test_a_fuller_unit_than_its_tokens_are_worth(tmp_path: Path) -> None:
    _, (one,) = of(advice(tmp_path, {"usd_per_hour": "0.36"}))
    assert "even a unit that is always full costs 2.0 times what its tokens do" in one.reason


def test_of_two_offers_for_one_model_the_better_one_is_taken(tmp_path: Path) -> None:
    (one,), (other,) = of(advice(tmp_path, {"name": "dear", "usd_per_hour": "0.12"}, {"name": "cheap"}))
    assert "cheap" in one.proposal.title
    assert "dear" in other.reason
    assert "another offer for the same models saves more" in other.reason


@pytest.mark.parametrize(
    ("changed", "log", "reason"),
    [
        ({"models": ["other"]}, {}, "no request of the log"),
        ({}, {"service_tier": "batch"}, "no request of the log"),
        ({}, {"days": 1, "every": 180}, "nobody commits to a month because of less than a day"),
    ],
)
def test_what_cannot_be_judged_says_why(
    tmp_path: Path, changed: dict[str, Any], log: dict[str, Any], reason: str
) -> None:
    kept, (one,) = of(advice(tmp_path, changed, **log))
    assert not kept
    assert reason in one.reason


def test_without_offers_nothing_is_said(tmp_path: Path) -> None:
    assert of(advice(tmp_path)) == ([], [])
