"""The phase model: what prefill and decode take from the hardware. One function a formula, each with its source.

Prefill reads the prompt in parallel and is bound by arithmetic; decode writes one token at a time and is bound by memory
bandwidth, because every step reads the weights and the cached keys and values of every sequence. Both pay, layer by layer,
for launching kernels and for talking to the other ranks, and on fast accelerators that is often the larger part.

Arguments are columns (arrays of one length, or numbers): seconds, bytes, FLOPs, tokens. How much of a peak is reached and
what a layer costs comes from a calibration (``pricing.calibration``), never from here.
"""

from typing import Final

import numpy as np

from pricing.deployment import Floats, Setups
from pricing.efficiency import Efficiency

_NORM: Final = 1.5
"""Between adding two times that a resource each takes (1) and taking the longer one (infinite)."""


def overlapped(one_seconds: Floats, other_seconds: Floats) -> Floats:
    """The time of two things that partly overlap, such as reading weights and multiplying by them.

    Source: fitted; a p-norm of 1.5 left smaller errors on measured points than a maximum (perfect overlap) or a sum.
    """
    return (one_seconds**_NORM + other_seconds**_NORM) ** (1 / _NORM)


def touched_share(used_share: Floats, tokens: Floats, skew: float = 1.0) -> Floats:
    """The share of a layer's routed experts that a step with so many tokens reads.

    Source: expectation under independent, uniform routing, 1 - (1 - k/E)^tokens; ``skew`` below 1 stands for the
    preference of real routers, which send like tokens to like experts.
    Ignores: that preference beyond the one exponent, so identical prompts in a benchmark read fewer still.
    """
    return 1 - (1 - np.minimum(used_share, 1.0)) ** (np.maximum(tokens, 1.0) ** skew)


def weight_read_bytes(s: Setups, e: Efficiency, tokens: Floats, tp: Floats, dp: Floats) -> Floats:
    """Bytes of weights that one accelerator reads for a step with so many tokens in all.

    Attention and dense layers are shared by tensor ranks and copied to data-parallel groups; experts are shared by all.

    Source: Pope et al., arXiv 2211.05102, section 2.1, with experts by their expected number. Experts come in many small
    pieces, so their bytes count for more.
    """
    share = np.where(s.is_moe > 0, touched_share(s.used_share, tokens, e.routing_skew), 1.0)
    return s.dense_bytes / tp + s.expert_bytes * share / (tp * dp) * e.expert_read_factor


def allreduce_seconds(s: Setups, e: Efficiency, tokens: Floats, tp: Floats) -> Floats:
    """Two all-reduces a layer between tensor ranks: a latency, and twice (n-1)/n of the activations over the link.

    Source: ring all-reduce (Patarasuk and Yuan, 2009); Megatron-LM, arXiv 1909.08053: two a layer.
    Ignores: reductions inside the switch, and overlap with products.
    """
    moved = 2 * (tp - 1) / tp * tokens * s.hidden * 2.0
    one = e.allreduce_seconds + moved / (s.link_bytes_per_second * e.link_share)
    return np.where(tp > 1, 2 * s.layers * one, 0.0)


def expert_exchange_seconds(s: Setups, e: Efficiency, dp: Floats) -> Floats:
    """Sending tokens to experts on other ranks and back, in each mixture-of-experts layer: a latency.

    Ignores: the bytes, few in decode.
    """
    return np.where((s.spread_experts > 0) & (dp > 1), s.moe_layers * e.exchange_seconds, 0.0)


def decode_memory_seconds(s: Setups, e: Efficiency, batch: Floats) -> Floats:
    """What one decode step's reading takes: weights, shared by the batch, and each sequence's own keys and values.

    Source: Pope et al., arXiv 2211.05102, section 2.1.
    """
    # one stage works on its part of the batch while the others work on theirs
    batch = np.maximum(batch / s.pp, 1.0)
    one = np.maximum(batch / s.dp, 1.0)
    # a pool for decode runs latent attention data-parallel: each rank reads the cache of its own sequences alone
    shared = np.where((s.disaggregated > 0) & (s.is_mla > 0), s.tp, 1.0)
    moved = weight_read_bytes(s, e, batch, s.tp, s.dp) + one * s.kv_mean_bytes / shared
    return moved / (s.bytes_per_second * e.bandwidth_share)


