"""Frozen values to plain JSON and back, by their type hints: what a run found is kept whole, whatever fields it grows.

A dataclass becomes an object with its class's name under ``$``; several of one class become a table. Money is a decimal string,
times are ISO 8601, what JSON has no number for is a word. Functions are not kept.
"""

import math
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from advisor.saved_types import hints_of

CLASS: Final = "$"
ARRAY: Final = "ndarray"
ROWS: Final = "rows"
FIELDS: Final = "fields"

_Decoder = Callable[[Any], Any]


class CodecError(Exception):
    """A value that cannot be kept, or a kept one that does not fit; the message says which part."""


def encode(value: Any) -> Any:
    """Return a value as JSON has it.

    Raises:
        CodecError: Something in it has no such form.
    """
    if isinstance(value, Enum):
        return value.value
    if value is None or isinstance(value, bool | int | str):
        return value
    plain = next((write for kind, write in _WRITERS if isinstance(value, kind)), None)
    if plain is not None:
        return plain(value)
    if is_dataclass(value) and not isinstance(value, type):
        kept = {one.name: encode(getattr(value, one.name)) for one in fields(value) if one.init}
        return {CLASS: type(value).__name__, **kept}
    if callable(value):
        return None
    raise CodecError(f"a {type(value).__name__} cannot be kept")


def _mapping(value: Mapping[Any, Any]) -> Any:
    pairs = [(encode(key), encode(one)) for key, one in value.items()]
    return dict(pairs) if all(isinstance(key, str) for key, _ in pairs) else [list(pair) for pair in pairs]


def _sequence(values: Iterable[Any]) -> Any:
    items = list(values)
    kind = type(items[0]) if items else None
    if len(items) > 1 and is_dataclass(kind) and all(type(item) is kind for item in items):
        names = [one.name for one in fields(kind) if one.init]
        rows = [[encode(getattr(item, name)) for name in names] for item in items]
        return {CLASS: kind.__name__, FIELDS: names, ROWS: rows}
    return [encode(item) for item in items]


_WRITERS: Final[tuple[tuple[Any, Callable[[Any], Any]], ...]] = (
    (float, lambda value: value if math.isfinite(value) else str(value)),
    ((Decimal, Path, Fraction), str),
    (date, lambda value: value.isoformat()),
    (timedelta, lambda value: value.total_seconds()),
    (Mapping, _mapping),
    ((tuple, list), _sequence),
    ((frozenset, set), lambda value: _sequence(sorted(value))),
    (np.generic, lambda value: encode(value.item())),
    (
        np.ndarray,
        lambda value: {
            CLASS: ARRAY,
            "dtype": str(value.dtype),
            "values": [encode(one) for one in value.tolist()],
        },
    ),
)
"""Type -> how a value of it is written; the first that fits."""


def decode(kind: Any, value: Any, function: Callable[..., Any]) -> Any:
    """Return a kept value as what it was.

    Args:
        kind: Its type.
        value: What ``encode`` returned.
        function: Stands in for every function, which are not kept.

    Raises:
        CodecError: It does not fit its type: it is of another version, or was changed.
    """
    try:
        found = _decoder(kind)(value)
    except CodecError:
        raise
    except (TypeError, ValueError, KeyError, ArithmeticError, AttributeError) as error:
        raise CodecError(f"{type(error).__name__}: {error}") from error
    _restore(found, function, set())
    return found


def _restore(value: Any, function: Callable[..., Any], seen: set[int]) -> None:
    """Put the function where one was; frozen values are written to only here, before anybody has seen them."""
    if is_dataclass(value) and not isinstance(value, type) and id(value) not in seen:
        seen.add(id(value))
        for one in fields(value):
            part = getattr(value, one.name)
            if part is _FUNCTION:
                object.__setattr__(value, one.name, function)
            else:
                _restore(part, function, seen)
    elif isinstance(value, tuple):
        for part in value:
            _restore(part, function, seen)
    elif isinstance(value, dict):
        for part in value.values():
            _restore(part, function, seen)


_FUNCTION: Final = object()


@cache
def _decoder(kind: Any) -> _Decoder:
    if isinstance(kind, typing.NewType):
        return _decoder(kind.__supertype__)
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is typing.Annotated:
        return _decoder(arguments[0])
    if origin in (typing.Union, types.UnionType):
        return _union(arguments)
    if origin is not None:
        return _container(origin, arguments)
    return _plain(kind)


