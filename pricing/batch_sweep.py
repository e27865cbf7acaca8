"""One replica at growing batches: why batching multiplies what decode gives and hardly changes what prefill does."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from pricing.calibration import Calibration
from pricing.deployment import Deployment, Load
from pricing.efficiency import efficiency
from pricing.phase_figures import Variant, figures_of, fitting, setups_of
from pricing.phases import prefill_seconds
from pricing.serving import interleaved_seconds

MOST_TOGETHER: Final = 256
"""Sequences that an engine runs together by default (vLLM's usual ``max_num_seqs``)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint:
    """A replica that decodes ``batch`` sequences together.

    Attributes:
        prefill_tokens_per_second: While it reads prompts and does nothing else.
        decode_tokens_per_second: While it writes and does nothing else.
        ttft_seconds: With nobody waiting.
        tpot_seconds, mixed_tpot_seconds: A step alone, and with the prompts of others read between steps.
        requests_per_second: That it finishes when it is kept at this batch.
    """

    batch: int
    prefill_tokens_per_second: float
    decode_tokens_per_second: float
    ttft_seconds: float
    tpot_seconds: float
    mixed_tpot_seconds: float
    requests_per_second: float


def batch_sweep(deployment: Deployment, load: Load, fitted: Calibration) -> tuple[SweepPoint, ...]:
    """Batches from one by powers of two to the most that fit (or that engines take).

    Raises:
        DoesNotFitError: If not even one request fits.
    """
    batches = _batches(min(fitting(deployment, load), MOST_TOGETHER))
    variants = [Variant("", deployment, load, batch) for batch in batches]
    s = setups_of(variants, fitted)
    e = efficiency(s, fitted)
    column = np.array([float(batch) for batch in batches])
    between = interleaved_seconds(s, e, column, prefill_seconds(s, e, s.input_tokens))
    found = []
    for at, one in enumerate(figures_of(variants, fitted)):
        mixed = one.tpot_seconds + float(between[at])
        found.append(
            SweepPoint(
                batch=one.batch,
                prefill_tokens_per_second=one.prefill_tokens_per_second,
                decode_tokens_per_second=one.decode_tokens_per_second,
                ttft_seconds=one.ttft_seconds,
                tpot_seconds=one.tpot_seconds,
                mixed_tpot_seconds=mixed,
                requests_per_second=one.batch / (one.ttft_seconds + load.output_tokens * mixed),
            )
        )
    return tuple(found)


def _batches(most: int) -> Sequence[int]:
    powers = [2**power for power in range(most.bit_length()) if 2**power <= most]
    return powers if powers[-1] == most else [*powers, most]
