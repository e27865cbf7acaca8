"""Prompt caching: what prompts have in common is read instead of computed again. It acts on prefill alone."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pandas as pd

from advisor.evidence import CacheShares, Evidence, Split
from advisor.numbers import share
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk, unchanged
from pricing.errors import PricingError
from pricing.meters import CACHE_WRITE_METERS, Meter, Phase

NAME: Final = "prompt_caching"
_TEXT: Final = tuple(map(str, (Meter.INPUT_UNCACHED, Meter.CACHE_READ, *CACHE_WRITE_METERS)))
_SNIPPETS: Final[Mapping[str, str]] = {
    "anthropic": (
        'client.messages.create(\n    system=[{"type": "text", "text": STATIC, "cache_control": {"type": "ephemeral"}}],\n'
        '    messages=[{"role": "user", "content": question}],\n)'
    ),
    "openai": (
        "client.responses.create(\n    instructions=STATIC,  # first, and the same to the letter\n"
        '    input=question,\n    prompt_cache_key="team-a",\n)'
    ),
}
_Model = tuple[str | None, str | None]


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each workload whose prompts could be read from a cache more than they are."""
    for name, workload in evidence.workloads.items():
        chosen = _best(evidence, name)
        if not chosen:
            yield _nothing(name, workload.cache_read_ratio)
            continue
        modelled = all(one.is_modelled for one in chosen.values())
        names = ", ".join(sorted({one.lifetime for one in chosen.values()}))
        reads = max(_best_split(one).read_ratio for one in chosen.values())
        provider = next((model[0] for model in chosen if model[0]), None)
        logged = workload.cache_read_ratio
        yield Proposal(
            lever=NAME,
            workload=name,
            title=f"Cache what prompts have in common ({names})",
            phase=Phase.PREFILL,
            change=_change(name, chosen),
            confidence=Confidence.MODELLED if modelled else Confidence.ASSUMED,
            effort=Effort.LOW,
            risk=Risk.NONE,
            evidence=(
                Fact(
                    label="Read from a cache today",
                    value="not logged" if logged is None else f"{share(logged)}",
                ),
                Fact(
                    label="Could be read",
                    value=f"{'' if modelled else 'at most '}{share(reads)} of prompt text",
                ),
                Fact(label="Known by", value=next(iter(chosen.values())).basis),
            ),
            assumptions=(
                "Low and expected: the log's own arrivals replayed; a prompt with room for the one before it in its session "
                "and its answer begins with both. High: every prompt that is no shorter does, or all begin alike."
                if modelled
                else "High: every prompt begins with the same text, as long as the workload's shortest prompts. Low and "
                "expected: the log does not tell, so nothing.",
                "A write that nobody reads is paid for.",
            ),
            how=(
                "Put what never changes (instructions, tools, examples, documents) first, and what changes last.",
                "Keep the first part the same to the letter: no dates, names or random order in it.",
                "Mark the end of it where the provider asks for that; keep pauses shorter than the lifetime.",
                "Check with `advisor cache` when the log has sessions or block hashes.",
            ),
            snippet=_SNIPPETS.get(provider or ""),
        )


def _nothing(name: str, read_ratio: float | None) -> Proposal:
    read = "" if read_ratio is None else f"; {share(read_ratio)} is read from a cache today"
    return Proposal(
        lever=NAME,
        workload=name,
        title="Cache what prompts have in common",
        phase=Phase.PREFILL,
        change=unchanged,
        confidence=Confidence.MODELLED,
        effort=Effort.LOW,
        risk=Risk.NONE,
        doubt="the shortest prompts are under what the provider caches, or no more could be read than is"
        + read,
    )


def _best(evidence: Evidence, workload: str) -> dict[_Model, CacheShares]:
    """Return, for each model of a workload, the lifetime that costs least, where one costs less than none."""
    found: dict[_Model, CacheShares] = {}
    for (name, provider, model), shares in evidence.caches.items():
        if name != workload or model is None:
            continue
        try:
            sheet = evidence.book.find(provider, model).resolve(evidence.as_of, None, None)
        except PricingError:
            continue
        plain, read = sheet.rates.get(Meter.INPUT_UNCACHED), sheet.rates.get(Meter.CACHE_READ)
        if not plain or read is None:
            continue

        def cost(one: CacheShares, plain: Any = plain, read: Any = read, rates: Any = sheet.rates) -> float:
            split, write = _best_split(one), rates.get(one.write_meter, plain)
            return split.read_ratio * float(read / plain - 1) + split.written_ratio * float(write / plain - 1)

        paying = [one for one in shares if cost(one) < 0]
        # What was replayed says more than a bound, however good the bound looks.
        best = min([one for one in paying if one.is_modelled] or paying, key=cost, default=None)
        if best is not None:
            found[provider, model] = best
    return found


def _best_split(shares: CacheShares) -> Split:
    return shares.splits.get(Level.EXPECTED) or shares.splits[Level.HIGH]


def _change(name: str, chosen: Mapping[_Model, CacheShares]) -> Change:
    def change(cube: Any, level: Level) -> Any:
        out = cube.copy()
        for (provider, model), shares in chosen.items():
            split = shares.splits.get(level)
            if split is None:
                continue
            mine = (out["workload"] == name) & (out["model"] == model)
            mine &= out["provider"].isna() if provider is None else out["provider"] == provider
            out = _cached(out, mine, split, str(shares.write_meter))
        return out

    return change


def _cached(cube: Any, mine: pd.Series, split: Split, write_meter: str) -> Any:
    """Tell the prompt text of some rows apart anew; never less of it is read than the log shows."""
    out = cube.copy()
    for meter in (*_TEXT[:2], write_meter):
        if meter not in out.columns:
            out[meter] = pd.array([pd.NA] * len(out), dtype="Int64")
    present = [meter for meter in _TEXT if meter in out.columns]
    rows = out.loc[mine, present].fillna(0).astype("int64")
    text = rows.sum(axis=1)
    reads = pd.concat([rows["cache_read"], (text * split.read_ratio).astype("int64")], axis=1).max(axis=1)
    written = pd.concat([text - reads, (text * split.written_ratio).astype("int64")], axis=1).min(axis=1)
    if write_meter == Meter.INPUT_UNCACHED:
        written = written * 0
    for meter in present:
        out.loc[mine, meter] = 0
    out.loc[mine, "input_uncached"] = text - reads - written
    out.loc[mine, "cache_read"] = reads
    if write_meter != Meter.INPUT_UNCACHED:
        out.loc[mine, write_meter] = written
    return out
