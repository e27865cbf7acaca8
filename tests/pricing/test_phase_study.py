"""One deployment seen phase by phase: which band it falls under, what is cut to what fits, and what would change it."""

from dataclasses import replace

import pytest

from pricing.accelerators import accelerator
from pricing.calibration import calibration
from pricing.deployment import Deployment, Load
from pricing.layouts import Layout, parse_layout
from pricing.memory import Sharding
from pricing.open_models import open_model
from pricing.phase_changes import BATCHES, LONGER
from pricing.phase_study import Study, StudyError, study

FITTED = calibration()
ON_FOUR = Deployment(
    model=open_model("llama-3.1-70b"),
    accelerator=accelerator("h100-sxm"),
    precision="fp8",
    layout=Layout(shard=Sharding(tp=4)),
    variant="vllm",
)
LOAD = Load(input_tokens=2_000, output_tokens=300, concurrency=32)


def seen(deployment: Deployment = ON_FOUR, load: Load = LOAD) -> Study:
    return study(deployment, load, FITTED)


def tpot(found: Study, name: str) -> float:
    (figures,) = [change.figures for change in found.changes if change.name == name]
    assert figures is not None
    return figures.tpot_seconds


def test_replicas_change_nothing_of_one() -> None:
    twice = replace(ON_FOUR, layout=replace(ON_FOUR.layout, replicas=2))
    assert seen(twice) == seen()


def test_the_load_is_cut_to_what_fits() -> None:
    assert seen(load=Load(input_tokens=2_000, output_tokens=300)).load.concurrency == seen().sequences
    found = seen(load=replace(LOAD, concurrency=1e6))
    assert found.load.concurrency == found.sequences < 1e6
    assert seen(load=replace(LOAD, concurrency=0.5)).load.concurrency == 1


@pytest.mark.parametrize("variant", ["vllm-eager", "vllm"])
def test_bands_are_those_of_what_was_measured(variant: str) -> None:
    alone = seen(replace(ON_FOUR, variant=variant), replace(LOAD, concurrency=1))
    many = seen(replace(ON_FOUR, variant=variant), replace(LOAD, concurrency=2))
    family = FITTED.family_of(ON_FOUR.accelerator)
    kinds = ("serving", "serving", "serving") if variant == "vllm" else ("single", "batch", "single")
    expected = [FITTED.band(f"{kinds[0]}.tpot", family), FITTED.band(f"{kinds[1]}.tpot", family)]
    assert [alone.tpot_band, many.tpot_band] == expected
    assert alone.ttft_band == many.ttft_band == FITTED.band(f"{kinds[2]}.ttft", family)
    assert alone.is_seen is (family in FITTED.seen)


def test_with_one_sequence_single_and_asked_are_one() -> None:
    alone = seen(load=replace(LOAD, concurrency=1))
    assert alone.figures == alone.single
    assert seen().figures.tpot_seconds > seen().single.tpot_seconds


def test_changes_move_the_phase_that_they_are_about() -> None:
    found = seen()
    names = {change.name for change in found.changes}
    assert {f"batch {batch}" for batch in BATCHES if batch != LOAD.concurrency} <= names
    assert f"batch {int(LOAD.concurrency)}" not in names
    assert tpot(found, "twice the bandwidth") < found.figures.tpot_seconds
    assert tpot(found, f"{LONGER} x the context") > found.figures.tpot_seconds
    (arithmetic,) = [change.figures for change in found.changes if change.name == "twice the FLOPs"]
    assert arithmetic is not None
    assert arithmetic.ttft_seconds < found.figures.ttft_seconds


def test_what_does_not_fit_is_refused_and_named() -> None:
    tight = replace(ON_FOUR, layout=Layout(shard=Sharding(tp=1)))
    short = Load(input_tokens=500, output_tokens=100)
    (found,) = [change for change in seen(tight, short).changes if change.name == "weights in bf16"]
    assert (found.figures, found.refused) == (None, "does not fit")


def test_a_batch_that_does_not_fit_is_cut_and_says_so() -> None:
    found = seen(load=Load(input_tokens=30_000, output_tokens=2_000, concurrency=4))
    (cut,) = [change for change in found.changes if change.name == "batch 128"]
    assert cut.note == f"only {found.sequences} fit"


def test_pools_of_their_own_are_refused() -> None:
    with pytest.raises(StudyError):
        seen(replace(ON_FOUR, layout=parse_layout("p1xtp2dp1+d1xtp2dp1")))
