"""How an engine divides an accelerator's memory: weights, activations and runtime, and what is left for the cache."""

from dataclasses import dataclass
from typing import Final, Literal

from pricing.accelerators import Accelerator
from pricing.open_model import OpenModel
from pricing.units import GIB
from pricing.weights import WeightBytes, weight_bytes

Engine = Literal["vllm", "sglang", "trtllm", "llama.cpp"]

MEMORY_SHARE: Final[dict[Engine, float]] = {"vllm": 0.9, "sglang": 0.88, "trtllm": 0.9, "llama.cpp": 1.0}
"""vLLM: of all memory, for weights, cache and the rest (0.92 since late 2026). SGLang: of all memory, for weights and cache.
TensorRT-LLM: of what is free after weights and buffers. llama.cpp takes what it needs."""
NCCL_BYTES: Final = 0.4e9
"""Communication buffers with more than one accelerator. Source: aiconfigurator's system files, 342 to 392 MB."""
RUNTIME_BYTES: Final = 0.6 * GIB
"""CUDA context and libraries of one process, outside what the engine counts as its own."""
GRAPH_BYTES: Final = 0.7 * GIB
"""Captured graphs of a serving engine; a gibibyte and more for many batch sizes on many layers."""
BATCHED_TOKENS: Final = 8_192
"""Tokens of one step that engines plan activations for (vLLM's and TensorRT-LLM's default on large parts)."""
LOGIT_ROWS: Final = 256
"""Sequences of one step whose logits are held in FP32."""
_ECC_IN_BAND: Final = frozenset(
    {"t4", "a2", "a10", "a10g", "a40", "a6000", "l4", "l40", "l40s", "l20", "rtx-6000-ada"}
)
"""Parts with GDDR memory that keep error correction in one sixteenth of it: an L40S shows 45 of 48."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharding:
    """How a replica is laid over accelerators.

    Attributes:
        tp: Tensor-parallel ranks: matrices and KV heads are shared out.
        pp: Pipeline stages: layers are shared out.
        dp: Attention-parallel groups: each keeps its own sequences and a copy of all but the experts, which are spread
            over all accelerators (expert parallelism).
    """

    tp: int = 1
    pp: int = 1
    dp: int = 1

    @property
    def n_gpus(self) -> int:
        """Accelerators of one replica."""
        return self.tp * self.pp * self.dp


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The memory of one accelerator, in bytes.

    Attributes:
        total: What the system shows.
        usable: What the engine may use of it.
        weights: This accelerator's part of the weights.
        overhead: Activations, runtime, graphs, communication: what of ``usable`` neither weights nor cache get.
        kv_room: What is left for the cache; negative if the weights do not fit.
    """

    total: float
    usable: float
    weights: float
    overhead: float
    kv_room: float

    @property
    def words(self) -> str:
        """The budget in one line, in GiB."""
        room = self.kv_room / GIB
        left = f"left for the cache {room:.1f}" if room >= 0 else f"short by {-room:.1f}"
        return (
            f"{self.total / GIB:.1f} GiB a GPU, usable {self.usable / GIB:.1f}, weights {self.weights / GIB:.1f}, "
            f"activations and runtime {self.overhead / GIB:.1f}, {left}"
        )


def visible_bytes(accelerator: Accelerator) -> float:
    """Memory that software sees: vendors' GB of HBM and GDDR are GiB, of which some is taken before.

    Source: totals that nvidia-smi and rocm-smi show (H100 79.6 of 80, H200 140.4 of 141, L40S 45.0 of 48, MI300X 192.0),
    Apple's recommended working set, DGX Spark 119.7 of 128; from memory.
    Ignores: other users of a desktop card.
    """
    nominal = accelerator.memory_gb * GIB
    if accelerator.vendor == "Apple":
        small = 36
        return nominal * (2 / 3 if accelerator.memory_gb <= small else 3 / 4)
    if accelerator.id in {"gb10", "strix-halo", "jetson-agx-thor"}:
        return nominal * 0.93
    return nominal * (0.937 if accelerator.id in _ECC_IN_BAND else 0.99)


def activation_bytes(model: OpenModel, tp: int = 1, batched_tokens: int = BATCHED_TOKENS) -> float:
    """The peak of a step's intermediate results on one accelerator.

    Source: a layer holds its input, the residual, and the MLP's two products at a time (2 bytes each, the latter shared
    by tensor parallelism), and the logits of the sampled rows in FP32.
    Ignores: the engine's own workspaces; measured peaks run from half of this to twice as much.
    """
    experts = (model.experts_per_token or 0) * (model.moe_intermediate_size or 0)
    mlp = 2 * max(model.intermediate_size, experts) / tp
    return 2.0 * batched_tokens * (4 * model.hidden_size + mlp) + 4.0 * LOGIT_ROWS * model.vocab_size


def kv_room(
    engine: Engine, total: float, weights: float, overhead: float, *, memory_share: float | None = None
) -> Budget:
    """Divide one accelerator's memory by the rule of an engine.

    vLLM: share of all memory - weights - overhead. SGLang: share of all memory - weights, the overhead lives in the rest.
    TensorRT-LLM: share of what weights and overhead leave. llama.cpp: all that weights and overhead leave.

    Args:
        engine: Whose rule.
        total: Bytes that the system shows.
        weights: Bytes of this accelerator's weights.
        overhead: Bytes of activations, runtime, graphs and communication.
        memory_share: Of the engine's setting; None for its default.

    Source: vLLM's gpu_memory_utilization with the worked log of its issue 12330, SGLang's mem_fraction_static,
    TensorRT-LLM's kv_cache_config.free_gpu_memory_fraction.
    """
    share = MEMORY_SHARE[engine] if memory_share is None else memory_share
    if engine == "trtllm":
        free = total - weights - overhead
        return Budget(
            total=total,
            usable=total,
            weights=weights,
            overhead=overhead,
            kv_room=share * free if free > 0 else free,
        )
    usable = share * total
    left = usable - weights - (max(overhead - (total - usable), 0.0) if engine == "sglang" else overhead)
    return Budget(total=total, usable=usable, weights=weights, overhead=overhead, kv_room=left)


def weights_on_one(weights: WeightBytes, sharding: Sharding, *, table_in_host: bool = False) -> float:
    """Bytes of weights that one accelerator keeps; llama.cpp leaves an untied input table in the host's memory.

    Ignores: matrices that do not divide evenly, and the tables, which only the first and last pipeline stage keep.
    """
    dense = weights.dense_bytes + (0.0 if table_in_host else weights.table_bytes)
    return dense / (sharding.tp * sharding.pp) + weights.expert_bytes / sharding.n_gpus


def budget_of(
    model: OpenModel,
    accelerator: Accelerator,
    sharding: Sharding,
    *,
    precision: str,
    engine: Engine,
    memory_share: float | None = None,
) -> Budget:
    """The memory budget of each accelerator of a deployment; ``kv_room`` may be negative."""
    overhead = activation_bytes(model, sharding.tp) + RUNTIME_BYTES
    overhead += GRAPH_BYTES if engine != "llama.cpp" else 0.0
    overhead += NCCL_BYTES if sharding.n_gpus > 1 else 0.0
    if engine == "llama.cpp":
        overhead = RUNTIME_BYTES + activation_bytes(model, sharding.tp, batched_tokens=512)
    weights = weights_on_one(weight_bytes(model, precision), sharding, table_in_host=engine == "llama.cpp")
    return kv_room(engine, visible_bytes(accelerator), weights, overhead, memory_share=memory_share)
