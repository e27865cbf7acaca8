"""The phase model: what prefill and decode take from the hardware. One function a formula, each with its source.

Prefill reads the prompt in parallel and is bound by arithmetic; decode writes one token at a time and is bound by
memory bandwidth, because every step reads all weights and the cached keys and values of every sequence.

This is a first roofline over one reference deployment, good for the *split* of a workload between its phases: both
phases scale with the size of the model, so the split depends little on it.
"""

from dataclasses import dataclass
from typing import Final

from pricing.units import GIGA, TERA


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A dense model on a number of equal accelerators, as the roofline needs it."""

    name: str
    parameters: float
    """Weights that each token uses (a dense model: all of them)."""
    layers: int
    attention_width: int
    """Query heads x head dimension."""
    kv_bytes_per_token: float
    """Keys and values of one token over all layers."""
    bytes_per_parameter: float
    accelerators: int
    flops_per_second: float
    """Dense peak of one accelerator at the weights' precision."""
    bytes_per_second: float
    """Memory bandwidth of one accelerator."""
    compute_efficiency: float
    """Share of the peak that large prefills reach (MFU)."""
    bandwidth_efficiency: float
    """Share of the bandwidth that decode reaches (MBU)."""
    batch: int
    """Sequences decoded together on a busy server."""

    @property
    def words(self) -> str:
        """The deployment and its assumptions in one sentence."""
        return (
            f"{self.name}, {self.compute_efficiency:.0%} of peak arithmetic in prefill, "
            f"{self.bandwidth_efficiency:.0%} of peak bandwidth in decode, {self.batch} sequences decoded together"
        )


REFERENCE: Final = Deployment(
    name="Llama 3.1 70B in FP8 on 4 x H100 SXM",
    parameters=70.554 * GIGA,
    layers=80,
    attention_width=64 * 128,
    kv_bytes_per_token=327_680.0,
    bytes_per_parameter=1.0,
    accelerators=4,
    flops_per_second=1_978.9 * TERA,
    bytes_per_second=3_350.0 * GIGA,
    compute_efficiency=0.5,
    bandwidth_efficiency=0.7,
    batch=32,
)
"""A common deployment of a widely measured model.

Source: model card and config of Llama 3.1 70B (layers, heads, 327,680 bytes of BF16 keys and values a token); NVIDIA
H100 SXM data sheet (dense FP8, HBM3 bandwidth). Efficiencies are mid-range of published Hopper measurements of dense
models: 0.4 to 0.7 of arithmetic, 0.5 to 0.85 of bandwidth.
"""


def prefill_seconds(tokens: float, context_pairs: float, on: Deployment = REFERENCE) -> float:
    """Return the accelerator-bound seconds to read prompts.

    Args:
        tokens: Prompt tokens that are computed (cache reads are not).
        context_pairs: Sum over those tokens of the tokens that each looks at (before it, cached or not).
        on: The deployment.

    Source: 2 FLOPs a parameter and token for the matrix products, 4 x width x layers a token pair for attention
    (Kaplan et al., arXiv 2001.08361, table 1; Korthikanti et al., arXiv 2205.05198, appendix A).
    Ignores: queueing, kernel launches and communication, so short prompts come out too cheap.
    """
    matrix = 2 * on.parameters * tokens
    attention = 4 * on.attention_width * on.layers * context_pairs
    return (matrix + attention) / (on.accelerators * on.flops_per_second * on.compute_efficiency)


def decode_seconds(tokens: float, context_pairs: float, on: Deployment = REFERENCE) -> float:
    """Return the bandwidth-bound seconds to write answers, as the share of a busy server's batch.

    Args:
        tokens: Output tokens.
        context_pairs: Sum over output tokens of the tokens in their sequence so far.
        on: The deployment.

    Source: peak decode speed is bandwidth over bytes touched a token: the weights, shared by the batch, and the
    sequence's own keys and values (Pope et al., arXiv 2211.05102, section 2.1).
    Ignores: arithmetic (small at this batch), kernel launches and communication, so decode comes out too cheap on
    small models.
    """
    weights = on.parameters * on.bytes_per_parameter / on.batch * tokens
    keys_and_values = on.kv_bytes_per_token * context_pairs
    return (weights + keys_and_values) / (on.accelerators * on.bytes_per_second * on.bandwidth_efficiency)
