"""Files that people write by hand: JSON, YAML or TOML in, plain values out, every number exactly as written."""

import json
import reprlib
from collections.abc import Hashable
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from pricing.errors import PriceFileError

SUFFIXES: Final = (".json", ".yaml", ".yml", ".toml")
MAX_BYTES: Final = 16 * 2**20
_SHORT: Final = 60
_MERGE: Final = "tag:yaml.org,2002:merge"
_MOST_VALUES: Final = 1_000_000
"""Of a YAML file whose aliases are written out."""
_SHAPES: Final = {
    "model_type": "expected keys with values",
    "dict_type": "expected keys with values",
    "tuple_type": "expected a list",
    "list_type": "expected a list",
}
"""Said instead of what pydantic says, which names classes of ours."""


def read_bytes(path: Path) -> bytes:
    """The content of a file of at most 16 MB.

    Raises:
        PriceFileError: It cannot be read, or it is larger.
    """
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)  # a device has no end
    except (OSError, ValueError) as error:
        raise PriceFileError(
            f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}"
        ) from error
    _check_size(content, path)
    return content


def _check_size(content: bytes, path: Path) -> None:
    if len(content) > MAX_BYTES:
        raise PriceFileError(f"{path}: too many bytes, allowed are {MAX_BYTES:,}")


def parse_syntax(content: bytes, path: Path) -> object:
    """The values of a file; its suffix decides the syntax.

    Args:
        content: Its bytes.
        path: Named in messages.

    Raises:
        PriceFileError: An unknown suffix, more than 16 MB, broken syntax, or a key that is given twice.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise PriceFileError(
            f"{path}: cannot tell the syntax of a {suffix or 'suffixless'} file, allowed: {', '.join(SUFFIXES)}"
        )
    _check_size(content, path)
    try:
        text = content.decode("utf-8-sig")
        if suffix == ".json":
            return json.loads(text, parse_float=Decimal, object_pairs_hook=_unique)
        if suffix == ".toml":
            import tomllib  # noqa: PLC0415

            return tomllib.loads(text, parse_float=Decimal)
        return _parse_yaml(text)
    except (ValueError, RecursionError) as error:
        raise PriceFileError(f"{path}: not valid {suffix[1:].upper()}: {error}") from None


def explain(error: ValidationError, path: Path, allowed: Any) -> str:
    """One line a mistake: file, key, the value seen, and what is allowed.

    Args:
        error: What the file's shape refused.
        path: The file.
        allowed: The keys that are allowed where a key stood, from the key's place in the file.
    """
    lines: list[str] = []
    for problem in error.errors(include_url=False):
        loc = problem["loc"]
        where = ".".join(str(part) for part in loc)
        if problem["type"] == "extra_forbidden":
            lines.append(f"{path}: {where}: unknown key {str(loc[-1])!r}, allowed: {', '.join(allowed(loc))}")
            continue
        message = _SHAPES.get(problem["type"]) or problem["msg"].removeprefix("Value error, ")
        seen = "" if problem["type"] == "missing" else f", got {_short(problem['input'])}"
        lines.append(f"{path}: {where or 'the file'}: {message}{seen}")
    return "\n".join(lines)


def _parse_yaml(text: str) -> object:
    import yaml  # noqa: PLC0415

    class Loader(yaml.SafeLoader):
        """The safe loader, refusing repeated keys, of which it would silently keep the last."""

        def get_single_node(self) -> yaml.Node | None:
            node: yaml.Node | None = super().get_single_node()
            _weigh(node, {})
            return node

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002
            plain = [key for key, _ in node.value if key.tag != _MERGE]
            keys = [self.construct_object(key, deep=True) for key in plain]
            for key in keys:
                if not isinstance(key, Hashable):
                    raise ValueError(f"{_short(key)} is no key; a key is a text or a number")  # noqa: TRY004 (as all)
            _unique([(key, None) for key in keys])
            return super().construct_mapping(node, deep=deep)

    try:
        return yaml.load(text, Loader=Loader)  # noqa: S506 (a safe loader's subclass)
    except (yaml.YAMLError, OverflowError, TypeError) as error:
        raise ValueError(error) from None


def _weigh(node: Any, known: dict[int, int]) -> int:
    """Return how many values a node stands for, with what its aliases repeat; too many are refused."""
    if node is None:
        return 0
    if (weight := known.get(id(node))) is not None:
        if not weight:
            raise ValueError("an alias (*name) stands inside what it names")
        return weight
    known[id(node)] = 0
    parts = node.value if isinstance(node.value, list) else []
    inner = [each for part in parts for each in (part if isinstance(part, tuple) else (part,))]
    known[id(node)] = weight = 1 + sum(_weigh(each, known) for each in inner)
    if weight > _MOST_VALUES:
        raise ValueError(f"its aliases (*name) stand for more than {_MOST_VALUES:,} values")
    return weight


def _unique(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    seen: dict[Any, Any] = {}
    for key, value in pairs:
        if key in seen:
            raise ValueError(f"key {key!r} is given twice")
        seen[key] = value
    return seen


def _short(value: object) -> str:
    text = (
        str(value)
        if isinstance(value, Decimal)
        else reprlib.repr(value)
        if isinstance(value, (dict, list))
        else repr(value)
    )
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 3]}..."
