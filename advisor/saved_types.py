"""The types of a class's fields, those among them that its module only imports for checkers."""

import ast
import inspect
import sys
import types
import typing
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any


def hints_of(kind: type) -> Mapping[str, Any]:
    """Return the type of each field of a class."""
    return typing.get_type_hints(kind, localns=_Names(sys.modules[kind.__module__]))


class _Names(dict[str, Any]):
    """The names of a module, those that it only imports for checkers among them."""

    def __init__(self, module: types.ModuleType) -> None:
        super().__init__(vars(module))
        self._imports = _imports(module)

    def __missing__(self, name: str) -> Any:
        if name not in self._imports:
            raise KeyError(name)
        return getattr(import_module(self._imports[name]), name)


@cache
def _imports(module: types.ModuleType) -> Mapping[str, str]:
    tree = ast.parse(inspect.getsource(module))
    return {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level
        for alias in node.names
    }
