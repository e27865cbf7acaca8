"""Expressions that several columns share, computed once a row.

The engine computes an expression wherever it is spelled out, and an importer's columns spell the same counts out in
dozens of places, each with all that they are made of. Here every part that recurs becomes a column of an inner select.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from ibis.expr import operations

Expr = Any
Op = Any
ops: Any = operations  # the library's own types of these do not fit its values

_PREFIX: Final = "__shared_"
_SMALLEST: Final = 4
"""Parts with fewer operations are as fast to compute as to pass on."""
_LEAVES: Final = (ops.Field, ops.Literal)
_CHEAP: Final = (
    *_LEAVES,
    ops.Comparison,
    ops.And,
    ops.Or,
    ops.Not,
    ops.IsNull,
    ops.NotNull,
    ops.Coalesce,
    ops.Least,
    ops.Greatest,
    ops.StructField,
    ops.SearchedCase,
    ops.NullIf,
    ops.Add,
    ops.Subtract,
)
"""What takes next to nothing, of operands that do so too; the only failure is a sum of counts that are damage, see ``wide``."""


def computed_once(rows: Expr) -> Expr:
    """Return a projection with what its columns share computed once, in layers of inner projections.

    Only what every row needs anyway is moved, or what only compares columns: all else that stands behind the condition of
    a case stays there, since it may be costly, or fail, for the rows that the condition keeps from it.
    """
    project = rows.op()
    if not isinstance(project, ops.Project):
        return rows
    roots: Mapping[str, Op] = project.values
    order = _in_order(roots.values())
    layer = _layers(order, list(roots.values()))
    if not layer:
        return rows
    names = {node: f"{_PREFIX}{number}" for number, node in enumerate(layer)}
    needs = {node: dict.fromkeys(_needs(node, names)) for node in layer}
    wanted = {
        name: {node: None} if node in names else dict.fromkeys(_needs(node, names))
        for name, node in roots.items()
    }
    table = project.parent
    for depth in range(max(layer.values()) + 1):
        later = [*wanted.values(), *(needs[node] for node in layer if layer[node] > depth)]
        kept = dict.fromkeys(need for group in later for need in group)
        made = [node for node in kept if layer.get(node) == depth]
        columns = {
            name: ops.Field(table, name)
            for name in (names.get(node, node.name) for node in kept if layer.get(node, -1) < depth)
        }
        columns |= {names[node]: new for node, new in zip(made, _over(table, made, names), strict=True)}
        table = ops.Project(table, columns)
    rest = [node for node in roots.values() if node not in names]
    moved = dict(zip(rest, _over(table, rest, names), strict=True))
    last = {
        name: ops.Field(table, names[node]) if node in names else moved[node] for name, node in roots.items()
    }
    return ops.Project(table, last).to_expr()


def _children(node: Op) -> Iterator[tuple[Op, bool]]:
    """Yield the operands of an operation, and whether each is computed for every row."""
    if isinstance(node, (*_LEAVES, ops.WindowFunction)):
        return
    if isinstance(node, (ops.ArrayMap, ops.ArrayFilter)):
        yield node.arg, True
        return
    guarded: set[Op] = set()
    if isinstance(node, ops.SearchedCase):
        guarded = {*node.cases[1:], *node.results, node.default} - {node.cases[0]}
    elif isinstance(node, ops.Coalesce):
        guarded = {*node.arg[1:]} - {node.arg[0]}
    elif isinstance(node, ops.IfElse):
        guarded = {node.true_expr, node.false_null_expr} - {node.bool_expr}
    for child in dict.fromkeys(node.__children__):
        if isinstance(child, ops.Value):
            yield child, child not in guarded


def _in_order(roots: Any) -> list[Op]:
    """Return all operations below some, operands first."""
    seen: dict[Op, None] = {}
    open_: list[tuple[Op, bool]] = [(node, False) for node in roots]
    while open_:
        node, is_done = open_.pop()
        if is_done:
            seen.setdefault(node)
        elif node not in seen:
            open_.append((node, True))
            open_ += [(child, False) for child, _ in _children(node) if child not in seen]
    return list(seen)


def _layers(order: list[Op], roots: list[Op]) -> dict[Op, int]:
    """Return the operations to compute apart, each with the number of such layers below it."""
    uses: dict[Op, int] = dict.fromkeys(order, 0)
    sure: dict[Op, bool] = dict.fromkeys(order, False)
    for node in roots:
        uses[node] += 1
        sure[node] = True
    cheap: dict[Op, bool] = {}
    for node in order:
        cheap[node] = isinstance(node, _CHEAP) and all(cheap[child] for child, _ in _children(node))
    for node in reversed(order):
        for child, always in _children(node):
            uses[child] += 1
            sure[child] |= sure[node] and (always or cheap[child])
    size: dict[Op, int] = {}
    height: dict[Op, int] = {}
    found: dict[Op, int] = {}
    for node in order:
        below = [child for child, _ in _children(node)]
        size[node] = sum(
            (size[child] for child in below), 1 if below or isinstance(node, _LEAVES) else _SMALLEST
        )
        height[node] = max((height[child] + (child in found) for child in below), default=0)
        if uses[node] > 1 and sure[node] and size[node] >= _SMALLEST and node.shape.is_columnar():
            found[node] = height[node]
    return found


def _needs(node: Op, names: Mapping[Op, str]) -> Iterator[Op]:
    """Yield the columns that an operation is made of: fields of the relation, and operations computed apart."""
    open_ = [node]
    seen: set[Op] = set()
    while open_:
        for child in _operands(open_.pop()):
            if child in seen:
                continue
            seen.add(child)
            if child in names or isinstance(child, ops.Field):
                yield child
            else:
                open_.append(child)


def _operands(node: Op) -> list[Op]:
    if isinstance(node, ops.Field):
        return [node]
    return [child for child in node.__children__ if isinstance(child, ops.Value)]


def _over(table: Op, nodes: list[Op], names: Mapping[Op, str]) -> list[Op]:
    """Return operations over a table that has what is computed apart as columns."""
    if not nodes:
        return []
    needs = dict.fromkeys(need for node in nodes for need in _needs(node, names))
    fields = {need: ops.Field(table, names.get(need, need.name)) for need in needs}
    # All at once, as the parts of one operation: they have much in common.
    whole = ops.StructColumn([f"_{number}" for number in range(len(nodes))], nodes)
    return list(whole.replace(fields, filter=ops.Value).values)
