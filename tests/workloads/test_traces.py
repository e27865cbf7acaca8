"""Published request traces, where they are at hand: sums and percentiles that others know too."""

from pathlib import Path
from typing import Any

import pytest

from workloads.cache_replay import (
    UNLIMITED,
    Accesses,
    capacity_hits,
    find_accesses,
    refreshed_hits,
    written_hits,
)
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


@pytest.fixture(scope="module")
def mooncake() -> tuple[Any, Accesses]:
    path = TRACES / "mooncake" / "conversation_trace.jsonl"
    if not path.is_file():
        pytest.skip(f"the trace is not at {path}")
    connection = connect()
    accesses = find_accesses(connection, load(connection, [str(path)], LoadOptions(prefixes=True)).ledger)
    assert accesses is not None
    return connection, accesses


def test_lifetimes_on_the_conversation_trace(mooncake: tuple[Any, Accesses]) -> None:
    """Two recomputations by others agree on these integers."""
    connection, accesses = mooncake
    assert (accesses.requests, accesses.input_tokens, accesses.blocks) == (12_031, 144_793_823, 288_500)
    found = refreshed_hits(connection, accesses, [60, 300, 3600, UNLIMITED])
    assert {age: hits.hit_tokens for age, hits in found.items()} == {
        60: 15_257_089,
        300: 42_480_677,
        3600: 54_098_411,
        UNLIMITED: 54_098_411,
    }
    assert written_hits(connection, accesses, 300).hit_tokens == 36_674_557
    assert round(written_hits(connection, accesses, 60).ratio, 5) == 0.0952


def test_capacities_on_the_second_half_of_the_conversation_trace(mooncake: tuple[Any, Accesses]) -> None:
    """The output of kvcache-simulator 0.1.3, which warms its cache on the first half."""
    connection, accesses = mooncake
    expected = {
        1_000: 3_173_822,
        5_860: 9_288_691,
        10_000: 14_910_149,
        30_000: 23_347_784,
        50_000: 25_582_964,
        100_000: 26_635_636,
        10**9: 27_038_068,
    }
    found = capacity_hits(connection, accesses, list(expected), measure_last=0.5)
    assert {size: hits.hit_tokens for size, hits in found.items()} == expected
    assert {hits.input_tokens for hits in found.values()} == {67_915_607}
