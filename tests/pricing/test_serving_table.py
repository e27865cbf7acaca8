"""Rows of a table of deployments: what they leave out is filled in as people run it, and what cannot be read is named."""

from dataclasses import replace

import pytest

from pricing.accelerators import accelerator
from pricing.open_models import open_model
from pricing.serving_table import RowError, cases_of, default_precision

ROW = {
    "row_id": "a", "group": "", "model": "llama-3.1-70b", "gpu": "h100-sxm", "n_gpus": "4", "engine": "vllm",
    "precision": "fp8", "input_len": "2000", "output_len": "300", "concurrency_or_rate": "32", "parallelism": "",
}  # fmt: skip


def test_a_row_is_one_deployment() -> None:
    (case,) = cases_of(ROW)
    assert (case.row_id, case.deployment.precision, case.deployment.layout.shard.tp) == ("a", "fp8", 4)
    assert (case.load.input_tokens, case.load.output_tokens, case.load.concurrency) == (2_000, 300, 32)


def test_one_accelerator_where_no_number_is_stated() -> None:
    (case,) = cases_of(ROW | {"n_gpus": " ", "model": "llama-3.1-8b"})
    assert case.deployment.layout.shard.tp == 1


def test_prompts_that_a_benchmark_does_not_state() -> None:
    stated = cases_of(ROW | {"group": "mlperf-offline", "model": "llama-3.1-8b", "input_len": ""})
    assert {case.load.input_tokens for case in stated} == {778}
    with pytest.raises(RowError, match="input_len"):
        cases_of(ROW | {"input_len": ""})


@pytest.mark.parametrize("text", ["-5", "0", "many"])
def test_a_size_that_is_no_number_above_0_is_named(text: str) -> None:
    with pytest.raises(RowError, match="output_len"):
        cases_of(ROW | {"output_len": text})


def test_a_row_without_a_model_is_named() -> None:
    with pytest.raises(RowError, match="model is empty"):
        cases_of(ROW | {"model": "n/a"})


def test_precisions_that_people_take() -> None:
    model = replace(open_model("llama-3.1-70b"), native_precision="bf16")
    assert default_precision(replace(model, native_precision="mxfp4"), accelerator("h100-sxm")) == "fp4"
    assert default_precision(model, accelerator("b200")) == "fp4"
    assert default_precision(model, accelerator("h100-sxm")) == "fp8"
    assert default_precision(model, accelerator("a100-sxm-80gb")) == "bf16"
    (case,) = cases_of(ROW | {"precision": "?"})
    assert case.deployment.precision == default_precision(open_model(ROW["model"]), accelerator(ROW["gpu"]))
