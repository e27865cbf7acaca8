"""The shape of an open-weight model, and what follows from it: parameters by use, and bytes of keys and values."""

from dataclasses import dataclass
from typing import Final

from pricing.units import GIGA

_BF16_BYTES: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenModel:
    """One model as published. Parameters are in billions (1e9); None is a figure that nobody stated.

    Attributes:
        id: On the Hugging Face hub.
        total_params_b: As stated, towers for other media excluded where the note says so.
        active_params_b: As the vendor states it; conventions differ, so no formula uses it.
        active_matmul_b: Parameters multiplied for each token: 2 FLOPs each. The input table (a look-up) is out of it.
        n_full_attention_layers: Those whose cache grows with the whole context.
        mlp_matrices: 3 of a gated MLP (SwiGLU, GeGLU), 2 of a plain one; experts likewise.
        attention_type: In words: MHA, GQA, MLA, hybrid, with sliding windows and the like.
        kv_bytes_per_token_bf16: Growing part of the cache over all layers at 2 bytes a value.
        sliding_window: Tokens that the layers with a window keep; None if there are none.
        sliding_kv_width: Values of one token in a window layer; None where it is 2 x KV heads x head dimension.
        full_kv_heads, sliding_kv_heads: KV heads of full and of window layers where they differ from ``n_kv_heads``.
        mla_kv_lora_rank, mla_rope_dim: Width of the latent vector that MLA caches instead of heads, and its position part.
        linear_or_ssm_layers: Layers with a state of constant size instead of a cache.
        linear_state_values: Values in that state of one sequence, over all layers; None if nobody worked it out.
        n_experts, experts_per_token: Routed ones of each mixture-of-experts layer.
        shared_experts: Those every token uses.
        expert_hidden_size: Input width of an expert where it is not the hidden size (latent experts).
        nvfp4_dense_bits: Bits that NVIDIA's NVFP4 checkpoint keeps what is not a routed expert in, on average; None if it
            was not looked at.
        native_precision: Of the published weights; None if not stated.
    """

    id: str
    family: str
    total_params_b: float
    active_params_b: float
    active_matmul_b: float
    n_layers: int
    n_full_attention_layers: int
    hidden_size: int
    intermediate_size: int
    n_heads: int
    n_kv_heads: int
    head_dim: int
    attention_type: str
    kv_bytes_per_token_bf16: float
    vocab_size: int
    tied_embeddings: bool
    max_context: int
    released: str
    native_precision: str | None
    licence: str
    source: str
    verified: str
    note: str = ""
    mlp_matrices: int = 3
    sliding_window: int | None = None
    sliding_kv_width: int | None = None
    full_kv_heads: int | None = None
    sliding_kv_heads: int | None = None
    mla_kv_lora_rank: int | None = None
    mla_rope_dim: int | None = None
    linear_or_ssm_layers: int = 0
    linear_state_values: int | None = None
    n_experts: int | None = None
    experts_per_token: int | None = None
    shared_experts: int | None = None
    moe_intermediate_size: int | None = None
    expert_hidden_size: int | None = None
    n_moe_layers: int | None = None
    nvfp4_dense_bits: float | None = None
    aliases: tuple[str, ...] = ()

    @property
    def is_moe(self) -> bool:
        """Whether a token uses only some of the experts."""
        return bool(self.n_experts)

    @property
    def is_mla(self) -> bool:
        """Whether the cache holds one latent vector a token, shared by all heads."""
        return self.mla_kv_lora_rank is not None

    @property
    def sliding_layers(self) -> int:
        """Layers whose cache holds at most a window."""
        if self.sliding_window is None:
            return 0
        return self.n_layers - self.n_full_attention_layers - self.linear_or_ssm_layers

    @property
    def expert_params_b(self) -> float:
        """One routed expert of one layer."""
        width = self.expert_hidden_size or self.hidden_size
        return self.mlp_matrices * width * (self.moe_intermediate_size or 0) / GIGA

    @property
    def routed_params_b(self) -> float:
        """All routed experts: what a step reads a share of."""
        return self.expert_params_b * (self.n_experts or 0) * (self.n_moe_layers or 0)

    @property
    def embedding_params_b(self) -> float:
        """The input table, read a row a token."""
        return self.vocab_size * self.hidden_size / GIGA

    @property
    def dense_params_b(self) -> float:
        """What every step reads whole, whatever the batch: all but the routed experts and an untied input table."""
        routed_active = self.expert_params_b * (self.experts_per_token or 0) * (self.n_moe_layers or 0)
        return self.active_matmul_b - routed_active

    @property
    def flops_per_token(self) -> float:
        """Of the matrix products of one token, without attention over the context: 2 a parameter."""
        return 2 * self.active_matmul_b * GIGA

    @property
    def attention_width(self) -> int:
        """Query heads x head dimension."""
        return self.n_heads * self.head_dim

    def distinct_experts(self, batch: float) -> float:
        """Routed experts of a layer that a step with ``batch`` tokens reads.

        Source: expectation with independent, uniform routing, E (1 - (1 - k/E)^batch).
        Ignores: skewed routing, which reads fewer.
        """
        experts, used = self.n_experts or 0, self.experts_per_token or 0
        return experts * (1 - (1 - used / experts) ** batch) if experts else 0.0

    def kv_bytes_per_token(self, bytes_per_value: float = _BF16_BYTES) -> float:
        """What the cache grows by with each token, over all layers that keep the whole context.

        Source: 2 x layers x KV heads x head dimension x bytes; MLA: layers x (latent rank + rope dimension) x bytes.
        Ignores: windows (``kv_window_bytes``), the constant state of linear layers, scales of a quantised cache.
        """
        return self.kv_bytes_per_token_bf16 / _BF16_BYTES * bytes_per_value

    def kv_window_bytes_per_token(self, bytes_per_value: float = _BF16_BYTES) -> float:
        """What the window layers add for each token until their window is full."""
        width = self.sliding_kv_width or 2 * self.n_kv_heads * self.head_dim
        return self.sliding_layers * width * bytes_per_value

    def kv_window_bytes(self, bytes_per_value: float = _BF16_BYTES) -> float:
        """What the window layers of one sequence hold once their windows are full: it grows no further."""
        return self.kv_window_bytes_per_token(bytes_per_value) * (self.sliding_window or 0)

    def kv_bytes(self, context_tokens: float, bytes_per_value: float = _BF16_BYTES) -> float:
        """Cache of one sequence: full layers for the whole context, window layers for at most their window."""
        in_window = min(context_tokens, self.sliding_window or 0)
        return self.kv_bytes_per_token(bytes_per_value) * context_tokens + (
            self.kv_window_bytes_per_token(bytes_per_value) * in_window
        )
