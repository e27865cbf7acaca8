"""A line for each technique of serving: what it would change for this log, with the number."""

from collections.abc import Iterator
from typing import Final

from advisor import numbers
from advisor.cache_reuse import WorkloadReuse
from advisor.hosted_phases import Longest, Modelled
from advisor.view_model import Cell, Table, TableColumn
from advisor.wording import clean, plural
from pricing.techniques import ACCEPTANCE_RATIO, CHUNK_TOKENS, DRAFTS, Techniques
from pricing.units import GIGA, SECONDS_PER_DAY

_NONE: Final = Cell(text="\N{EN DASH}", value="1")
_TIMES: Final = "\N{MULTIPLICATION SIGN}"
_SAME: Final = 0.01
_WHOLE_FROM: Final = 100


def technique_table(found: Modelled, reuse: tuple[WorkloadReuse, ...]) -> Table:
    """The table: one row a technique, with its effect on each phase."""
    return Table(
        slug="techniques",
        caption=f"On {found.name}, at this log's sizes: tokens a second with the technique, against those without",
        columns=(
            TableColumn(key="technique", title="Technique"),
            TableColumn(
                key="prefill", title="Prefill", number=True, hint="Prompt tokens a second, with over without"
            ),
            TableColumn(
                key="decode", title="Decode", number=True, hint="Answer tokens a second, with over without"
            ),
            TableColumn(key="says", title="For this log"),
        ),
        rows=tuple(_rows(found, reuse)),
    )


def _rows(found: Modelled, reuse: tuple[WorkloadReuse, ...]) -> Iterator[tuple[Cell, ...]]:
    one = found.techniques
    yield from _quantisation(one)
    yield _batching(found, one)
    if found.longest:
        yield _chunked(found.longest, one)
    yield _pools(one)
    yield _paged(one)
    yield from _prefix(one, reuse)
    yield _speculation(one)
    yield from _local(found, one)


def _row(name: str, what: str, prefill: float | None, decode: float | None, says: str) -> tuple[Cell, ...]:
    return Cell(text=name, note=what), _effect(prefill), _effect(decode), Cell(text=says)


def times(factor: float) -> str:
    """A factor in signs of arithmetic: times 13, times 1.02, divided by 150."""
    sign, size = (_TIMES, factor) if factor >= 1 else ("÷", 1 / factor)
    return f"{sign} {size:,.0f}" if size >= _WHOLE_FROM else f"{sign} {size:.3g}"


def _effect(factor: float | None) -> Cell:
    """A factor as a cell; a dash where the phase is left alone."""
    if factor is None or abs(factor - 1) < _SAME:
        return _NONE
    return Cell(text=times(factor), value=f"{factor:.6f}")


def _quantisation(one: Techniques) -> Iterator[tuple[Cell, ...]]:
    wide, now = one.wide, one.now
    if wide is None:
        return
    fewer = (
        "" if wide.batch == now.batch else f", and {wide.batch} instead of {now.batch} sequences would fit"
    )
    yield _row(
        "Quantisation",
        "weights in 8 bits, not 16",
        now.prefill_tokens_per_second / wide.prefill_tokens_per_second,
        now.decode_tokens_per_second / wide.decode_tokens_per_second,
        f"In 16 bits each step would read {wide.weight_bytes / GIGA:.0f} instead of {now.weight_bytes / GIGA:.0f} GB of "
        f"weights on each GPU{fewer}; a prompt would take {numbers.seconds(wide.ttft_seconds)} instead of "
        f"{numbers.seconds(now.ttft_seconds)}.",
    )


def _batching(found: Modelled, one: Techniques) -> tuple[Cell, ...]:
    costs = [found.usd_per_mtok(each.decode_tokens_per_second) for each in (one.single, one.now)]
    alone, together = costs
    money = (
        f" A million answer tokens cost {numbers.money_about(together, 'USD')} instead of {numbers.money_about(alone, 'USD')} "
        "while busy."
        if alone is not None and together is not None
        else ""
    )
    return _row(
        "Batching",
        f"{one.batch} sequences together, not 1",
        one.now.prefill_tokens_per_second / one.single.prefill_tokens_per_second,
        one.now.decode_tokens_per_second / one.single.decode_tokens_per_second,
        f"A step reads the weights once for all; each user waits {numbers.seconds(one.now.tpot_seconds)} instead of "
        f"{numbers.seconds(one.single.tpot_seconds)} for a token.{money}",
    )


