"""Options from advisor.toml and pyproject.toml."""

from pathlib import Path

import pytest

from advisor.cli import cli
from advisor.config import OPTIONS, ConfigError, read_config


def test_no_file_no_options(tmp_path: Path) -> None:
    assert read_config(tmp_path) == {}


def test_keys_are_the_options_of_analyze(tmp_path: Path) -> None:
    (tmp_path / "advisor.toml").write_text(
        'timezone = "Europe/Berlin"\ngroup-by = ["team", "model"]\nprices = "p.json"\nstrict = true\n'
        'output = "r.html"\n[map]\nprompt = "ptk"\n'
    )
    found = read_config(tmp_path)
    assert found["analyze"] == {
        "timezone": "Europe/Berlin",
        "group_by": "team,model",
        "price_files": ["p.json"],
        "strict": True,
        "html_file": "r.html",
        "mapping": ["prompt=ptk"],
    }
    assert found["doctor"] == {"mapping": ["prompt=ptk"]}
    assert found["prices"] == found["explain"] == {"price_files": ["p.json"]}
    assert found["cache"] == {
        "timezone": "Europe/Berlin",
        "price_files": ["p.json"],
        "mapping": ["prompt=ptk"],
    }
    assert found["diff"] == found["whatif"] == {**found["cache"], "group_by": "team,model"}


def test_pyproject_holds_them_in_its_table(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.other]\nx = 1\n[tool.advisor]\nmodel = "gpt-4o"\n')
    assert read_config(tmp_path)["analyze"] == {"model": "gpt-4o"}


def test_advisor_toml_comes_first(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text('[tool.advisor]\nmodel = "one"\n')
    (tmp_path / "advisor.toml").write_text('model = "two"\n')
    assert read_config(tmp_path)["analyze"] == {"model": "two"}


def test_somebody_elses_broken_pyproject_is_not_ours_to_report(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("not [ toml")
    assert read_config(tmp_path) == {}


@pytest.mark.parametrize(
    "text",
    ["tool = 1\n", '[tool]\nadvisor = "x"\n', "[tool]\nadvisor = [1]\n"],
)
def test_an_odd_pyproject_is_no_crash(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)
    try:
        assert read_config(tmp_path) == {}
    except ConfigError as error:
        assert "pyproject.toml" in str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("advisor.toml", "colour = 1\n", r"advisor\.toml: unknown key 'colour'; allowed are as-of, "),
        ("advisor.toml", "not [ toml", r"advisor\.toml: not valid TOML"),
        ("advisor.toml", "group_by = 'x'\n", r"unknown key 'group_by'"),
        ("pyproject.toml", "[tool.advisor]\ncolour = 1\n", r"pyproject\.toml: unknown key 'colour'"),
    ],
)
def test_mistakes_name_file_and_key(tmp_path: Path, name: str, text: str, expected: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError, match=expected):
        read_config(tmp_path)


def test_every_key_is_an_option_of_analyze_and_the_reverse() -> None:
    parameters = {parameter.name for parameter in cli.commands["analyze"].params}
    assert set(OPTIONS.values()) <= parameters
    assert parameters - set(OPTIONS.values()) <= {"paths", "verbose", "quiet"}
