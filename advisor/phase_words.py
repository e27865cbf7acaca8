"""A phase study in words and numbers, and as a JSON document."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from advisor.render.text import aligned
from advisor.wording import plural
from pricing.calibration import Band
from pricing.phase_figures import Figures
from pricing.phase_study import Change, Study
from pricing.units import GIGA, KILO, MILLISECONDS_PER_SECOND, TERA

_DIGITS: Final = 4
_SAME: Final = 0.005
"""Changes below this share are shown as none."""
_TELLING: Final = 0.01
"""Parts of an estimate below this share are left out."""
_WHOLE_FROM: Final = 100
_PARTS: Final = {
    "work": "reading and multiplying at the share of the peaks that is reached",
    "layers": "launches and the engine's own work, layer by layer",
    "talk": "communication between GPUs",
    "rest": "accepting the request, and the step that writes the first token",
}
_OTHER: Final = {"bandwidth": "arithmetic", "arithmetic": "bandwidth"}


def text(study: Study, asked_batch: int, *, chosen: bool) -> str:
    """The study for a terminal.

    Args:
        study: What to say.
        asked_batch: The batch before it was cut to what fits.
        chosen: Whether the layout was chosen, not given.
    """
    parts = (
        _head(study, asked_batch, chosen=chosen),
        _decode(study),
        _prefill(study),
        _ridge(study),
        _changes(study),
    )
    return "\n".join("\n".join(part) + "\n" for part in parts)


def _head(study: Study, asked_batch: int, *, chosen: bool) -> Iterator[str]:
    one, load = study.deployment, study.load
    why = ", the fewest that hold it" if chosen else ""
    yield (
        f"{one.model.id} in {one.precision} on {one.layout.n_gpus} x {one.accelerator.name}"
        f" ({one.layout.words}, {one.variant or one.engine}{why})"
    )
    batch = int(load.concurrency)
    yield (
        f"{load.input_tokens:,.0f} tokens in, {load.output_tokens:,.0f} out, "
        f"{plural(batch, 'sequence')} decoded together"
        + (f" (of {asked_batch} asked for: no more fit)" if batch < asked_batch else "")
    )
    yield (
        f"Cache: {_bytes(study.kv_bytes_per_token)} a token; {plural(study.sequences, 'sequence')} of this length "
        f"fit beside the weights"
    )


def _decode(study: Study) -> Iterator[str]:
    one, single = study.figures, study.single
    bandwidth = study.deployment.accelerator.memory_bandwidth_gb_s
    yield "DECODE writes the answers, one token of each sequence a step. On each GPU a step reads"
    yield f"  weights {_bytes(one.weight_bytes):>10}  {_shared(study)}"
    yield f"  cache   {_bytes(one.cache_bytes):>10}  {plural(one.batch, 'sequence')} x {one.context_tokens:,.0f} tokens of context"
    yield (
        f"  bound: {bandwidth / KILO:.3g} TB/s over {_bytes(single.weight_bytes + single.cache_bytes)} is "
        f"{_rate(1 / single.bound_step_seconds)} tokens/s for one sequence, {_whatever(single)}"
    )
    if one.batch > 1:
        yield (
            f"  bound at a batch of {one.batch}: {_ms(one.bound_step_seconds)} a step (by {one.decode_bound}), "
            f"{_rate(one.batch / one.bound_step_seconds)} tokens/s in all"
        )
    low, high = _around(one.tpot_seconds, study.tpot_band)
    yield (
        f"  estimate: {_ms(one.tpot_seconds)} a token (80 % of measurements: {_ms(low)} to {_ms(high)}), "
        f"{_rate(one.decode_tokens_per_second)} tokens/s in all, {one.tpot_seconds / one.bound_step_seconds:.1f} x the bound:"
    )
    yield from _why(one.step_parts, one.bound_step_seconds)


def _whatever(single: Figures) -> str:
    return (
        "whatever the arithmetic" if single.decode_bound == "bandwidth" else "but the arithmetic allows fewer"
    )


def _shared(study: Study) -> str:
    model = study.deployment.model
    if not model.is_moe:
        return "all of them, shared by the batch"
    seen = model.distinct_experts(study.figures.batch)
    return f"shared by the batch, which is sent to about {seen:.0f} of {model.n_experts} experts a layer"


def _prefill(study: Study) -> Iterator[str]:
    one, deployment = study.figures, study.deployment
    model, ranks = deployment.model, deployment.layout.shard
    flops = deployment.flops_per_second * ranks.tp * ranks.dp / TERA
    yield "PREFILL reads the prompts, all tokens at once. Each token is multiplied by"
    yield (
        f"  {model.active_matmul_b:,.3g} B active parameters: {model.flops_per_token / GIGA:,.3g} GFLOPs, and attention over "
        "the tokens before it"
    )
    yield (
        f"  bound: {flops:,.0f} TFLOP/s allow {_rate(one.bound_prefill_tokens_per_second)} tokens/s; this prompt alone takes "
        f"{_ms(one.bound_prompt_seconds)} at least (by {one.prefill_bound})"
    )
    low, high = _around(one.ttft_seconds, study.ttft_band)
    yield (
        f"  estimate: {_ms(one.ttft_seconds)} to the first token with nobody waiting (80 % of measurements: {_ms(low)} to "
        f"{_ms(high)}), {_rate(one.prefill_tokens_per_second)} tokens/s when busy:"
    )
    yield from _why(one.prompt_parts, one.bound_prompt_seconds)


def _why(parts: Mapping[str, float], bound_seconds: float) -> Iterator[str]:
    """What keeps an estimate from its bound, the bound first."""
    yield f"    {_ms(bound_seconds):>9}  the bound"
    over = {name: seconds - (bound_seconds if name == "work" else 0.0) for name, seconds in parts.items()}
    for name, seconds in over.items():
        if abs(seconds) >= _TELLING * sum(parts.values()):
            sign = "+" if seconds > 0 else "-"
            yield f"  {sign} {_ms(abs(seconds)):>9}  {_PARTS[name]}"


def _ridge(study: Study) -> Iterator[str]:
    yield (
        f"RIDGE POINT: {study.ridge_flops_per_byte:,.0f} FLOPs a byte. What does fewer with each byte it reads waits for memory."
    )
    weights = study.ridge_batch_of_weights
    if weights is not None:
        yield f"  Weights alone would keep decode bound by bandwidth up to a batch of {weights:,.0f}."
    if study.ridge_batch is None:
        yield (
            "  With the cache of this context no batch is bound by arithmetic: each further sequence brings more bytes "
            "than FLOPs."
        )
    else:
        fits = "" if study.ridge_batch <= study.sequences else f", more than the {study.sequences} that fit"
        yield f"  With the cache of this context it is a batch of {study.ridge_batch:,.0f}{fits}."


def _changes(study: Study) -> Iterator[str]:
    yield "WHAT WOULD CHANGE"
    rows: list[tuple[str, ...]] = [("", "TTFT", "prefill tok/s", "TPOT", "decode tok/s", "")]
    rows.append(("as asked", *_cells(study.figures, None), ""))
    rows += [_row(change, study.figures) for change in study.changes]
    yield from (f"  {line}" for line in aligned(rows))
    yield "  TTFT: one prompt, nobody waiting. TPOT: one step, no prompts between. Under load: advisor serving."
    one, single = study.figures, study.single
    if one.batch > 1:
        yield (
            f"  A batch of {one.batch} instead of 1 multiplies decode tokens/s by "
            f"{one.decode_tokens_per_second / single.decode_tokens_per_second:.3g} and prefill tokens/s by "
            f"{one.prefill_tokens_per_second / single.prefill_tokens_per_second:.3g}."
        )


def _row(change: Change, base: Figures) -> tuple[str, ...]:
    if change.figures is None:
        return (change.name, "-", "-", "-", "-", change.refused or "")
    return (change.name, *_cells(change.figures, base), change.note)


def _cells(one: Figures, base: Figures | None) -> tuple[str, ...]:
    first, read, each, written = _four(one)
    shown = (_ms(first), _rate(read), _ms(each), _rate(written))
    if base is None:
        return shown
    return tuple(
        f"{text} {_times(value / before)}"
        for text, value, before in zip(shown, _four(one), _four(base), strict=True)
    )


def _four(one: Figures) -> tuple[float, float, float, float]:
    return (
        one.ttft_seconds,
        one.prefill_tokens_per_second,
        one.tpot_seconds,
        one.decode_tokens_per_second,
    )


def _times(change: float) -> str:
    return "(=)" if abs(change - 1) < _SAME else f"(x{change:.2f})"


def _around(value: float, band: Band) -> tuple[float, float]:
    return value * band.low, value * band.high


def _ms(seconds: float) -> str:
    milliseconds = seconds * MILLISECONDS_PER_SECOND
    return f"{milliseconds / KILO:,.3g} s" if milliseconds >= KILO else f"{milliseconds:.3g} ms"


def _rate(value: float) -> str:
    return f"{float(f'{value:.3g}'):,.0f}" if value >= _WHOLE_FROM else f"{value:.3g}"


def _bytes(value: float) -> str:
    for size, unit in ((GIGA, "GB"), (GIGA / KILO, "MB"), (KILO, "kB")):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value:.0f} B"


def document(study: Study) -> dict[str, Any]:
    """The study as JSON: seconds, bytes, tokens a second; bounds beside estimates."""
    one, load = study.deployment, study.load
    return {
        "model": one.model.id,
        "accelerator": one.accelerator.id,
        "gpus": one.layout.n_gpus,
        "layout": one.layout.words,
        "precision": one.precision,
        "engine": one.variant or one.engine,
        "input_tokens": load.input_tokens,
        "output_tokens": load.output_tokens,
        "batch": study.figures.batch,
        "kv_bytes_per_token": study.kv_bytes_per_token,
        "sequences_that_fit": study.sequences,
        "ridge": {
            "flops_per_byte": _rounded(study.ridge_flops_per_byte),
            "batch": study.ridge_batch,
            "batch_of_weights_alone": study.ridge_batch_of_weights,
        },
        "band": {
            "tpot": [study.tpot_band.low, study.tpot_band.high],
            "ttft": [study.ttft_band.low, study.ttft_band.high],
            "tier": "model" if study.is_seen else "family",
        },
        "one_sequence": _figures(study.single),
        "as_asked": _figures(study.figures),
        "changes": [
            {
                "change": change.name,
                **({"note": change.note} if change.note else {}),
                **({"refused": change.refused} if change.figures is None else _figures(change.figures)),
            }
            for change in study.changes
        ],
    }


def _figures(one: Figures) -> dict[str, Any]:
    return {
        "batch": one.batch,
        "decode": {
            "tpot_seconds": _rounded(one.tpot_seconds),
            "tokens_per_second": _rounded(one.decode_tokens_per_second),
            "bound_tpot_seconds": _rounded(one.bound_step_seconds),
            "bound_tokens_per_second": _rounded(one.batch / one.bound_step_seconds),
            "bound_by": one.decode_bound,
            "weight_bytes_per_gpu": _rounded(one.weight_bytes),
            "cache_bytes_per_gpu": _rounded(one.cache_bytes),
            "parts_seconds": {name: _rounded(part) for name, part in one.step_parts.items()},
        },
        "prefill": {
            "ttft_seconds": _rounded(one.ttft_seconds),
            "tokens_per_second": _rounded(one.prefill_tokens_per_second),
            "bound_ttft_seconds": _rounded(one.bound_prompt_seconds),
            "bound_tokens_per_second": _rounded(one.bound_prefill_tokens_per_second),
            "bound_by": one.prefill_bound,
            "parts_seconds": {name: _rounded(part) for name, part in one.prompt_parts.items()},
        },
    }


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
