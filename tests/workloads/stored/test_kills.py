"""A run that is killed, whenever, loses nothing and doubles nothing."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import duckdb

from workloads.stored.manifest import read_manifest
from workloads.stored.partitions import scan

KILLS = int(os.environ.get("LEDGER_KILLS", "50"))
SCRIPT = Path(__file__).with_name("killed_adds.py")
ROOT = Path(__file__).parents[3]


def test_fifty_kills_lose_and_double_nothing(tmp_path: Path) -> None:
    logs, ledger = tmp_path / "logs", tmp_path / "ledger"
    logs.mkdir()
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(logs), str(ledger), str(KILLS), "7"],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 1, "some runs must get through, or nothing was tested"
    manifest = read_manifest(ledger)
    rows = duckdb.sql(f"SELECT source_file, dedup_group FROM {scan(ledger, manifest.files)}").fetchall()  # noqa: S608
    lines = {str(file): file.read_text().count("\n") for file in logs.iterdir()}
    assert Counter(file for file, _ in rows) == lines
    assert len(set(rows)) == len(rows)
    assert {item.shown: item.rows["records"] for item in manifest.inputs} == lines
    assert sum(file.rows for file in manifest.files) == len(rows)
    on_disk = {path.relative_to(ledger).as_posix() for path in (ledger / "rows").rglob("*") if path.is_file()}
    assert on_disk == {file.path for file in manifest.files}, "what killed runs left is swept"
