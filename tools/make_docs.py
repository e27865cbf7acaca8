"""Write the generated pages of ``docs/``: ``python tools/make_docs.py [--check]``.

``formats.md`` is made from the importers' module docstrings, ``cli.md`` from the commands' help. With ``--check`` nothing
is written and the exit code is 1 when a page is out of date.
"""

import argparse
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import click

from advisor.cli import cli
from workloads.importers import Importer, JsonImporter, TableImporter, importers

DOCS = Path(__file__).resolve().parent.parent / "docs"
HEADINGS = ("Where it comes from", "One row is", "Token fields", "Time zone", "What it cannot tell")
MARK = "<!-- made by tools/make_docs.py: change the docstrings, not this page -->\n"


def formats_page() -> str:
    """Return the page of log formats: a table, then a section a source."""
    lines = [
        MARK,
        "# Log formats",
        "",
        "What `advisor` reads, and how it counts. Recognised by content; `--format NAME` overrides.",
        "",
    ]
    lines += ["| name | what it is | read from |", "|---|---|---|"]
    lines += [f"| `{item.name}` | {item.title} | {_kind(item)} |" for item in importers()]
    modules: dict[str, ModuleType] = {}
    names: dict[str, list[str]] = {}
    for item in importers():
        module = inspect.getmodule(type(item))
        if module is not None:
            modules[module.__name__] = module
            names.setdefault(module.__name__, []).append(item.name)
    for key in sorted(modules):
        lines += ["", *_section(modules[key], names[key])]
    return "\n".join(lines) + "\n"


def _kind(item: Importer) -> str:
    if isinstance(item, JsonImporter):
        return "JSON, JSONL"
    return "CSV, JSON, JSONL, Parquet" if isinstance(item, TableImporter) else "text"


def _section(module: ModuleType, names: list[str]) -> Iterator[str]:
    title, _, rest = inspect.cleandoc(module.__doc__ or "").partition("\n")
    yield f"## {title.rstrip('.')}"
    yield ""
    yield "`" + "`, `".join(sorted(names)) + "`"
    for paragraph in re.split(r"\n\s*\n", rest.strip()):
        text = " ".join(line.strip() for line in paragraph.splitlines()).replace("``", "`")
        for heading in HEADINGS:
            if text.startswith(heading):
                text = f"**{heading}**{text[len(heading) :]}"
        yield ""
        yield text


def cli_page() -> str:
    """Return the page of commands: the help of each, as it is printed."""
    lines = [MARK, "# Command line", "", "```", _help(cli, "advisor"), "```"]
    for name, command in sorted(cli.commands.items()):
        lines += ["", f"## advisor {name}", "", "```", _help(command, f"advisor {name}"), "```"]
    return "\n".join(lines) + "\n"


def _help(command: click.Command, name: str) -> str:
    context = click.Context(command, info_name=name, terminal_width=100, max_content_width=100)
    return command.get_help(context)


def main() -> int:
    """Write or check the pages; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="only say whether a page is out of date")
    check = parser.parse_args().check
    stale = []
    for name, text in (("formats.md", formats_page()), ("cli.md", cli_page())):
        path = DOCS / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                path.write_text(text, encoding="utf-8")
    if stale:
        print(("out of date: " if check else "written: ") + ", ".join(stale))
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
