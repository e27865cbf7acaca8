"""``advisor phases``: bounds and estimates in words and numbers, on accelerators and models of the test's own."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from advisor.cli import Failure, cli

MODEL = """[[model]]
id = "acme/forty"
family = "acme"
total_params_b = 20.2
active_params_b = 20.0
active_matmul_b = 20.0
n_layers = 40
n_full_attention_layers = 40
hidden_size = 8192
intermediate_size = 16384
n_heads = 64
n_kv_heads = 8
head_dim = 128
attention_type = "GQA"
kv_bytes_per_token_bf16 = 163840
vocab_size = 32000
tied_embeddings = "no"
max_context = 32768
released = "2026"
licence = "mit"
source = "test"
verified = "yes"
mlp_matrices = 3
"""
CARD = """[[accelerator]]
id = "slab"
vendor = "Acme"
name = "Slab"
form = "PCIe"
memory_gb = 80
memory_bandwidth_gb_s = 1200
bf16_dense_tflops = {tflops}
source = "test"
verified = "yes"
"""


def phases(folder: Path, *arguments: str, tflops: int = 100) -> Result:
    models, cards = folder / "models.toml", folder / "cards.toml"
    models.write_text(MODEL)
    cards.write_text(CARD.format(tflops=tflops))
    return CliRunner().invoke(
        cli,
        ["phases", *arguments, "--models", str(models), "--accelerators", str(cards)],
        standalone_mode=False,
    )


def failure(result: Result) -> tuple[int, str]:
    assert isinstance(result.exception, Failure)
    return result.exception.code, result.exception.message


def document(folder: Path, *arguments: str, tflops: int = 100) -> dict[str, Any]:
    result = phases(
        folder, "acme/forty", "slab", "--precision", "bf16", "--json", "-", *arguments, tflops=tflops
    )
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.mark.parametrize("tflops", [10, 100, 10_000])
def test_40_gb_of_weights_at_1_2_tb_s_are_30_tokens_a_second_whatever_the_compute(
    tmp_path: Path, tflops: int
) -> None:
    found = document(tmp_path, "--input-tokens", "1", "--output-tokens", "1", tflops=tflops)["one_sequence"]
    assert found["decode"]["weight_bytes_per_gpu"] == 40e9
    assert found["decode"]["bound_tokens_per_second"] == pytest.approx(30, rel=0.001)
    assert found["decode"]["bound_by"] == "bandwidth"


def test_the_words_state_the_bound_and_what_keeps_the_estimate_from_it(tmp_path: Path) -> None:
    result = phases(tmp_path, "acme/forty", "slab", "--precision", "bf16", "--batch", "8")
    assert result.exit_code == 0, result.output
    for words in (
        "acme/forty in bf16 on 1 x Slab (TP1, vllm, the fewest that hold it)",
        "1.2 TB/s over 40.4 GB is 29.7 tokens/s for one sequence, whatever the arithmetic",
        "8 sequences x 2,150 tokens of context",
        "by bandwidth",
        "launches and the engine's own work, layer by layer",
        "RIDGE POINT: 83 FLOPs a byte",
        "twice the FLOPs",
    ):
        assert words in result.stdout, (words, result.stdout)


def test_each_change_acts_on_its_phase(tmp_path: Path) -> None:
    found = document(tmp_path, "--batch", "8")
    base, changes = found["as_asked"], {one["change"]: one for one in found["changes"]}

    def times(change: str, phase: str, figure: str = "tokens_per_second") -> float:
        return changes[change][phase][figure] / base[phase][figure]

    assert times("twice the FLOPs", "prefill") > 1.7
    assert times("twice the FLOPs", "decode") < 1.05
    assert times("twice the bandwidth", "prefill") < 1.05
    assert times("twice the bandwidth", "decode") > 1.5
    assert times("batch 32", "decode") > 2
    assert times("batch 32", "prefill") < 1.05
    assert times("weights in int4", "decode") > 2
    assert times("weights in int4", "prefill") == pytest.approx(1, abs=0.02)
    assert changes["weights in int4"]["note"] == "multiplied in 16 bits"
    assert times("4 x the context", "prefill") < 1
    assert times("4 x the context", "decode") < 1


def test_a_batch_that_does_not_fit_is_cut_and_said(tmp_path: Path) -> None:
    result = phases(
        tmp_path, "acme/forty", "slab", "--precision", "bf16", "--input-tokens", "16000", "--batch", "64"
    )
    held = document(tmp_path, "--input-tokens", "16000", "--batch", "64")["as_asked"]["batch"]
    assert 1 < held < 64
    assert f"{held} sequences decoded together (of 64 asked for: no more fit)" in result.stdout


def test_what_does_not_fit_is_refused_with_the_budget(tmp_path: Path) -> None:
    result = phases(tmp_path, "acme/forty", "rtx-4090", "--gpus", "1", "--precision", "bf16")
    code, message = failure(result)
    assert code == 3
    assert "short by" in message
    assert "smallest count that holds one is 2" in message


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("acme/fourty", "slab"), ("No open model is called 'acme/fourty'", "acme/forty", "config.json")),
        (("acme/forty", "slob"), ("No accelerator is called 'slob'", "slab", "bf16_dense_tflops")),
        (("acme/forty", "slab", "--layout", "sideways"), ("Layout 'sideways' is not known", "tp4")),
        (("acme/forty", "slab", "--precision", "fp3"), ("Precision 'fp3' is not known", "bf16")),
        (
            ("acme/forty", "slab", "--layout", "P1xtp4dp1+D2xtp4dp1"),
            ("Pools for prefill and decode", "give one of them"),
        ),
    ],
)
def test_unknown_names_are_answered_with_near_ones(
    tmp_path: Path, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    code, message = failure(phases(tmp_path, *arguments))
    assert code == 2
    assert all(word in message for word in words), message


def test_a_config_json_is_a_model(tmp_path: Path) -> None:
    config = {
        "model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32,
        "num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 128256,
        "max_position_embeddings": 131072, "architectures": ["LlamaForCausalLM"],
    }  # fmt: skip
    path = tmp_path / "config.json"
    path.write_text(json.dumps(config))
    result = phases(tmp_path, str(path), "slab", "--json", "-")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["kv_bytes_per_token"] == 131_072
