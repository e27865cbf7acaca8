"""Does a model fit, and how many sequences beside it.

Capacity of the cache bounds the batch, and the batch makes the throughput, so a plan whose batch does not fit promises
several times too much. What does not fit is refused with the budget, never estimated.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pricing.accelerators import Accelerator
from pricing.errors import PricingError
from pricing.kv_cache import CacheGroup, bytes_per_token, groups_of, on_one_rank, sequence_bytes_in_blocks
from pricing.memory import Budget, Engine, Sharding, budget_of
from pricing.open_model import OpenModel
from pricing.units import GIB

BLOCK_TOKENS: Final[Mapping[Engine, int]] = {"vllm": 16, "sglang": 1, "trtllm": 32, "llama.cpp": 1}
"""Tokens that an engine hands memory out for at a time."""
MOST_MEMORY_SHARE: Final = 0.95
"""What people set by hand where the engine's default share of the memory is just too small."""


class DoesNotFitError(PricingError):
    """Raised when weights, or weights and one sequence, exceed the memory; the message shows the budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Capacity:
    """What a replica can hold at once.

    Attributes:
        budget: Of each accelerator.
        cache_tokens: Tokens of context over all sequences, whole blocks, in layers that keep everything.
        sequences: Whole sequences of the asked length.
    """

    budget: Budget
    cache_tokens: int
    sequences: int


def capacity(
    model: OpenModel,
    accelerator: Accelerator,
    sharding: Sharding | None = None,
    *,
    precision: str,
    context_tokens: float,
    kv_bytes: float = 2.0,
    engine: Engine = "vllm",
    memory_share: float | None = None,
) -> Capacity:
    """What a deployment can hold at once.

    Raises:
        DoesNotFitError: If the weights leave no room for one sequence of that length: the budget, and the smallest count
            of this accelerator that would do.
    """
    laid = sharding or Sharding()
    asked = _Asked(model, accelerator, precision, context_tokens, kv_bytes, engine, memory_share)
    found = asked.room_on(laid)
    if found.sequences < 1:
        raise DoesNotFitError(_refusal(asked, laid, found.budget, asked.smallest()))
    return found


@dataclass(frozen=True, slots=True)
class _Asked:
    """A model to hold on accelerators of one kind."""

    model: OpenModel
    accelerator: Accelerator
    precision: str
    context_tokens: float
    kv_bytes: float
    engine: Engine
    memory_share: float | None

    def room_on(self, laid: Sharding) -> Capacity:
        """Room with the engine's default share of the memory, or with the most that people set if that is too small."""
        shares = (None, MOST_MEMORY_SHARE) if self.memory_share is None else (self.memory_share,)
        found = [self._room_with(laid, share) for share in shares[:1]]
        if found[0].sequences < 1:
            found += [self._room_with(laid, share) for share in shares[1:]]
        return max(found, key=lambda one: one.sequences)

    def _room_with(self, laid: Sharding, share: float | None) -> Capacity:
        budget = budget_of(
            self.model,
            self.accelerator,
            laid,
            precision=self.precision,
            engine=self.engine,
            memory_share=share,
        )
        groups = on_one_rank(groups_of(self.model), laid.tp, laid.pp)
        return room_for(
            budget, groups, self.context_tokens, self.kv_bytes, BLOCK_TOKENS[self.engine], laid.dp
        )

    def smallest(self, most_gpus: int = 256) -> Sharding | None:
        """The fewest accelerators with room for one sequence: tensor parallel in a machine, then stages."""
        layouts = _layouts(self.model, most_gpus)
        return next((laid for laid in layouts if self.room_on(laid).sequences >= 1), None)


def room_for(
    budget: Budget,
    groups: Sequence[CacheGroup],
    context_tokens: float,
    kv_bytes: float = 2.0,
    block_tokens: int = 16,
    dp: int = 1,
) -> Capacity:
    """Sequences that a budget has room for, with the cache groups of one rank; ``dp`` groups hold their own."""
    room = max(budget.kv_room, 0.0)
    one = sequence_bytes_in_blocks(groups, context_tokens, kv_bytes, block_tokens)
    token = bytes_per_token(groups, kv_bytes)
    blocks = math.floor(room / (token * block_tokens)) if token else 0
    return Capacity(
        budget=budget,
        cache_tokens=blocks * block_tokens * dp,
        sequences=math.floor(room / one) * dp if one else 0,
    )


def min_gpus_by_weights(weights: float, usable_per_gpu: float) -> int:
    """The fewest accelerators whose usable memory holds the weights; room for the cache needs more."""
    return math.ceil(weights / usable_per_gpu)


def smallest_sharding(
    model: OpenModel,
    accelerator: Accelerator,
    *,
    precision: str,
    context_tokens: float,
    kv_bytes: float = 2.0,
    engine: Engine = "vllm",
    memory_share: float | None = None,
) -> Sharding | None:
    """The fewest accelerators that hold the weights and one sequence; None if 256 do not."""
    return _Asked(model, accelerator, precision, context_tokens, kv_bytes, engine, memory_share).smallest()


def _layouts(model: OpenModel, most_gpus: int) -> list[Sharding]:
    machine = 8
    ranks = [tp for tp in (1, 2, 4, machine) if model.n_heads % tp == 0]
    stages = range(2, most_gpus // ranks[-1] + 1)
    return [Sharding(tp=tp) for tp in ranks] + [Sharding(tp=ranks[-1], pp=pp) for pp in stages]


def _refusal(asked: _Asked, laid: Sharding, budget: Budget, smallest: Sharding | None) -> str:
    groups = on_one_rank(groups_of(asked.model), laid.tp, laid.pp)
    sequence = sequence_bytes_in_blocks(
        groups, asked.context_tokens, asked.kv_bytes, BLOCK_TOKENS[asked.engine]
    )
    advice = (
        f"The smallest count that holds one is {smallest.n_gpus}."
        if smallest
        else "No count up to 256 holds one; take a lower precision or a larger accelerator."
    )
    return (
        f"{asked.model.id} in {asked.precision} does not fit on {laid.n_gpus} x {asked.accelerator.name}: "
        f"{budget.words}; a sequence of {asked.context_tokens:,.0f} tokens needs {sequence / GIB:.1f}. {advice}"
    )
