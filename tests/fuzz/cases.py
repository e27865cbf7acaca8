"""The golden inputs, as what is damaged, and the inputs that once broke something."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

GOLDEN: Final = Path(__file__).parents[1] / "golden" / "importers"
FOUND: Final = Path(__file__).parents[1] / "golden" / "found"


@dataclass(frozen=True)
class Case:
    """One golden input and how it is read."""

    path: Path
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Importer, case and file."""
        return f"{self.path.parent.parent.name}/{self.path.parent.name}/{self.path.name}"

    @property
    def importer(self) -> str:
        """The importer whose input it is."""
        return self.path.parent.parent.name


def golden_cases() -> list[Case]:
    """Return every golden input, in a fixed order."""
    return [
        Case(path, _options(path.with_name("options.json"))) for path in sorted(GOLDEN.glob("*/*/input*"))
    ]


def found_inputs() -> list[Path]:
    """Return the inputs that once broke something."""
    return sorted(path for path in FOUND.iterdir() if path.is_file())


def _options(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}
