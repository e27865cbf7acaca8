"""How much of the hardware's peaks is reached, and what each layer and step costs beside it: columns of a calibration."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from pricing.calibration import Calibration, Kind
from pricing.deployment import Floats, Setups


@dataclass(frozen=True, slots=True, kw_only=True)
class Efficiency:
    """Factors of each deployment. Shares are of a peak; the rest is in seconds unless it says otherwise."""

    bandwidth_share: Floats
    arithmetic_share: Floats
    attention_share: float
    link_share: float
    layer_seconds: Floats
    prefill_layer_seconds: Floats
    step_seconds: Floats
    allreduce_seconds: float
    exchange_seconds: float
    node_factor: Floats
    """On communication of a replica that spans machines."""
    decode_factor: Floats
    """On decode steps of pools of their own, whose published points often guess several tokens a step."""
    half_tokens: Floats
    """Of one rank."""
    routing_skew: float
    expert_read_factor: float
    # requests that come and go
    mix: Floats
    """What a prompt read between decode steps costs, of what it costs alone: it shares the reading of the weights."""
    wait_share: Floats
    """Of a prompt's time that each other request in flight adds to the wait for the first token."""
    wait_power: Floats
    first_token_seconds: Floats
    first_token_steps: float
    pool_share: float
    most_sequences: float
    """That engines run together however much fits."""


_USUAL_HIDDEN: Final = 6_000.0
"""Width of a layer at which it costs the common value."""
_USUAL_FLOPS: Final = 1e15
"""Peak of an accelerator for which the common value of ``half_tokens`` holds: a faster one needs more to be filled."""


def efficiency(s: Setups, c: Calibration) -> Efficiency:
    """Look up, or work out of what is known, the factors of each deployment.

    A factor is a common value, times the effect of the accelerator's family, the engine and the kind of model. What the
    calibration has not seen has no effect of its own, and a wider band.
    """
    family, engine = _lookup(c, "family", s.family), _lookup(c, "engine", s.engine)
    is_pool, many = s.disaggregated, s.disaggregated * (s.replicas > 1)
    width = np.log(s.hidden / _USUAL_HIDDEN)
    kind = (
        s.is_moe * c.log("moe.layer") + s.is_mla * c.log("mla.layer") + s.linear_share * c.log("linear.layer")
    )
    prefill_kind = (
        s.is_moe * c.log("moe.prefill_layer")
        + s.is_mla * c.log("mla.prefill_layer")
        + s.linear_share * c.log("linear.prefill_layer")
    )
    spans = (s.tp * s.dp > s.domain_gpus) * 1.0
    layer = family("layer") + kind + width * c.power("width.layer") + spans * c.log("nodes.layer")
    prefill_layer = family("layer") + prefill_kind + width * c.power("width.prefill_layer")
    arithmetic = (
        family("arithmetic")
        + engine("arithmetic")
        + s.is_moe * c.log("moe.arithmetic")
        + s.narrow4 * c.log("narrow4.arithmetic")
        + s.narrow8 * c.log("narrow8.arithmetic")
    )
    pool_factor = is_pool * c.log("pool.decode") + many * (c.log("pools.decode") - c.log("pool.decode"))
    pool_wait = c.log("pool.wait") + many * c.log("pools.wait")
    pool_first = is_pool * np.exp(c.log("pool.first_token") + many * c.log("pools.first_token"))
    return Efficiency(
        # nothing reaches more than the peak: what the fit would give beyond it belongs to other factors
        bandwidth_share=np.minimum(
            np.exp(c.log("bandwidth") + family("bandwidth") + s.narrow4 * c.log("narrow4.bandwidth")), 1.0
        ),
        arithmetic_share=np.minimum(np.exp(c.log("arithmetic") + arithmetic), 1.0),
        attention_share=c.value("attention"),
        link_share=c.value("link"),
        layer_seconds=np.exp(c.log("layer") + engine("layer") + layer),
        prefill_layer_seconds=np.exp(c.log("prefill_layer") + engine("prefill_layer") + prefill_layer),
        step_seconds=np.exp(c.log("step") + engine("step")),
        allreduce_seconds=c.value("allreduce"),
        exchange_seconds=c.value("exchange"),
        node_factor=np.exp(spans * c.log("nodes.talk")),
        decode_factor=np.exp(pool_factor),
        half_tokens=c.value("half_tokens") * s.flops_per_second / _USUAL_FLOPS,
        routing_skew=c.value("routing_skew"),
        expert_read_factor=c.value("expert_read"),
        mix=np.exp(c.log("mix") + engine("mix")),
        wait_share=np.exp(np.where(is_pool > 0, pool_wait, c.log("wait") + engine("wait"))),
        wait_power=np.where(is_pool > 0, c.value("pool.wait_power"), c.value("wait_power")),
        first_token_seconds=np.exp(c.log("first_token") + engine("first_token")) + pool_first,
        first_token_steps=c.value("first_token_steps"),
        pool_share=c.value("pool.share"),
        most_sequences=c.value("most_sequences"),
    )


def _lookup(c: Calibration, kind: Kind, names: tuple[str, ...]) -> Callable[[str], Floats]:
    distinct = sorted(set(names))
    at = np.array([distinct.index(name) for name in names], dtype=np.intp)

    def effect(factor: str) -> Floats:
        return np.array([c.effect(kind, name, factor) for name in distinct], dtype=np.float64)[at]

    return effect
