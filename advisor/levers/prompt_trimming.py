"""Oversized prompts: what the longest requests of a workload send above what its usual ones do. It acts on prefill."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from advisor import numbers
from advisor.analysis import Distribution
from advisor.cube_changes import (
    FEW_REQUESTS,
    Cut,
    cut_by,
    requests_in,
    scaled,
    single_rows,
    tokens_in,
)
from advisor.evidence import Evidence
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk
from advisor.snippets import snippet_for
from advisor.tails import RULE, has_tail, tail_share
from pricing.meters import INPUT_METERS, Meter, Phase

NAME: Final = "prompt_trimming"
_UNCACHED: Final = str(Meter.INPUT_UNCACHED)


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each workload whose longest prompts are far above its median."""
    for name, workload in evidence.workloads.items():
        sizes = workload.input_tokens
        rows = single_rows(evidence.cube, name)
        if sizes is None or not has_tail(sizes) or requests_in(evidence.cube, rows) < FEW_REQUESTS:
            continue
        uncached = tokens_in(evidence.cube, rows, _UNCACHED)
        if uncached and tail_share(sizes, Level.EXPECTED):
            prompt = sum(tokens_in(evidence.cube, rows, str(meter)) for meter in INPUT_METERS)
            cuts = {
                level: cut_by(evidence.cube, rows, _UNCACHED, tail_share(sizes, level)) for level in Level
            }
            found = _proposal(name, sizes, Fraction(uncached, prompt), cuts)
            yield replace(found, snippet=snippet_for(evidence, NAME, name))


def _proposal(
    name: str, sizes: Distribution, uncached_ratio: Fraction, cuts: Mapping[Level, Cut]
) -> Proposal:
    off = {level: numbers.share(float(1 - cut.least_ratio)) for level, cut in cuts.items()}
    return Proposal(
        lever=NAME,
        workload=name,
        title="Trim the longest prompts",
        phase=Phase.PREFILL,
        change=_change(name, cuts),
        confidence=Confidence.MODELLED,
        effort=Effort.MEDIUM,
        risk=Risk.EVALUATE,
        evidence=(
            Fact(
                label="Prompt tokens: median / 90th / 99th percentile",
                value=" / ".join(map(numbers.tokens, (sizes.p50, sizes.p90, sizes.p99))),
            ),
            Fact(label="Mean prompt", value=f"{numbers.ratio(sizes.mean / sizes.p50)} x the median"),
            Fact(label="Not read from a cache", value=numbers.share(float(uncached_ratio))),
        ),
        assumptions=(
            f"Looked at because of the rule: {RULE}.",
            (
                f"Expected: prompts above 2 x the median are cut to it, {off[Level.EXPECTED]} of the text; low: only the longest "
                f"hundredth, {off[Level.LOW]}; high: to 1.5 x the median, {off[Level.HIGH]}. These are the least that mean and "
                "quantiles allow."
            ),
            (
                "Only text that is not cached is cut, in proportion: cached text is cheap, and cutting it makes later requests "
                "miss the cache."
            ),
            "Context tiers stay as logged, although a shorter prompt may fall under a threshold.",
        ),
        how=(
            "Trim the history: keep the last turns and a summary of the earlier ones.",
            "Retrieve fewer and shorter passages; drop those under a score instead of filling a fixed number.",
            "Move text that never changes to the front, where a cache can read it.",
            "Evaluate on the longest hundredth of the requests first: that is where answers may change.",
        ),
    )


def _change(name: str, cuts: Mapping[Level, Cut]) -> Change:
    def change(cube: Any, level: Level) -> Any:
        rows = single_rows(cube, name)
        ratio = cuts[level].ratio(cube, rows, _UNCACHED)
        return scaled(cube, rows, (_UNCACHED,), ratio)

    return change
