"""How much of what a workload writes is reasoning, and what is said of it."""

from typing import Any

from advisor import numbers
from advisor.columns import REASONING
from advisor.cube_changes import tokens_in
from advisor.evidence import Evidence
from advisor.recommendation import Fact
from pricing.meters import Meter


def reasoning_ratio(cube: Any, rows: Any) -> float | None:
    """Return the part of the output that is reasoning, where it is reported; None where it is not."""
    if REASONING not in cube.columns:
        return None
    told = rows & cube[REASONING].notna()
    output = tokens_in(cube, told, str(Meter.OUTPUT))
    return tokens_in(cube, told, REASONING) / output if output else None


def reasoning_facts(evidence: Evidence, name: str, rows: Any) -> tuple[Fact, ...]:
    """Return what the log shows of reasoning, and of answers that end at their limit already."""
    ratio = reasoning_ratio(evidence.cube, rows)
    signals = evidence.signals.get(name)
    facts: list[Fact] = []
    if ratio is not None:
        facts.append(Fact(label="Reasoning in the output", value=numbers.share(ratio)))
    if signals is not None and signals.cut_off is not None and signals.requests:
        cut_off = numbers.share(signals.cut_off / signals.requests)
        facts.append(Fact(label="Answers cut off at their limit already", value=cut_off))
    return tuple(facts)
