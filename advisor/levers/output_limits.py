"""Long answers: what the longest answers of a workload have above its usual ones. It acts on decode."""

from collections.abc import Iterator, Mapping
from math import ceil
from typing import Any, Final

from advisor import numbers
from advisor.analysis import Distribution
from advisor.columns import REASONING
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
from advisor.reasoning import reasoning_facts
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk
from advisor.sdks import maker_of
from advisor.tails import RULE, TYPICAL, has_tail, tail_share
from pricing.meters import OUTPUT_METERS, Meter, Phase

NAME: Final = "output_limits"
_OUTPUT: Final = str(Meter.OUTPUT)
_WORDS_PER_TOKEN: Final = 0.75

_LIMITS: Final[Mapping[str, str]] = {
    "openai": (
        "client.responses.create(\n"
        '    instructions=STATIC + "Answer in at most {words} words.",\n'
        '    text={{"verbosity": "low"}},\n'
        "    max_output_tokens={limit},  # reasoning counts; status is incomplete when it is reached\n"
        ")"
    ),
    "anthropic": (
        "client.messages.create(\n"
        '    system=STATIC + "Answer in at most {words} words.",\n'
        "    max_tokens={limit},  # stop_reason is max_tokens when it is reached\n"
        ")"
    ),
    "google": (
        "client.models.generate_content(\n"
        "    config=types.GenerateContentConfig(\n"
        '        system_instruction=STATIC + "Answer in at most {words} words.",\n'
        "        max_output_tokens={limit},  # thinking counts; finish_reason is MAX_TOKENS when it is reached\n"
        "    ),\n"
        ")"
    ),
}
_LIMITS_ELSEWHERE: Final = (
    "client.chat.completions.create(\n"
    '    messages=[{{"role": "system", "content": STATIC + "Answer in at most {words} words."}}, ...],\n'
    "    max_tokens={limit},  # finish_reason is length when it is reached\n"
    ")"
)


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each workload whose longest answers are far above its median."""
    for name, workload in evidence.workloads.items():
        sizes = workload.output_tokens
        rows = single_rows(evidence.cube, name)
        written = {meter: tokens_in(evidence.cube, rows, str(meter)) for meter in OUTPUT_METERS}
        if sizes is None or requests_in(evidence.cube, rows) < FEW_REQUESTS or not written[Meter.OUTPUT]:
            continue
        # Sizes are of text, speech and images together: only of text alone do they tell how long it is.
        alone = sum(written.values()) == written[Meter.OUTPUT]
        if alone and has_tail(sizes) and tail_share(sizes, Level.EXPECTED):
            yield _limit(evidence, name, sizes, rows)


def _limit(evidence: Evidence, name: str, sizes: Distribution, rows: Any) -> Proposal:
    cuts = {level: cut_by(evidence.cube, rows, _OUTPUT, tail_share(sizes, level)) for level in Level}
    off = {level: numbers.share(float(1 - cut.least_ratio)) for level, cut in cuts.items()}
    limit = ceil(TYPICAL * sizes.p50)
    snippet = _LIMITS.get(maker_of(evidence, name), _LIMITS_ELSEWHERE)
    return Proposal(
        lever=NAME,
        workload=name,
        title="Limit the longest answers",
        phase=Phase.DECODE,
        change=_limited(name, cuts),
        confidence=Confidence.MODELLED,
        effort=Effort.LOW,
        risk=Risk.EVALUATE,
        evidence=(
            Fact(
                label="Answer tokens: median / 90th / 99th percentile",
                value=" / ".join(map(numbers.tokens, (sizes.p50, sizes.p90, sizes.p99))),
            ),
            Fact(label="Mean answer", value=f"{numbers.ratio(sizes.mean / sizes.p50)} x the median"),
            *reasoning_facts(evidence, name, rows),
        ),
        assumptions=(
            f"Looked at because of the rule: {RULE}.",
            (
                f"Expected: answers above 2 x the median come down to it, {off[Level.EXPECTED]} of what is written; low: only the "
                f"longest hundredth, {off[Level.LOW]}; high: to 1.5 x the median, {off[Level.HIGH]}. These are the least that mean "
                "and quantiles allow."
            ),
            "The share is the same for every model of the workload.",
        ),
        how=(
            "Say in the prompt how long an answer is to be, or give it a schema with few fields.",
            f"Set the limit of the request near {limit:,} tokens as a fuse: it cuts off, it does not shorten.",
            "Where the model reasons, ask for one step less of effort first: reasoning counts against the limit.",
            "Watch the share of cut-off answers, and evaluate on the longest tenth before all requests get it.",
        ),
        snippet=snippet.format(limit=limit, words=max(1, int(limit * _WORDS_PER_TOKEN))),
    )


def _limited(name: str, cuts: Mapping[Level, Cut]) -> Change:
    def change(cube: Any, level: Level) -> Any:
        rows = single_rows(cube, name)
        ratio = cuts[level].ratio(cube, rows, _OUTPUT)
        return scaled(cube, rows, (_OUTPUT, REASONING), ratio)

    return change
