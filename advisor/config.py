"""Options from a file: ``advisor.toml``, else ``[tool.advisor]`` of ``pyproject.toml``, in the current folder.

Keys are the options of ``advisor analyze`` without dashes in front (``timezone = "Europe/Berlin"``).
"""

from pathlib import Path
from typing import Any, Final

OPTIONS: Final = {
    "format": "format_name",
    "model": "model",
    "provider": "provider",
    "map": "mapping",
    "prices": "price_files",
    "price-book": "price_book",
    "map-model": "map_models",
    "discounts": "discount_files",
    "currency": "currency",
    "fx": "fx_file",
    "group-by": "group_by",
    "since": "since",
    "until": "until",
    "timezone": "timezone",
    "as-of": "as_of",
    "output": "html_file",
    "json": "json_file",
    "markdown": "markdown_file",
    "xlsx": "xlsx_file",
    "focus": "focus_file",
    "bill": "bills",
    "tolerance": "tolerance",
    "self-host": "self_host",
    "strict": "strict",
    "fail-on-unpriced": "fail_on_unpriced",
    "unit-costs": "unit_costs",
    "showback": "showback",
    "shared-cost": "shared_cost",
    "plan": "plans",
    "budget": "budget_file",
    "show-users": "show_users",
    "memory-limit": "memory_limit",
    "engine": "engine",
    "progress": "progress",
    "no-color": "no_color",
}
"""Key in the file -> parameter of the command."""

_PRICE_KEYS: Final = ("prices", "price-book", "map-model")
_LOG_KEYS: Final = (
    *("format", "model", "provider", "map", "since", "until", "timezone", "as-of"),
    *("memory-limit", "progress", "no-color", *_PRICE_KEYS),
)
_MONEY_KEYS: Final = (*_LOG_KEYS, "discounts", "currency", "fx", "group-by", "show-users")
_SHARED: Final = {
    "cache": _LOG_KEYS,
    "check": _MONEY_KEYS,
    "diff": _MONEY_KEYS,
    "whatif": _MONEY_KEYS,
    "doctor": ("format", "model", "provider", "map", "no-color"),
    "prices": _PRICE_KEYS,
    "explain": _PRICE_KEYS,
}


class ConfigError(Exception):
    """A configuration file is malformed; the message names file and key."""


def read_config(folder: Path) -> dict[str, Any]:
    """Return click's default map for the options that a folder's configuration sets; empty without one.

    Raises:
        ConfigError: When the file is no TOML or has a key that is no option.
    """
    import tomllib  # noqa: PLC0415

    for name, table in (("advisor.toml", ()), ("pyproject.toml", ("tool", "advisor"))):
        path = folder / name
        if not path.is_file():
            continue
        try:
            values: Any = tomllib.loads(path.read_text(encoding="utf-8"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            if table:
                continue  # somebody else's pyproject.toml is somebody else's to report
            raise ConfigError(f"{path}: not valid TOML: {error}") from error
        for key in table:
            values = values.get(key, {}) if isinstance(values, dict) else {}
        if values and isinstance(values, dict):
            return _defaults(path, values)
    return {}


def _defaults(path: Path, values: dict[str, Any]) -> dict[str, Any]:
    unknown = sorted(set(values) - set(OPTIONS))
    if unknown:
        raise ConfigError(f"{path}: unknown key {unknown[0]!r}; allowed are {', '.join(sorted(OPTIONS))}")
    given = {key: _listed(key, value) for key, value in values.items()}
    shared = {
        command: {OPTIONS[key]: given[key] for key in keys if key in given}
        for command, keys in _SHARED.items()
    }
    report = {OPTIONS[key]: value for key, value in given.items()}
    return {"analyze": report, "reconcile": report, **shared}


def _listed(key: str, value: Any) -> Any:
    if key in ("map", "map-model") and isinstance(value, dict):
        return [f"{name}={target}" for name, target in value.items()]
    if key in ("group-by", "showback") and isinstance(value, list):
        return ",".join(map(str, value))
    return (
        [value]
        if key in ("map", "map-model", "prices", "discounts", "bill", "plan") and isinstance(value, str)
        else value
    )
