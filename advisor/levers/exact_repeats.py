"""Prompts that were sent before, word for word: an answer that is kept serves them again. Both phases go."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from advisor import numbers
from advisor.cube_changes import requests_in, single_rows
from advisor.evidence import Cell, Ended, Evidence
from advisor.recommendation import Confidence, Effort, Fact, Level, Proposal, Risk
from advisor.removals import removal
from advisor.snippets import snippet_for
from pricing.meters import Phase

NAME: Final = "exact_repeats"
_Found = Mapping[Level, Mapping[Cell, Ended]]


def find(evidence: Evidence) -> Iterator[Proposal]:
    """Yield a proposal for each workload whose log proves that prompts were sent before."""
    for name in evidence.workloads:
        found = {
            level: {cell: one for cell, one in cells.items() if cell[0] == name}
            for level, cells in evidence.repeats.items()
        }
        if any(one.requests for one in found.get(Level.HIGH, {}).values()):
            yield _proposal(evidence, name, found)


def _proposal(evidence: Evidence, name: str, found: _Found) -> Proposal:
    counts = {
        level: {
            cell: {meter: Fraction(count) for meter, count in one.tokens.items()}
            for cell, one in cells.items()
        }
        for level, cells in found.items()
    }
    return Proposal(
        lever=NAME,
        workload=name,
        title="Keep answers for prompts that are sent again word for word",
        phase=None,
        change=removal(evidence.cube, counts),
        confidence=Confidence.MODELLED,
        effort=Effort.MEDIUM,
        risk=Risk.EVALUATE,
        evidence=tuple(_facts(evidence, name, found)),
        assumptions=(
            "The same prompt: the log names every block of both or has their texts, and these and the tokens are the same.",
            (
                "How long an answer may be kept is yours to say: low 5 minutes and expected 1 hour since the same prompt "
                "before, high for as long as the log."
            ),
            "The same answer will do: whoever asks again for another one should get it, and is not told apart here.",
        ),
        how=(
            "Look at what is sent again first: a retry after a timeout, a job that runs twice, a question that many ask.",
            "Keep answers under a hash of model, settings and whole prompt, for each customer apart.",
            "Let requests that come while the first is being answered wait for it.",
            "Give kept answers a lifetime, and a way past them for whoever asks for a new one.",
        ),
        snippet=snippet_for(evidence, NAME, name),
    )


def _facts(evidence: Evidence, name: str, found: _Found) -> Iterator[Fact]:
    whole = requests_in(evidence.cube, single_rows(evidence.cube, name))
    for level, words in (
        (Level.LOW, "Sent again within 5 minutes"),
        (Level.EXPECTED, "Sent again within 1 hour"),
        (Level.HIGH, "Sent again at all"),
    ):
        yield Fact(label=words, value=_count(sum(one.requests for one in found[level].values()), whole))
    for phase, word in ((Phase.PREFILL, "prompts"), (Phase.DECODE, "answers")):
        tokens = sum(
            count
            for one in found[Level.HIGH].values()
            for meter, count in one.tokens.items()
            if meter.phase is phase
        )
        yield Fact(label=f"Tokens of their {word}", value=numbers.tokens(tokens))


def _count(requests: Any, whole: int) -> str:
    part = f" ({numbers.share(min(1.0, requests / whole))})" if whole else ""
    return f"{numbers.count(requests)}{part}"
