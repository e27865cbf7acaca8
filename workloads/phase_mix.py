"""How much of a workload is prefill and how much decode: shares, class, and the numbers that decided it.

Three bases exist and are never blurred: cost (what the bill says), GPU time (what the hardware spends) and wall time
(what one user waits). The first two decide levers; amounts are summed over requests and one ratio is taken, never a
mean of ratios, which a few tiny requests would decide.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

DOMINANT_SHARE: Final = 2 / 3
"""From this share on a phase dominates; between a third and two thirds the workload is balanced."""

FEW_REQUESTS: Final = 30
"""Below this many requests a class is weak."""


class PhaseClass(StrEnum):
    """The class of a workload: which phase dominates on a stated basis."""

    PREFILL_DOMINATED = "prefill_dominated"
    DECODE_DOMINATED = "decode_dominated"
    BALANCED = "balanced"


@dataclass(frozen=True, slots=True, kw_only=True)
class PhaseMix:
    """How much of a workload is prefill and how much decode, on one basis."""

    basis: str
    """``cost`` (what the bill says) or ``gpu_time`` (what the hardware spends, modelled)."""
    prefill: float
    """The prefill amount: USD on the cost basis, seconds on the time basis."""
    decode: float
    prefill_share: float
    decode_share: float
    phase_class: PhaseClass
    distance: float
    """Share that would have to move for the next class (0..1)."""
    weak: str | None
    """Why the class is not to be trusted (too few requests, buckets, unpriced), or None."""
    explanation: str
    """One sentence: the numbers that decided it."""


def classify(prefill_share: float) -> PhaseClass:
    """Return the class of a workload of which this share is prefill.

    >>> classify(0.7), classify(0.5), classify(0.2)
    (<PhaseClass.PREFILL_DOMINATED: 'prefill_dominated'>, <PhaseClass.BALANCED: 'balanced'>, <PhaseClass.DECODE_DOMINATED: 'decode_dominated'>)
    """
    if prefill_share >= DOMINANT_SHARE:
        return PhaseClass.PREFILL_DOMINATED
    if 1 - prefill_share >= DOMINANT_SHARE:
        return PhaseClass.DECODE_DOMINATED
    return PhaseClass.BALANCED


def phase_mix(*, basis: str, prefill: float, decode: float, weak: str | None = None) -> PhaseMix | None:
    """Return the mix of two amounts on one basis; None when both are zero (nothing to divide).

    Args:
        basis: ``cost`` or ``gpu_time``.
        prefill: USD or seconds spent on prefill, not negative.
        decode: USD or seconds spent on decode, not negative.
        weak: Why the class is not to be trusted, if so.
    """
    total = prefill + decode
    if total <= 0:
        return None
    share = prefill / total
    edges = (1 - DOMINANT_SHARE, DOMINANT_SHARE)
    noun = {"cost": "of the cost of its tokens", "gpu_time": "of the GPU time"}[basis]
    larger = "prefill" if share >= 1 / 2 else "decode"
    return PhaseMix(
        basis=basis,
        prefill=prefill,
        decode=decode,
        prefill_share=share,
        decode_share=decode / total,
        phase_class=classify(share),
        distance=min(abs(share - edge) for edge in edges),
        weak=weak,
        explanation=f"{larger} is {max(share, 1 - share):.0%} {noun}; a phase dominates from {DOMINANT_SHARE:.0%} on",
    )