def decode_arithmetic_seconds(s: Setups, e: Efficiency, batch: Floats) -> Floats:
    """What one decode step's products take: 2 FLOPs a parameter and token, 4 x width a layer, token and position of context.

    Source: Kaplan et al., arXiv 2001.08361, table 1.
    """
    ranks, batch = s.tp * s.dp, np.maximum(batch / s.pp, 1.0)
    context = s.cached_tokens + s.input_tokens + s.output_tokens / 2
    positions = s.full_layers * context + s.window_layers * np.minimum(context, s.window_tokens)
    products = 2 * s.active_params * batch / ranks / (s.flops_per_second * e.arithmetic_share)
    attention = (
        4 * s.attention_width * positions * batch / ranks / (s.wide_flops_per_second * e.attention_share)
    )
    return products + attention


def decode_fixed_seconds(s: Setups, e: Efficiency) -> Floats:
    """What one decode step costs whatever it reads: launches, layer by layer, and the engine's own work."""
    return s.layers * e.layer_seconds + e.step_seconds


def decode_talk_seconds(s: Setups, e: Efficiency, batch: Floats) -> Floats:
    """What the ranks of one decode step spend on each other."""
    one = np.maximum(np.maximum(batch / s.pp, 1.0) / s.dp, 1.0)
    talk = allreduce_seconds(s, e, one, s.tp) + expert_exchange_seconds(s, e, s.dp)
    return talk * e.node_factor


def decode_step_seconds(s: Setups, e: Efficiency, batch: Floats) -> Floats:
    """One decode step of one replica, in which each of ``batch`` sequences gets a token.

    Reading and arithmetic, partly at once, then the fixed costs and the communication.

    Ignores: sampling, and steps that also read prompts (see ``pricing.serving``).
    """
    work = overlapped(decode_memory_seconds(s, e, batch), decode_arithmetic_seconds(s, e, batch))
    return (work + decode_fixed_seconds(s, e) + decode_talk_seconds(s, e, batch)) * e.decode_factor


def prefill_arithmetic_seconds(
    s: Setups, e: Efficiency, tokens: Floats, prompts: Floats | float = 1.0
) -> Floats:
    """What the products of ``tokens`` of one prompt, or of several together, take.

    2 FLOPs a parameter and token, and 2 x width a layer and pair of positions for causal attention. Small prompts do not
    fill the accelerator: with ``half_tokens`` it reaches half of its share of the peak.

    Source: Kaplan et al., arXiv 2001.08361, table 1; Korthikanti et al., arXiv 2205.05198, appendix A.
    """
    tp = s.prefill_tp
    # twice the positions that a token looks at on average: all that is cached, and half of what is computed with it
    seen = 2 * s.cached_tokens + tokens / prompts
    pairs = s.full_layers * tokens * seen + s.window_layers * tokens * np.minimum(2 * s.window_tokens, seen)
    filled = tokens / (tokens + e.half_tokens * tp)
    products = 2 * s.active_params * tokens / tp / (s.flops_per_second * e.arithmetic_share) / filled
    attention = 2 * s.attention_width * pairs / tp / (s.wide_flops_per_second * e.attention_share)
    return products + attention


def prefill_memory_seconds(s: Setups, e: Efficiency, tokens: Floats) -> Floats:
    """What reading the weights once for so many tokens takes."""
    read = weight_read_bytes(s, e, tokens, s.prefill_tp, s.prefill_dp)
    return read / (s.bytes_per_second * e.bandwidth_share)


def prefill_seconds(s: Setups, e: Efficiency, tokens: Floats, prompts: Floats | float = 1.0) -> Floats:
    """What reading ``tokens`` of one prompt, or of several together, takes of one replica, without the fixed cost of a pass.

    Ignores: chunking, which reads the cache again with each chunk.
    """
    work = overlapped(prefill_arithmetic_seconds(s, e, tokens, prompts), prefill_memory_seconds(s, e, tokens))
    return work + allreduce_seconds(s, e, tokens, s.prefill_tp)


def prefill_pass_seconds(s: Setups, e: Efficiency) -> Floats:
    """The fixed cost of a pass over a prompt: launches, layer by layer, without the captured graphs that decode has."""
    return s.layers * e.prefill_layer_seconds
