"""Fit the factors of the phase model on measured serving points, hold whole models and families out, and write the result.

    python tools/calibrate.py measured_serving.csv            # fits; writes pricing/data/serving/calibration.toml, docs/accuracy.md
    python tools/calibrate.py measured_serving.csv --check    # only the errors of the calibration in use

Needs scipy (``pip install 'token-cost-advisor[calibrate]'``). The table has a row a measured point, with the columns of
``advisor serving`` and ``ttft_ms``, ``tpot_ms``, ``output_tok_s_per_gpu``, ``qc``. Neighbouring points of one model leak
into each other, so nothing is ever held out by row.
"""

import argparse
import csv
import math
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from calibration_document import Error, accuracy_page, calibration_text
from scipy.optimize import least_squares

from pricing.calibration import Band, Calibration, calibration
from pricing.deployment import Floats, Setups, setups
from pricing.errors import PricingError
from pricing.serving import serve
from pricing.serving_table import Case, cases_of

FAMILIES: Final[dict[str, tuple[str, ...]]] = {
    "blackwell": ("b100", "b200", "gb200", "b300", "gb300"),
    "hopper": (
        "h100-sxm", "h100-pcie", "h100-nvl", "h200-sxm", "h200-nvl", "h20", "h20-141", "h800-sxm", "h800-pcie",
        "gh200-96", "gh200-144",
    ),
    "ampere": ("a100-40-pcie", "a100-40-sxm", "a100-80-pcie", "a100-80-sxm", "a800-sxm", "a30"),
    "ampere-card": (
        "a2", "a10", "a10g", "a40", "a4000", "a4500", "a5000", "a6000", "rtx-3060", "rtx-3060-ti", "rtx-3070",
        "rtx-3070-ti", "rtx-3080", "rtx-3080-12", "rtx-3080-ti", "rtx-3090", "rtx-3090-ti",
    ),
    "ada": (
        "rtx-4060", "rtx-4060-ti", "rtx-4060-ti-8", "rtx-4070", "rtx-4070-super", "rtx-4070-ti", "rtx-4070-ti-super",
        "rtx-4080", "rtx-4080-super", "rtx-4090", "rtx-4090-d", "rtx-2000-ada", "rtx-4000-ada", "rtx-4000-sff-ada",
        "rtx-4500-ada", "rtx-5000-ada", "rtx-6000-ada", "l4", "l20", "l40", "l40s",
    ),
    "apple": (
        "m1", "m1-pro", "m1-max", "m1-ultra", "m2", "m2-pro", "m2-max", "m2-ultra", "m3", "m3-pro", "m3-max",
        "m3-max-30", "m3-ultra", "m4", "m4-pro", "m4-max", "m4-max-32", "m5", "m5-pro", "m5-max",
    ),
    "gb10": ("gb10",),
    "cdna": ("mi100", "mi210", "mi250", "mi250x", "mi300a", "mi300x", "mi325x", "mi350x", "mi355x"),
    "blackwell-card": (
        "rtx-pro-6000-ws", "rtx-pro-6000-server", "rtx-pro-5000", "rtx-pro-4500", "rtx-pro-4000", "rtx-5060-ti",
        "rtx-5060-ti-8", "rtx-5070", "rtx-5070-ti", "rtx-5080", "rtx-5090",
    ),
    "arc": ("arc-pro-b60", "arc-pro-b50", "arc-b580", "arc-a770"),
}  # fmt: skip
PUBLISHED: Final[dict[str, dict[str, float]]] = {
    "cdna": {"arithmetic": 0.65, "bandwidth": 0.9},
    "blackwell-card": {"arithmetic": 0.7},
    "arc": {"arithmetic": 0.6, "bandwidth": 0.65},
}
"""Families without points to fit: saturated throughput over a roofline is 0.44 on MI300X and 0.49 on RTX PRO 6000 where
Hopper has 0.59 (MLPerf Inference v5.1, TensorRT-LLM's performance page); aiconfigurator's system file of the Arc Pro B60
takes half the bandwidth where its NVIDIA files take 0.8. They count as unseen."""
ENGINES: Final = ("trtllm", "vllm", "sglang", "llama.cpp", "vllm-eager")
SAME_MODEL: Final = {
    "llama-3.3-70b": "llama-3.1-70b",
    "deepseek-v3.1": "deepseek-r1-671b-a37b",
    "llama-4-maverick-400b-a17b": "llama-4",
    "llama-4-scout-109b-a17b": "llama-4",
}

