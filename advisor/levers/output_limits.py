"""Long answers: what the longest answers of a workload have above its usual ones, and reasoning. It acts on decode."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil
from typing import Any, Final

from advisor import numbers
from advisor.analysis import Distribution
from advisor.cube_changes import (
    FEW_REQUESTS,
    Cut,
    cut_by,
    replaced,
    requests_in,
    scaled,
    single_rows,
    tokens_in,
)
from advisor.evidence import Evidence, Signals
from advisor.recommendation import Change, Confidence, Effort, Fact, Level, Proposal, Risk
from advisor.sdks import maker_of
from advisor.tails import RULE, TYPICAL, has_tail, tail_share
from pricing.meters import OUTPUT_METERS, Meter, Phase

NAME: Final = "output_limits"
_OUTPUT: Final = str(Meter.OUTPUT)
_REASONING: Final = "reasoning"
_NOTABLE_REASONING: Final = 0.3
_STEP_DOWN: Final = {Level.LOW: Fraction(1, 10), Level.EXPECTED: Fraction(1, 4), Level.HIGH: Fraction(2, 5)}
"""Part of the reasoning tokens that one step less of effort saves: nobody publishes it, so it is only a bound."""
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
_EFFORTS: Final[Mapping[str, str]] = {
    "openai": 'client.responses.create(\n    reasoning={"effort": "low"},  # one step under what is set now\n)',
    "anthropic": (
        'client.messages.create(\n    output_config={"effort": "medium"},  # one step under what is set now\n)\n'
        '# models without effort: thinking={"type": "enabled", "budget_tokens": 2048}'
    ),
    "google": (
        "types.GenerateContentConfig(\n"
        '    thinking_config=types.ThinkingConfig(thinking_level="low"),  # Gemini 2.5: thinking_budget=1024\n'
        ")"
    ),
}
_EFFORT_ELSEWHERE: Final = (
    'client.chat.completions.create(\n    reasoning_effort="low",  # one step under what is set now\n)'
)


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield up to two proposals for each workload: a limit where answers have a tail, less effort where much is reasoned."""
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
        yield from _effort(evidence, name, rows)


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
            *_seen(evidence, name, rows),
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


def _effort(evidence: Evidence, name: str, rows: Any) -> Iterator[Proposal]:
    ratio = _reasoning_ratio(evidence.cube, rows)
    if ratio is None or ratio <= _NOTABLE_REASONING:
        return
    cuts = {level: cut_by(evidence.cube, rows, _REASONING, share) for level, share in _STEP_DOWN.items()}
    yield Proposal(
        lever=NAME,
        workload=name,
        title="Reason one step less",
        phase=Phase.DECODE,
        change=_reasoned(name, cuts),
        confidence=Confidence.ASSUMED,
        effort=Effort.LOW,
        risk=Risk.EVALUATE,
        evidence=_seen(evidence, name, rows),
        assumptions=(
            (
                "One step less of effort saves a quarter of the reasoning tokens; low a tenth, high two fifths. The log does not "
                "tell: try it on some requests and count."
            ),
            "What is written after the reasoning stays as long as it is.",
        ),
        how=(
            "Ask for the next lower effort of reasoning, or a smaller budget for it.",
            "Keep the effort for the requests that fail without it.",
            "Evaluate the answers, and compare reasoning tokens a request before and after.",
        ),
        snippet=_EFFORTS.get(maker_of(evidence, name), _EFFORT_ELSEWHERE),
    )


def _reasoning_ratio(cube: Any, rows: Any) -> float | None:
    """Return the part of the output that is reasoning, where it is reported; None where it is not."""
    if _REASONING not in cube.columns:
        return None
    told = rows & cube[_REASONING].notna()
    output = tokens_in(cube, told, _OUTPUT)
    return tokens_in(cube, told, _REASONING) / output if output else None


def _seen(evidence: Evidence, name: str, rows: Any) -> tuple[Fact, ...]:
    ratio = _reasoning_ratio(evidence.cube, rows)
    signals: Signals | None = evidence.signals.get(name)
    facts: list[Fact] = []
    if ratio is not None:
        facts.append(Fact(label="Reasoning in the output", value=numbers.share(ratio)))
    if signals is not None and signals.cut_off is not None and signals.requests:
        cut_off = numbers.share(signals.cut_off / signals.requests)
        facts.append(Fact(label="Answers cut off at their limit already", value=cut_off))
    return tuple(facts)


def _limited(name: str, cuts: Mapping[Level, Cut]) -> Change:
    def change(cube: Any, level: Level) -> Any:
        rows = single_rows(cube, name)
        ratio = cuts[level].ratio(cube, rows, _OUTPUT)
        return scaled(cube, rows, (_OUTPUT, _REASONING), ratio)

    return change


def _reasoned(name: str, cuts: Mapping[Level, Cut]) -> Change:
    def change(cube: Any, level: Level) -> Any:
        if _REASONING not in cube.columns or _OUTPUT not in cube.columns:
            return cube
        rows = single_rows(cube, name)
        told = rows & cube[_REASONING].notna() & cube[_OUTPUT].notna()
        less = scaled(cube, told, (_REASONING,), cuts[level].ratio(cube, rows, _REASONING))
        counts = zip(cube[_OUTPUT][told], cube[_REASONING][told], less[_REASONING][told], strict=True)
        # Reasoning is a part of the output; a log in which it is larger is not taken under zero.
        left = [max(0, int(written) - (int(before) - int(after))) for written, before, after in counts]
        return less.assign(**{_OUTPUT: replaced(cube[_OUTPUT], told, left)})

    return change
