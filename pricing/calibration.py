"""Factors of the phase model, fitted on published measurements by ``tools/calibrate.py``, and how far they were off.

A factor has a common value. Families of accelerators and engines multiply it; what has not been measured multiplies by 1,
and is off by more. The bands come from residuals of models, and of families, that were left out of the fit.
"""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

from pricing.accelerators import Accelerator
from pricing.errors import TableFileError
from pricing.memory import Engine
from pricing.table_rows import DATA_DIR

CALIBRATION_FILE: Final = DATA_DIR / "serving" / "calibration.toml"

Kind = Literal["family", "engine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
    """Within what factors of an estimate 80 % of the measurements were that the fit had not seen.

    Attributes:
        low, high: Measured over estimated, the 10th and the 90th percentile.
        median_error: Of those estimates, as a share of the measured value.
        rows: How many there were.
    """

    low: float
    high: float
    median_error: float
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """One fit.

    Attributes:
        common: Factor to value.
        effects: Family or engine to factor to multiplier.
        families: Family to the accelerators in it.
        seen: Families and engines that were measured.
        bands: Quantity (``serving.tpot``) and tier of knowledge (``model`` unseen, ``family`` unseen) to its band.
        fitted_on: Day of the fit.
    """

    common: Mapping[str, float]
    effects: Mapping[Kind, Mapping[str, Mapping[str, float]]]
    families: Mapping[str, tuple[str, ...]]
    seen: frozenset[str]
    bands: Mapping[str, Mapping[str, Band]]
    fitted_on: str

    def value(self, factor: str) -> float:
        """A common value."""
        return self.common[factor]

    def power(self, factor: str) -> float:
        """A common value that is an exponent."""
        return self.common[factor]

    def log(self, factor: str) -> float:
        """The logarithm of a common value, for adding to effects."""
        return math.log(self.common[factor])

    def effect(self, kind: Kind, name: str, factor: str) -> float:
        """The logarithm of what a family or an engine multiplies a factor by; 0 if it has not been measured."""
        found = self.effects[kind].get(name, {}).get(factor)
        return 0.0 if found is None else math.log(found)

    def family_of(self, accelerator: Accelerator) -> str:
        """The family that an accelerator is measured with; its vendor if it is in none."""
        named = (family for family, ids in self.families.items() if accelerator.id in ids)
        return next(named, accelerator.vendor.casefold())

    def band(self, quantity: str, family: str) -> Band:
        """The band of an estimate: wider if the family of the accelerator has not been measured."""
        tiers = self.bands[quantity]
        return tiers["model" if family in self.seen else "family"]


def engine_of(name: str) -> tuple[Engine, str]:
    """The memory rule and the name in the calibration that the name of an engine stands for.

    An engine that is not known gets vLLM's memory rule and the common factors.
    """
    text = name.casefold()
    if "llama" in text or "ggml" in text or "gguf" in text:
        return "llama.cpp", "llama.cpp"
    if "sglang" in text:
        return "sglang", "sglang"
    if "trt" in text or "tensorrt" in text or "nim" in text.split():
        return "trtllm", "trtllm"
    if "vllm" in text:
        return "vllm", "vllm-eager" if "eager" in text or "2023" in text else "vllm"
    return "vllm", "other"


@cache
def calibration() -> Calibration:
    """The built-in calibration."""
    return read_calibration(CALIBRATION_FILE)


def read_calibration(path: Path) -> Calibration:
    """Read a calibration.

    Raises:
        TableFileError: If the file cannot be read or lacks a part.
    """
    try:
        raw = tomllib.loads(path.read_text("utf-8"))
        return _calibration(raw)
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise TableFileError(f"{path}: not a calibration ({type(error).__name__}: {error}).") from error


def _calibration(raw: Mapping[str, Any]) -> Calibration:
    kinds: tuple[Kind, ...] = ("family", "engine")
    return Calibration(
        common=MappingProxyType({str(key): float(value) for key, value in raw["common"].items()}),
        effects={
            kind: {name: {k: float(v) for k, v in found.items()} for name, found in raw[kind].items()}
            for kind in kinds
        },
        families={str(name): tuple(map(str, ids)) for name, ids in raw["families"].items()},
        seen=frozenset(map(str, raw["seen"])),
        bands={
            quantity: {
                tier: Band(
                    low=float(band["low"]),
                    high=float(band["high"]),
                    median_error=float(band["median_error"]),
                    rows=int(band["rows"]),
                )
                for tier, band in tiers.items()
            }
            for quantity, tiers in raw.get("bands", {}).items()
        },
        fitted_on=str(raw["fitted_on"]),
    )
