"""Bytes that the weights of a model take at a precision: which parts are quantised, and what the scales add.

"Parameters x 2 bytes" is wrong for most models of today: experts are quantised and the rest is not, a 4-bit value drags a
scale along, tables stay in BF16, and mixed GGUF files average over several kinds.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from pricing.errors import PricingError
from pricing.kv_cache import BYTES_PER_VALUE
from pricing.open_model import OpenModel
from pricing.units import GIGA

_BF16_BITS: Final = 16.0
_INT4_OF_32_BITS: Final = 4.5

WEIGHT_BITS: Final[Mapping[str, float]] = {
    "fp32": 32.0,
    "bf16": 16.0,
    "fp16": 16.0,
    "fp8": 8.0,  # a scale for a tensor or for 128 x 128 values adds under 0.3 %
    "mxfp8": 8.25,  # one byte for 32 values
    "int8": 8.0,
    "nvfp4": 4.5,  # one FP8 scale for 16 values
    "mxfp4": 4.25,  # one byte for 32 values
    "int4": 4.25,  # an FP16 scale for 64 values; groups of 128 have 4.125, of 32 4.5
    "q8_0": 8.5,  # blocks of 32 with an FP16 scale
    "q6_k": 6.56,
    "q5_k_m": 5.7,
    "q5_k_s": 5.5,
    "q5_0": 5.5,
    "q4_k_m": 4.85,  # averages over whole files, which mix kinds
    "q4_k_s": 4.6,
    "iq4_xs": 4.3,
    "q4_0": 4.5,
    "q3_k_m": 3.9,
    "iq3_xxs": 3.1,
    "q2_k": 3.2,
}
"""Bits a value with its scales.

Source: the formats' definitions (OCP Microscaling v1.0, NVFP4 in NVIDIA's Transformer Engine documentation, block layouts
of llama.cpp's ggml-common.h); k-quants from the size table of llama.cpp's quantize tool, from memory.
"""

_SAME: Final[Mapping[str, str]] = {
    "bfloat16": "bf16", "float16": "fp16", "f16": "fp16", "half": "fp16", "f32": "fp32", "float32": "fp32",
    "fp8_e4m3": "fp8", "w8a8": "int8", "smoothquant": "int8", "fp4": "fp4", "w4a16": "int4", "awq": "int4",
    "gptq": "int4", "4bit": "int4", "int4 experts": "int4", "mxfp4 experts": "mxfp4", "fp8 + fp4 experts": "fp8",
    "q4km": "q4_k_m", "q8": "q8_0", "q4": "q4_k_m", "q6": "q6_k", "q5": "q5_k_m",
}  # fmt: skip
_KNOWN: Final = (*sorted(WEIGHT_BITS, key=len, reverse=True), "fp4")
"""Longest first: a decorated word (``fp8_block``, ``nvfp4-kv8``) holds the one that is meant."""
_EXPERTS_ONLY: Final = frozenset({"mxfp4"})
"""Formats that are put on experts alone where a model has them; on a dense model on every matrix."""
_WHOLE_FILE: Final = ("q", "iq")
"""GGUF kinds (q4_k_m) are averages over a file, tables included."""


class UnknownPrecisionError(PricingError):
    """Raised when a precision is none of those with known bits a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Precision:
    """What weights and cache are kept in.

    Attributes:
        weights: A key of ``WEIGHT_BITS``, or ``fp4`` until the model decides which of the two it is.
        kv_bytes: Bytes of a cached value; None if not stated, and then the engine decides.
    """

    weights: str
    kv_bytes: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightBytes:
    """Bytes of a model's weights, by how a decode step reads them.

    Attributes:
        table_bytes: The input table, of which a step reads a row a token (with tied tables it is part of dense).
        dense_bytes: What every step reads.
        expert_bytes: All routed experts; a step reads those that its tokens are sent to.
        one_expert_bytes: One routed expert of one layer.
    """

    table_bytes: float
    dense_bytes: float
    expert_bytes: float
    one_expert_bytes: float

    @property
    def total_bytes(self) -> float:
        """All of it: what memory must hold."""
        return self.table_bytes + self.dense_bytes + self.expert_bytes


