"""What to do about it: the analysis of a log, and its renderings.

The console script is ``advisor``; ``advisor.analyse.analyse`` is the same as a function.
"""

from pathlib import Path

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
