"""Whose client library a workload is called with, for examples in that library's words."""

import re
from typing import Final

from advisor.cube_changes import tokens_in
from advisor.evidence import Evidence
from pricing.meters import Meter

_BY_NAME: Final = (
    (re.compile(r"claude"), "anthropic"),
    (re.compile(r"gemini"), "google"),
    (re.compile(r"\bgpt-(?!oss)|\bo[134](?:-|$)"), "openai"),
)


def maker_of(evidence: Evidence, workload: str) -> str:
    """Return who made the model that most of a workload's output is of: anthropic, google, openai or other."""
    cube = evidence.cube
    mine = cube["workload"] == workload
    models = sorted(model for model in set(cube.loc[mine, "model"].dropna()) if isinstance(model, str))
    written = {model: tokens_in(cube, mine & (cube["model"] == model), str(Meter.OUTPUT)) for model in models}
    return maker_of_model(max(models, key=lambda model: written[model])) if models else "other"


def maker_of_model(model: str) -> str:
    """Return who made a model, by its name: anthropic, google, openai or other."""
    name = model.lower()
    return next((maker for pattern, maker in _BY_NAME if pattern.search(name)), "other")
