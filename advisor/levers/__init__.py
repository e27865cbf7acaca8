"""One module a lever; each turns evidence into proposals. A new lever is a file in this folder."""

import pkgutil
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from advisor.evidence import Evidence
from advisor.recommendation import Proposal


class Lever(Protocol):
    """What a module of this folder has."""

    NAME: str

    def find(self, evidence: Evidence) -> Iterator[Proposal]:
        """Yield what could be done."""
        ...


@cache
def levers() -> tuple[Lever, ...]:
    """Return every lever of this folder, sorted by name."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(cast("Lever", import_module(f"{__name__}.{name}")) for name in names)
