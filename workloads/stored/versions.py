"""Versions of importers: a digest of the code that an importer's rows come from, so that nobody can forget to raise one."""

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Final

from workloads.importers import importers

ANY: Final = "*"
"""Stands for all importers: what none could read, another version of any may."""

_PACKAGE: Final = Path(__file__).parents[1]
_IMPORT: Final = re.compile(r"^\s*from (workloads\.[\w.]+) import", re.MULTILINE)
_READING: Final = ("workloads.batches", "workloads.json_batches", "workloads.relations")
"""What every importer is read by."""
_HASHES: Final = "workloads.prefix_texts"
"""Names blocks by the engine's own hash, which may be another one in its next version."""


@cache
def version_of(importer: str) -> str:
    """Return the version of an importer; of ``ANY`` that of all together."""
    by_name = {item.name: type(item).__module__ for item in importers()}
    own = sorted(set(by_name.values())) if importer == ANY else [by_name.get(importer, _READING[0])]
    modules = _all_below((*own, *_READING))
    digest = hashlib.sha256()
    for module in sorted(modules):
        digest.update(_path_of(module).read_bytes())
    if _HASHES in modules:
        digest.update(metadata.version("duckdb").encode())
    return digest.hexdigest()[:12]


def _all_below(modules: Iterable[str]) -> set[str]:
    """Return the modules, and all of this package that they import."""
    found: set[str] = set()
    open_ = list(modules)
    while open_:
        module = open_.pop()
        if module not in found:
            found.add(module)
            open_ += [name for name in _imports(module) if name.count(".") == 1 or module != name]
    return found


@cache
def _imports(module: str) -> tuple[str, ...]:
    return tuple(_IMPORT.findall(_path_of(module).read_text(encoding="utf-8")))


def _path_of(module: str) -> Path:
    path = _PACKAGE.joinpath(*module.split(".")[1:])
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
