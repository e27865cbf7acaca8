"""How the JSON records of a run are to be read: which importers, at which places, with which envelope fields.

A plan is made from samples and covers all JSON files of a run at once, so a mixed folder, and a file that mixes
formats line by line, are read in one scan.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import ibis

from workloads.count_texts import as_texts, counts
from workloads.declared import as_declared, elements
from workloads.envelopes import envelope_fields, field_type, read_envelope
from workloads.expressions import is_true
from workloads.importers import Chain, JsonImporter
from workloads.json_parts import Part
from workloads.ledger import COLUMNS, IGNORED, SKIPPED
from workloads.odd_counts import HUGE, negative_text, odd_counts, odd_text, without_odd
from workloads.raw import Node
from workloads.schema import ITEM, Path, Schema, element, is_name, merge, nest
from workloads.shared import computed_once

Expr = Any

UNRECOGNISED = "no usage that a known format describes"
FAILED_CALL = "failed call without usage"

_MAX_DEPTH = 4
_ITEMS = 8
"""Elements of an array that are looked at."""


@dataclass(frozen=True, slots=True)
class JsonPlan:
    """Everything a scan of the run's JSON records needs."""

    parts: tuple[Part, ...]
    fields: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    """Envelope field (ledger column, ``time``, ``error``, or a duration's own name) -> where it was seen."""
    odd: frozenset[Path] = frozenset()
    """Counts of which a record has something odd (see ``workloads.odd_counts``): they are read as text."""

    @property
    def ordered(self) -> bool:
        """Whether some importer needs the order of lines."""
        return any(part.importer.ordered for part in self.parts)

    @property
    def schema(self) -> Schema:
        """The declared schema of a record, merged over parts and fields."""
        schema: Schema = {}
        for part in self.parts:
            schema = merge(schema, part.declared)
        for name, paths in self.fields.items():
            for path in paths:
                schema = merge(schema, nest(path, field_type(name)))
        return as_texts(schema, self.odd)


@dataclass(frozen=True, slots=True)
class Rows:
    """Ledger rows to be: a relation, and the ledger columns of each of its rows."""

    relation: Expr
    columns: Mapping[str, Expr]


def make_plan(records: Iterable[Mapping[str, Any]], known: tuple[JsonImporter, ...]) -> JsonPlan:
    """Return the plan for records like these; without parts when no importer claims any."""
    parts: dict[tuple[str, Path], Part] = {}
    fields: dict[str, dict[Path, None]] = {}
    odd: set[Path] = set()
    seen: set[object] = set()
    for record in records:
        # Records with equal keys say nothing new, and a sample is mostly made of them.
        keys = _keys(record, _MAX_DEPTH)
        if keys in seen:
            continue
        seen.add(keys)
        part = _claim(record, known)
        if part is None:
            continue
        parts.setdefault((part.importer.name, part.path), part)
        for name, path in envelope_fields(record, part.path, part.importer.core):
            fields.setdefault(name, {}).setdefault(path)
        odd.update(odd_counts(record, part.declared))
    ordered = sorted(parts.values(), key=lambda part: (len(part.path), part.importer.name, part.path))
    found = {name: tuple(paths) for name, paths in sorted(fields.items())}
    return JsonPlan(tuple(ordered), found, frozenset(odd))


def claimed(
    records: Iterable[Mapping[str, Any]], known: tuple[JsonImporter, ...], *, at_root: bool = False
) -> bool:
    """Return whether some importer claims one of the records, or with ``at_root`` a record as a whole."""
    if at_root:
        return any(importer.claims(record) for record in records for importer in known)
    return any(_claim(record, known) is not None for record in records)


def _keys(record: Mapping[str, Any], depth: int) -> object:
    return tuple([(key, _shape(value, depth)) for key, value in record.items()])


