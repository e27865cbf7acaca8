"""A table of deployments and loads, as benchmarks publish it, turned into what the model works on, row by row.

A row that names nothing known, or that does not fit, is refused with the reason; it never gets a number.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pricing.accelerators import Accelerator, accelerator
from pricing.calibration import engine_of
from pricing.capacity import DoesNotFitError, capacity
from pricing.deployment import Deployment, Load
from pricing.errors import PricingError
from pricing.layouts import Layout, parse_layout
from pricing.memory import Sharding
from pricing.open_model import OpenModel
from pricing.open_models import open_model
from pricing.units import TERA

COLUMNS: Final = (
    "row_id", "group", "model", "precision", "gpu", "n_gpus", "tp", "engine", "input_len", "output_len",
    "concurrency_or_rate",
)  # fmt: skip
"""What a row is read from; other columns are ignored."""

Kind = Literal["single", "batch", "serving", "pools", "saturated"]


class RowError(PricingError):
    """Raised when a cell of a row cannot be read; the message names the column, the value and what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One row that can be worked out.

    Attributes:
        kind: Which quantities the row has, and with which band.
        sequences: The most that one replica holds.
        share: Of the saturated throughput that is left under the latency limits of a scenario.
        open_layout: Whether the layout is not stated, and the best one is taken.
    """

    row_id: str
    kind: Kind
    deployment: Deployment
    load: Load
    sequences: float
    share: float = 1.0
    open_layout: bool = False


_TUNED_SHARE: Final = 1.15
"""Submissions to MLPerf are tuned by hand, the points that the model was fitted on are not: by about so much are the published
results of v5.0 and v5.1 for Llama 2 70B and DeepSeek-R1 above the model's, from memory."""
_SCENARIO_SHARE: Final[Mapping[str, float]] = {"interactive": 0.65, "server": 0.9}
"""Of the offline throughput: B200 and H200 in NVIDIA's published results of MLPerf Inference v5.0 and v5.1 for Llama 2 70B
and Llama 3.1 8B (0.88 to 0.98, and 0.6 to 0.83), from memory."""
_MLPERF_INPUT_TOKENS: Final[Mapping[str, str]] = {
    "meta-llama/Llama-2-70b-hf": "294", "meta-llama/Llama-3.1-8B-Instruct": "778",
    "meta-llama/Llama-3.1-405B-Instruct": "9428", "deepseek-ai/DeepSeek-R1": "800",
}  # fmt: skip
"""Mean prompts of the benchmark's data sets, which its results do not state; from memory."""
_UNSTATED: Final = frozenset({"", "?", "-", "none", "nan", "n/a", "na", "unknown", "auto", "not stated"})
_LAYOUT_TRIES: Final = (1, 2, 4, 8)
_SATURATED: Final = frozenset({"", "inf", "infinity", "max", "offline", "server", "interactive", "saturated"})


def cases_of(cells: Mapping[str, str]) -> tuple[Case, ...]:
    """The ways to run a row: one, or one for each layout that fits where the row states none.

    Args:
        cells: Column to text.

    Raises:
        PricingError: If a cell cannot be read, a name is not known, or the deployment does not fit: the reason.
    """
    cells = {column: _stated(text) for column, text in cells.items()}
    group = cells.get("group", "").casefold()
    model, chip = open_model(_text(cells, "model")), accelerator(_text(cells, "gpu"))
    if group.startswith("mlperf") and not cells.get("input_len") and model.id in _MLPERF_INPUT_TOKENS:
        cells["input_len"] = _MLPERF_INPUT_TOKENS[model.id]
    if not chip.bf16_dense_tflops:
        raise RowError(f"No arithmetic rate of {chip.name} is known; add one in a file of accelerators.")
    engine, variant = engine_of(cells.get("engine", ""))
    precision = cells.get("precision", "")
    if not _stated(precision.split("/")[0]):
        precision = default_precision(model, chip)
    load = _load(cells, group)
    n_gpus = _count(cells, "n_gpus")
    layouts = _layouts(cells, n_gpus, group)
    found: list[Case] = []
    refused: DoesNotFitError | None = None
    for layout in layouts:
        deployment = Deployment(
            model=model, accelerator=chip, precision=precision, layout=layout, engine=engine, variant=variant
        )
        try:
            sequences = sequences_of(deployment, load)
        except DoesNotFitError as error:
            refused = refused or error
            continue
        found.append(
            Case(
                row_id=cells.get("row_id", "").strip(),
                kind=_kind(group, layout, load),
                deployment=deployment,
                load=load,
                sequences=sequences,
                share=_share(cells, group),
                open_layout=_is_open(cells, group),
            )
        )
    if not found and refused:
        raise refused
    return tuple(found) if _is_open(cells, group) else tuple(found[:1])


