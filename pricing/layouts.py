"""How a deployment is laid over accelerators, and how benchmarks and engines write that down.

One label may state tensor ranks (``4``, ``tp4``), pipeline stages (``pp2``), data-parallel attention with experts spread
over all ranks (``dep8``, ``tp1dp8moetp1ep8``), layers split over cards (``layer-split x4``), or a pool for prefill beside
one for decode (``P1xtp4dp1+D2xtp8dp1``: 1 x 4 for prefill, 2 x 8 for decode).
"""

import re
from dataclasses import dataclass
from typing import Final

from pricing.errors import PricingError
from pricing.memory import Sharding


class UnknownLayoutError(PricingError):
    """Raised when a label states no layout; the message shows the ways to write one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """Replicas of a model over accelerators.

    Attributes:
        shard: One replica that decodes (and prefills, unless there is a pool for that).
        replicas: Equal ones that share the load.
        spread_experts: Whether tokens travel to the experts' ranks (expert parallelism).
        prefill: One replica of the prefill pool; None if prompts are read where answers are written.
        prefill_replicas: Of that pool.
        layer_split: Cards that hold consecutive layers and work one after another (llama.cpp).
    """

    shard: Sharding
    replicas: int = 1
    spread_experts: bool = False
    prefill: Sharding | None = None
    prefill_replicas: int = 0
    layer_split: bool = False

    @property
    def n_gpus(self) -> int:
        """Accelerators of all replicas and pools."""
        prefill = self.prefill.n_gpus * self.prefill_replicas if self.prefill else 0
        return self.shard.n_gpus * self.replicas + prefill

    @property
    def words(self) -> str:
        """The layout as people write it: ``2 x TP4``."""
        one = self._shard_words(self.shard)
        served = one if self.replicas == 1 else f"{self.replicas} x {one}"
        if self.layer_split:
            return f"layers split over {self.shard.pp}"
        if not self.prefill:
            return served
        return f"{self.prefill_replicas} x {self._shard_words(self.prefill)} for prefill, {served} for decode"

    def _shard_words(self, shard: Sharding) -> str:
        parts = [f"TP{shard.tp}"] if shard.tp > 1 or shard.n_gpus == 1 else []
        parts += [f"DP{shard.dp}"] if shard.dp > 1 else []
        parts += [f"PP{shard.pp}"] if shard.pp > 1 else []
        return " ".join(parts)


_POOLS: Final = re.compile(r"p(\d+)xtp(\d+)dp(\d+)\+d(\d+)xtp(\d+)dp(\d+)")
_RANKS: Final = re.compile(r"tp(\d+)dp(\d+)moetp(\d+)ep(\d+)")
_PARTS: Final = re.compile(r"(dep|tep|tp|pp|dp|ep)[-_= ]?(\d+)|(\d+)[-_ ]?(dep|tep|tp|pp|dp|ep)(?![a-z\d])")
_LAYER_SPLIT: Final = re.compile(r"layer[- ]split\s*x?\s*(\d+)")


def parse_layout(label: str, n_gpus: int | None = None, *, literal: bool = False) -> Layout:
    """Read a layout.

    Args:
        label: As above; empty means that all ``n_gpus`` are tensor ranks of one replica.
        n_gpus: Accelerators in all; more than one replica takes means that there are several replicas.
        literal: Whether to take ranks as they stand. Engines take ``--tp 8 --ep 8`` for 8 accelerators, and converters
            that multiply the two write ``tp64dp1moetp8ep8``, which no machine of 8 could run: without ``literal``,
            equal expert ranks and groups are read as the engine means them.

    Raises:
        UnknownLayoutError: If the label states none.
    """
    text = re.sub(r"\(.*?\)", "", label.strip().casefold()).strip()
    if found := _POOLS.fullmatch(text):
        p, p_tp, p_dp, d, d_tp, d_dp = map(int, found.groups())
        return Layout(
            shard=Sharding(tp=d_tp, dp=d_dp),
            replicas=d,
            spread_experts=d_dp > 1,
            prefill=Sharding(tp=p_tp, dp=p_dp),
            prefill_replicas=p,
        )
    if found := _RANKS.fullmatch(text):
        tp, dp, expert_tp, ep = map(int, found.groups())
        multiplied = not literal and expert_tp == ep > 1 and expert_tp * ep == tp * dp
        if multiplied:
            return Layout(shard=Sharding(dp=ep) if dp > 1 else Sharding(tp=ep), spread_experts=True)
        groups = max(dp, expert_tp * ep // tp)
        return _replicated((Sharding(tp=tp, dp=groups), ep > 1 and groups > 1), n_gpus)
    if found := _LAYER_SPLIT.fullmatch(text):
        return Layout(shard=Sharding(pp=int(found.group(1))), layer_split=True)
    if not text or re.fullmatch(r"\d+(\.0)?", text):
        return _replicated((Sharding(tp=int(float(text or n_gpus or 1))), False), n_gpus)
    return _replicated(_parts(label, text), n_gpus)


def _parts(label: str, text: str) -> tuple[Sharding, bool]:
    sizes: dict[str, int] = {}
    for word, size, size_before, word_after in _PARTS.findall(text):
        sizes[word or word_after] = int(size or size_before)
    if not sizes or 0 in sizes.values():
        raise UnknownLayoutError(
            f"Layout {label!r} is not known; write tensor ranks (4 or tp4), stages (tp4pp2), data-parallel attention "
            "with spread experts (dep8), or two pools (P1xtp4dp1+D2xtp8dp1)."
        )
    if groups := sizes.get("dep"):
        return Sharding(dp=groups, pp=sizes.get("pp", 1)), True
    tp = sizes.get("tp", sizes.get("tep", 1))
    dp = sizes.get("dp", 1)
    if "tp" not in sizes and "tep" not in sizes and dp == 1:
        tp = sizes.get("ep", 1)
    return Sharding(tp=tp, dp=dp, pp=sizes.get("pp", 1)), dp > 1 and sizes.get("ep", 1) > 1


def _replicated(replica: tuple[Sharding, bool], n_gpus: int | None) -> Layout:
    """Lay out as many of a replica (and whether it spreads its experts) as there are accelerators for."""
    shard, spread = replica
    replicas = max((n_gpus or 0) // shard.n_gpus, 1)
    return Layout(shard=shard, replicas=replicas, spread_experts=spread)
