"""Fleets: every deployment at once is each one alone; minutes to replicas; what is paid, by whom, and where bills meet."""

from dataclasses import fields, replace
from datetime import date
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pricing.accelerators import accelerator, accelerators
from pricing.calibration import calibration
from pricing.deployment import Load, Setups, setups
from pricing.deployment_grid import fitting, usual_precisions
from pricing.fleet import Fleet, fleets
from pricing.fleet_error import replica_bands
from pricing.fleet_load import EmptyLoadError, LoadSeries, percentile_of, work_table
from pricing.fleet_money import break_even, fleet_cost, phase_prices
from pricing.fleet_search import search
from pricing.gpu_billing import Overhead, Ownership
from pricing.gpu_prices import GpuPrice, given_price, gpu_price
from pricing.layouts import Layout
from pricing.memory import Sharding
from pricing.offers import Offer
from pricing.open_models import open_model
from pricing.replica import Targets, fullest, replicas_needed
from pricing.serving_table import sequences_of

LLAMA = open_model("llama-3.1-70b")
SMALL = open_model("llama-3.1-8b")
H100 = accelerator("h100-sxm")
AS_OF = date(2026, 11, 1)
TARGETS = Targets(ttft_ms=2_000, tpot_ms=50)


def series(days: int = 3, per_minute: float = 60.0, cached: float = 500.0) -> LoadSeries:
    """Busy office hours, quiet nights; the same in every run."""
    minutes = np.arange(days * 1_440, dtype=np.int64) + 1_440 * 20_000
    hour = minutes // 60 % 24
    wave = 1 + np.sin(minutes / 7.0) / 2
    requests = np.where((hour >= 8) & (hour < 18), per_minute, per_minute / 10) * wave
    return LoadSeries(
        minutes=minutes,
        requests=requests,
        computed_tokens=requests * 1_000,
        cached_tokens=requests * cached,
        output_tokens=requests * 300,
    )


def fleet_of(load: LoadSeries, targets: Targets = TARGETS, tp: int = 4) -> Fleet:
    found = calibration()
    grid = fitting(
        [LLAMA],
        [H100],
        load.mean_request(),
        found,
        precision="fp8/fp8",
        layouts=[Layout(shard=Sharding(tp=tp))],
    )
    return fleets(grid, fullest(grid.setups, found, targets), [0], load, found, targets)[0]


def offer(
    usd: str,
    gpus: int,
    provider: str,
    segment: str = "neocloud",
    kind: str = "on_demand",
    chip: str = "h100-sxm",
) -> Offer:
    return Offer(
        provider=provider, segment=segment, region="", instance="", accelerator_id=chip, n_gpus=gpus,  # type: ignore[arg-type]
        usd_per_machine_hour=Decimal(usd) * gpus, price_kind=kind, date=date(2026, 10, 1), source="test",  # type: ignore[arg-type]
        verified="yes",
    )  # fmt: skip


def test_all_deployments_at_once_are_each_one_alone() -> None:
    chips = [accelerators()[name] for name in ("h100-sxm", "a100-80-sxm", "b200", "l40s", "m3-ultra", "t4")]
    models = [SMALL, LLAMA, open_model("gpt-oss-120b"), open_model("DeepSeek-V3"), open_model("gemma-3-27b")]
    load = Load(input_tokens=900.0, output_tokens=300.0, cached_tokens=2_000.0)
    grid = fitting(models, chips, load, calibration())
    assert len(grid.deployments) > 60
    spread = [one for one in grid.deployments if one.layout.shard.dp > 1]
    assert {one.model.id for one in spread} <= {"openai/gpt-oss-120b", "deepseek-ai/DeepSeek-V3"}
    assert {one.accelerator.id for one in spread} <= {"h100-sxm", "a100-80-sxm", "b200"}
    for at, one in enumerate(grid.deployments):
        room = sequences_of(one, load)
        assert room == grid.setups.sequences[at]
        alone = setups([one], [load], [room], [calibration().family_of(one.accelerator)])
        for field in fields(Setups):
            assert getattr(alone, field.name)[0] == getattr(grid.setups, field.name)[at], field.name


