"""``advisor diff``."""

import json
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from advisor.cli import EXIT_USAGE, Failure
from advisor.commands.analyze import options_of, run_analysis
from advisor.commands.output import Progress, write
from advisor.diff_documents import DiffError, compare
from advisor.diff_render import data_of, render_markdown, render_table
from advisor.document import document_of
from advisor.document_model import SCHEMA_VERSION, Document
from advisor.render.text import aligned

_MOST_BYTES = 256 * 2**20
_MARK = b'"schema_version"'
_FIRST_MISTAKES = 3


def run(before: str, after: str, **given: Any) -> int:
    """Compare two logs or saved documents, write what changed, and return the exit code."""
    progress = Progress(wanted=given["progress"], quiet=given["quiet"])
    try:
        sides = [saved_document(path) or _analysed(path, given, progress) for path in (before, after)]
        difference = compare(sides[0], sides[1], (before, after))
    except DiffError as error:
        raise Failure(str(error), EXIT_USAGE) from error
    finally:
        progress.done()
    if given["form"] == "json":
        text = json.dumps(data_of(difference), indent=1) + "\n"
    elif given["form"] == "markdown":
        text = render_markdown(difference)
    else:
        text = render_table(difference, aligned)
    write(given["target"], text)
    return 0


def _analysed(path: str, given: dict[str, Any], progress: Progress) -> Document:
    return document_of(run_analysis((path,), options_of(given), progress))


def saved_document(path: str) -> Document | None:
    """Return the document that a file holds; None where it holds something else, which is then taken for a log.

    Raises:
        Failure: It is a document, and a broken one or of another version; exit code 2.
    """
    file = Path(path)
    try:
        if not file.is_file() or file.stat().st_size > _MOST_BYTES:
            return None
        content = file.read_bytes()
    except OSError:  # whoever reads it as a log says what is wrong
        return None
    if not content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") or _MARK not in content:
        return None
    try:
        found = json.loads(content)
    except ValueError:
        return None
    if not isinstance(found, dict) or not {"schema_version", "data", "cost"} <= set(found):
        return None
    version = found["schema_version"]
    if version != SCHEMA_VERSION:
        raise Failure(
            f"{path}: schema_version is {version!r}, allowed is {SCHEMA_VERSION!r}; analyse the log again",
            EXIT_USAGE,
        )
    try:
        return Document.model_validate(found)
    except ValidationError as error:
        raise Failure(_explained(path, error), EXIT_USAGE) from error


def _explained(path: str, error: ValidationError) -> str:
    lines: list[str] = []
    for mistake in error.errors(include_url=False)[:_FIRST_MISTAKES]:
        where = ".".join(map(str, mistake["loc"]))
        seen = "" if mistake["type"] == "missing" else f", got {str(mistake['input'])[:60]!r}"
        lines.append(f"{where}: {mistake['msg']}{seen}")
    more = error.error_count() - len(lines)
    rest = f" (and {more:,} more)" if more else ""
    return (
        f"{path} is a document of advisor, but not as `advisor schema` describes it: {'; '.join(lines)}{rest}. "
        "It was changed by hand or written by another version: analyse the log again"
    )
