"""Layouts as benchmarks and engines write them."""

import pytest

from pricing.layouts import Layout, UnknownLayoutError, parse_layout
from pricing.memory import Sharding


@pytest.mark.parametrize(
    ("label", "n_gpus", "expected"),
    [
        ("4", 4, Layout(shard=Sharding(tp=4))),
        ("2 (inferred)", 8, Layout(shard=Sharding(tp=2), replicas=4)),
        ("", 8, Layout(shard=Sharding(tp=8))),
        ("TP4", 4, Layout(shard=Sharding(tp=4))),
        ("tp4pp2", 8, Layout(shard=Sharding(tp=4, pp=2))),
        ("pp2", 2, Layout(shard=Sharding(pp=2))),
        ("DEP8", 8, Layout(shard=Sharding(dp=8), spread_experts=True)),
        ("tp8dp1moetp8ep1", 8, Layout(shard=Sharding(tp=8))),
        ("tp1dp8moetp1ep8", 8, Layout(shard=Sharding(dp=8), spread_experts=True)),
        ("layer-split x4", 4, Layout(shard=Sharding(pp=4), layer_split=True)),
        (
            "P1xtp4dp1+D2xtp8dp1",
            20,
            Layout(shard=Sharding(tp=8), replicas=2, prefill=Sharding(tp=4), prefill_replicas=1),
        ),
    ],
)
def test_labels(label: str, n_gpus: int, expected: Layout) -> None:
    assert parse_layout(label, n_gpus) == expected
    assert expected.n_gpus == n_gpus


def test_ranks_that_a_converter_multiplied_are_read_as_the_engine_means_them() -> None:
    """SGLang's --tp 8 --ep 8 runs on 8; no machine of 8 could run 64 ranks."""
    assert parse_layout("tp64dp1moetp8ep8", 64).n_gpus == 8
    assert parse_layout("tp1dp64moetp8ep8", 64).shard == Sharding(dp=8)
    assert parse_layout("tp64dp1moetp8ep8", 64, literal=True).n_gpus == 64


@pytest.mark.parametrize("label", ["many", "tp0", "x4"])
def test_what_states_no_layout_is_refused_with_the_ways_to_write_one(label: str) -> None:
    with pytest.raises(UnknownLayoutError, match="tp4pp2"):
        parse_layout(label, 8)


def test_words() -> None:
    assert parse_layout("P1xtp4dp1+D2xtp8dp1").words == "1 x TP4 for prefill, 2 x TP8 for decode"
    assert parse_layout("1", 8).words == "8 x TP1"
    assert parse_layout("layer-split x2").words == "layers split over 2"
