"""Deployments under load: against a calculation by hand, against published points, and properties."""

import csv
import math
from pathlib import Path
from statistics import median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pricing.accelerators import accelerator
from pricing.calibration import Calibration, calibration
from pricing.deployment import Deployment, Load, setups, whole_layers
from pricing.efficiency import efficiency
from pricing.layouts import parse_layout
from pricing.open_models import open_model
from pricing.phases import decode_step_seconds
from pricing.serving import Points, serve
from pricing.serving_answers import Answer, answers

POINTS = Path(__file__).parent / "data" / "measured_points.csv"


def deployed(
    model: str = "llama-3.1-70b",
    gpu: str = "H100",
    precision: str = "fp8/fp8",
    layout: str = "4",
    engine: str = "vllm",
) -> Deployment:
    return Deployment(
        model=open_model(model),
        accelerator=accelerator(gpu),
        precision=precision,
        layout=parse_layout(layout),
        engine=engine,  # type: ignore[arg-type]
    )


def served(
    deployment: Deployment, load: Load, sequences: float = 1e6, fit: Calibration | None = None
) -> Points:
    fit = fit or calibration()
    family = fit.family_of(deployment.accelerator)
    return serve(setups([deployment], [load], [sequences], [family]), fit)


def test_a_decode_step_by_hand() -> None:
    """Llama 2 70B in FP16 on 2 x A100: 137 GB over 2 x 2,039 GB/s; everything else is switched off."""
    fit = calibration()
    free = dict.fromkeys(("layer", "step", "allreduce", "exchange"), 1e-12)
    bare = Calibration(
        common={**fit.common, **free, "bandwidth": 1.0, "arithmetic": 1e12, "attention": 1e12, "link": 1e12},
        effects={"family": {}, "engine": {}},
        families=fit.families,
        seen=fit.seen,
        bands=fit.bands,
        fitted_on=fit.fitted_on,
    )
    one = deployed("llama-2-70b", "A100", "fp16/fp16", "2")
    columns = setups([one], [Load(input_tokens=1_000, output_tokens=200, concurrency=1)], [1e6], ["none"])
    step = decode_step_seconds(columns, efficiency(columns, bare), np.array([1.0]))[0]
    weights, cache = (68_976_648_192 - 32_000 * 8_192) * 2 / 2, 2 * 80 * 8 * 128 * 2 * 1_100 / 2
    assert step == pytest.approx((weights + cache) / 2_039e9, rel=0.01)


def test_published_points() -> None:
    """142 points, drawn from the groups of model and accelerator (sources in the file): medians stay under their goals."""
    with POINTS.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    off: dict[str, list[float]] = {}
    inside: list[bool] = []
    for row, answer in zip(rows, answers(rows, calibration()), strict=True):
        for column in ("tpot_ms", "ttft_ms", "output_tok_s_per_gpu"):
            estimate = answer.estimates.get(column)
            if estimate and row[column]:
                measured = float(row[column])
                off.setdefault(column, []).append(abs(estimate.value / measured - 1))
                inside.append(estimate.low <= measured <= estimate.high)
    assert sum(1 for answer in answers(rows, calibration()) if answer.refused) <= 0.1 * len(rows)
    assert median(off["tpot_ms"]) < 0.20
    assert median(off["ttft_ms"]) < 0.45
    assert median(off["output_tok_s_per_gpu"]) < 0.22
    assert 0.72 <= sum(inside) / len(inside) <= 0.92


def test_a_long_prompt_delays_the_answers_of_others_only_without_pools() -> None:
    short, long = (Load(input_tokens=tokens, output_tokens=200, concurrency=32) for tokens in (500, 8_000))
    together, apart = deployed(), deployed(layout="P1xtp4dp1+D1xtp4dp1")
    step = served(together, long).decode_step_seconds[0]
    assert served(together, long).tpot_seconds[0] > 2 * step
    assert served(apart, long).tpot_seconds[0] == served(apart, long).decode_step_seconds[0]
    assert served(together, short).tpot_seconds[0] < 1.3 * served(together, short).decode_step_seconds[0]


def test_what_does_not_fit_waits() -> None:
    load = Load(input_tokens=1_000, output_tokens=500, concurrency=64)
    roomy, tight = served(deployed(), load, 64), served(deployed(), load, 16)
    assert tight.batch[0] == 16
    assert tight.ttft_seconds[0] > roomy.ttft_seconds[0] + 2 * 500 * tight.tpot_seconds[0]