def sequences_of(deployment: Deployment, load: Load) -> float:
    """Sequences of the load's mean length that one replica holds at once.

    Raises:
        DoesNotFitError: If not even one fits, or the weights of the prefill pool do not.
    """
    layout, context = deployment.layout, load.context_tokens
    room = capacity(
        deployment.model,
        deployment.accelerator,
        layout.shard,
        precision=deployment.precision,
        context_tokens=context,
        kv_bytes=deployment.kv_bytes_per_value,
        engine=deployment.engine,
    )
    if layout.prefill:
        capacity(
            deployment.model,
            deployment.accelerator,
            layout.prefill,
            precision=deployment.precision,
            context_tokens=load.input_tokens,
            kv_bytes=deployment.kv_bytes_per_value,
            engine=deployment.engine,
        )
    return float(room.sequences)


def default_precision(model: OpenModel, chip: Accelerator) -> str:
    """What people serve a model in on an accelerator: as it was published, or the narrowest that it computes in."""
    native = (model.native_precision or "").casefold()
    if "fp4" in native:
        return "fp4"
    if chip.fp4_dense_tflops and chip.fp4_dense_tflops > (chip.fp8_dense_tflops or 0.0):
        return "fp4"
    if chip.fp8_dense_tflops and chip.fp8_dense_tflops * TERA > 0:
        return "fp8"
    return "bf16"


def _is_open(cells: Mapping[str, str], group: str) -> bool:
    """Whether the layout was left to whoever tuned the deployment, and is not stated."""
    return group.startswith("mlperf") and not cells.get("tp", "").strip()


def _layouts(cells: Mapping[str, str], n_gpus: int, group: str) -> tuple[Layout, ...]:
    """Readings of what is stated, the likely one first; or what there is to choose from."""
    if not _is_open(cells, group):
        return parse_layout(cells.get("tp", ""), n_gpus), parse_layout(
            cells.get("tp", ""), n_gpus, literal=True
        )
    sizes = sorted({size for size in (*_LAYOUT_TRIES, n_gpus) if n_gpus % size == 0})
    return tuple(Layout(shard=Sharding(tp=size), replicas=n_gpus // size) for size in sizes)


def _kind(group: str, layout: Layout, load: Load) -> Kind:
    if load.static:
        return "single" if group == "single_stream" else "batch"
    if load.concurrency == float("inf"):
        return "saturated"
    return "pools" if layout.prefill else "serving"


def _load(cells: Mapping[str, str], group: str) -> Load:
    static = group in {"single_stream", "phase_batch"}
    text = cells.get("concurrency_or_rate", "").strip().casefold()
    concurrency = (
        float("inf")
        if text in _SATURATED or group.startswith("mlperf")
        else _number(cells, "concurrency_or_rate")
    )
    if static and concurrency == float("inf"):
        concurrency = 1.0
    return Load(
        input_tokens=_number(cells, "input_len"),
        output_tokens=_number(cells, "output_len"),
        concurrency=concurrency,
        static=static,
    )


def _share(cells: Mapping[str, str], group: str) -> float:
    if not group.startswith("mlperf"):
        return 1.0
    scenario = f"{group} {cells.get('concurrency_or_rate', '').casefold()}"
    return _TUNED_SHARE * next((share for word, share in _SCENARIO_SHARE.items() if word in scenario), 1.0)


def _stated(text: str) -> str:
    """The text of a cell; nothing if it only says that nothing is known."""
    return "" if text.strip().casefold() in _UNSTATED else text.strip()


def _text(cells: Mapping[str, str], column: str) -> str:
    found = cells.get(column, "").strip()
    if not found:
        raise RowError(f"{column} is empty; every row needs it.")
    return found


def _number(cells: Mapping[str, str], column: str) -> float:
    found = _text(cells, column)
    try:
        number = float(found.replace(",", ""))
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise RowError(f"{column} is {found!r}; a number above 0 is needed.")
    return number


def _count(cells: Mapping[str, str], column: str) -> int:
    if not cells.get(column, "").strip():
        return 1
    return max(round(_number(cells, column)), 1)
