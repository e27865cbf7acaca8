"""What the hardware allows at best, before any calibration: the bounds of both phases and the point where they meet.

A bound is not a forecast. It leaves out launches, communication and everything that is not reached of a peak; a measured
speed is below it (``pricing.phase_study`` says how far and why).
"""

from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from pricing.deployment import Floats, Setups
from pricing.efficiency import Efficiency
from pricing.phases import (
    decode_arithmetic_seconds,
    decode_memory_seconds,
    prefill_arithmetic_seconds,
    prefill_memory_seconds,
)

Bound = Literal["bandwidth", "arithmetic"]

_ONE: Final = np.ones(1)
_NOTHING: Final = np.zeros(1)
IDEAL: Final = Efficiency(
    bandwidth_share=_ONE,
    arithmetic_share=_ONE,
    attention_share=1.0,
    link_share=1.0,
    layer_seconds=_NOTHING,
    prefill_layer_seconds=_NOTHING,
    step_seconds=_NOTHING,
    allreduce_seconds=0.0,
    exchange_seconds=0.0,
    node_factor=_ONE,
    decode_factor=_ONE,
    half_tokens=_NOTHING,
    routing_skew=1.0,
    expert_read_factor=1.0,
    mix=_ONE,
    wait_share=_NOTHING,
    wait_power=_ONE,
    first_token_seconds=_NOTHING,
    first_token_steps=0.0,
    pool_share=0.0,
    most_sequences=float("inf"),
)
"""Every peak reached and nothing fixed: with it the formulas of ``pricing.phases`` give bounds."""


def decode_bound_tokens_per_second(bytes_per_step: float, bytes_per_second: float, batch: float = 1) -> float:
    """An upper bound of decode, not a forecast: a step reads so many bytes and gives each sequence of the batch a token.

    Args:
        bytes_per_step: Weights that a token uses (active ones, not all of a sparse model) and the cache of the batch.
        bytes_per_second: Memory bandwidth.
        batch: Sequences that share the step.

    Source: Pope et al., arXiv 2211.05102, section 2.1.
    Ignores: arithmetic, which does not matter before the ridge point.
    """
    return batch * bytes_per_second / bytes_per_step


def prefill_bound_tokens_per_second(flops_per_token: float, flops_per_second: float) -> float:
    """An upper bound of prefill, not a forecast: each token of a prompt is multiplied by all active weights.

    Source: Kaplan et al., arXiv 2001.08361, table 1: 2 FLOPs a parameter and token.
    Ignores: attention over the context, and memory, which does not matter beyond some hundred tokens.
    """
    return flops_per_second / flops_per_token


def ridge_flops_per_byte(flops_per_second: float, bytes_per_second: float) -> float:
    """FLOPs that must be done with each byte for arithmetic to be the limit; below, memory is.

    Source: Williams et al., "Roofline", CACM 52(4), 2009.
    """
    return flops_per_second / bytes_per_second


def ridge_batch(bytes_per_parameter: float, flops_per_byte: float) -> float:
    """The batch from which multiplying by weights takes longer than reading them: each byte serves 2 x batch FLOPs a value.

    Ignores: the cache, which grows with the batch and may keep decode bound by bandwidth for good (``crossing``).
    """
    return flops_per_byte * bytes_per_parameter / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Bounds of deployments under loads, as columns. Bytes are of one accelerator and one step.

    Attributes:
        weight_bytes: That a decode step reads, whatever arithmetic there is.
        cache_bytes: Keys and values of the batch that it reads.
        decode_memory_seconds, decode_arithmetic_seconds: Of a step, each alone at its peak.
        decode_tokens_per_second: Of one replica.
        prefill_memory_seconds, prefill_arithmetic_seconds: Of one prompt.
        prefill_tokens_per_second: Of one replica whose prompts are many, so that reading the weights does not matter.
    """

    weight_bytes: Floats
    cache_bytes: Floats
    decode_memory_seconds: Floats
    decode_arithmetic_seconds: Floats
    decode_tokens_per_second: Floats
    prefill_memory_seconds: Floats
    prefill_arithmetic_seconds: Floats
    prefill_tokens_per_second: Floats

    @property
    def step_seconds(self) -> Floats:
        """The longer of reading and multiplying: the two may go on at once."""
        return np.maximum(self.decode_memory_seconds, self.decode_arithmetic_seconds)

    @property
    def prompt_seconds(self) -> Floats:
        """The same for one prompt."""
        return np.maximum(self.prefill_memory_seconds, self.prefill_arithmetic_seconds)


def bounds(s: Setups, batch: Floats) -> Bounds:
    """The bounds of deployments that decode ``batch`` sequences together on a replica."""
    memory = decode_memory_seconds(s, IDEAL, batch)
    arithmetic = decode_arithmetic_seconds(s, IDEAL, batch)
    cache = np.maximum(batch / s.pp / s.dp, 1.0) * s.kv_mean_bytes
    prompt_memory = prefill_memory_seconds(s, IDEAL, s.input_tokens)
    prompt_arithmetic = prefill_arithmetic_seconds(s, IDEAL, s.input_tokens)
    return Bounds(
        weight_bytes=memory * s.bytes_per_second - cache,
        cache_bytes=cache,
        decode_memory_seconds=memory,
        decode_arithmetic_seconds=arithmetic,
        decode_tokens_per_second=batch / np.maximum(memory, arithmetic),
        prefill_memory_seconds=prompt_memory,
        prefill_arithmetic_seconds=prompt_arithmetic,
        prefill_tokens_per_second=s.input_tokens / prompt_arithmetic * s.prefill_dp,
    )


_BATCHES: Final = 2.0 ** np.arange(0, 17)


def crossing(s: Setups, at: int = 0) -> float | None:
    """The batch at which decode of one deployment becomes bound by arithmetic, with the cache of its load counted.

    Returns:
        The batch to the nearest whole sequence; None if more sequences bring more bytes than arithmetic for ever
        ("Mind the Memory Gap", arXiv 2503.08311: attention keeps a constant intensity, so long contexts never cross).
    """

    def lead(batch: float) -> float:
        column = np.full(len(s.family), batch)
        spent = decode_arithmetic_seconds(s, IDEAL, column) - decode_memory_seconds(s, IDEAL, column)
        return float(spent[at])

    above = next((float(batch) for batch in _BATCHES if lead(float(batch)) >= 0), None)
    if above is None or above == 1:
        return above
    low, high = above / 2, above
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if lead(middle) >= 0 else (middle, high)
    return high