def parse_precision(text: str) -> Precision:
    """Read ``weights/cache`` as benchmarks write it: ``fp8/fp8``, ``q4_k_m/f16``, ``bf16?/?``, ``nvfp4``.

    Raises:
        UnknownPrecisionError: If the part before the slash is no known precision.
    """
    cleaned = re.sub(r"\(.*?\)|\?", "", text.casefold()).strip()
    weights, _, cache = (part.strip() for part in cleaned.partition("/"))
    word = _SAME.get(weights, weights)
    if word not in _KNOWN:
        word = next((known for known in _KNOWN if known in word), word)
    if word not in _KNOWN:
        raise UnknownPrecisionError(
            f"Precision {text!r} is not known; allowed are {', '.join(_KNOWN)}, optionally "
            "with the precision of the cache behind a slash (fp8/fp8)."
        )
    return Precision(weights=word, kv_bytes=BYTES_PER_VALUE.get(_SAME.get(cache, cache)) if cache else None)


def weight_bytes(model: OpenModel, precision: str) -> WeightBytes:
    """Bytes of each part of a model's weights.

    Quantised checkpoints keep the input table and the head in BF16, and most 4-bit checkpoints of sparse models quantise
    the experts alone and leave the rest in BF16, even of a model that came in FP8. GGUF kinds cover everything.

    Args:
        model: The model.
        precision: As in ``WEIGHT_BITS`` or ``fp4``: MXFP4 on models that come so, NVFP4 on others.

    Raises:
        UnknownPrecisionError: If the precision is not known.

    Source: ``quantization_config`` and ``hf_quant_config.json`` of published checkpoints (gpt-oss, Kimi-K2.5, 20 of
    NVIDIA's NVFP4 builds): experts alone in Qwen3.5, Kimi, GLM and MiniMax; DeepSeek also the output projection and the
    shared expert, which makes 8 bits on average; Qwen3-235B everything.
    Ignores: norms and biases in FP32, draft heads (multi-token prediction), towers for other media.
    """
    expert, dense, table = part_bits(model, precision)
    table_b = 0.0 if model.tied_embeddings else model.embedding_params_b
    head_b = model.embedding_params_b
    matrices_b = model.dense_params_b - head_b
    return WeightBytes(
        table_bytes=table_b * table / 8 * GIGA,
        dense_bytes=(matrices_b * dense + head_b * table) / 8 * GIGA,
        expert_bytes=model.routed_params_b * expert / 8 * GIGA,
        one_expert_bytes=model.expert_params_b * expert / 8 * GIGA,
    )


def part_bits(model: OpenModel, precision: str) -> tuple[float, float, float]:
    """Bits a parameter of routed experts, of other matrices, and of tables."""
    word = parse_precision(precision).weights
    if word == "fp4":
        word = "mxfp4" if "mxfp4" in (model.native_precision or "") else "nvfp4"
    bits = WEIGHT_BITS[word]
    if word.startswith(_WHOLE_FILE) or bits >= _BF16_BITS:
        return bits, bits, bits
    if not model.is_moe:
        return bits, bits, _BF16_BITS
    if word in _EXPERTS_ONLY or bits < WEIGHT_BITS["fp8"]:
        return _expert_bits(model, word), _other_bits(model, word), _BF16_BITS
    return bits, bits, _BF16_BITS


def _expert_bits(model: OpenModel, word: str) -> float:
    """Kimi's INT4 experts come in groups of 32."""
    native_int4 = word == "int4" and (model.native_precision or "").startswith("int4")
    return _INT4_OF_32_BITS if native_int4 else WEIGHT_BITS[word]


def _other_bits(model: OpenModel, word: str) -> float:
    """Bits of what a 4-bit checkpoint of a sparse model leaves out: BF16, unless the checkpoint was looked at."""
    if word == "nvfp4" and model.nvfp4_dense_bits is not None:
        return model.nvfp4_dense_bits
    return _BF16_BITS