# factor: start, and how far (in logarithms) it may go before it is held back
COMMON: Final[dict[str, tuple[float, float]]] = {
    "bandwidth": (0.75, 0.3), "arithmetic": (0.55, 0.5), "attention": (0.4, 0.5), "link": (0.5, 0.5),
    "layer": (4e-5, 1.0), "prefill_layer": (3e-4, 1.0), "step": (4e-4, 1.0), "allreduce": (8e-6, 0.7),
    "exchange": (2e-5, 1.0), "half_tokens": (5.0, 0.7), "routing_skew": (1.0, 0.3), "expert_read": (1.35, 0.5),
    "moe.layer": (1.35, 0.5), "mla.layer": (1.1, 0.3), "linear.layer": (1.1, 0.3),
    "moe.prefill_layer": (1.65, 0.5), "mla.prefill_layer": (1.35, 0.5), "linear.prefill_layer": (1.35, 0.5),
    "moe.arithmetic": (0.67, 0.5), "narrow4.arithmetic": (0.67, 0.5), "narrow8.arithmetic": (0.9, 0.5),
    "narrow4.bandwidth": (1.0, 0.3), "nodes.layer": (1.65, 0.5), "nodes.talk": (1.65, 0.5),
    "mix": (0.8, 0.3), "wait": (0.05, 0.7), "wait_power": (1.0, 0.2), "first_token": (0.03, 1.0),
    "first_token_steps": (1.0, 0.5), "pool.decode": (0.75, 0.4), "pools.decode": (1.0, 0.3),
    "pool.wait": (0.05, 0.7), "pools.wait": (1.0, 0.5), "pool.wait_power": (1.0, 0.3),
    "pool.first_token": (0.15, 0.7), "pools.first_token": (1.0, 0.5), "pool.share": (1.0, 0.4),
    "most_sequences": (512.0, 0.6),
}  # fmt: skip
POWERS: Final[dict[str, tuple[float, float]]] = {"width.layer": (0.2, 0.3), "width.prefill_layer": (0.2, 0.3)}
FAMILY: Final = {"bandwidth": 0.2, "arithmetic": 0.35, "layer": 0.3}
ENGINE: Final = {
    "layer": 0.4, "prefill_layer": 0.4, "arithmetic": 0.2, "step": 0.5, "mix": 0.25, "first_token": 1.0, "wait": 0.4,
}  # fmt: skip
WEIGHT: Final = {
    "single.tpot": 1.0, "single.ttft": 0.6, "batch.tpot": 0.7, "batch.ttft": 0.5, "serving.tpot": 2.0,
    "serving.ttft": 1.0, "pools.tpot": 1.0, "pools.ttft": 0.5, "saturated.throughput": 1.5,
}  # fmt: skip
OUTLIER: Final = 0.12
"""Residuals beyond this (in logarithms) pull linearly, not with their square: published points have gross errors."""
ROWS_OF_FULL_WEIGHT: Final = 200
HOLD_BACK: Final = 0.2
KEPT: Final = 0.04
"""Common factors that start below this are costs in seconds, which a plain roofline does not have."""
BALANCE: Final = 0.25
"""Power of the number of a model's rows that the weight of each falls with."""


@dataclass(frozen=True)
class Target:
    """One quantity of the rows that have it."""

    name: str
    rows: np.ndarray[Any, np.dtype[np.intp]]
    measured: Floats