def _chunked(longest: Longest, one: Techniques) -> tuple[Cell, ...]:
    cut = one.longest_tokens < longest.tokens
    whose = "the most that the model takes" if cut else f"P99 of {clean(longest.workload)}"
    return _row(
        "Chunked prefill",
        f"long prompts in parts of {CHUNK_TOKENS:,}",
        None,
        None,
        f"A prompt of {numbers.tokens(one.longest_tokens)} tokens ({whose}) read at once would stop all "
        f"other answers for {numbers.seconds(one.stall_seconds)}; in parts, for {numbers.seconds(one.chunk_seconds)} at a time "
        "at most.",
    )


def _pools(one: Techniques) -> tuple[Cell, ...]:
    ratio = one.prefill_per_decode
    split = f"{ratio:.1f} to 1" if ratio >= 1 else f"1 to {1 / ratio:.1f}"
    return _row(
        "Disaggregation",
        "prefill and decode on GPUs of their own",
        None,
        one.mixed_tpot_seconds / one.now.tpot_seconds,
        f"A token takes {numbers.seconds(one.now.tpot_seconds)} instead of {numbers.seconds(one.mixed_tpot_seconds)}, because "
        f"no prompts are read between the steps of {one.batch} requests; GPUs for prefill and decode as {split}.",
    )


def _paged(one: Techniques) -> tuple[Cell, ...]:
    return _row(
        "Paged KV cache",
        "memory as it is used, not reserved",
        None,
        None,
        f"{plural(one.sequences, 'request')} of the mean size fit at once; {one.reserved_sequences:,} would if each reserved the "
        f"maximum of {numbers.tokens(one.reserved_tokens)} tokens.",
    )


def _prefix(one: Techniques, reuse: tuple[WorkloadReuse, ...]) -> Iterator[tuple[Cell, ...]]:
    cached = one.load.cached_tokens / (one.load.cached_tokens + one.load.input_tokens)
    known = [each for each in reuse if each.achievable_ratio is not None]
    text = sum(each.text_tokens for each in known)
    best = sum((each.achievable_ratio or 0.0) * each.text_tokens for each in known) / text if text else None
    more = (
        ""
        if best is None
        else f" Replayed over the log, {numbers.share(best)} of the text that tells could be."
    )
    if one.uncached is not None:
        yield _row(
            "Prefix cache",
            "what earlier prompts began with is kept",
            one.uncached.ttft_seconds / one.now.ttft_seconds,
            None,
            f"{numbers.share(cached)} of the prompt tokens come from a cache today; without it a first token would take "
            f"{numbers.seconds(one.uncached.ttft_seconds)} instead of {numbers.seconds(one.now.ttft_seconds)}.{more}",
        )
    elif best:
        yield _row(
            "Prefix cache",
            "what earlier prompts began with is kept",
            1 / (1 - best) if best < 1 else None,
            None,
            f"Nothing is read from a cache today.{more}",
        )


def _speculation(one: Techniques) -> tuple[Cell, ...]:
    end = (
        f"Gone at a batch of about {one.gain_ends_at:,}, where arithmetic is the limit."
        if one.gain_ends_at
        else "Contexts this long keep decode bound by memory, so it does not run out with the batch."
    )
    return _row(
        "Speculative decoding",
        f"{DRAFTS} tokens drafted, checked in one step",
        None,
        one.gain_of_batch,
        f"{one.tokens_per_step:.1f} tokens a step if {ACCEPTANCE_RATIO:.0%} of the drafts are accepted: {times(one.gain_of_one)} "
        f"for one request, {times(one.gain_of_batch)} with {one.batch} together. {end}".replace("%", " %"),
    )


def _local(found: Modelled, one: Techniques) -> Iterator[tuple[Cell, ...]]:
    local = one.local
    if local is None:
        return
    each = local.ttft_seconds + one.load.output_tokens * local.tpot_seconds
    rate = found.requests_per_second
    busy = ""
    if rate is not None:
        machines = rate * each
        busy = (
            f" The log's {numbers.count(round(rate * SECONDS_PER_DAY))} requests a day would keep {machines:,.0f} of them busy."
            if machines >= 1
            else f" The log's requests would keep it busy {numbers.share(machines)} of the time."
        )
    yield _row(
        "Local machine",
        found.local_name,
        local.prefill_tokens_per_second / one.single.prefill_tokens_per_second,
        local.decode_tokens_per_second / one.single.decode_tokens_per_second,
        f"One request at a time takes {numbers.seconds(local.ttft_seconds)} to its first token and "
        f"{numbers.seconds(local.tpot_seconds)} a token: reading long prompts is what a desk cannot do.{busy}",
    )
