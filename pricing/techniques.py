"""What each technique of serving would do for a load: one number a technique, worked out by the phase model."""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pricing.calibration import Calibration
from pricing.capacity import DoesNotFitError
from pricing.deployment import Deployment, Load
from pricing.efficiency import efficiency
from pricing.phase_figures import Figures, Variant, figures_of, fitting, setups_of
from pricing.phases import prefill_pass_seconds, prefill_seconds
from pricing.serving import interleaved_seconds
from pricing.speculation import speculative_gain, tokens_per_step

CHUNK_TOKENS: Final = 2_048
"""Of a prompt that engines read between two decode steps at most, when they do so in chunks (vLLM's default)."""
ACCEPTANCE_RATIO: Final = 0.7
DRAFTS: Final = 4
DRAFT_SHARE: Final = 0.05
"""Of a step that one drafted token takes: a draft head of one layer and the large model's own output table."""

_ROOF_BATCHES: Final = tuple(2**power for power in range(13))


@dataclass(frozen=True, slots=True, kw_only=True)
class Techniques:
    """A deployment under a load, with and without each technique.

    Attributes:
        batch: Sequences decoded together, in what follows.
        now, single: The deployment at that batch, and with one sequence.
        wide: With weights in BF16, at the batch that then fits; None if not even one sequence does.
        uncached: If every prompt were computed whole; None where nothing is cached.
        stall_seconds, chunk_seconds: For which all answers wait while the longest prompt is read at once, and in chunks.
        mixed_tpot_seconds: Between tokens when the prompts of others are read between the steps.
        prefill_per_decode: Seconds of prefill to seconds of decode: how two pools would share the accelerators.
        sequences, reserved_sequences: That fit when each takes what it needs, and when each reserves ``reserved_tokens``.
        tokens_per_step, gain_of_one, gain_of_batch: Of speculative decoding.
        gain_ends_at: The batch, to the next power of two and whatever fits, at which it gains nothing; None: none does.
        local: On a machine of a desk, one request at a time; None if the load does not fit it.
    """

    batch: int
    load: Load
    now: Figures
    single: Figures
    wide: Figures | None
    uncached: Figures | None
    longest_tokens: float
    stall_seconds: float
    chunk_seconds: float
    mixed_tpot_seconds: float
    prefill_per_decode: float
    sequences: int
    reserved_sequences: int
    reserved_tokens: int
    tokens_per_step: float
    gain_of_one: float
    gain_of_batch: float
    gain_ends_at: int | None
    local: Figures | None


def techniques(
    deployment: Deployment,
    load: Load,
    fitted: Calibration,
    *,
    batch: int,
    longest_tokens: float,
    local: Deployment | None = None,
) -> Techniques:
    """Work out what each technique does.

    Args:
        deployment: One replica.
        load: The mean request.
        fitted: The calibration.
        batch: Sequences decoded together; cut to what fits.
        longest_tokens: Of the prompts that others wait for.
        local: A machine of a desk to compare with.

    Raises:
        DoesNotFitError: If not even one request fits.
    """
    sequences = fitting(deployment, load)
    now = Variant("now", deployment, load, max(min(batch, sequences), 1))
    variants = {one.name: one for one in _variants(now, longest_tokens)}
    figures = figures_of(list(variants.values()), fitted)
    found = dict(zip(variants, figures, strict=True))
    s = setups_of(list(variants.values()), fitted)
    e = efficiency(s, fitted)
    at = {name: number for number, name in enumerate(variants)}
    prompt = prefill_seconds(s, e, s.input_tokens)
    passed = prompt + prefill_pass_seconds(s, e)
    between = interleaved_seconds(s, e, np.full(len(variants), float(now.batch)), prompt)
    gains = _gains(now, fitted)
    step, most = found["now"].tpot_seconds, deployment.model.max_context
    return Techniques(
        batch=now.batch,
        load=load,
        now=found["now"],
        single=found["single"],
        wide=found["wide"] if _fits(variants["wide"]) else None,
        uncached=found["uncached"] if load.cached_tokens else None,
        longest_tokens=longest_tokens,
        stall_seconds=float(passed[at["longest"]]),
        chunk_seconds=float(passed[at["chunk"]]),
        mixed_tpot_seconds=step + float(between[at["now"]]),
        prefill_per_decode=float(prompt[at["now"]]) * now.batch / (load.output_tokens * step),
        sequences=sequences,
        reserved_sequences=_fits(replace(now, load=Load(input_tokens=most - 1, output_tokens=1))),
        reserved_tokens=most,
        tokens_per_step=tokens_per_step(ACCEPTANCE_RATIO, DRAFTS),
        gain_of_one=gains[1],
        gain_of_batch=gains[now.batch],
        gain_ends_at=next((size for size, gain in sorted(gains.items()) if gain <= 1), None),
        local=_local(local, load, fitted),
    )


def _variants(now: Variant, longest_tokens: float) -> tuple[Variant, ...]:
    load = now.load
    whole = replace(load, input_tokens=load.input_tokens + load.cached_tokens, cached_tokens=0.0)
    longest = replace(load, input_tokens=longest_tokens, cached_tokens=0.0)
    chunk = min(float(CHUNK_TOKENS), longest_tokens)
    last = replace(load, input_tokens=chunk, cached_tokens=longest_tokens - chunk)
    wide = replace(now, name="wide", deployment=replace(now.deployment, precision="bf16/fp8"))
    return (
        now,
        replace(now, name="single", batch=1),
        replace(wide, batch=max(min(now.batch, _fits(wide)), 1)),
        replace(now, name="uncached", load=whole),
        replace(now, name="longest", load=longest),
        replace(now, name="chunk", load=last),
    )


def _gains(now: Variant, fitted: Calibration) -> dict[int, float]:
    """Of speculative decoding, by batch, whether it fits or not: the compute roof is beyond what does."""
    batches = sorted({now.batch, *_ROOF_BATCHES})
    s = setups_of([now] * len(batches), fitted)
    gains = speculative_gain(
        s,
        efficiency(s, fitted),
        np.array([float(batch) for batch in batches]),
        acceptance_ratio=ACCEPTANCE_RATIO,
        drafts=DRAFTS,
        draft_share=DRAFT_SHARE,
    )
    return dict(zip(batches, map(float, gains), strict=True))


def _local(deployment: Deployment | None, load: Load, fitted: Calibration) -> Figures | None:
    if deployment is None:
        return None
    one = Variant("local", deployment, load, 1)
    return figures_of([one], fitted)[0] if _fits(one) else None


def _fits(variant: Variant) -> int:
    try:
        return fitting(variant.deployment, variant.load)
    except DoesNotFitError:
        return 0
