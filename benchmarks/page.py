"""Write docs/performance.md from what the benchmarks measured: ``python benchmarks/page.py RESULT.json...``.

``make performance`` runs them all first. The page says nothing that a file of results does not.
"""

import json
import sys
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "performance.md"
HEAD = """# Performance

Written by `make performance` from its own results; the programs are in [benchmarks](../benchmarks). Every ratio is of two
programs of one run on one machine: seconds differ from machine to machine, ratios much less.

The bare scan is the embedded engine reading the same columns with a declared schema and adding up the tokens: nothing that
reads the file with that engine can be faster. `advisor` is the whole command, from the start of Python to a report and a JSON
document on disk: about a second of it does not depend on the log (starting, pricing, advice, the page).
"""
TITLES = {
    "bench": "## The whole command beside the bare engine",
    "growth": "## From one to a hundred million rows",
    "peers": "## Peers, on 100,000 rows",
}


def table(rows: list[dict[str, Any]]) -> str:
    """Return rows of results as a Markdown table."""
    out = ["| log | program | time | peak memory | ratio | |", "|---|---|---:|---:|---:|---|"]
    for row in rows:
        if row["peak_mb"] is None:
            out.append(f"| {row['name']} | {row['what']} | | | | {row['note']} |")
            continue
        base = row["base_seconds"]
        ratio = "" if base is None else f"{row['seconds'] / base:.2f}x"
        cells = (
            row["name"],
            row["what"],
            f"{row['seconds']:.2f} s",
            f"{row['peak_mb']:,.0f} MB",
            ratio,
            row["note"],
        )
        out.append(f"| {' | '.join(cells)} |")
    return "\n".join(out)


def page(results: dict[str, dict[str, Any]]) -> str:
    """Return the page for results by name."""
    parts = [HEAD]
    for name, title in TITLES.items():
        if name in results:
            found = results[name]
            parts += [title, "", found["machine"] + ".", "", table(found["rows"]), ""]
    return "\n".join(parts)


def main() -> int:
    """Write the page."""
    results = {Path(name).stem: json.loads(Path(name).read_text(encoding="utf-8")) for name in sys.argv[1:]}
    unknown = set(results) - set(TITLES)
    if unknown or not results:
        print(
            f"give files of results named {', '.join(TITLES)}.json, not {', '.join(sorted(unknown)) or 'none'}"
        )
        return 2
    PAGE.write_text(page(results), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