@settings(max_examples=60, deadline=None)
@given(
    model=st.sampled_from(
        ["llama-3.1-8b", "llama-3.1-70b", "qwen3-235b-a22b", "deepseek-r1", "gpt-oss-120b"]
    ),
    gpu=st.sampled_from(["H100", "B200", "MI300X", "A100", "L40S"]),
    prompt=st.integers(16, 30_000),
    answer=st.integers(2, 4_000),
    concurrency=st.integers(1, 512),
)
def test_properties(model: str, gpu: str, prompt: int, answer: int, concurrency: int) -> None:
    """Times are positive and finite, grow with the load, and throughput follows Little's law."""
    one = deployed(model, gpu, "fp8/fp8", "8")
    load = Load(input_tokens=prompt, output_tokens=answer, concurrency=concurrency)
    more = Load(input_tokens=prompt, output_tokens=answer, concurrency=concurrency + 8)
    longer = Load(input_tokens=prompt * 2, output_tokens=answer, concurrency=concurrency)
    point, busier, slower = served(one, load), served(one, more), served(one, longer)
    assert 0 < point.tpot_seconds[0] <= busier.tpot_seconds[0] < math.inf
    assert 0 < point.ttft_seconds[0] <= busier.ttft_seconds[0] < math.inf
    assert point.ttft_seconds[0] < slower.ttft_seconds[0]
    latency = point.ttft_seconds[0] + (answer - 1) * point.tpot_seconds[0]
    assert point.output_tokens_per_second_per_gpu[0] * 8 * latency == pytest.approx(concurrency * answer)


def test_layers_are_pairs_of_mixer_and_mlp() -> None:
    assert whole_layers(open_model("llama-3.1-70b")) == 80
    assert whole_layers(open_model("nemotron-nano-30b-a3b")) == 26


def row(**cells: str) -> dict[str, str]:
    usual = {
        "row_id": "1", "group": "aic_agg", "model": "llama-3.1-70b", "precision": "fp8/fp8", "gpu": "H100", "n_gpus": "4",
        "tp": "4", "engine": "vllm", "input_len": "1000", "output_len": "500", "concurrency_or_rate": "16",
    }  # fmt: skip
    return {**usual, **cells}


def answer_of(**cells: str) -> Answer:
    return answers([row(**cells)], calibration())[0]


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        ({"model": "lama-3.1-70b-chat"}, "lama-3.1"),
        ({"gpu": "H1000"}, "h100"),
        ({"gpu": "L4", "n_gpus": "1", "tp": "1"}, "does not fit"),
        ({"input_len": "long"}, "input_len is 'long'"),
        ({"output_len": ""}, "output_len is empty"),
        ({"precision": "fp7"}, "fp7"),
        ({"tp": "some"}, "tp4pp2"),
    ],
)
def test_a_row_that_cannot_be_worked_out_is_refused_with_the_reason(
    cells: dict[str, str], reason: str
) -> None:
    found = answer_of(**cells)
    assert found.refused is not None
    assert reason in found.refused
    assert not found.estimates


def test_a_refusal_names_the_smallest_count_that_fits() -> None:
    refused = answer_of(n_gpus="1", tp="1", precision="bf16").refused or ""
    assert "GiB" in refused
    assert "2" in refused.rsplit("smallest count", 1)[1]


def test_what_is_not_stated_is_chosen() -> None:
    """No layout: the best that fits; no precision: the narrowest that the accelerator computes in."""
    open_row = answer_of(group="mlperf_offline", tp="", precision="?", concurrency_or_rate="", n_gpus="8")
    stated = answer_of(group="mlperf_offline", tp="8", precision="fp8", concurrency_or_rate="", n_gpus="8")
    assert open_row.estimates["output_tok_s_per_gpu"].value >= stated.estimates["output_tok_s_per_gpu"].value
    wide, narrow = open_row.estimates["output_tok_s_per_gpu"], stated.estimates["output_tok_s_per_gpu"]
    assert wide.high / wide.low > narrow.high / narrow.low


def test_bands_hold_the_estimate_and_are_wider_for_unseen_families() -> None:
    seen, unseen = answer_of(), answer_of(gpu="MI300X")
    assert (seen.tier, unseen.tier) == ("model", "family")
    for answer in (seen, unseen):
        for estimate in answer.estimates.values():
            assert estimate.low < estimate.value < estimate.high


def test_an_anchor_moves_the_estimates_of_its_deployment_and_no_others() -> None:
    table = [row(), row(row_id="2", concurrency_or_rate="64"), row(row_id="3", gpu="H200")]
    plain = answers(table, calibration())
    measured = {**row(), "tpot_ms": str(plain[0].estimates["tpot_ms"].value * 1.5)}
    moved = answers(table, calibration(), [measured])
    for at in (0, 1):
        assert moved[at].estimates["tpot_ms"].value == pytest.approx(
            1.5 * plain[at].estimates["tpot_ms"].value
        )
        assert moved[at].tier == "anchor"
    assert moved[2] == plain[2]
    assert moved[0].estimates["ttft_ms"] == plain[0].estimates["ttft_ms"]


@given(order=st.permutations(range(6)))
@settings(max_examples=10, deadline=None)
def test_the_order_of_rows_does_not_matter(order: list[int]) -> None:
    table = [row(row_id=str(n), concurrency_or_rate=str(2**n)) for n in range(5)] + [
        row(row_id="5", gpu="none")
    ]
    usual = {answer.row_id: answer for answer in answers(table, calibration())}
    assert {a.row_id: a for a in answers([table[n] for n in order], calibration())} == usual