def test_precisions_are_those_that_are_served() -> None:
    assert usual_precisions(LLAMA, H100) == ("bf16", "fp8")
    assert usual_precisions(open_model("DeepSeek-V3"), accelerator("a100")) == ("fp8",)
    assert usual_precisions(open_model("gpt-oss-120b"), H100) == ("fp4",)
    assert usual_precisions(open_model("gpt-oss-20b"), accelerator("t4")) == ("bf16",)
    assert usual_precisions(LLAMA, accelerator("b200")) == ("bf16", "fp8")


def test_a_table_of_percentiles_is_the_percentile() -> None:
    load = series()
    for percentile in (50.0, 95.0, 100.0):
        table = work_table(load, percentile)
        for computed, output in ((1e-5, 1e-3), (1e-4, 1e-4), (1e-3, 0.0), (0.0, 1e-3)):
            exact = percentile_of(load.work_seconds(computed, 0.0, output), percentile)
            assert float(table.at(np.asarray(computed), np.asarray(output))) == pytest.approx(exact, rel=0.01)


@given(st.floats(0.01, 5_000), st.sampled_from([1.0, 8.0, 256.0]))
def test_replicas_hold_the_work_and_what_comes_together(work: float, concurrency: float) -> None:
    count = float(replicas_needed(np.asarray([work]), concurrency)[0])
    full = work / 60
    assert count >= full
    in_flight = full * concurrency
    assert count * concurrency >= in_flight + 1.645 * in_flight**0.5 - 1e-6
    assert (count - 1) * concurrency < in_flight + 1.645 * in_flight**0.5


def test_a_full_replicas_time_is_shared_without_rest() -> None:
    load = series()
    one = fleet_of(load)
    assert one.computed_share + one.cached_share + one.output_share == pytest.approx(1.0)
    assert one.busy_replica_hours == pytest.approx(load.total_requests * one.request_seconds / 3_600)
    assert one.utilisation_ratio == pytest.approx(one.busy_replica_hours / one.replica_hours)


def test_targets_bound_what_is_in_flight() -> None:
    load = series()
    strict, easy = fleet_of(load, replace(TARGETS, tpot_ms=15)), fleet_of(load, replace(TARGETS, tpot_ms=100))
    assert strict.concurrency < easy.concurrency
    assert strict.tpot_seconds <= 0.015
    assert strict.replicas > easy.replicas
    assert strict.busy_replica_hours > easy.busy_replica_hours


def test_without_targets_a_replica_takes_what_it_holds() -> None:
    load, found = series(), calibration()
    grid = fitting([LLAMA], [H100], load.mean_request(), found, precision="fp8/bf16")
    full = fullest(grid.setups, found, Targets(ttft_ms=None, tpot_ms=None))
    assert full.feasible.all()
    assert (full.concurrency <= grid.setups.sequences).all()
    assert (full.concurrency * 2 > np.minimum(grid.setups.sequences, 1_024)).any()


def test_cached_tokens_take_less_than_computed_ones_and_more_than_nothing() -> None:
    load = series(cached=20_000.0)
    one = fleet_of(load)
    cost = fleet_cost(one, given_price("h100-sxm", Decimal(2)))
    assert cost is not None
    found = phase_prices(one, cost, load)
    assert found.cached is not None
    assert found.computed is not None
    assert found.output is not None
    assert 0 < found.cached < found.computed / 10
    assert found.output > found.computed


def test_the_percentile_decides_and_the_peak_is_shown() -> None:
    load = series(per_minute=600.0)
    one, all_of_it = fleet_of(load), fleet_of(load, replace(TARGETS, percentile=100))
    assert one.replicas <= one.peak_replicas == all_of_it.replicas
    assert all_of_it.late_ratio == 0
    assert 0 < one.late_ratio < 0.2


