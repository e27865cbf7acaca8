"""A model on accelerators, and the load on it, as columns of numbers: many deployments are worked out at once.

Everything after this is arithmetic on arrays of one length (one element a deployment under one load), so a search over
thousands of deployments costs as much as one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pricing.accelerators import Accelerator
from pricing.kv_cache import bytes_per_token, groups_of, on_one_rank, sequence_bytes
from pricing.layouts import Layout
from pricing.memory import Engine
from pricing.open_model import OpenModel
from pricing.units import GIGA, TERA
from pricing.weights import parse_precision, weight_bytes

Floats = NDArray[np.float64]

DOMAIN_GPUS: Final = 8
"""Accelerators that share the fast interconnect in a usual machine."""
RACK_DOMAIN_GPUS: Final = 72
"""The same in NVIDIA's NVL72 racks (GB200, GB300)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A model on accelerators.

    Attributes:
        precision: Weights, and after a slash the cache: ``fp8/fp8``. A cache that is not stated follows the engines'
            default: FP8 where the weights are and the accelerator computes in it, BF16 elsewhere.
        engine: Whose memory rule and overheads; ``variant`` names what the calibration knows apart (vllm-eager).
    """

    model: OpenModel
    accelerator: Accelerator
    precision: str
    layout: Layout
    engine: Engine = "vllm"
    variant: str = ""

    @property
    def kv_bytes_per_value(self) -> float:
        """Bytes of a cached value."""
        stated = parse_precision(self.precision)
        if stated.kv_bytes is not None:
            return stated.kv_bytes
        return 1.0 if self.computes_narrow else 2.0

    @property
    def computes_narrow(self) -> bool:
        """Whether products are computed in 8 bits or fewer rather than widened to BF16 first."""
        return self.flops_per_second > self.wide_flops_per_second

    @property
    def flops_per_second(self) -> float:
        """Dense peak at which one accelerator multiplies these weights; weight-only formats are widened to BF16."""
        chip, weights = self.accelerator, parse_precision(self.precision).weights
        wide = chip.bf16_dense_tflops or 0.0
        by_kind = {
            "fp8": chip.fp8_dense_tflops, "mxfp8": chip.fp8_dense_tflops, "int8": chip.int8_dense_tops,
            "fp4": chip.fp4_dense_tflops, "nvfp4": chip.fp4_dense_tflops,
        }  # fmt: skip
        return max(by_kind.get(weights) or wide, self.wide_flops_per_second / TERA) * TERA

    @property
    def wide_flops_per_second(self) -> float:
        """Dense peak in 16 bits; GeForce cards are twice as fast with the FP16 accumulation that llama.cpp uses."""
        wide = (self.accelerator.bf16_dense_tflops or 0.0) * TERA
        doubled = self.engine == "llama.cpp" and self.accelerator.name.startswith("GeForce")
        return 2 * wide if doubled else wide


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What a deployment is given.

    Attributes:
        input_tokens: Of a prompt, those that are computed.
        output_tokens: Of an answer.
        cached_tokens: Of a prompt, those before these whose keys and values are kept from earlier prompts: read by
            attention and never computed.
        concurrency: Requests in flight over all replicas; infinite means always more than fit (saturated).
        static: One batch that is prefilled together and then decoded, as micro-benchmarks do, instead of requests that
            come and go.
    """

    input_tokens: float
    output_tokens: float
    concurrency: float = float("inf")
    static: bool = False
    cached_tokens: float = 0.0

    @property
    def context_tokens(self) -> float:
        """The longest that one sequence gets."""
        return self.cached_tokens + self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Setups:
    """Deployments under loads, as columns. Bytes, FLOP/s and bytes/s are of one accelerator unless named otherwise."""

    family: tuple[str, ...]
    engine: tuple[str, ...]
    # the model
    layers: Floats
    hidden: Floats
    attention_width: Floats
    full_layers: Floats
    window_layers: Floats
    window_tokens: Floats
    linear_share: Floats
    active_params: Floats
    moe_layers: Floats
    is_moe: Floats
    is_mla: Floats
    used_share: Floats
    """Experts used a token over experts; 1 for a dense model."""
    dense_bytes: Floats
    """Of all weights that every step reads."""
    expert_bytes: Floats
    """Of all routed experts."""
    # the accelerator
    bytes_per_second: Floats
    flops_per_second: Floats
    wide_flops_per_second: Floats
    """In BF16, in which attention is computed."""
    link_bytes_per_second: Floats
    domain_gpus: Floats
    narrow8: Floats
    narrow4: Floats
    # the layout
    tp: Floats
    dp: Floats
    pp: Floats
    replicas: Floats
    spread_experts: Floats
    layer_split: Floats
    prefill_tp: Floats
    prefill_dp: Floats
    prefill_replicas: Floats
    disaggregated: Floats
    n_gpus: Floats
    # the load
    input_tokens: Floats
    output_tokens: Floats
    concurrency: Floats
    static: Floats
    cached_tokens: Floats
    # the cache, on one rank of tensor parallelism
    kv_token_bytes: Floats
    """What one more token of context adds."""
    kv_mean_bytes: Floats
    """Of one sequence half-way through its answer."""
    sequences: Floats
    """Most sequences that a replica holds."""


