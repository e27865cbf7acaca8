"""What the lines before a line have told: for importers that are ``ordered``.

Lines are taken as they come, one after the other: nothing is put in order, and nothing waits for the last one.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from workloads.expressions import is_true
from workloads.raw import Node

Expr = Any

_SO_FAR: Final = ibis.window(following=0)
"""Without an order: the engine hands rows on as it reads them, as it does to number them."""
_ROW_BEFORE: Final = ibis.window()
_FILE: Final = "file"


def count_so_far(condition: Expr) -> Expr:
    """Return for how many rows a condition held, up to and with this one, over all files."""
    return ibis.cases((condition, 1), else_=0).sum().over(_SO_FAR)


def telling(node: Node, condition: Expr, found: Mapping[str, Expr]) -> Expr:
    """Return what the last row told for which a condition held, up to and with this one; for a step, see ``told``.

    Args:
        node: Where the importer reads.
        condition: Which rows tell; never null.
        found: What they tell, by name.
    """
    # As one value: a null of the last row that tells is not to be filled from the row before.
    row = ibis.struct({**found, _FILE: node.file})
    return ibis.cases((condition, row)).last().over(_SO_FAR)


def before(node: Node, step: str) -> Expr:
    """Return what a step of ``telling`` held in the row before; for a step of its own, see ``told``."""
    return node.step(step).lag().over(_ROW_BEFORE)


def has_told(node: Node, step: str) -> Expr:
    """Return whether a step of ``telling`` holds something of this file."""
    return is_true(node.step(step)[_FILE] == node.file)


def told(node: Node, step: str, name: str) -> Expr:
    """Return what a step of ``telling`` holds under a name; null when nothing was told yet in this file."""
    row = node.step(step)
    return ibis.cases((row[_FILE] == node.file, row[name]))
