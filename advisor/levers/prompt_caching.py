"""Prompt caching: what prompts have in common is read instead of computed again. It acts on prefill alone."""

from collections.abc import Container, Iterator, Mapping
from typing import Final

from advisor.cache_changes import Model, cache_change, logged_models
from advisor.cache_costs import CacheCosts, best_split, cache_costs
from advisor.evidence import CacheShares, Evidence
from advisor.numbers import count, money, share, tokens
from advisor.recommendation import Confidence, Effort, Fact, Level, Proposal, Risk, unchanged
from pricing.cache_rules import rules_for
from pricing.meters import Phase

NAME: Final = "prompt_caching"
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
_ASSUMED: Final[Mapping[Confidence, str]] = {
    Confidence.MEASURED: "The log's own prompts and arrivals replayed: what a prompt has in common with one before it, of the "
    "same workload and model, is read while the entry lives; the rest is written.",
    Confidence.MODELLED: "Low and expected: the log's own arrivals replayed; a prompt with room for the one before it in its "
    "session and its answer begins with both. High: every prompt that is no shorter does, or all begin alike.",
    Confidence.ASSUMED: "High: every prompt begins with the same text, as long as the workload's shortest prompts. Low and "
    "expected: the log does not tell, so nothing.",
}
_BY_SIZE: Final = (
    "Expected and high: prompts that all have the same number of tokens are the same text, since different texts hardly have. "
    "Low: they are not, and nothing is saved. Log a hash of what prompts begin with to be sure."
)


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each workload whose prompts could be read from a cache more than they are."""
    for name, workload in evidence.workloads.items():
        chosen = _best(evidence, name) or _losing(evidence, name)
        if not chosen:
            yield _nothing(evidence, name, workload.cache_read_ratio)
            continue
        own = {model: chosen[model] for model in logged_models(evidence, name) & set(chosen)} or chosen
        modelled = all(one.is_modelled for one in chosen.values())
        measured = all(one.measured is not None for one in own.values())
        names = ", ".join(sorted({one.lifetime for one in own.values()}))
        reads = max(best_split(one).read_ratio for one in own.values())
        provider = next((model[0] for model in chosen if model[0]), None)
        logged = workload.cache_read_ratio
        told = Confidence.MEASURED if measured else Confidence.MODELLED
        by_size = any(one.by_size for one in chosen.values())
        yield Proposal(
            lever=NAME,
            workload=name,
            title=f"Cache what prompts have in common ({names})",
            phase=Phase.PREFILL,
            change=cache_change(name, chosen),
            confidence=told if modelled and not by_size else Confidence.ASSUMED,
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
                *(_by_lifetime(evidence, name, set(own)) if measured else ()),
                *_broken(evidence, name, own),
                Fact(label="Known by", value=next(iter(own.values())).basis),
            ),
            assumptions=(
                _BY_SIZE if by_size and modelled else _ASSUMED[told if modelled else Confidence.ASSUMED],
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


def _by_lifetime(evidence: Evidence, name: str, own: Container[Model]) -> Iterator[Fact]:
    """Yield what prompts would cost with each lifetime that can be had, against no cache."""
    for model, shares, costs in _offered(evidence, name):
        if model in own:
            told = [
                f"{one.lifetime} \N{MULTIPLICATION SIGN}{costs.input_ratio(one.measured, one.write_meter):.4f}"
                for one in shares
                if one.measured is not None
            ]
            yield Fact(label=f"Cost of prompts to {model[1]}, without a cache 1", value=", ".join(told))


def _broken(evidence: Evidence, name: str, own: Mapping[Model, CacheShares]) -> Iterator[Fact]:
    """Yield where conversations part from the turn before, and what that leaves to pay, where names of blocks tell."""
    for (provider, model), shares in own.items():
        one = evidence.breaks.get((name, provider, model))
        if one is None or one.block_tokens is None or model is None:
            continue
        costs = cache_costs(evidence.book, evidence.as_of, provider, model)
        if costs is None:
            continue
        lost = one.lost_tokens[Level.EXPECTED]
        yield Fact(
            label=f"Turns of {model} within 5 minutes with less than half of the one before",
            value=f"{count(one.broken)} of {count(one.turns)}; in the mean they part at block "
            f"{one.parted_tokens // one.block_tokens + 1}, after {tokens(one.parted_tokens)} tokens; {tokens(lost)} tokens "
            f"would be read if they did not: {money(costs.missed_usd(lost, shares.write_meter), 'USD')}",
        )


def _why_nothing(evidence: Evidence, name: str) -> str:
    rules = [
        rule
        for provider, model in logged_models(evidence, name)
        if model is not None
        for rule in rules_for(provider, model, evidence.as_of)
    ]
    if not rules:
        return "nothing is known of the caches of its models"
    # What is paid by the hour pays only for who plans it, and counts for nothing here.
    kept = [one.shortest_seconds for rule in rules if rule.storage_meter is None for one in rule.lifetimes]
    if not any(kept):
        return "its provider does not tell for how long a cache keeps what it has, so that nothing can be promised"
    return "the shortest prompts are under what the provider caches, or no more could be read than is"


def _nothing(evidence: Evidence, name: str, read_ratio: float | None) -> Proposal:
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
        doubt=_why_nothing(evidence, name) + read,
    )


def _best(evidence: Evidence, workload: str) -> dict[Model, CacheShares]:
    """Return, for each model of a workload, the lifetime that costs least, where one costs less than none."""
    found: dict[Model, CacheShares] = {}
    for model, shares, costs in _offered(evidence, workload):
        best = costs.cheapest(shares)
        if best is not None:
            found[model] = best
    return found


def _losing(evidence: Evidence, workload: str) -> dict[Model, CacheShares]:
    """Return what would lose least, where a replay says that all lose: so that the amount is said."""
    found: dict[Model, CacheShares] = {}
    for model, shares, costs in _offered(evidence, workload):
        replayed = [one for one in shares if one.measured is not None and one.splits]
        if replayed:
            found[model] = min(replayed, key=costs.of)
    return found


def _offered(
    evidence: Evidence, workload: str
) -> Iterator[tuple[Model, tuple[CacheShares, ...], CacheCosts]]:
    """Yield what the models of a workload could have, with what that costs."""
    for (name, provider, model), shares in evidence.caches.items():
        if name != workload or model is None:
            continue
        costs = cache_costs(evidence.book, evidence.as_of, provider, model)
        if costs is not None:
            yield (provider, model), shares, costs
