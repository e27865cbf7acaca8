"""A common deployment of a widely measured model: what reports explain the two phases with, whatever a log's own models."""

from typing import Final

from pricing.accelerators import accelerators
from pricing.deployment import Deployment
from pricing.layouts import Layout
from pricing.memory import Sharding
from pricing.open_models import open_models

REFERENCE_NAME: Final = "Llama 3.1 70B in FP8 on 4 x H100 SXM with vLLM"
REFERENCE_BATCH: Final = 32
"""Sequences that a busy server decodes together."""
_MODEL: Final = "meta-llama/Llama-3.1-70B-Instruct"
LOCAL_NAME: Final = "a Mac Studio (M3 Ultra) with the same model in 4 bits"


def reference_deployment(precision: str = "fp8") -> Deployment:
    """Llama 3.1 70B on four H100."""
    return Deployment(
        model=open_models()[_MODEL],
        accelerator=accelerators()["h100-sxm"],
        precision=precision,
        layout=Layout(shard=Sharding(tp=4)),
        engine="vllm",
        variant="vllm",
    )


def local_deployment() -> Deployment:
    """The same model on one machine of a desk, as llama.cpp runs it."""
    return Deployment(
        model=open_models()[_MODEL],
        accelerator=accelerators()["m3-ultra"],
        precision="q4_k_m",
        layout=Layout(shard=Sharding()),
        engine="llama.cpp",
        variant="llama.cpp",
    )
