"""What one replica does in each phase, estimated and at best, for many variants of a deployment at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pricing.calibration import Calibration
from pricing.capacity import capacity
from pricing.deployment import Deployment, Floats, Load, Setups, setups
from pricing.efficiency import Efficiency, efficiency
from pricing.phase_bounds import Bound, bounds
from pricing.phases import (
    allreduce_seconds,
    decode_fixed_seconds,
    decode_step_seconds,
    decode_talk_seconds,
    prefill_pass_seconds,
    prefill_seconds,
)
from pricing.serving import serve

_ON_A_DESK: Final = frozenset({"llama.cpp", "vllm-eager"})
"""Engines that were measured with batches that start and end together."""


@dataclass(frozen=True, slots=True)
class Variant:
    """A replica, what it is given, and how many sequences it decodes together."""

    name: str
    deployment: Deployment
    load: Load
    batch: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one replica does in each phase.

    Attributes:
        batch: Sequences decoded together.
        context_tokens: Of each, half-way through its answer.
        ttft_seconds: Of one prompt when nobody waits before it.
        prompt_parts: What ``ttft_seconds`` is made of: ``work`` (multiplying and reading), ``talk`` (between ranks),
            ``layers`` (launches), ``rest`` (accepting the request, and the step that writes the first token).
        prefill_tokens_per_second: While it reads the prompts of the batch and does nothing else.
        tpot_seconds: One decode step of the batch, without prompts between steps.
        step_parts: The same for a step: ``work``, ``talk``, ``layers`` (with the engine's own work).
        weight_bytes, cache_bytes: That each accelerator reads for a step.
        bound_step_seconds, bound_prompt_seconds: What the peaks allow for a step, and for one prompt.
        bound_prefill_tokens_per_second: The same for many prompts.
        decode_bound, prefill_bound: What a step and a prompt are bound by.
    """

    batch: int
    context_tokens: float
    ttft_seconds: float
    prompt_parts: Mapping[str, float]
    prefill_tokens_per_second: float
    tpot_seconds: float
    step_parts: Mapping[str, float]
    decode_tokens_per_second: float
    weight_bytes: float
    cache_bytes: float
    bound_step_seconds: float
    bound_prompt_seconds: float
    bound_prefill_tokens_per_second: float
    decode_bound: Bound
    prefill_bound: Bound


def serves(deployment: Deployment) -> bool:
    """Whether the engine takes requests that come and go, rather than one batch after another."""
    return (deployment.variant or deployment.engine) not in _ON_A_DESK


def fitting(deployment: Deployment, load: Load) -> int:
    """Sequences of the load's full length that one replica holds.

    Raises:
        DoesNotFitError: If not even one.
    """
    return capacity(
        deployment.model,
        deployment.accelerator,
        deployment.layout.shard,
        precision=deployment.precision,
        context_tokens=load.context_tokens,
        kv_bytes=deployment.kv_bytes_per_value,
        engine=deployment.engine,
    ).sequences


def setups_of(variants: Sequence[Variant], fitted: Calibration) -> Setups:
    """Variants as columns, each with one request in flight."""
    return setups(
        [one.deployment for one in variants],
        [replace(one.load, concurrency=1.0, static=not serves(one.deployment)) for one in variants],
        [1.0] * len(variants),
        [fitted.family_of(one.deployment.accelerator) for one in variants],
    )


def figures_of(variants: Sequence[Variant], fitted: Calibration) -> tuple[Figures, ...]:
    """Work variants out, all at once."""
    s = setups_of(variants, fitted)
    e = efficiency(s, fitted)
    batch = np.array([float(one.batch) for one in variants])
    limits = bounds(s, batch)
    step, step_parts = _step(s, e, batch)
    first = serve(s, fitted).ttft_seconds
    prompt_parts = _prompt(s, e, first)
    rate = prefill_rate(s, e, batch)
    return tuple(
        Figures(
            batch=one.batch,
            context_tokens=one.load.context_tokens - one.load.output_tokens / 2,
            ttft_seconds=float(first[at]),
            prompt_parts={name: float(part[at]) for name, part in prompt_parts.items()},
            prefill_tokens_per_second=float(rate[at]),
            tpot_seconds=float(step[at]),
            step_parts={name: float(part[at]) for name, part in step_parts.items()},
            decode_tokens_per_second=float(batch[at] / step[at]),
            weight_bytes=float(limits.weight_bytes[at]),
            cache_bytes=float(limits.cache_bytes[at]),
            bound_step_seconds=float(limits.step_seconds[at]),
            bound_prompt_seconds=float(limits.prompt_seconds[at]),
            bound_prefill_tokens_per_second=float(limits.prefill_tokens_per_second[at]),
            decode_bound=_longer(limits.decode_memory_seconds[at], limits.decode_arithmetic_seconds[at]),
            prefill_bound=_longer(limits.prefill_memory_seconds[at], limits.prefill_arithmetic_seconds[at]),
        )
        for at, one in enumerate(variants)
    )


def prefill_rate(s: Setups, e: Efficiency, batch: Floats) -> Floats:
    """Prompt tokens a second of a replica that reads the prompts of a batch together: the fixed cost of a pass is shared."""
    share = np.maximum(batch / s.prefill_dp, 1.0)
    together = prefill_seconds(s, e, s.input_tokens * share, share) + prefill_pass_seconds(s, e)
    return s.input_tokens * share / together * np.minimum(batch, s.prefill_dp)


def _step(s: Setups, e: Efficiency, batch: Floats) -> tuple[Floats, Mapping[str, Floats]]:
    step = decode_step_seconds(s, e, batch)
    layers, talk = decode_fixed_seconds(s, e), decode_talk_seconds(s, e, batch)
    return step, {"work": step - layers - talk, "layers": layers, "talk": talk}


def _prompt(s: Setups, e: Efficiency, first: Floats) -> Mapping[str, Floats]:
    whole = prefill_seconds(s, e, s.input_tokens)
    talk, layers = allreduce_seconds(s, e, s.input_tokens, s.prefill_tp), prefill_pass_seconds(s, e)
    return {"work": whole - talk, "layers": layers, "talk": talk, "rest": first - whole - layers}


def _longer(memory: float, arithmetic: float) -> Bound:
    return "bandwidth" if memory >= arithmetic else "arithmetic"