def test_hours_follow_the_load_only_where_they_can_be_given_back() -> None:
    load = series(per_minute=2_000.0)
    one = fleet_of(load, replace(TARGETS, redundancy=1))
    price = given_price("h100-sxm", Decimal(2))
    fixed, scaled = fleet_cost(one, price), fleet_cost(one, price, scaled=True)
    reserved = fleet_cost(one, replace(price, kind="reserved_1y"), scaled=True)
    assert fixed is not None
    assert scaled is not None
    assert reserved is not None
    assert scaled.usd < fixed.usd == reserved.usd
    assert scaled.utilisation_ratio > fixed.utilisation_ratio
    assert fixed.bill.paid_gpu_hours == (one.replicas + 1) * 4 * 72
    assert fixed.usd == fixed.bill.paid_gpu_hours * 2
    assert float(fixed.usd_per_month) == pytest.approx(float(fixed.usd) * 730.5 / 72)


def test_token_prices_add_up_to_the_bill_with_idle_hours_and_overheads() -> None:
    load = series()
    one = fleet_of(load)
    cost = fleet_cost(
        one, given_price("h100-sxm", Decimal(2)), overheads=[Overhead(name="on-call", usd_per_month=500)]
    )
    assert cost is not None
    found = phase_prices(one, cost, load)
    tokens = (load.computed_tokens.sum(), load.cached_tokens.sum(), load.output_tokens.sum())
    whole = sum(
        price * Decimal(str(float(count))) / 1_000_000
        for price, count in zip((found.computed, found.cached, found.output), tokens, strict=True)
        if price is not None
    )
    busy = sum(
        price * Decimal(str(float(count))) / 1_000_000
        for price, count in zip(
            (found.computed_busy, found.cached_busy, found.output_busy), tokens, strict=True
        )
        if price is not None
    )
    assert float(whole) == pytest.approx(float(cost.usd))
    assert float(busy) == pytest.approx(float(cost.bill.busy_usd))
    assert cost.usd > cost.bill.gpu_usd


def test_machines_are_let_whole() -> None:
    price = gpu_price(
        "h100-sxm",
        None,
        "on_demand",
        as_of=AS_OF,
        among=[offer("4", 8, "a"), offer("2", 8, "b"), offer("3", 8, "c")],
    )
    assert price is not None
    assert (price.low, price.usual, price.high) == (2, 3, 4)
    four = Layout(shard=Sharding(tp=4))
    assert price.gpus_for(four, 1) == 8
    assert price.gpus_for(four, 3) == 16
    assert price.gpus_for(Layout(shard=Sharding(tp=8, pp=2)), 1) == 16
    assert replace(price, machine_gpus=(1, 2)).gpus_for(four, 1) is None
    assert replace(price, machine_gpus=(1, 4, 8)).gpus_for(four, 3) == 12
    assert fleet_cost(fleet_of(series()), replace(price, machine_gpus=(1,))) is None


def test_a_price_that_nobody_asks_is_none() -> None:
    listed = [offer("4", 8, "a")]
    assert gpu_price("h100-sxm", "marketplace", "on_demand", as_of=AS_OF, among=listed) is None
    assert gpu_price("h100-sxm", None, "spot", as_of=AS_OF, among=listed) is None
    assert gpu_price("h100-sxm", None, "on_demand", as_of=date(2026, 1, 1), among=listed) is None


def test_owned_accelerators_are_paid_in_every_hour() -> None:
    one = fleet_of(series())
    terms = Ownership(capital_usd=30_000, years=4, power_kw=Decimal(1), usd_per_kwh=Decimal("0.1"))
    cost = fleet_cost(one, terms)
    assert cost is not None
    assert cost.kind == "owned"
    assert cost.bill.paid_gpu_hours == one.gpus * one.hours
    assert cost.usd > Decimal(30_000) / 4 / 12 * one.gpus * one.hours / Decimal("730.5")


@pytest.mark.parametrize("bill", [60, 150, 400, 1_000, 20_000])
def test_from_the_break_even_on_the_fleet_is_never_dearer(bill: int) -> None:
    load, price, usd = series(per_minute=300.0), given_price("h100-sxm", Decimal(2)), Decimal(bill)
    one = fleet_of(load)
    cost = fleet_cost(one, price)
    assert cost is not None
    found = break_even(one, cost, price, usd)
    assert found.utilisation_ratio == pytest.approx(float(cost.bill.busy_usd / usd))

    def dearer(volume: float) -> bool:
        other = fleet_cost(
            fleet_of(load.scaled(computed=volume, cached=volume, output=volume, requests=volume)), price
        )
        assert other is not None
        return float(other.usd) > float(usd) * volume

    if found.volume_ratio is None:
        assert dearer(1.0)
        assert dearer(50.0)
        return
    assert dearer(found.volume_ratio * 0.97)
    assert not any(dearer(found.volume_ratio * more) for more in (1.03, 1.3, 2.1, 5.0, 9.7))


