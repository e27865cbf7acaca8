"""Options and fixtures of the whole test suite."""

import gc
import os
from collections.abc import Callable
from pathlib import Path

import pytest

os.environ["ADVISOR_PSEUDONYM_KEY"] = (
    "a key of the tests"  # else one would be made in the home of who runs them
)

# The library's expressions are many small objects: to look for cycles among them takes a tenth of the suite's time.
gc.set_threshold(50_000, 20, 100)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the golden files instead of comparing with them"
    )


@pytest.fixture
def check_golden(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compares a text with a file beside the tests, or writes the file with ``--update-golden``."""

    def check(path: Path, actual: str) -> None:
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(actual, encoding="utf-8", newline="\n")
            return
        assert path.is_file(), f"{path} is missing: run pytest --update-golden and review it"
        expected = path.read_text(encoding="utf-8")
        assert actual == expected, f"{path.name} differs: run pytest --update-golden and review the change"

    return check
