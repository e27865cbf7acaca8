"""Completion in a shell, as the shells ask for it; and the help knows what every parameter is."""

import os
import subprocess
import sys

import click
import pytest

from advisor.cli import cli
from advisor.completion import AnyPath


def asked(words: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "from advisor.cli import main; main()"],
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "_ADVISOR_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(len(words.split(" ")) - 1),
            **environment,
        },
    )
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("advisor ana", "plain,analyze"),
        ("advisor analyze --group", "plain,--group-by"),
        ("advisor analyze lo", "file,lo"),
        ("advisor analyze log.csv -o rep", "file,rep"),
        ("advisor check log.csv --budget b", "file,b"),
        ("advisor diff before.json af", "file,af"),
        ("advisor render sav", "file,sav"),
    ],
)
def test_a_word_is_completed(words: str, first: str) -> None:
    assert asked(words).splitlines()[0] == first


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_its_script(shell: str) -> None:
    assert "_ADVISOR_COMPLETE" in asked("", _ADVISOR_COMPLETE=f"{shell}_source")


def test_whatever_the_help_calls_a_file_is_completed_as_one() -> None:
    for name, command in cli.commands.items():
        for param in command.params:
            if "FILE" in (param.metavar or ""):
                assert isinstance(param.type, AnyPath | click.Path), f"{name} {param.name}"


def test_nothing_is_left_to_guess() -> None:
    """The next test would pass on commands without options."""
    assert (
        sum(isinstance(param, click.Option) for command in cli.commands.values() for param in command.params)
        > 100
    )


def test_every_option_says_what_it_takes_and_does() -> None:
    for name, command in cli.commands.items():
        for param in command.params:
            if isinstance(param, click.Option) and not param.is_flag:
                assert param.metavar or not isinstance(param.type, click.types.StringParamType), (
                    f"{name} {param.name}"
                )
            if isinstance(param, click.Option):
                assert param.help, f"{name} {param.name}"
