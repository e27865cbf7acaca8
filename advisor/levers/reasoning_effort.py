"""Reasoning: one step less of effort where much of what is written is reasoning. It acts on decode."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from advisor.columns import REASONING
from advisor.cube_changes import (
    FEW_REQUESTS,
    Cut,
    cut_by,
    replaced,
    requests_in,
    scaled,
    single_rows,
)
from advisor.evidence import Evidence
from advisor.reasoning import reasoning_facts, reasoning_ratio
from advisor.recommendation import Change, Confidence, Effort, Level, Proposal, Risk
from advisor.sdks import maker_of
from pricing.meters import Meter, Phase

NAME: Final = "reasoning_effort"
_OUTPUT: Final = str(Meter.OUTPUT)
_NOTABLE_REASONING: Final = 0.3
_STEP_DOWN: Final = {Level.LOW: Fraction(1, 10), Level.EXPECTED: Fraction(1, 4), Level.HIGH: Fraction(2, 5)}
"""Part of the reasoning tokens that one step less of effort saves: nobody publishes it, so it is only a bound."""
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
    """Yield a proposal for each workload of whose output a good part is reasoning."""
    for name in evidence.workloads:
        rows = single_rows(evidence.cube, name)
        ratio = reasoning_ratio(evidence.cube, rows)
        if ratio is None or ratio <= _NOTABLE_REASONING:
            continue
        if requests_in(evidence.cube, rows) >= FEW_REQUESTS:
            yield _proposal(evidence, name, rows)


def _proposal(evidence: Evidence, name: str, rows: Any) -> Proposal:
    cuts = {level: cut_by(evidence.cube, rows, REASONING, share) for level, share in _STEP_DOWN.items()}
    return Proposal(
        lever=NAME,
        workload=name,
        title="Reason one step less",
        phase=Phase.DECODE,
        change=_reasoned(name, cuts),
        confidence=Confidence.ASSUMED,
        effort=Effort.LOW,
        risk=Risk.EVALUATE,
        evidence=reasoning_facts(evidence, name, rows),
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


def _reasoned(name: str, cuts: Mapping[Level, Cut]) -> Change:
    def change(cube: Any, level: Level) -> Any:
        if REASONING not in cube.columns or _OUTPUT not in cube.columns:
            return cube
        rows = single_rows(cube, name)
        told = rows & cube[REASONING].notna() & cube[_OUTPUT].notna()
        less = scaled(cube, told, (REASONING,), cuts[level].ratio(cube, rows, REASONING))
        counts = zip(cube[_OUTPUT][told], cube[REASONING][told], less[REASONING][told], strict=True)
        # Reasoning is a part of the output; a log in which it is larger is not taken under zero.
        left = [max(0, int(written) - (int(before) - int(after))) for written, before, after in counts]
        return less.assign(**{_OUTPUT: replaced(cube[_OUTPUT], told, left)})

    return change
