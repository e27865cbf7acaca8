"""Write the skeleton of an importer and its golden case: ``python tools/new_importer.py NAME``.

NAME is the word that users will type after ``--format`` (kebab-case). The skeleton reads a table; change its base class
for JSON objects (``JsonImporter``) or lines of text (``TextImporter``). It refuses to overwrite anything.
"""

import re
import sys
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).resolve().parent.parent

MODULE = '''\
"""{title}: what the source is, in a few words.

Where it comes from: the file, page or endpoint, by name.

One row is: a request.

Token fields: ``input_tokens`` INCLUDES cached tokens; output includes reasoning.

Time zone: UTC.

What it cannot tell: whatever the source leaves out.
"""

from typing import Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input
from workloads.expressions import NO_TEXT
from workloads.importers import Columns, Importer, TableImporter
from workloads.ledger import RECORD, SKIPPED
from workloads.table import Table


class {classname}(TableImporter):
    """The rows of the export."""

    name = "{name}"
    title = "{title}"

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return {{"{slug}_id", "input_tokens", "cached_tokens", "output_tokens"}} <= names

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        prompt, output, cached = (table.count(name) for name in ("input_tokens", "output_tokens", "cached_tokens"))
        uncached, reads, problem = split_input(
            prompt, cached=cached, written=ibis.null("int64"), output=output, total=None, additive=False
        )
        negative = is_negative(prompt, output, cached)
        return {{
            "fate": ibis.cases((negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases((negative, NEGATIVE_COUNT), else_=NO_TEXT),
            "problem": problem,
            **table.time("timestamp"),
            "model": table.text("model"),
            "requests": ibis.literal(1, type="int64"),
            "input_uncached": uncached,
            "cache_read": reads,
            "output": output,
        }}


IMPORTERS: Final[tuple[Importer, ...]] = ({classname}(),)
'''

GOLDEN = """\
{slug}_id,timestamp,model,input_tokens,cached_tokens,output_tokens
r-1,2026-06-01T10:00:00Z,gpt-4o,1000,400,50
r-2,2026-06-01T10:01:00Z,gpt-4o,1200,0,60
"""


def main(arguments: list[str]) -> int:
    """Write the files; return the exit code."""
    if len(arguments) != 1 or not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", arguments[0]):
        print(dedent(__doc__ or "").strip(), file=sys.stderr)
        return 2
    name = arguments[0]
    slug = name.replace("-", "_")
    title = name.replace("-", " ").capitalize()
    classname = "".join(part.capitalize() for part in name.split("-")) + "Export"
    module = ROOT / "workloads" / "importers" / f"{slug}.py"
    case = ROOT / "tests" / "golden" / "importers" / name / "plain" / "input.csv"
    for path in (module, case):
        if path.exists():
            print(f"{path.relative_to(ROOT)} is there already", file=sys.stderr)
            return 1
    case.parent.mkdir(parents=True)
    module.write_text(MODULE.format(name=name, slug=slug, title=title, classname=classname), encoding="utf-8")
    case.write_text(GOLDEN.format(slug=slug), encoding="utf-8")
    for path in (module, case):
        print(f"written: {path.relative_to(ROOT)}")
    print("next: docs/adding-a-format.md, step 2")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
