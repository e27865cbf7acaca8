"""Reuse as arrays, against plain simulations of the caches that they stand for."""

from collections import OrderedDict

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from workloads.reuse import reuse_distances, written_anew

# A prompt is a path in a tree, so that equal blocks have equal beginnings.
paths = st.lists(st.integers(0, 2), min_size=1, max_size=5)
logs = st.lists(paths, min_size=1, max_size=25)


def named(path: list[int]) -> list[int]:
    """The number of every node on the way."""
    node, names = 0, []
    for step in path:
        node = node * 3 + step + 1
        names.append(node)
    return names


@settings(deadline=None, derandomize=True)
@given(log=logs, capacity=st.integers(1, 12))
def test_a_block_is_there_exactly_when_its_distance_is_below_the_capacity(
    log: list[list[int]], capacity: int
) -> None:
    prompts = [named(path) for path in log]
    held: OrderedDict[int, None] = OrderedDict()
    expected: list[bool] = []
    for prompt in prompts:
        expected += [block in held for block in prompt]
        for block in reversed(prompt):
            held[block] = None
            held.move_to_end(block)
            while len(held) > capacity:
                held.popitem(last=False)
    block = np.array([name for prompt in prompts for name in prompt])
    request = np.array([number for number, prompt in enumerate(prompts) for _ in prompt])
    distance = reuse_distances(block, request)
    assert ((distance >= 0) & (distance < capacity)).tolist() == expected


@settings(deadline=None, derandomize=True)
@given(
    accesses=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 30)), max_size=40),
    lifetime=st.integers(0, 12),
)
def test_an_entry_lives_from_its_writing_whatever_reads_it(
    accesses: list[tuple[int, int]], lifetime: int
) -> None:
    accesses = sorted(accesses)
    written: dict[int, int] = {}
    expected: list[bool] = []
    for name, at in accesses:
        anew = name not in written or at - written[name] > lifetime
        expected.append(anew)
        if anew:
            written[name] = at
    block = np.array([name for name, _ in accesses], dtype=np.int64)
    at = np.array([when for _, when in accesses], dtype=np.float64)
    assert written_anew(block, at, lifetime).tolist() == expected


def test_nothing_has_no_reuse() -> None:
    empty = np.zeros(0, dtype=np.int64)
    assert len(reuse_distances(empty, empty)) == 0
    assert len(written_anew(empty, empty.astype(float), 5)) == 0
