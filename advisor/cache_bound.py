"""What a cache could do for a log that counts tokens and names no prompt: no more than its sizes and times allow."""

from collections.abc import Mapping
from typing import Any

from pricing.cache_rules import CacheRule
from workloads.arrivals import SLOT_SECONDS

_FEWEST = 10
"""Requests that tell whether a workload's prompts are all of one size."""


def most_common(
    rule: CacheRule,
    seconds: int,
    shortest_tokens: int,
    arrivals: Mapping[Any, Any] | None,
    *,
    are_equal: bool,
) -> tuple[tuple[int, int], str]:
    """Return tokens that are read and written at most, and how that is known.

    No more can be common to all prompts of a workload than its shortest ones hold. An entry is written at most once in
    each slot of its lifetime that has requests.

    Args:
        rule: What the provider caches.
        seconds: Lifetime of an entry.
        shortest_tokens: Size of the workload's shortest prompts.
        arrivals: Its row of ``workloads.arrivals.arrivals``; None: nothing is known.
        are_equal: Whether all its prompts have that size.
    """
    slots = [slot for slot in SLOT_SECONDS if slot <= seconds]
    eligible = rule.eligible_tokens(shortest_tokens)
    if not slots or not eligible or arrivals is None:
        return (0, 0), ""
    written = int(arrivals[f"slots_{max(slots)}"])
    reads = eligible * (int(arrivals["requests"]) - written)
    whose = "all prompts have" if are_equal else "the shortest prompts have"
    basis = f"{whose} {shortest_tokens:,} tokens; requests in {written:,} slots of {max(slots):,} s"
    return (reads, eligible * written), basis


def of_one_size(sizes: Any) -> frozenset[str]:
    """Return the workloads whose prompts all have one number of tokens: what differs hardly has, so they are one text.

    Args:
        sizes: See ``workloads.sizes.size_quantiles``.
    """
    if "input_tokens_p01" not in sizes.columns:
        return frozenset()
    equal = (sizes["input_tokens_p01"] == sizes["input_tokens_p99"]) & (sizes["requests"] >= _FEWEST)
    return frozenset(map(str, sizes.loc[equal, "workload"]))
