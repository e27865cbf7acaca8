"""Every model on every accelerator, in every layout and precision that fits, as columns.

Columns of a deployment depend on its model, precision and layout, or on its accelerator and precision, hardly ever on
all. So each is worked out once for what it depends on and looked up for the products, which are a thousand times as many.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np

from pricing.accelerators import Accelerator
from pricing.calibration import Calibration
from pricing.capacity import BLOCK_TOKENS, MOST_MEMORY_SHARE
from pricing.deployment import Deployment, Load, Setups, setups
from pricing.kv_cache import groups_of, on_one_rank, sequence_bytes_in_blocks
from pricing.layouts import Layout
from pricing.memory import Engine, Sharding, budget_of, kv_room, visible_bytes
from pricing.open_model import OpenModel

_OF_THE_ACCELERATOR: Final = frozenset(
    {
        "bytes_per_second", "flops_per_second", "wide_flops_per_second", "link_bytes_per_second", "domain_gpus",
        "narrow8", "narrow4",
    }
)  # fmt: skip
"""Columns that depend on the accelerator and the precision; all others on model, precision, layout and load."""
ONE_MACHINE: Final = (
    *(Layout(shard=Sharding(tp=tp)) for tp in (1, 2, 4, 8)),
    Layout(shard=Sharding(dp=8), spread_experts=True),
)
"""Tensor ranks; and, for mixtures of experts, attention in groups of its own with the experts spread over all."""
_SPREADING_LINK_GB_S: Final = 300.0
"""Slower ones are PCIe, over which nobody sends every token to experts elsewhere."""
_UNPACKS_SINCE: Final = 2020
"""Kernels that unpack 8- and 4-bit weights beside 16-bit products (Marlin) start with NVIDIA's Ampere."""
TWO_MACHINES: Final = (Layout(shard=Sharding(tp=8, pp=2)),)
"""Tried where a model fits into no single machine of eight."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Deployments that fit, and their columns, row by row; each is one replica."""

    deployments: tuple[Deployment, ...]
    setups: Setups


def fitting(
    models: Sequence[OpenModel],
    accelerators: Sequence[Accelerator],
    load: Load,
    calibration: Calibration,
    *,
    precision: str | None = None,
    engine: tuple[Engine, str] | None = None,
    layouts: Sequence[Layout] = ONE_MACHINE,
) -> Grid:
    """All deployments that hold at least one sequence of the load beside the weights.

    Args:
        models: Models to host.
        accelerators: Parts to host them on; those without a known rate of arithmetic are left out.
        load: The mean request.
        calibration: For the families of the accelerators.
        precision: Of weights and cache; None for the usual ones of each pair.
        engine: Memory rule and name in the calibration; None for vLLM, and llama.cpp on Apple's parts.
        layouts: Of one replica.
    """
    found: list[tuple[Deployment, Deployment, Deployment, float]] = []
    sides = _Sides(load)
    for chip in accelerators:
        if not chip.bf16_dense_tflops:
            continue
        rule, variant = engine or _usual_engine(chip)
        for model in models:
            for word in (precision,) if precision else usual_precisions(model, chip):
                for layout in layouts if rule != "llama.cpp" else layouts[:1]:
                    if not _is_usual(layout, model, chip):
                        continue
                    one = Deployment(
                        model=model,
                        accelerator=chip,
                        precision=word,
                        layout=layout,
                        engine=rule,
                        variant=variant,
                    )
                    if sequences := sides.sequences(one):
                        found.append((one, *sides.of(one), sequences))
    return _grid(found, load, calibration)


def _is_usual(layout: Layout, model: OpenModel, chip: Accelerator) -> bool:
    """Heads must divide by the ranks; experts are spread where there are some, over links that carry them."""
    if layout.shard.dp > 1 and not (model.is_moe and (chip.interconnect_gb_s or 0.0) >= _SPREADING_LINK_GB_S):
        return False
    return model.n_heads % layout.shard.tp == 0


