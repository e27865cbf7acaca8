"""``advisor serving``: a table of deployments and loads, worked out row by row."""

import csv
import io
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import click

from advisor.cli import EXIT_NOTHING, EXIT_USAGE, Failure
from advisor.commands.output import write
from advisor.render.text import aligned
from pricing.calibration import calibration
from pricing.serving_answers import Answer, Estimate, answers
from pricing.serving_table import COLUMNS

_NEEDED: Final = ("model", "gpu", "input_len", "output_len")
_SHOWN: Final = (
    ("tpot_ms", "TPOT ms"),
    ("ttft_ms", "TTFT ms"),
    ("output_tok_s_per_gpu", "output tok/s per GPU"),
    ("prefill_tok_s", "prefill tok/s"),
)
_DIGITS: Final = 6
"""Significant ones in the JSON; the band is far wider than what rounding takes away."""


def run(path: str, *, json_file: str | None, anchor_file: Path | None) -> int:
    """Work a table out; return the exit code: 3 when every row was refused."""
    rows = read_table(path)
    measured = read_table(str(anchor_file)) if anchor_file else ()
    found = answers(rows, calibration(), measured)
    if json_file is not None:
        document = {"rows": [_document(answer) for answer in found]}
        write(json_file, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    if json_file != "-":
        _show(rows, found)
    return EXIT_NOTHING if all(answer.refused for answer in found) else 0


def read_table(path: str) -> Sequence[Mapping[str, str]]:
    """Read a CSV file of deployments; ``-`` is stdin.

    Raises:
        Failure: When it cannot be read, has no row, or lacks a column that every row needs.
    """
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(f"cannot read {path}: {error}", EXIT_NOTHING) from error
    reader = csv.DictReader(io.StringIO(text))
    try:
        return _rows(reader, path)
    except csv.Error as error:
        raise Failure(f"{path}: not a table: {error}", EXIT_USAGE) from error


def _rows(reader: "csv.DictReader[str]", path: str) -> list[dict[str, str]]:
    missing = [column for column in _NEEDED if column not in (reader.fieldnames or ())]
    if missing:
        raise Failure(
            f"{path}: no column {', '.join(missing)}; a row is read from {', '.join(COLUMNS)}", EXIT_USAGE
        )
    rows = [{key: value or "" for key, value in row.items() if isinstance(key, str)} for row in reader]
    if not rows:
        raise Failure(f"{path}: has a header and no rows", EXIT_NOTHING)
    return rows


def _document(answer: Answer) -> dict[str, Any]:
    found: dict[str, Any] = {"row_id": answer.row_id}
    if answer.refused:
        return {**found, "refused": answer.refused}
    for name, estimate in answer.estimates.items():
        found |= {name: _rounded(estimate.value)}
        found |= {f"{name}_low": _rounded(estimate.low), f"{name}_high": _rounded(estimate.high)}
    return {**found, "band": f"80% of held-out measurements, {answer.tier} tier", "layout": answer.layout}


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _show(rows: Sequence[Mapping[str, str]], found: Sequence[Answer]) -> None:
    shown = [("row", "deployment", *(title for _, title in _SHOWN))]
    for row, answer in zip(rows, found, strict=True):
        name = f"{row['model']} on {row.get('n_gpus', '1') or '1'} x {row['gpu']}"
        if answer.refused:
            continue
        shown.append((answer.row_id, name, *(_cell(answer.estimates.get(key)) for key, _ in _SHOWN)))
    click.echo("\n".join(aligned(shown)))
    for answer in found:
        if answer.refused:
            click.echo(f"refused {answer.row_id}: {answer.refused}", err=True)


def _cell(estimate: Estimate | None) -> str:
    if estimate is None:
        return "-"
    return f"{estimate.value:,.4g} ({estimate.low:,.3g} to {estimate.high:,.3g})"
