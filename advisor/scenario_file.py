"""Read a scenario from a file (YAML, JSON or TOML); every mistake is named with its step, key, value, and what is allowed."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from advisor.scenario_model import STEPS, Scenario
from pricing.errors import PriceFileError
from pricing.file_syntax import parse_syntax, read_bytes

_SHORT: Final = 60
_SHAPES: Final = {
    "model_type": "expected keys with values",
    "model_attributes_type": "expected keys with values",
    "dict_type": "expected keys with values",
    "tuple_type": "expected a list",
    "missing": "is missing",
    "too_short": "expected at least one",
}


class ScenarioError(ValueError):
    """A scenario that cannot be applied: file, step, key, the value seen, and what is allowed."""


def read_scenario(path: Path) -> Scenario:
    """Return the scenario of a file.

    Raises:
        ScenarioError: It cannot be read, or is no scenario.
    """
    try:
        values = parse_syntax(read_bytes(path), path)
    except PriceFileError as error:
        raise ScenarioError(str(error)) from None
    try:
        return Scenario.model_validate(values)
    except ValidationError as error:
        raise ScenarioError(
            "\n".join(
                _line(path, mistake)
                for mistake in error.errors(include_url=False)
                # Items that are wrong themselves are not missing as well.
                if not (mistake["type"] == "too_short" and mistake["input"])
            )
        ) from None


def place(path: Path, number: int, kind: str, key: str | None = None) -> str:
    """Return where something stands: ``scenario.yaml: step 2 (trim): prompt``."""
    return f"{path}: step {number} ({kind})" + (f": {key}" if key else "")


def _line(path: Path, mistake: Any) -> str:
    loc: tuple[Any, ...] = mistake["loc"]
    kind, seen = mistake["type"], f", got {_short(mistake['input'])}"
    where = _where(path, loc)
    if kind == "extra_forbidden":
        return f"{where}: unknown key, allowed: {', '.join(_keys(loc))}"
    if kind == "union_tag_not_found":
        return f"{where}: the key 'do' is missing, as in {{do: batch, share: 0.5}}, allowed: {', '.join(STEPS)}{seen}"
    if kind == "union_tag_invalid":
        return f"{where}: do: {_short(mistake['ctx']['tag'])} is unknown, allowed: {', '.join(STEPS)}"
    if kind == "missing":
        return f"{where}: {_SHAPES[kind]}"
    message = _SHAPES.get(kind) or mistake["msg"].removeprefix("Value error, ")
    return f"{where}: {message}{seen}"


def _where(path: Path, loc: Sequence[Any]) -> str:
    """Return the place in words; pydantic counts steps from 0 and puts the kind of a step into its place."""
    if len(loc) < 2 or loc[0] != "steps":  # noqa: PLR2004  (the word and the number of a step)
        return f"{path}: {'.'.join(map(str, loc)) or 'the file'}"
    if len(loc) == 2:  # noqa: PLR2004
        return f"{path}: step {loc[1] + 1}"
    key = ".".join(str(part) for part in loc[3:] if part != "[key]")
    return place(path, loc[1] + 1, str(loc[2]), key)


def _keys(loc: Sequence[Any]) -> list[str]:
    if len(loc) > 2 and loc[2] in STEPS:  # noqa: PLR2004
        return sorted(STEPS[loc[2]].model_fields)
    return sorted(Scenario.model_fields)


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 3]}..."
