"""One deployment seen phase by phase: bounds, calibrated estimates, what keeps them apart, and what would change them.

A study looks at one replica: more replicas multiply both rates and change no latency.
"""

from dataclasses import dataclass, replace

from pricing.calibration import Band, Calibration
from pricing.deployment import Deployment, Load
from pricing.errors import PricingError
from pricing.phase_bounds import crossing
from pricing.phase_changes import changes_of
from pricing.phase_figures import Figures, Variant, figures_of, fitting, serves, setups_of


class StudyError(PricingError):
    """Raised when a deployment cannot be studied; the message says why and what to give instead."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A deployment or load that differs in one thing; without figures it is refused, with the reason."""

    name: str
    note: str
    figures: Figures | None
    refused: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """A deployment under a load.

    Attributes:
        load: As asked, its concurrency cut to the batch that fits.
        single: With one sequence.
        ridge_flops_per_byte: Of the accelerator in this precision.
        ridge_batch: Where decode crosses it, with this load's cache; None: never.
        ridge_batch_of_weights: The same without any cache.
        kv_bytes_per_token: Over the whole replica, copies included.
        sequences: Of the load's full length that fit on the replica.
        tpot_band, ttft_band: Of the calibration; for rates invert them.
        is_seen: Whether the accelerator's family was among the measured ones.
    """

    deployment: Deployment
    load: Load
    figures: Figures
    single: Figures
    ridge_flops_per_byte: float
    ridge_batch: float | None
    ridge_batch_of_weights: float | None
    kv_bytes_per_token: float
    sequences: int
    tpot_band: Band
    ttft_band: Band
    is_seen: bool
    changes: tuple[Change, ...]


def study(deployment: Deployment, load: Load, fitted: Calibration) -> Study:
    """Look at a deployment phase by phase.

    Args:
        deployment: Of its replicas one is looked at; pools of their own for prefill are refused.
        load: Sizes, and the batch as ``concurrency``; it is cut to what fits.
        fitted: The calibration.

    Raises:
        DoesNotFitError: If not even one sequence fits.
        StudyError: If the accelerator has no known arithmetic rate, or the layout has several pools.
    """
    _check(deployment)
    one = replace(deployment, layout=replace(deployment.layout, replicas=1))
    sequences = fitting(one, load)
    batch = max(int(min(load.concurrency, sequences)), 1)
    base = Variant("as asked", one, load, batch)
    changes = changes_of(base)
    figures = figures_of([base, replace(base, batch=1), *(variant for variant, _ in changes)], fitted)
    bare = replace(base, load=Load(input_tokens=1, output_tokens=1))
    s = setups_of([base, bare], fitted)
    family = fitted.family_of(one.accelerator)
    measured = "serving" if serves(one) else None
    return Study(
        deployment=one,
        load=replace(load, concurrency=batch),
        figures=figures[0],
        single=figures[1],
        ridge_flops_per_byte=float(s.flops_per_second[0] / s.bytes_per_second[0]),
        ridge_batch=crossing(s, 0),
        ridge_batch_of_weights=crossing(s, 1),
        kv_bytes_per_token=float((s.kv_token_bytes * s.tp)[0]),
        sequences=sequences,
        tpot_band=fitted.band(f"{measured or ('batch' if batch > 1 else 'single')}.tpot", family),
        ttft_band=fitted.band(f"{measured or 'single'}.ttft", family),
        is_seen=family in fitted.seen,
        changes=tuple(
            Change(name=variant.name, note=variant.note, figures=None if refused else found, refused=refused)
            for (variant, refused), found in zip(changes, figures[2:], strict=True)
        ),
    )


def _check(deployment: Deployment) -> None:
    if not deployment.accelerator.bf16_dense_tflops:
        raise StudyError(
            f"No arithmetic rate of {deployment.accelerator.name} is known; add one in a file of accelerators."
        )
    if deployment.layout.prefill:
        raise StudyError("Pools for prefill and decode have bounds of their own; give one of them, e.g. tp8.")
