"""What a fit of the phase model is written down as: the file that the product reads, and the page on its accuracy."""

from dataclasses import dataclass

import numpy as np

from pricing.calibration import Band, Calibration
from pricing.deployment import Floats
from pricing.serving import QUANTITIES


@dataclass(frozen=True)
class Error:
    """How far estimates were off.

    Attributes:
        median, p90: Of the absolute error, as a share of the measured value.
        bias: Median of estimated over measured, less 1.
        band: Measured over estimated, 10th to 90th percentile.
    """

    rows: int
    median: float
    p90: float
    bias: float
    band: Band

    @classmethod
    def of(cls, estimated: Floats, measured: Floats) -> "Error":
        """Compare row by row."""
        off = np.abs(estimated / measured - 1)
        low, high = np.quantile(measured / estimated, (0.1, 0.9))
        median = float(np.median(off))
        return cls(
            rows=len(off),
            median=median,
            p90=float(np.quantile(off, 0.9)),
            bias=float(np.median(estimated / measured)) - 1,
            band=Band(low=float(low), high=float(high), median_error=median, rows=len(off)),
        )

    @property
    def words(self) -> str:
        """One line."""
        return (
            f"n={self.rows:5d} median {self.median:6.1%} p90 {self.p90:7.1%} bias {self.bias:+6.1%} "
            f"band {self.band.low:.2f} to {self.band.high:.2f}"
        )


def calibration_text(made: Calibration) -> str:
    """The calibration as TOML."""
    lines = [
        "# Factors of the phase model. Written by tools/calibrate.py; do not edit.",
        f'fitted_on = "{made.fitted_on}"',
        f"seen = [{', '.join(_quoted(name) for name in sorted(made.seen))}]",
        "",
        "[families]",
        *(f"{name} = [{', '.join(_quoted(i) for i in ids)}]" for name, ids in made.families.items()),
        "",
        "[common]",
        *(f"{_quoted(key)} = {value:.5g}" for key, value in made.common.items()),
    ]
    for kind, names in made.effects.items():
        for name, factors in names.items():
            lines += [
                "",
                f"[{kind}.{_quoted(name)}]",
                *(f"{key} = {value:.4g}" for key, value in factors.items()),
            ]
    for quantity, tiers in made.bands.items():
        for tier, band in tiers.items():
            lines += [
                "",
                f"[bands.{_quoted(quantity)}.{tier}]",
                f"low = {band.low:.3f}",
                f"high = {band.high:.3f}",
                f"median_error = {band.median_error:.3f}",
                f"rows = {band.rows}",
            ]
    return "\n".join(lines) + "\n"


def _quoted(name: str) -> str:
    return f'"{name}"'


def accuracy_page(fitted: dict[str, Error], by_model: dict[str, Error], by_family: dict[str, Error]) -> str:
    """docs/accuracy.md."""
    lines = ["# Accuracy", ""]
    lines += [f"{QUANTITIES[name]} {error.words}" for name, error in fitted.items()]
    return "\n".join(lines) + "\n"