def whole_layers(model: OpenModel) -> float:
    """Layers counted as pairs of a mixer (attention, state space) and an MLP, which is what fixed costs go by.

    Some models list the two apart (Nemotron 3: 52 "layers" are 29 mixers and 23 MLPs), or have layers without attention
    (Nemotron Super 49B). Source: fitted; counting list entries left those models 50 % too slow.
    """
    mixers = model.n_full_attention_layers + model.sliding_layers + model.linear_or_ssm_layers
    mlps = model.n_moe_layers or 0
    listed_apart = mixers + mlps == model.n_layers
    if not mixers or mixers == model.n_layers:
        return model.n_layers
    return (mixers + (mlps if listed_apart else model.n_layers)) / 2


_FOUR_BIT: Final = frozenset({"fp4", "nvfp4", "mxfp4"})
_NUMBERS: Final[dict[str, Callable[[Deployment], float]]] = {
    "layers": lambda d: whole_layers(d.model),
    "hidden": lambda d: d.model.hidden_size,
    "attention_width": lambda d: d.model.attention_width,
    "full_layers": lambda d: d.model.n_full_attention_layers,
    "window_layers": lambda d: d.model.sliding_layers,
    "window_tokens": lambda d: d.model.sliding_window or 0,
    "linear_share": lambda d: d.model.linear_or_ssm_layers / d.model.n_layers,
    "active_params": lambda d: d.model.active_matmul_b * GIGA,
    "moe_layers": lambda d: d.model.n_moe_layers or 0,
    "is_moe": lambda d: d.model.is_moe,
    "is_mla": lambda d: d.model.is_mla,
    "used_share": lambda d: (d.model.experts_per_token or 1) / (d.model.n_experts or 1),
    "bytes_per_second": lambda d: d.accelerator.memory_bandwidth_gb_s * GIGA,
    "flops_per_second": lambda d: d.flops_per_second,
    "wide_flops_per_second": lambda d: d.wide_flops_per_second,
    "link_bytes_per_second": lambda d: (d.accelerator.interconnect_gb_s or _SLOWEST_LINK_GB_S) / 2 * GIGA,
    "domain_gpus": lambda d: RACK_DOMAIN_GPUS if "NVL72" in d.accelerator.interconnect else DOMAIN_GPUS,
    "narrow8": lambda d: d.computes_narrow and parse_precision(d.precision).weights not in _FOUR_BIT,
    "narrow4": lambda d: d.computes_narrow and parse_precision(d.precision).weights in _FOUR_BIT,
    "tp": lambda d: d.layout.shard.tp,
    "dp": lambda d: d.layout.shard.dp,
    "pp": lambda d: d.layout.shard.pp,
    "replicas": lambda d: d.layout.replicas,
    "spread_experts": lambda d: d.layout.spread_experts,
    "layer_split": lambda d: d.layout.layer_split,
    "prefill_tp": lambda d: (d.layout.prefill or d.layout.shard).tp,
    "prefill_dp": lambda d: (d.layout.prefill or d.layout.shard).dp,
    "prefill_replicas": lambda d: max(d.layout.prefill_replicas, 1),
    "disaggregated": lambda d: d.layout.prefill is not None,
    "n_gpus": lambda d: d.layout.n_gpus,
}
_SLOWEST_LINK_GB_S: Final = 10.0
"""Of parts for which no interconnect is stated: a few lanes of PCIe."""


def setups(
    deployments: Sequence[Deployment],
    loads: Sequence[Load],
    sequences: Sequence[float],
    families: Sequence[str],
) -> Setups:
    """Turn deployments and loads, one by one, into columns.

    Args:
        deployments: What serves.
        loads: What each is given.
        sequences: The most sequences that one replica of each holds.
        families: The calibration's family of each accelerator.
    """
    numbers = {name: _column(get, deployments) for name, get in _NUMBERS.items()}
    weights = [weight_bytes(d.model, d.precision) for d in deployments]
    token, mean = zip(*map(_cache, deployments, loads), strict=True) if deployments else ((), ())
    return Setups(
        family=tuple(families),
        engine=tuple(d.variant or d.engine for d in deployments),
        dense_bytes=_floats([w.dense_bytes for w in weights]),
        expert_bytes=_floats([w.expert_bytes for w in weights]),
        input_tokens=_floats([load.input_tokens for load in loads]),
        output_tokens=_floats([load.output_tokens for load in loads]),
        concurrency=_floats([load.concurrency for load in loads]),
        static=_floats([load.static for load in loads]),
        cached_tokens=_floats([load.cached_tokens for load in loads]),
        kv_token_bytes=_floats(token),
        kv_mean_bytes=_floats(mean),
        sequences=_floats(sequences),
        **numbers,
    )


def _cache(deployment: Deployment, load: Load) -> tuple[float, float]:
    layout, width = deployment.layout, deployment.kv_bytes_per_value
    ranks = on_one_rank(groups_of(deployment.model), layout.shard.tp)
    halfway = load.context_tokens - load.output_tokens / 2
    return bytes_per_token(ranks, width), sequence_bytes(ranks, halfway, width)


def _column(get: Callable[[Deployment], float], deployments: Sequence[Deployment]) -> Floats:
    return _floats([get(one) for one in deployments])


def _floats(values: Sequence[float]) -> Floats:
    return np.asarray(values, dtype=np.float64)
