"""What could be different about a deployment: one thing at a time, so that its effect on each phase stands alone."""

from dataclasses import replace
from typing import Final

from pricing.accelerators import Accelerator
from pricing.capacity import DoesNotFitError
from pricing.deployment import Deployment
from pricing.phase_figures import Variant, fitting
from pricing.weights import WEIGHT_BITS, parse_precision

BATCHES: Final = (1, 8, 32, 128)
LONGER: Final = 4
"""How much longer a longer context is."""
_NARROW_BITS: Final = 5.0
"""Of weights that are quantised as far as people do."""
_CACHE_NAMES: Final = ((1.0, "fp8"), (2.0, "bf16"))


def changes_of(base: Variant) -> tuple[tuple[Variant, str | None], ...]:
    """Variants of a deployment, and why one cannot be.

    Returns:
        Pairs of a variant, its batch cut to what fits, and None or why not even one sequence fits.
    """
    return tuple(map(_held, (*_precisions(base), *_batches(base), _longer_context(base), *_faster(base))))


def _held(variant: Variant) -> tuple[Variant, str | None]:
    try:
        held = fitting(variant.deployment, variant.load)
    except DoesNotFitError:
        return variant, "does not fit"
    if held < variant.batch:
        return replace(variant, batch=held, note=f"only {held} fit"), None
    return variant, None


def _batches(base: Variant) -> tuple[Variant, ...]:
    return tuple(
        replace(base, name=f"batch {batch}", batch=batch) for batch in BATCHES if batch != base.batch
    )


def _longer_context(base: Variant) -> Variant:
    load = base.load
    longer = replace(load, input_tokens=load.input_tokens * LONGER, output_tokens=load.output_tokens * LONGER)
    return replace(base, name=f"{LONGER} x the context", load=longer)


def _faster(base: Variant) -> tuple[Variant, ...]:
    chip = base.deployment.accelerator
    memory = replace(chip, memory_bandwidth_gb_s=chip.memory_bandwidth_gb_s * 2)
    arithmetic = replace(
        chip,
        bf16_dense_tflops=_twice(chip.bf16_dense_tflops),
        fp8_dense_tflops=_twice(chip.fp8_dense_tflops),
        int8_dense_tops=_twice(chip.int8_dense_tops),
        fp4_dense_tflops=_twice(chip.fp4_dense_tflops),
    )
    return _on(base, "twice the bandwidth", memory), _on(base, "twice the FLOPs", arithmetic)


def _on(base: Variant, name: str, chip: Accelerator) -> Variant:
    return replace(base, name=name, deployment=replace(base.deployment, accelerator=chip))


def _twice(rate: float | None) -> float | None:
    return None if rate is None else rate * 2


def _precisions(base: Variant) -> tuple[Variant, ...]:
    """Other precisions of the weights, widest first; the cache stays as it is."""
    one = base.deployment
    now = parse_precision(one.precision).weights
    narrowest = "fp4" if one.accelerator.fp4_dense_tflops else "int4"
    offered = ("fp16", "q8_0", "q4_k_m") if one.engine == "llama.cpp" else ("bf16", "fp8", narrowest)
    return tuple(
        replace(
            base,
            name=f"weights in {name}",
            deployment=replace(one, precision=f"{name}/{_cache_name(one)}"),
            note=_note(one, name),
        )
        for name in offered
        if name != now and not (_bits(name) < _NARROW_BITS and _bits(now) < _NARROW_BITS)
    )


def _bits(name: str) -> float:
    return WEIGHT_BITS.get(name, 0.0)


def _note(deployment: Deployment, precision: str) -> str:
    """Weights that are only kept narrow are widened to be multiplied: prefill gains nothing. llama.cpp always does so."""
    gains = replace(deployment, precision=precision).computes_narrow
    usual = deployment.engine == "llama.cpp" or _bits(precision) >= WEIGHT_BITS["bf16"]
    return "" if gains or usual else "multiplied in 16 bits"


def _cache_name(deployment: Deployment) -> str:
    stated = deployment.precision.partition("/")[2]
    width = deployment.kv_bytes_per_value
    return stated or next((name for size, name in _CACHE_NAMES if size == width), "bf16")
