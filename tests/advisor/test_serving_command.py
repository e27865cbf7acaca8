"""``advisor serving``: a table in, estimates with bands out."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from advisor.cli import Failure, cli

HEADER = "row_id,group,model,precision,gpu,n_gpus,tp,engine,input_len,output_len,concurrency_or_rate\n"
SERVED = "a,aic_agg,llama-3.1-70b,fp8/?,H200,4,tp4dp1moetp4ep1,vllm,1024,1024,16\n"
SINGLE = "b,single_stream,llama-3-8b,q4_k_m/f16,4090 24GB,1,1,llama.cpp,1024,1024,1\n"
FULL = "c,saturated,llama-3.3-70b,fp8/fp8,H100,4,4,TensorRT-LLM 1.0,1000,1000,inf\n"
TOO_LARGE = "d,saturated,llama-3.1-405b,fp8/fp8,H100,1,1,TensorRT-LLM 1.0,1000,1000,inf\n"


def run(tmp_path: Path, table: str, *options: str) -> Result:
    path = tmp_path / "table.csv"
    path.write_text(table, "utf-8")
    return CliRunner().invoke(cli, ["serving", str(path), *options])


def test_each_row_has_the_quantities_of_its_group(tmp_path: Path) -> None:
    result = run(tmp_path, HEADER + SERVED + SINGLE + FULL + TOO_LARGE, "--json", "-")
    assert result.exit_code == 0
    served, single, full, refused = json.loads(result.output)["rows"]
    assert {"tpot_ms", "ttft_ms", "output_tok_s_per_gpu", "prefill_tok_s"} <= served.keys()
    assert single["output_tok_s_per_gpu"] == pytest.approx(1e3 / single["tpot_ms"], rel=1e-4)
    assert "tpot_ms" not in full
    assert full["output_tok_s_per_gpu_low"] < full["output_tok_s_per_gpu"] < full["output_tok_s_per_gpu_high"]
    assert refused["row_id"] == "d"
    assert "does not fit" in refused["refused"]
    assert "output_tok_s_per_gpu" not in refused


def test_table_on_the_terminal(tmp_path: Path) -> None:
    result = run(tmp_path, HEADER + SERVED + TOO_LARGE)
    assert "llama-3.1-70b on 4 x H200" in result.stdout
    assert "refused d" in result.stderr


def test_all_refused_is_no_success(tmp_path: Path) -> None:
    assert run(tmp_path, HEADER + TOO_LARGE, "--json", "-").exit_code == 3


@pytest.mark.parametrize(
    ("table", "code", "words"),
    [("model,gpu\nx,y\n", 2, "input_len"), (HEADER, 3, "no rows"), ("", 2, "no column")],
)
def test_a_table_that_is_none(tmp_path: Path, table: str, code: int, words: str) -> None:
    result = run(tmp_path, table)
    assert isinstance(result.exception, Failure | SystemExit)
    assert words in result.output
    assert result.exit_code in {1, code}  # click's runner does not know our codes


def test_an_anchor_narrows_the_band(tmp_path: Path) -> None:
    anchor = tmp_path / "anchor.csv"
    anchor.write_text(HEADER.strip() + ",tpot_ms\n" + SERVED.strip() + ",20\n", "utf-8")
    result = run(tmp_path, HEADER + SERVED, "--json", "-", "--anchor", str(anchor))
    (row,) = json.loads(result.output)["rows"]
    assert row["tpot_ms"] == pytest.approx(20, rel=1e-4)
    assert "anchor" in row["band"]
