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


def accuracy_page(compared: dict[str, dict[str, Error]], day: str) -> str:
    """docs/accuracy.md."""
    lines = [
        "# How accurate the phase model is",
        "",
        "<!-- Written by tools/calibrate.py; do not edit. -->",
        "",
        f"Fitted on {day} on measurements that others published (sources below); nothing was measured for this project.",
        "Each cell is the median of the absolute error and, after the slash, the error that 90 % of the points stay under.",
        "*Models* and *families* are held out whole: the fit saw no point of that model, or of that kind of accelerator.",
        "",
        f"| quantity | points | {' | '.join(_COLUMNS.values())} |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, words in QUANTITIES.items():
        cells = [f"{compared[c][name].median:.0%} / {compared[c][name].p90:.0%}" for c in _COLUMNS]
        lines.append(f"| {words} | {compared['fitted'][name].rows:,} | {' | '.join(cells)} |")
    lines += [
        "",
        "## Bands",
        "",
        "Every estimate has a band: the factors between which 80 % of the held-out measurements lay, measured over estimated.",
        "",
        "| quantity | one point known | family and engine known, model new | family new |",
        "|---|---|---|---|",
    ]
    for name, words in QUANTITIES.items():
        cells = [
            f"x {compared[c][name].band.low:.2f} to {compared[c][name].band.high:.2f}"
            for c in ("anchor", "model", "family")
        ]
        lines.append(f"| {words} | {' | '.join(cells)} |")
    return "\n".join([*lines, "", *_PROSE, ""])


_COLUMNS = {
    "roofline": "plain roofline",
    "constant": "50 % of FLOPs, 70 % of bandwidth",
    "fitted": "fitted",
    "model": "model held out",
    "family": "family held out",
    "anchor": "model held out, one point known",
}
_PROSE = (
    "## How to read it",
    "",
    "- A point of your own (`advisor serving --anchor FILE`) helps most: engines differ by more than the formulas miss.",
    "- Published points of the same model, accelerators, parallelism, lengths and load differ by 10 % (TPOT) and 16 % (TTFT) in",
    "  the median from engine to engine, so no model that knows less than the exact engine and settings can do better.",
    "- Time to first token under load is mostly waiting, and depends on how a benchmark starts its requests. Its band is wide.",
    "- Points with separate pools often guess several tokens a step (multi-token prediction) without saying so.",
    "- NVIDIA's aiconfigurator 0.12.0, which has measured kernel tables for its accelerators, reaches 15 % (TPOT) and 43 %",
    "  (TTFT) in the median on the 78 of 125 randomly drawn points of this set that its tables cover.",
    "",
    "## What helped, in order",
    "",
    "1. A fixed cost per layer, by engine and kind of layer: small batches on fast accelerators pay mostly for launches.",
    "2. Prompts of others between decode steps, as a term of its own.",
    "3. Counting Nemotron's layers as pairs of mixer and MLP (its error fell from 49 % to 9 % while held out).",
    "4. FP16 accumulation on GeForce cards, which llama.cpp uses: prefill error from 26 % to 12 %.",
    "5. A wait for the first token that grows with the requests in flight rather than with the load of the prefill.",
    "6. An FP8 cache where the weights are FP8 or FP4 and the source does not say.",
    "",
    "Tried without gain: a maximum in place of the p-norm of 1.5, a wait that grows with the share of prefill, a token-dependent",
    "share of the peak beyond `half_tokens`, and boosted trees on what the model leaves (worse than nothing once models are held",
    "out): what is left is engines' versions and settings, which the points do not state.",
    "",
    "## Sources",
    "",
    "End-to-end points: `silicon_sample.csv` of ai-dynamo/aiconfigurator at 095f58a5 (Apache-2.0; InferenceX runs and NVIDIA's own),",
    "TensorRT-LLM's performance overview of v1.0 at 00f37686 (Apache-2.0). Phases apart: Splitwise's `perf_model.csv`",
    "(Mutinifni/splitwise-sim at 8f99e7dc, MIT), llama.cpp's `dgx-spark.md` at 4c7e9893 (MIT), figures of",
    "XiongjieDai/GPU-Benchmarks-on-LLM-Inference at aa72e0ec, SemiAnalysisAI/InferenceX at 843c6254 (Apache-2.0), and the tables of",
    "NVIDIA's NIM documentation and of Vultr's inference cookbook. Points that their source or a plausibility check marks as",
    "outliers are left out; times to first token above 20 s, which measure a queue, are too.",
)
