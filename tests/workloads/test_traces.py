"""Published request traces, where they are at hand: sums and percentiles that others know too."""

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from workloads.cache_replay import (
    UNLIMITED,
    Accesses,
    capacity_hits,
    find_accesses,
    refreshed_hits,
    store_hits,
    written_hits,
)
from workloads.cube import prepare
from workloads.grouping import Grouping
from workloads.load import LoadOptions, load
from workloads.period import Period
from workloads.relations import connect
from workloads.sizes import size_quantiles

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


AGENT_LIFETIMES = (60, 300, 600, 3_600, UNLIMITED)
FAMILIES = {"opus": ("5", "25"), "sonnet": ("3", "15"), "haiku": ("1", "5")}
"""USD a million tokens of prompts and answers; a read is a tenth of a prompt, a write 1.25 or 2 times."""
LARGE_MINIMUM = ("claude-opus-4-5", "claude-opus-4-6", "claude-haiku-4-5")
"""They cache from 4,096 tokens on."""


@pytest.fixture(scope="module")
def agents() -> Any:
    """Sums by model of the coding-agent traces: ``whole, out``, and ``h<n>`` and ``m<n>`` by lifetime."""
    path = TRACES / "claude-code-weka" / "traces.tar.gz"
    if not path.is_file():
        pytest.skip(f"the traces are not at {path}")
    connection = connect()
    ledger = load(connection, [str(path)], LoadOptions(prefixes=True)).ledger
    accesses = find_accesses(connection, ledger)
    assert accesses is not None
    hits = store_hits(connection, accesses, AGENT_LIFETIMES)
    rows = (
        accesses.table.select("request", "log_row", "whole").left_join(hits, "request").drop("request_right")
    )
    rows = rows.join(ledger.select("log_row", "model", "output"), "log_row")
    least = rows.model.re_search("|".join(LARGE_MINIMUM)).ifelse(4_096, 1_024)
    sums = {}
    for place in range(len(AGENT_LIFETIMES)):
        hit = rows[f"h{place}"].fill_null(0)
        sums |= {f"h{place}": hit.sum(), f"m{place}": hit.sum(where=hit >= least)}
    frame = rows.group_by("model").agg(whole=rows.whole.sum(), out=rows.output.sum(), **sums)
    return connection.execute(frame).to_dict("records")


def spent_usd(rows: Any, hits: str, write: str) -> Decimal:
    total = Decimal(0)
    for row in rows:
        plain, answer = next(tuple(map(Decimal, FAMILIES[name])) for name in FAMILIES if name in row["model"])
        read = 0 if not hits else int(row[hits])
        written = (int(row["whole"]) - read) * plain * Decimal(write)
        total += (written + read * plain / 10 + int(row["out"]) * answer) / 10**6
    return total


def test_lifetimes_on_the_coding_agent_traces(agents: Any) -> None:
    found = [sum(int(row[f"h{place}"]) for row in agents) for place in range(len(AGENT_LIFETIMES))]
    assert found == [4_755_965_952, 5_529_369_024, 5_647_996_288, 5_793_613_440, 5_815_020_032]
    assert sum(int(row["whole"]) for row in agents) == 6_037_445_403


def test_dollars_of_the_coding_agent_traces(agents: Any) -> None:
    """Published to the cent: $24,641.40 without a cache, $5,178.28 with five minutes, $4,670.81 with an hour.

    These are exact for a cache without a minimum. What we say of it is a few cents more, since a hit under the minimum of its
    model (4,096 tokens, or 1,024) is none: 18,496 tokens are written instead of read at five minutes, 28,224 at an hour.
    """
    assert spent_usd(agents, "", "1") == Decimal("24641.402727")
    assert spent_usd(agents, "h1", "1.25") == Decimal("5178.28096615")
    assert spent_usd(agents, "h3", "2") == Decimal("4670.8140004")
    assert [sum(int(row[f"h{n}"] - row[f"m{n}"]) for row in agents) for n in (1, 3)] == [18_496, 28_224]
    assert spent_usd(agents, "m1", "1.25") == Decimal("5178.36788775")
    assert spent_usd(agents, "m3", "2") == Decimal("4671.047594")