def usual_precisions(model: OpenModel, chip: Accelerator) -> tuple[str, ...]:
    """Precisions of weights that people serve a model in on an accelerator: as published, and in 8 bits.

    A model that was published in 8 bits or fewer is widened only where narrow weights cannot be unpacked (before 2020: V100,
    T4). 4 bits are never put on a model that was not published so: what that does to answers is not known.
    """
    native = (model.native_precision or "bf16").casefold()
    if chip.year is not None and chip.year < _UNPACKS_SINCE:
        return ("bf16",)
    if "int4" in native:
        return ("int4",)
    if "mxfp4" in native or "fp4 experts" in native:
        return ("fp4",)
    words = [] if native.startswith("fp8") else ["bf16"]
    words += ["fp8"] if chip.fp8_dense_tflops or native.startswith("fp8") else []
    narrowest = (chip.fp4_dense_tflops or 0.0) > (chip.fp8_dense_tflops or 0.0)
    words += ["fp4"] if narrowest and "fp4" in native else []
    return tuple(words)


def _usual_engine(chip: Accelerator) -> tuple[Engine, str]:
    return ("llama.cpp", "llama.cpp") if chip.vendor == "Apple" else ("vllm", "vllm")


class _Sides:
    """Looks up what a deployment shares with others."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._memory: dict[Any, tuple[float, float, float]] = {}
        self._visible: dict[str, float] = {}
        self._model: dict[Any, Deployment] = {}
        self._chip: dict[Any, Deployment] = {}

    def of(self, one: Deployment) -> tuple[Deployment, Deployment]:
        """A deployment with the columns of its model and layout, and one with those of its accelerator."""
        key = one.model.id, one.layout, one.precision, one.kv_bytes_per_value, one.engine
        chip = one.accelerator.id, one.accelerator.memory_gb, one.precision, one.engine
        return self._model.setdefault(key, one), self._chip.setdefault(chip, one)

    def sequences(self, one: Deployment) -> int:
        """As ``serving_table.sequences_of``; 0 where nothing fits."""
        shard = one.layout.shard
        key = one.model.id, one.layout, one.precision, one.kv_bytes_per_value, one.engine
        if key not in self._memory:
            budget = budget_of(one.model, one.accelerator, shard, precision=one.precision, engine=one.engine)
            ranks = on_one_rank(groups_of(one.model), shard.tp, shard.pp)
            sequence = sequence_bytes_in_blocks(
                ranks, self._load.context_tokens, one.kv_bytes_per_value, BLOCK_TOKENS[one.engine]
            )
            self._memory[key] = budget.weights, budget.overhead, sequence
        weights, overhead, sequence = self._memory[key]
        chip = f"{one.accelerator.id} {one.accelerator.memory_gb}"
        total = self._visible.setdefault(chip, visible_bytes(one.accelerator))
        if weights > total or not sequence:
            return 0
        for share in (None, MOST_MEMORY_SHARE):
            room = kv_room(one.engine, total, weights, overhead, memory_share=share).kv_room
            if held := math.floor(max(room, 0.0) / sequence) * shard.dp:
                return held
        return 0


def _grid(
    found: Sequence[tuple[Deployment, Deployment, Deployment, float]], load: Load, calibration: Calibration
) -> Grid:
    by_model, model_at = _distinct(row[1] for row in found)
    by_chip, chip_at = _distinct(row[2] for row in found)
    models = setups(by_model, [load] * len(by_model), [0.0] * len(by_model), [""] * len(by_model))
    families = [calibration.family_of(one.accelerator) for one in by_chip]
    chips = setups(by_chip, [load] * len(by_chip), [0.0] * len(by_chip), families)
    columns = {
        field.name: getattr(chips, field.name)[chip_at]
        if field.name in _OF_THE_ACCELERATOR
        else getattr(models, field.name)[model_at]
        for field in fields(Setups)
        if field.name not in {"family", "engine", "sequences"}
    }
    return Grid(
        deployments=tuple(row[0] for row in found),
        setups=replace(
            models,
            **columns,
            family=tuple(families[at] for at in chip_at),
            engine=tuple(models.engine[at] for at in model_at),
            sequences=np.asarray([row[3] for row in found], dtype=np.float64),
        ),
    )


def _distinct(all_of: Iterable[Deployment]) -> tuple[list[Deployment], list[int]]:
    """What there is of something, by identity, and the place of each."""
    listed: list[Deployment] = []
    places: dict[int, int] = {}
    at: list[int] = []
    for one in all_of:
        if id(one) not in places:
            places[id(one)] = len(listed)
            listed.append(one)
        at.append(places[id(one)])
    return listed, at
