"""Published request traces, where they are at hand: sums and percentiles that others know too."""

from pathlib import Path
from typing import Any

import pytest

from workloads.cube import prepare, size_quantiles
from workloads.grouping import Grouping
from workloads.load import LoadOptions, load
from workloads.period import Period
from workloads.relations import connect

TRACES = Path(__file__).parents[2].parent / "shared" / "data" / "traces"
WHOLE = Grouping(("source",), "")


@pytest.mark.parametrize(
    ("name", "rows", "sums", "prompt", "answer"),
    [
        (
            "azure/AzureLLMInferenceTrace_code.csv",
            8_819,
            (18_059_974, 245_896),
            (2047.848, 1469, 5187.6, 7436),
            (27.883, 13, 55, 251.46),
        ),
        (
            "azure/AzureLLMInferenceTrace_conv.csv",
            19_366,
            (22_361_870, 4_088_665),
            (1154.697, 1020, 2734.5, 4142),
            (211.126, 129, 424, 601),
        ),
        (
            "mooncake/conversation_trace.jsonl",
            12_031,
            (144_793_823, 4_122_048),
            (12035.06, 6909, 27367, 85400.4),
            (342.619, 350, 597, 1118.5),
        ),
        (
            "vidur/arxiv_summarization_stats_llama2_tokenizer_filtered_v2.csv",
            28_257,
            (73_131_321, 8_234_948),
            (2588.08, 2730, 3702, 3933.4),
            (291.43, 167, 372, 3271.3),
        ),
        (
            "sarathi/sharegpt_8k_filtered_stats_llama2_tokenizer.csv",
            30_731,
            (71_911_571, 13_481_988),
            (2340.03, 1730, 5696, 7433.7),
            (438.71, 415, 834, 998),
        ),
    ],
)
def test_sums_and_percentiles(
    name: str, rows: int, sums: tuple[int, int], prompt: tuple[float, ...], answer: tuple[float, ...]
) -> None:
    path = TRACES / name
    if not path.is_file():
        pytest.skip(f"the trace {name} is not at hand")
    connection = connect()
    loaded = load(connection, [str(path)], LoadOptions())
    assert loaded.report.rows() == loaded.report.rows("record") == rows
    records = prepare(connection, loaded.ledger, Period())
    totals = connection.execute(
        records.agg(prompt=records.input_tokens.sum(), answer=records.output_tokens.sum())
    ).iloc[0]
    assert (int(totals["prompt"]), int(totals["answer"])) == sums
    (sizes,) = size_quantiles(connection, records, WHOLE).to_dict("records")
    for what, expected in (("input_tokens", prompt), ("output_tokens", answer)):
        for label, value in zip(("mean", "p50", "p90", "p99"), expected, strict=True):
            got: Any = sizes[f"{what}_{label}"]
            assert got == pytest.approx(value, abs=0.06), f"{what} {label}"
    connection.disconnect()
