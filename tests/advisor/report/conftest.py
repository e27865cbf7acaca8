"""Fixtures of the report's tests: analyses made by the factory beside this file."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import advice_factory
import report_factory

from advisor.analysis import Analysis


@pytest.fixture(scope="session")
def demo() -> Analysis:
    return advice_factory.advised()


@pytest.fixture(scope="session")
def ugly() -> Analysis:
    return report_factory.ugly()