def _shape(value: Any, depth: int) -> object:
    kind = type(value)  # of what was read from JSON; to ask for an abstract type would be slow
    if kind is int and not -HUGE < value < HUGE:
        return HUGE
    if kind is dict and depth:
        return _keys(value, depth - 1)
    if kind is list and depth:
        return frozenset([_keys(item, depth - 1) for item in value[:_ITEMS] if type(item) is dict])
    return kind


def extend(plan: JsonPlan, other: JsonPlan) -> JsonPlan:
    """Return a plan that reads what either of two plans reads."""
    parts = {(part.importer.name, part.path): part for part in (*plan.parts, *other.parts)}
    names = sorted({*plan.fields, *other.fields})
    fields = {
        name: tuple(dict.fromkeys((*plan.fields.get(name, ()), *other.fields.get(name, ()))))
        for name in names
    }
    return JsonPlan(tuple(parts.values()), fields, plan.odd | other.odd)


def _claim(record: Mapping[str, Any], known: tuple[JsonImporter, ...]) -> Part | None:
    """Return the outermost object of a record that an importer claims."""
    level: list[tuple[Path, Mapping[str, Any]]] = [((), record)]
    for _ in range(_MAX_DEPTH + 1):
        for path, obj in level:
            for importer in known:
                if importer.claims(obj):
                    return Part(importer, path)
        level = [
            ((*path, key), value)
            for path, obj in level
            for key, value in obj.items()
            if isinstance(value, Mapping) and is_name(key)
        ]
    return None


def read_plan(plan: JsonPlan, raw: Expr) -> list[Rows]:
    """Return the ledger rows of a raw relation with the plan's schema.

    The first rows are the records themselves; each importer that unfolds arrays adds rows of its own, and the records
    that it owns are among the first only when the empty chain is one of its chains.
    """
    whole = [part for part in plan.parts if () in part.importer.chains]
    unfolding = [part for part in plan.parts if part not in whole]
    raw = _with_own_types(plan, raw)
    # Whose a record is, is asked for every column: a view keeps the query from spelling it out each time.
    raw = raw.mutate(**{_mark(part): _owned(part, raw) for part in plan.parts})
    records = raw
    for part in unfolding:
        records = records.filter(~records[_mark(part)])
    for part in whole:
        own = replace(_node(part, records), declared=as_texts(part.declared, plan.odd))
        records = _with_odd(plan, part, own, [(part.path, part.path)])
        records = _with_steps(part.importer, _node(part, records))
    out = [Rows(records, _records(plan, whole, records))]
    for part in plan.parts:
        out += [_unfolded(plan, part, chain, raw) for chain in part.importer.chains if chain]
    return out


def _with_own_types(plan: JsonPlan, raw: Expr) -> Expr:
    """Return the records with the fields that two formats declare differently as each declares them."""
    columns = {}
    for part in plan.parts:
        node = _node(part, raw)
        for key, kind in as_texts(part.declared, plan.odd).items():
            read = Node(raw).get(key)
            declared = as_declared(read, kind)
            if declared is not read:
                columns[node.own + key] = declared
    return raw.mutate(**columns).view() if columns else raw


def _with_steps(importer: JsonImporter, node: Node) -> Expr:
    while steps := {name: step for name, step in importer.steps(node).items() if not node.has_step(name)}:
        # A view keeps the query from spelling a step out again wherever it is used.
        root = computed_once(node.root.mutate(**{node.step_name(name): steps[name] for name in steps})).view()
        node = replace(node, root=root)
    return node.root


def _node(part: Part, raw: Expr) -> Node:
    own = f"__as_{part.importer.name}_{'.'.join(part.path)}_"
    return Node(raw, part.path, declared=part.declared, own=own)


def _mark(part: Part) -> str:
    """Return the name of the column that says which records are a part's own."""
    return f"__of_{part.importer.name}_{'.'.join(part.path)}"


def _odd(part: Part) -> str:
    """Return the name of the column with the text of a count of a part's row that is none."""
    return f"__odd_in_{part.importer.name}_{'.'.join(part.path)}"


