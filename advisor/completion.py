"""Completion in a shell: what is a file is completed as one. Commands and options are click's business."""

from typing import TYPE_CHECKING, Final

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    _TextType = click.ParamType[str]
else:  # older releases of click have no such type of types
    _TextType = click.ParamType

_PATHS: Final = frozenset(
    ("PATH...", "LOG...", "FILE", "DIR", "BILL", "A", "B", "MODEL|FILE", "SAVED.json", "TABLE.csv")
)
"""What the help calls a parameter that is a path."""


class AnyPath(_TextType):
    """A path as text, unchecked: a file, a folder, a glob, or ``-``."""

    name = "path"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Leave it to the shell, which knows the files."""
        del ctx, param
        return [CompletionItem(incomplete, type="file")]


def complete_paths(group: click.Group) -> None:
    """Let every parameter that the help calls a path be completed as one."""
    for command in group.commands.values():
        if isinstance(command, click.Group):
            complete_paths(command)
        for param in command.params:
            if param.type is click.STRING and param.metavar in _PATHS:
                param.type = AnyPath()
