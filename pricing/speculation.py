"""Speculative decoding: a small model drafts tokens, one step of the large one checks them all."""

import numpy as np

from pricing.deployment import Floats, Setups
from pricing.efficiency import Efficiency
from pricing.phases import (
    decode_arithmetic_seconds,
    decode_fixed_seconds,
    decode_memory_seconds,
    decode_step_seconds,
    decode_talk_seconds,
    overlapped,
    weight_read_bytes,
)


def tokens_per_step(acceptance_ratio: float, drafts: int) -> float:
    """Tokens that one checked step yields on average: the accepted drafts, and one of the large model's own.

    Args:
        acceptance_ratio: Chance that a drafted token is accepted, 0 to 1, each alike.
        drafts: Tokens drafted before each check.

    Source: Leviathan et al., arXiv 2211.17192, equation 1: (1 - a^(g+1)) / (1 - a).
    Ignores: that acceptance falls along a draft, and differs by text.
    """
    if acceptance_ratio >= 1:
        return drafts + 1.0
    return (1 - acceptance_ratio ** (drafts + 1)) / (1 - acceptance_ratio)


def check_step_seconds(s: Setups, e: Efficiency, batch: Floats, drafts: int) -> Floats:
    """A step that checks ``drafts`` tokens of each sequence besides writing one.

    It reads the cache once, as any step, and multiplies for (drafts + 1) x batch tokens; sparse models read the experts of
    all of them. While memory is what it waits for it costs hardly more, which is the whole idea; at the compute roof
    each drafted token costs as much as a written one.
    """
    many = batch * (drafts + 1)
    memory = decode_memory_seconds(s, e, batch) + _more_experts(s, e, batch, many)
    work = overlapped(memory, decode_arithmetic_seconds(s, e, many))
    return (work + decode_fixed_seconds(s, e) + decode_talk_seconds(s, e, many)) * e.decode_factor


def speculative_gain(
    s: Setups, e: Efficiency, batch: Floats, *, acceptance_ratio: float, drafts: int, draft_share: float
) -> Floats:
    """How much faster answers are written: above 1 it pays, below 1 it costs.

    Args:
        s: The deployment.
        e: Its efficiency.
        batch: Sequences decoded together.
        acceptance_ratio: See ``tokens_per_step``.
        drafts: Likewise.
        draft_share: Time of drafting one token, of a step of the large model.

    Source: Leviathan et al., arXiv 2211.17192, theorem 3.8, with the check's own time instead of "no dearer than a step".
    """
    step = decode_step_seconds(s, e, batch)
    spent = check_step_seconds(s, e, batch, drafts) + drafts * draft_share * step
    return tokens_per_step(acceptance_ratio, drafts) * step / spent


def _more_experts(s: Setups, e: Efficiency, batch: Floats, many: Floats) -> Floats:
    few = weight_read_bytes(s, e, np.maximum(batch / s.pp, 1.0), s.tp, s.dp)
    more = weight_read_bytes(s, e, np.maximum(many / s.pp, 1.0), s.tp, s.dp)
    return (more - few) / (s.bytes_per_second * e.bandwidth_share)
