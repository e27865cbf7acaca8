"""Fixtures of the tests of exports."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import export_logs

from advisor.analysis import Analysis


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return export_logs.analysed(tmp_path_factory.mktemp("plain"))


@pytest.fixture(scope="session")
def dealt(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    """With a discount and a commitment."""
    return export_logs.analysed(tmp_path_factory.mktemp("dealt"), deal=export_logs.DEAL)


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Analysis:
    return export_logs.analysed(tmp_path_factory.mktemp("hostile"), export_logs.hostile_rows())