def test_the_error_of_the_model_reaches_the_count() -> None:
    load, found = series(per_minute=2_000.0), calibration()
    grid = fitting(
        [LLAMA],
        [H100],
        load.mean_request(),
        found,
        precision="fp8/fp8",
        layouts=[Layout(shard=Sharding(tp=4))],
    )
    one = fleets(grid, fullest(grid.setups, found, TARGETS), [0], load, found, TARGETS)
    band = replica_bands(grid, [0], one, found, TARGETS, work_table(load, 95.0))[0]
    assert band.high is not None
    assert band.low < one[0].replicas < band.high
    tight = replace(TARGETS, tpot_ms=float(one[0].tpot_seconds * 1_000 / 2.9))
    grid_tight = fullest(grid.setups, found, tight)
    if grid_tight.feasible[0]:
        sized = fleets(grid, grid_tight, [0], load, found, tight)
        assert replica_bands(grid, [0], sized, found, tight, work_table(load, 95.0))[0].missed_ratio > 0


def test_a_search_is_cheapest_first_and_refuses_with_reasons() -> None:
    chips = [accelerators()[name] for name in ("h100-sxm", "a100-80-sxm", "t4", "l40s")]
    prices = {
        "h100-sxm": given_price("h100-sxm", Decimal(2)),
        "t4": given_price("t4", Decimal("0.4")),
        "l40s": given_price("l40s", Decimal("0.9")),
    }
    deepseek = open_model("DeepSeek-V3")
    found = search([SMALL, LLAMA, deepseek], chips, prices, series(), TARGETS, calibration())
    usd = [fleet_cost(one.fleet, one.price) for one in found.hosted]
    assert [cost.usd for cost in usd if cost] == sorted(cost.usd for cost in usd if cost)
    assert {one.fleet.deployment.accelerator.id for one in found.hosted} <= set(prices)
    assert {one.fleet.deployment.model.id for one in found.hosted} >= {SMALL.id, LLAMA.id}
    assert found.hosted[0].fleet.deployment.model.id == SMALL.id
    impossible = search([LLAMA], chips, prices, series(), replace(TARGETS, tpot_ms=0.5), calibration())
    assert not impossible.hosted
    assert "TPOT" in impossible.refused[0].reason
    nowhere = search([deepseek], [accelerators()["t4"]], prices, series(), TARGETS, calibration())
    assert "fits on none" in nowhere.refused[0].reason


def test_long_answers_are_worked_on_for_minutes() -> None:
    one = LoadSeries(
        minutes=np.array([100, 110], dtype=np.int64),
        requests=np.array([4.0, 1.0]),
        computed_tokens=np.array([400.0, 100.0]),
        cached_tokens=np.zeros(2),
        output_tokens=np.array([40_000.0, 10_000.0]),
    )
    longer = one.over(4)
    assert list(longer.minutes) == [100, 101, 102, 103, 110, 111, 112, 113]
    assert list(longer.requests) == [1.0] * 4 + [0.25] * 4
    assert longer.written_tokens == pytest.approx(one.written_tokens)
    assert one.over(1) is one


def test_a_load_of_nothing_is_refused() -> None:
    nothing = np.zeros(1)
    with pytest.raises(EmptyLoadError):
        LoadSeries(
            minutes=np.zeros(1, dtype=np.int64),
            requests=nothing,
            computed_tokens=nothing,
            cached_tokens=nothing,
            output_tokens=nothing,
        )


def test_prices_of_two_kinds_are_told_apart() -> None:
    assert GpuPrice(accelerator_id="x", kind="spot", low=Decimal(1), usual=Decimal(1), high=Decimal(1)).scales
    assert not GpuPrice(
        accelerator_id="x", kind="reserved_1y", low=Decimal(1), usual=Decimal(1), high=Decimal(1)
    ).scales
