"""What to do about it: the analysis of a log, and its renderings.

The console script is ``advisor``; ``advisor.analyse`` is the same as a function: docs/python.md.
"""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from advisor.api import analyse, read_report
    from advisor.errors import AdvisorError, InputError, OptionError
    from advisor.report import Report

__all__ = ["AdvisorError", "InputError", "OptionError", "Report", "analyse", "read_report"]

_MODULES: Final = {
    "AdvisorError": "errors",
    "InputError": "errors",
    "OptionError": "errors",
    "Report": "report",
    "analyse": "api",
    "read_report": "api",
}
"""Imported when they are first asked for: the command line needs none of them, and pandas takes long."""

_HERE = Path(__file__).resolve().parent.parent


def _check_siblings() -> None:
    """Make sure that ``pricing`` and ``workloads`` are ours: both are names that a user's own folder may hold."""
    import pricing  # noqa: PLC0415
    import workloads  # noqa: PLC0415

    for package in (pricing, workloads):
        found = Path(package.__file__ or "").resolve().parent
        if found.parent != _HERE:
            raise ImportError(
                f"{package.__name__} was imported from {found}, not from {_HERE}: a folder or file of that name shadows "
                "it; run from another folder, or with python -P"
            )


_check_siblings()


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
