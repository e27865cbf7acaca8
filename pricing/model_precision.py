"""The precision that a checkpoint's ``config.json`` states for its weights, as a key of ``weights.WEIGHT_BITS``."""

from collections.abc import Mapping
from typing import Any, Final

from pricing.model_layers import Config

_DTYPES: Final = {"bfloat16": "bf16", "float16": "fp16", "float32": "fp32", "float8_e4m3fn": "fp8"}
_METHODS: Final = {"fp8": "fp8", "fbgemm_fp8": "fp8", "mxfp4": "mxfp4", "awq": "int4", "gptq": "int4"}


def stated_precision(config: Config) -> str | None:
    """The precision of most weights; None if the file does not say, or says it in words that are not known."""
    quantised = config.get("quantization_config")
    if isinstance(quantised, Mapping) and quantised:
        return _of_quantised(quantised)
    stated = config.get("torch_dtype") or config.get("dtype")
    return _DTYPES.get(str(stated), str(stated)) if stated else None


def _of_quantised(quantised: Mapping[str, Any]) -> str | None:
    algorithm = str(quantised.get("quant_algo") or "").casefold()
    for word in ("nvfp4", "mxfp4", "fp8", "int8"):
        if word in algorithm:
            return word
    method = str(quantised.get("quant_method") or "").casefold()
    if method in {"awq", "gptq", "bitsandbytes"}:
        bits = int(
            quantised.get("bits")
            or quantised.get("w_bit")
            or (4 if quantised.get("load_in_4bit", True) else 8)
        )
        return f"int{bits}"
    return _METHODS.get(method) or _of_groups(quantised.get("config_groups"))


def _of_groups(groups: Any) -> str | None:
    """The first group of a compressed-tensors or ModelOpt checkpoint: kind, bits, and values to a scale."""
    if not isinstance(groups, Mapping) or not groups:
        return None
    weights = next(iter(groups.values())).get("weights") or {}
    bits = int(weights.get("num_bits") or 0)
    if weights.get("type") == "float":
        four = "nvfp4" if weights.get("group_size") == 16 else "mxfp4"  # noqa: PLR2004
        return {4: four, 8: "fp8"}.get(bits)
    return f"int{bits}" if bits else None