@dataclass(frozen=True)
class Data:
    """Measured rows as columns; ``model`` and ``family`` are what is held out together."""

    setups: Setups
    targets: tuple[Target, ...]
    model: np.ndarray[Any, Any]
    family: np.ndarray[Any, Any]

    def take(self, keep: np.ndarray[Any, np.dtype[np.bool_]]) -> "Data":
        """The rows to keep."""
        at = np.flatnonzero(keep)
        place = np.full(len(keep), -1)
        place[at] = np.arange(len(at))
        columns = {
            name: (tuple(value[i] for i in at) if isinstance(value, tuple) else value[at])
            for name, value in ((n, getattr(self.setups, n)) for n in Setups.__dataclass_fields__)
        }
        targets = tuple(
            Target(t.name, place[t.rows[keep[t.rows]]], t.measured[keep[t.rows]]) for t in self.targets
        )
        return Data(Setups(**columns), targets, self.model[at], self.family[at])


def read(path: Path, families: Calibration) -> Data:
    """Read the table; what is refused, or marked as an outlier, is not fitted."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    cases: list[Case] = []
    kept: list[dict[str, str]] = []
    for row in rows:
        if "OUTLIER" in row["qc"] or "not stated" in row["qc"] or "unlabelled" in row["group"]:
            continue
        try:
            found = cases_of(row)
        except PricingError as error:
            print(f"refused {row['row_id']}: {error}", file=sys.stderr)
            continue
        cases.append(found[0])
        kept.append(row)
    columns = setups(
        [c.deployment for c in cases],
        [c.load for c in cases],
        [c.sequences for c in cases],
        [families.family_of(c.deployment.accelerator) for c in cases],
    )
    parts: dict[str, list[tuple[int, float]]] = {name: [] for name in WEIGHT}
    for at, (case, row) in enumerate(zip(cases, kept, strict=True)):
        for quantity, column in (
            ("tpot", "tpot_ms"),
            ("ttft", "ttft_ms"),
            ("throughput", "output_tok_s_per_gpu"),
        ):
            name = f"{case.kind}.{quantity}"
            queued = quantity == "ttft" and "QUEUE" in row["qc"]
            if name in parts and row[column] and not queued:
                parts[name].append((at, float(row[column]) / (1e3 if quantity != "throughput" else 1.0)))
    targets = tuple(
        Target(name, np.array([i for i, _ in found], dtype=np.intp), np.array([v for _, v in found]))
        for name, found in parts.items()
    )
    held = [row["model"] for row in kept]
    chips = [c.deployment.accelerator.id for c in cases]
    big = {"b200", "gb200", "h100-sxm", "h200-sxm"}
    return Data(
        columns,
        targets,
        np.array([SAME_MODEL.get(model, model) for model in held]),
        np.array(
            [chip if chip in big else family for chip, family in zip(chips, columns.family, strict=True)]
        ),
    )


def estimate(data: Data, fitted: Calibration) -> dict[str, Floats]:
    """What the model says for each target, in its order of rows."""
    points = serve(data.setups, fitted)
    by_quantity = {
        "tpot": points.tpot_seconds,
        "ttft": points.ttft_seconds,
        "throughput": points.output_tokens_per_second_per_gpu,
    }
    return {t.name: by_quantity[t.name.split(".")[1]][t.rows] for t in data.targets}


class Parameters:
    """The vector that is fitted, and the calibration it stands for."""

    def __init__(self) -> None:
        starts = [(("common", "", k), math.log(v), s) for k, (v, s) in COMMON.items()]
        starts += [(("power", "", k), v, s) for k, (v, s) in POWERS.items()]
        starts += [
            (("family", name, k), 0.0, s)
            for name in FAMILIES
            if name not in PUBLISHED
            for k, s in FAMILY.items()
        ]
        starts += [(("engine", name, k), 0.0, s) for name in ENGINES for k, s in ENGINE.items()]
        self.keys = [key for key, _, _ in starts]
        self.start = np.array([value for _, value, _ in starts])
        self.spread = np.array([spread for _, _, spread in starts])

    def calibration(self, x: Floats, bands: dict[str, dict[str, Band]], day: str) -> Calibration:
        """The calibration of a vector."""
        common: dict[str, float] = {}
        effects: dict[Any, dict[str, dict[str, float]]] = {"family": dict(PUBLISHED), "engine": {}}
        for (kind, name, factor), value in zip(self.keys, x, strict=True):
            if kind == "common":
                common[factor] = math.exp(value)
            elif kind == "power":
                common[factor] = float(value)
            else:
                effects[kind].setdefault(name, {})[factor] = math.exp(value)
        return Calibration(
            common=common,
            effects=effects,
            families=FAMILIES,
            seen=frozenset((*FAMILIES, *ENGINES)) - set(PUBLISHED),
            bands=bands,
            fitted_on=day,
        )


def fit(data: Data, p: Parameters, start: Floats, steps: int) -> Floats:
    """Least squares on logarithms, with outliers held down and every factor held near where it starts."""
    present = [t for t in data.targets if len(t.rows)]
    weight = [
        WEIGHT[t.name] * min(1.0, math.sqrt(ROWS_OF_FULL_WEIGHT / len(t.rows))) * _balance(t, data)
        for t in present
    ]

    def residuals(x: Floats) -> Floats:
        found = estimate(data, p.calibration(x, {}, ""))
        parts = [
            w * _held_down(np.log(found[t.name] / t.measured)) for w, t in zip(weight, present, strict=True)
        ]
        return np.concatenate([*parts, HOLD_BACK * (x - p.start) / p.spread])

    found = least_squares(residuals, start, max_nfev=steps, x_scale=p.spread)
    return np.asarray(found.x)


def _balance(target: Target, data: Data) -> Floats | float:
    """Rows of models that were measured often count for less, so that the fit is of many models and not of one.

    Waits for first tokens depend on engines and settings more than on models, and the points of single streams are nearly
    all of one model: there it left larger errors.
    """
    if target.name.endswith("ttft") or target.name.startswith(("single", "batch")):
        return 1.0
    _, model, rows = np.unique(data.model[target.rows], return_inverse=True, return_counts=True)
    weight = rows[model] ** -BALANCE
    return np.asarray(weight / np.sqrt(np.mean(weight**2)))


def _held_down(residual: Floats) -> Floats:
    return np.asarray(np.sign(residual) * np.sqrt(2 * (np.sqrt(1 + (residual / OUTLIER) ** 2) - 1)) * OUTLIER)


def _hold_out(
    job: tuple[Data, Parameters, Floats, np.ndarray[Any, Any], str],
) -> dict[str, list[tuple[int, float]]]:
    data, p, start, groups, group = job
    x = fit(data.take(groups != group), p, start, 8)
    out = groups == group
    found = estimate(data, p.calibration(x, {}, ""))
    return {
        t.name: [(int(i), float(e)) for i, e in zip(t.rows, found[t.name], strict=True) if out[i]]
        for t in data.targets
    }


def held_out(data: Data, p: Parameters, start: Floats, groups: np.ndarray[Any, Any]) -> dict[str, Floats]:
    """Estimates of each row by a fit that saw nothing of its group."""
    jobs = [(data, p, start, groups, str(group)) for group in sorted(set(groups.tolist()))]
    found: dict[str, dict[int, float]] = {t.name: {} for t in data.targets}
    with ProcessPoolExecutor(max_workers=2) as pool:
        for part in pool.map(_hold_out, jobs):
            for name, pairs in part.items():
                found[name].update(pairs)
    return {t.name: np.array([found[t.name][int(i)] for i in t.rows]) for t in data.targets}


def errors(data: Data, found: dict[str, Floats]) -> dict[str, Error]:
    """Error of each target."""
    return {t.name: Error.of(found[t.name], t.measured) for t in data.targets if len(t.rows)}


def anchored(data: Data, found: dict[str, Floats]) -> dict[str, Error]:
    """Errors once one point of each model, accelerators and engine is known and the others are moved by as much.

    The known one is in the middle of its group by load; it does not count itself.
    """
    made: dict[str, Error] = {}
    s = data.setups
    for t in data.targets:
        off = np.log(t.measured / found[t.name])
        moved, measured = [], []
        groups: dict[tuple[object, ...], list[int]] = {}
        for place, row in enumerate(t.rows):
            key = (data.model[row], data.family[row], s.engine[row], s.n_gpus[row])
            groups.setdefault(key, []).append(place)
        for places in groups.values():
            ordered = sorted(places, key=lambda place: float(s.concurrency[t.rows[place]]))
            known = ordered[len(ordered) // 2]
            rest = [place for place in places if place != known]
            moved += [float(found[t.name][place] * np.exp(off[known])) for place in rest]
            measured += [float(t.measured[place]) for place in rest]
        made[t.name] = Error.of(np.array(moved), np.array(measured))
    return made


def bands(
    model: dict[str, Error], family: dict[str, Error], anchor: dict[str, Error]
) -> dict[str, dict[str, Band]]:
    """Bands of the tiers; the one for unseen families is never the tighter one."""
    found: dict[str, dict[str, Band]] = {}
    for name, seen in model.items():
        unseen = family[name]
        found[name] = {
            "anchor": anchor[name].band,
            "model": seen.band,
            "family": replace(
                unseen.band,
                low=min(seen.band.low, unseen.band.low),
                high=max(seen.band.high, unseen.band.high),
            ),
        }
    return found


def _print(title: str, found: dict[str, Error]) -> None:
    print(title)
    for name, error in found.items():
        print(f"  {name:22s} {error.words}")


def main(arguments: Sequence[str] | None = None) -> None:
    """Fit, hold out, write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("table", type=Path)
    parser.add_argument("--check", action="store_true", help="print the errors of the calibration in use")
    parser.add_argument("--quick", action="store_true", help="fit without holding out; write nothing")
    parser.add_argument("--day", default="", help="day to write into the file")
    options = parser.parse_args(arguments)
    p = Parameters()
    if options.check:
        in_use = calibration()
        _print("in use", errors(read(options.table, in_use), estimate(read(options.table, in_use), in_use)))
        return
    data = read(options.table, p.calibration(p.start, {}, ""))
    x = fit(data, p, p.start, 40)
    fitted = errors(data, estimate(data, p.calibration(x, {}, "")))
    _print("fitted", fitted)
    if options.quick:
        return
    unseen = held_out(data, p, x, data.model)
    by_model = errors(data, unseen)
    by_family = errors(data, held_out(data, p, x, data.family))
    by_anchor = anchored(data, unseen)
    for title, found in (
        ("models", by_model),
        ("families", by_family),
        ("models, one point known", by_anchor),
    ):
        _print(f"held out: {title}", found)
    made = p.calibration(x, bands(by_model, by_family, by_anchor), options.day)
    root = Path(__file__).parents[1]
    (root / "pricing/data/serving/calibration.toml").write_text(calibration_text(made), "utf-8")
    compared = {
        "roofline": errors(data, estimate(data, constant(p, arithmetic=1.0, bandwidth=1.0))),
        "constant": errors(data, estimate(data, constant(p, arithmetic=0.5, bandwidth=0.7))),
        "fitted": fitted,
        "model": by_model,
        "family": by_family,
        "anchor": by_anchor,
    }
    (root / "docs/accuracy.md").write_text(accuracy_page(compared, options.day), "utf-8")


def constant(p: Parameters, *, arithmetic: float, bandwidth: float) -> Calibration:
    """What calculators do: constant shares of the peaks, and no cost of layers, steps, ranks or waits."""
    nothing = {k for k, (value, _) in COMMON.items() if value < KEPT} | {
        "wait",
        "pool.wait",
        "pool.first_token",
    }
    common = {k: 1e-12 if k in nothing else 1.0 for k in COMMON} | dict.fromkeys(POWERS, 0.0)
    common |= {
        "arithmetic": arithmetic,
        "attention": arithmetic,
        "bandwidth": bandwidth,
        "most_sequences": 1e4,
    }
    bare = p.calibration(p.start, {}, "")
    return replace(bare, common=common, effects={"family": {}, "engine": {}})


if __name__ == "__main__":
    main()
