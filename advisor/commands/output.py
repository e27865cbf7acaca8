"""Where results go: files written whole or not at all, stdout, and progress on stderr."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import click

from advisor.cli import EXIT_USAGE, Failure


class Progress:
    """One line on stderr that says what is being done; nothing where nobody looks."""

    def __init__(self, *, wanted: bool | None, quiet: bool) -> None:
        """Show progress when asked to, or when stderr is a terminal and nobody said otherwise."""
        self._on = not quiet and (wanted if wanted is not None else sys.stderr.isatty())
        self._terminal = sys.stderr.isatty()

    def __call__(self, step: str) -> None:
        """Say the next step."""
        if self._on:
            click.echo(
                f"\r\x1b[K{step} ..." if self._terminal else f"{step} ...", err=True, nl=not self._terminal
            )

    def done(self) -> None:
        """Clear the line."""
        if self._on and self._terminal:
            click.echo("\r\x1b[K", err=True, nl=False)


def write(target: str, made: str | bytes) -> None:
    """Write a text or bytes to a file (whole or not at all), or to stdout for ``-``.

    Raises:
        Failure: When the file cannot be written; exit code 2.
    """
    if target == "-":
        if isinstance(made, bytes):
            sys.stdout.buffer.write(made)
        else:
            sys.stdout.write(made)
        sys.stdout.flush()
        return
    path = Path(target)
    try:
        with _replacing(path) as draft:
            draft.write_bytes(made if isinstance(made, bytes) else made.encode("utf-8"))
    except OSError as error:
        raise Failure(f"cannot write {target}: {error.strerror or error}", EXIT_USAGE) from error


@contextlib.contextmanager
def _replacing(path: Path) -> Generator[Path]:
    """Yield a draft beside the file that takes its place at the end, so that a break leaves no half file."""
    if path.exists() and not path.is_file():  # /dev/null, a pipe
        yield path
        return
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        mask = os.umask(0)
        os.umask(mask)
        draft.chmod(0o666 & ~mask)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
