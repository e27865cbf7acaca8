"""What JSON records say around the object that carries the usage: found in samples, read from all."""

from collections.abc import Iterator, Mapping
from typing import Any

import ibis

from workloads.expressions import FALSE, is_true
from workloads.raw import Envelope, Node
from workloads.schema import Schema, is_name, nest
from workloads.vocabulary import COST_NAMES, LABELS, STREAMING_NAMES, TIME_NAMES, duration_of, normal

Expr = Any
Path = tuple[str, ...]

_ASIDE = ("metadata", "meta", "labels", "tags", "context", "properties", "request")
"""Objects beside the usage that may hold labels."""
_HTTP_ERROR = 400
_EPOCH_PLAUSIBLE = 1e8
"""Numbers below are no epoch of this century (durations, offsets)."""


def envelope_fields(record: Mapping[str, Any], place: Path, core: Schema) -> Iterator[tuple[str, Path]]:
    """Yield ``(field, path)`` for all that a record says around the object at a place.

    A field is a ledger column, ``time``, ``error``, ``custom_id``, or a duration by its own name.
    """
    places: list[tuple[Path, Mapping[str, Any]]] = []
    node: Any = record
    for depth in range(len(place) + 1):
        places.append((place[:depth], node))
        places += [((*place[:depth], key), node[key]) for key in _ASIDE if isinstance(node.get(key), Mapping)]
        node = node.get(place[depth]) if depth < len(place) else None
    for path, obj in places:
        is_core = path == place
        beside = bool(path) and path[-1] in _ASIDE
        for key, value in obj.items():
            if (is_core and key in core) or isinstance(value, (Mapping, list)) or not is_name(key):
                continue
            for name in _names_of(normal(key), value, beside=beside):
                yield name, (*path, key)
        if not beside and not is_core and isinstance(obj.get("error", ""), (Mapping, type(None))):
            yield "error", (*path, "error")


def _names_of(key: str, value: Any, *, beside: bool) -> Iterator[str]:
    if not beside and key in TIME_NAMES and _is_time(value):
        yield "time"
    yield from (
        column for column, names in LABELS.items() if key in names and not (beside and column == "status")
    )
    if beside:
        return
    if duration_of(key):
        yield key
    if key in STREAMING_NAMES:
        yield "streaming"
    if key == "custom_id":
        yield key
    if key in COST_NAMES and isinstance(value, (int, float)):
        yield "recorded_cost_usd"


def _is_time(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    if isinstance(value, (int, float)):
        return value > _EPOCH_PLAUSIBLE
    return isinstance(value, str) and value[:1].isdigit()


def field_type(name: str) -> Any:
    """Return the type that a field is read in."""
    if name == "error":
        return "JSON"
    if name in ("streaming", "recorded_cost_usd"):
        return {"streaming": "BOOLEAN", "recorded_cost_usd": "DECIMAL(38, 12)"}[name]
    return "DOUBLE" if duration_of(name) else "VARCHAR"


def read_envelope(fields: Mapping[str, tuple[Path, ...]], raw: Expr) -> tuple[Envelope, Expr]:
    """Return the envelope of every record, and whether it is that of a failed call."""
    found: dict[str, list[Expr]] = {}
    for name, paths in fields.items():
        for path in paths:
            value = Node(raw, path, declared=nest(path, field_type(name))).get()
            duration = duration_of(name)
            if duration:
                found.setdefault(duration[0], []).append(value / duration[1])
            elif value.type().is_string() and name != "error":
                found.setdefault(name, []).append(value.nullif(""))
            else:
                found.setdefault(name, []).append(value)
    columns = {
        name: values[0] if len(values) == 1 else ibis.coalesce(*values) for name, values in found.items()
    }
    failed = FALSE
    if "error" in columns:
        failed = failed | columns.pop("error").notnull()
    if "status" in columns:
        failed = failed | is_true(columns["status"].try_cast("int64") >= _HTTP_ERROR)
    if "custom_id" in columns:  # a line of a batch job without usage is one that was not worked on
        failed = failed | columns["custom_id"].notnull()
    return Envelope(columns), failed
