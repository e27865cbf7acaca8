"""Reuse of cached blocks as arrays: what a cache of some size, or of some lifetime, would have had.

Both answer for all accesses at once. An access is one block of one request; requests are numbered in the order of their
arrival, and the blocks of a request lie together.
"""

from typing import Any

import numpy as np

Array = Any
"""numpy arrays; their element types and meaning are stated where they appear."""


def reuse_distances(block: Array, request: Array) -> Array:
    """Return how many other blocks a cache must hold for each access to find its block; -1 where it is the first.

    A least-recently-used cache of C blocks has the block of an access exactly when its distance is below C. A request
    looks all of its blocks up first and then touches them from the deepest to the first, so that of one prefix the
    beginning stays longest.

    Args:
        block: Which block is read; integers, by request and depth.
        request: Number of the request, ascending.

    Returns:
        int64, by access.
    """
    count = len(block)
    distance = np.full(count, -1, dtype=np.int64)
    if not count:
        return distance
    starts = np.flatnonzero(np.r_[True, np.diff(request) != 0])
    sizes = np.diff(np.r_[starts, count])
    first = np.repeat(starts, sizes)  # where the request of each access begins
    # The order of touches: requests as they came, within one from the deepest block to the first.
    place = 2 * first + np.repeat(sizes, sizes) - 1 - np.arange(count)
    touched = np.empty(count, dtype=np.int64)  # block by place
    touched[place] = block
    before = _previous(touched)  # place of the same block's touch before, by place
    mine = before[place]
    known = mine >= 0
    # Blocks that lay one behind the other in an earlier request, and still do, are one further away each: only the
    # first of such a run is counted out.
    follows = np.r_[False, known[1:] & known[:-1] & (mine[1:] == mine[:-1] - 1) & (first[1:] == first[:-1])]
    heads = np.flatnonzero(known & ~follows)
    # Blocks touched since: all touches since, less those that repeat a block of since.
    since = first[heads] - mine[heads] - 1 - _count_above(before, first[heads], mine[heads])
    run = np.cumsum(known & ~follows) - 1
    distance[known] = since[run[known]] + (np.arange(count)[known] - heads[run[known]])
    return distance


def written_anew(block: Array, at: Array, lifetime: float) -> Array:
    """Return which accesses find no living entry, when an entry lives a fixed time from its writing.

    Args:
        block: Which block is read; integers. Accesses of one block lie together, in the order of time.
        at: When, in any unit.
        lifetime: An entry of age ``lifetime`` is still there, an older one is not; same unit.

    Returns:
        bool, by access: true where the block has to be written.
    """
    count = len(block)
    written = np.zeros(count, dtype=bool)
    if not count:
        return written
    starts = np.flatnonzero(np.r_[True, np.diff(block) != 0])
    ends = np.r_[starts[1:], count]
    owner = np.repeat(np.arange(len(starts)), ends - starts)
    # One ascending axis of all groups: each group's times, moved behind those of the group before.
    span = float(at.max() - at.min()) + float(lifetime) + 1.0
    axis = owner * span + (at - at.min())
    heads = starts
    while len(heads):
        written[heads] = True
        following = np.searchsorted(axis, axis[heads] + lifetime, side="right")
        alive = following < ends[owner[heads]]
        heads = following[alive]
    return written


def _previous(values: Array) -> Array:
    """Return the place of the last equal value before each, or -1."""
    order = np.argsort(values, kind="stable")
    previous = np.full(len(values), -1, dtype=np.int64)
    same = values[order[1:]] == values[order[:-1]]
    previous[order[1:][same]] = order[:-1][same]
    return previous


def _count_above(values: Array, ends: Array, limits: Array) -> Array:
    """Return, for each query, how many of the first ``ends`` values are above its limit.

    A wavelet matrix (Claude, Navarro, Ordonez 2015): the values are sorted bit by bit, from the highest; a query follows
    its limit through the bits, and counts what leaves upwards. All queries go through a level at once.
    """
    shifted, wanted = values + 1, limits + 1  # from 0
    low, high = np.zeros_like(ends), ends.copy()
    above = np.zeros(len(ends), dtype=np.int64)
    for bit in range(max(1, len(values).bit_length()) - 1, -1, -1):
        ones = (shifted >> bit) & 1
        rank = np.r_[0, np.cumsum(ones)]  # ones before each place
        zeros = len(values) - int(rank[-1])
        ones_low, ones_high = rank[low], rank[high]
        up = ((wanted >> bit) & 1).astype(bool)
        above += np.where(up, 0, ones_high - ones_low)
        low = np.where(up, zeros + ones_low, low - ones_low)
        high = np.where(up, zeros + ones_high, high - ones_high)
        shifted = np.concatenate([shifted[ones == 0], shifted[ones == 1]])
    return above