def _with_odd(plan: JsonPlan, part: Part, node: Node, objects: Iterable[tuple[Path, Path]]) -> Expr:
    """Return rows with the text of a count of some objects that is none; as they are, where all are right by their types.

    Args:
        plan: The plan.
        part: Whose rows they are.
        node: Some object of the rows, with its odd counts declared as texts.
        objects: Where each is in the record as it was read, and its path now.
    """
    wrong: list[Expr] = []
    declared = frozenset(counts(part.declared))
    for place, path in objects:
        at = replace(node, path=path)
        odd = part.own(place, plan.odd & declared)
        numbers = [number for number in part.own(place, declared - plan.odd) if ITEM not in number]
        wrong += [odd_text(odd, at)] if odd else []
        wrong += [negative_text(numbers, at)] if numbers else []
    return node.root.mutate(**{_odd(part): ibis.coalesce(*wrong)}).view() if wrong else node.root


def _odd_of(part: Part, table: Expr) -> list[Expr]:
    return [table[_odd(part)]] if _odd(part) in table.columns else []


def _owned(part: Part, raw: Expr) -> Expr:
    node = _node(part, raw)
    return is_true(part.importer.owns(node) & node.exists())


def _records(plan: JsonPlan, parts: list[Part], raw: Expr) -> dict[str, Expr]:
    envelope, failed = read_envelope(plan.fields, raw)
    read = []
    for part in parts:
        columns = without_odd(part.importer.ledger(_node(part, raw), envelope), *_odd_of(part, raw))
        read.append((raw[_mark(part)], {"format": ibis.literal(part.importer.name), **columns}))
    names = [name for name in COLUMNS if any(name in columns for _, columns in read)]
    merged = {name: _choose(name, read) for name in names if name not in ("fate", "reason")}
    other = ibis.cases((failed, IGNORED), else_=SKIPPED)
    why = ibis.cases((failed, FAILED_CALL), else_=UNRECOGNISED)
    if not read:
        return {"fate": other, "reason": why}
    merged["fate"] = ibis.cases(*[(mine, columns["fate"]) for mine, columns in read], else_=other)
    merged["reason"] = ibis.cases(*[(mine, columns["reason"]) for mine, columns in read], else_=why)
    return merged


def _unfolded(plan: JsonPlan, part: Part, chain: Chain, raw: Expr) -> Rows:
    """Return the rows of one importer's arrays: a row an element at the end of the chain."""
    table = raw.filter(raw[_mark(part)])
    paths: list[Path] = [part.path]
    own = _node(part, table)
    declared, read = part.declared, as_texts(part.declared, plan.odd)
    for level, path in enumerate(chain):
        name = f"__element_{level}"
        array = replace(own, root=table, path=paths[-1], declared=read)
        table = table.mutate(**{name: elements(array.get(*path)).unnest()})
        declared = {**declared, name: element(declared, (*paths[-1], *path))}
        read = {**read, name: element(read, (*paths[-1], *path))}
        paths.append((name,))
    # What is odd of a record that is a row itself is said there.
    first = 1 if () in part.importer.chains else 0
    objects = list(zip(part.places(chain), paths, strict=True))[first:]
    table = _with_odd(plan, part, replace(own, root=table, declared=read), objects)
    node: Node | None = None
    for path in paths:
        node = replace(own, root=table, path=path, parent=node, declared=declared)
    assert node is not None  # noqa: S101  (there is always the record's own object)
    table = _with_steps(part.importer, node)
    node = replace(node, root=table)
    ledger = part.importer.ledger(node, read_envelope(plan.fields, table)[0])
    columns = without_odd(ledger, *_odd_of(part, table))
    return Rows(table, {"format": ibis.literal(part.importer.name), **columns})


def _choose(name: str, read: list[tuple[Expr, dict[str, Expr]]]) -> Expr:
    null = ibis.null(COLUMNS[name])
    if len(read) == 1:
        return read[0][1][name]
    branches = [
        (mine, columns[name].try_cast(COLUMNS[name]) if name in columns else null) for mine, columns in read
    ]
    return ibis.cases(*branches, else_=null)