def _plain(kind: Any) -> _Decoder:
    if kind in _SCALARS:
        return _SCALARS[kind]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind
    if is_dataclass(kind):
        return _record(kind)
    raise CodecError(f"{kind} cannot be kept")


def _as_it_is(value: Any) -> Any:
    return _array(value) if isinstance(value, dict) and cast("Any", value).get(CLASS) == ARRAY else value


def _array(value: Any) -> Any:
    return np.array([float(one) if isinstance(one, str) else one for one in value["values"]], value["dtype"])


def _number(value: Any) -> float:
    return value if isinstance(value, int | float) else float(value)


def _kept_text(value: Any) -> str:
    if not isinstance(value, str):
        raise CodecError(f"{value!r:.60} is not a text")
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int):
        raise CodecError(f"{value!r:.60} is not a whole number")
    return value


_SCALARS: Final[Mapping[Any, _Decoder]] = {
    Any: _as_it_is,
    object: _as_it_is,
    np.ndarray: _array,
    type(None): lambda _: None,
    bool: bool,
    int: _whole,
    str: _kept_text,
    float: _number,
    Decimal: Decimal,
    Fraction: Fraction,
    Path: Path,
    date: date.fromisoformat,
    datetime: datetime.fromisoformat,
    timedelta: lambda value: timedelta(seconds=value),
}


_ORIGINS: Final[Mapping[Any, _Decoder]] = {
    typing.Literal: _as_it_is,
    Callable: lambda _: _FUNCTION,
    np.ndarray: _array,
}


def _container(origin: Any, arguments: tuple[Any, ...]) -> _Decoder:
    if origin in _ORIGINS:
        return _ORIGINS[origin]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        key, value = map(_decoder, arguments)
        return lambda kept: {
            key(one): value(part) for one, part in (kept.items() if isinstance(kept, dict) else kept)
        }
    if origin in (frozenset, set):
        item = _decoder(arguments[0])
        return lambda kept: frozenset(map(item, kept))
    if origin is tuple and arguments[-1:] != (...,):
        items = [_decoder(argument) for argument in arguments]
        return lambda kept: tuple(item(part) for item, part in zip(items, kept, strict=True))
    item = _decoder(arguments[0])
    return lambda kept: tuple(_items(item, kept))


def _items(item: _Decoder, kept: Any) -> Iterable[Any]:
    if not isinstance(kept, dict):
        return map(item, kept)
    names, kind = kept[FIELDS], kept[CLASS]
    return (item({CLASS: kind, **dict(zip(names, row, strict=True))}) for row in kept[ROWS])


def _union(arguments: tuple[Any, ...]) -> _Decoder:
    """The members in an order in which what fits the first is it: dataclasses by name, texts last."""
    records: dict[str, Any] = {cast("type", one).__name__: one for one in arguments if is_dataclass(one)}
    others = [one for one in arguments if one is not type(None) and not is_dataclass(one)]
    others.sort(key=lambda one: (one is str, one is float))

    def read(value: Any) -> Any:
        if value is None:
            return None
        if isinstance(value, dict) and value.get(CLASS) in records:
            return _decoder(records[value[CLASS]])(value)
        for one in others:
            try:
                return _decoder(one)(value)
            except (CodecError, TypeError, ValueError, ArithmeticError):
                continue
        raise CodecError(f"{value!r:.60} fits none of {arguments}")

    return read


def _record(kind: Any) -> _Decoder:
    hints = hints_of(kind)
    expected = {one.name: hints[one.name] for one in fields(kind) if one.init}
    required = {one.name for one in fields(kind) if one.default is MISSING and one.default_factory is MISSING}
    decoders: dict[str, _Decoder] = {}

    def read(value: Any) -> Any:
        if not isinstance(value, dict) or value.get(CLASS) != kind.__name__:
            raise CodecError(f"{value!r:.60} is no {kind.__name__}")
        given = value.keys() - {CLASS}
        if not required & expected.keys() <= given <= expected.keys():
            odd = sorted((required & expected.keys()) - given) or sorted(given - expected.keys())
            raise CodecError(f"{kind.__name__}: {odd[0]} is missing or unknown")
        if not decoders:
            decoders.update({name: _decoder(hint) for name, hint in expected.items()})
        return kind(**{name: decoders[name](value[name]) for name in given})

    return read
