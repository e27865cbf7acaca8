"""Small logs for the tests of exports, analysed with price cards of their own."""

import csv
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from advisor.analysis import Analysis
from advisor.options import AnalyseOptions
from advisor.run import analyse
from workloads.period import Period

AS_OF = datetime(2026, 7, 1, tzinfo=UTC)
HEAD = (
    "timestamp",
    "provider",
    "model",
    "application",
    "service_tier",
    "input_tokens",
    "cached_tokens",
    "output_tokens",
)
PRICES: dict[str, Any] = {
    "models": {
        "demo-4o": {
            "input": "2.50",
            "output": "10.00",
            "cache_read": "1.25",
            "batch_multiplier": "0.5",
            "source": "price page",
            "retrieved": "2026-06-30",
        },
        "demo-cut": {
            "periods": [
                {"until": "2026-06-02T12:00:00Z", "input": "3", "output": "3"},
                {"start": "2026-06-02T12:00:00Z", "input": "1.999999", "output": "2"},
            ]
        },
        "demo-free": {"input": 0, "output": 0},
    }
}
DEAL: dict[str, Any] = {
    "discounts": [{"model": "demo-4o", "multiplier": "0.85"}],
    "commitments": [{"name": "spend", "covers": "spend", "usd_per_month": "310", "provider": "openai"}],
}
Call = tuple[Any, ...]

ROWS: Sequence[Call] = (
    ("2026-06-01T08:00:00Z", "openai", "demo-4o", "bot", "", 1_000_003, 400_001, 100_000),
    ("2026-06-01T23:30:00Z", "openai", "demo-4o", "bot", "batch", 2_000_000, "", 50_000),
    ("2026-06-02T08:00:00Z", "openai", "demo-cut", "search", "", 1_000_000, "", 10),
    ("2026-06-02T13:00:00Z", "openai", "demo-cut", "search", "", 1_000_000, "", 10),
    ("2026-06-03T08:00:00Z", "openai", "demo-free", "", "", 500, "", 10),
    ("2026-06-30T22:30:00Z", "openai", "demo-4o", "bot", "", 7, "", 3),
    ("2026-06-04T08:00:00Z", "openai", "nobody-knows-9b", "bot", "", 500, "", 10),
)
HOSTILE = (
    '=HYPERLINK("http://example.com";"x")',
    "+1+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\t=1",
    "<script>alert(1)</script>",
    "a|b`c`*d*[e](http://example.com)",
    "\u202etxt.exe",
    "line\nbreak",
    "ユーザー別・مشروع",
    "x" * 10_000,
    "5.0",
)


def write_log(folder: Path, rows: Sequence[Call]) -> Path:
    path = folder / "log.csv"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEAD)
        writer.writerows(rows)
    return path


def analysed(
    folder: Path,
    rows: Sequence[Call] = ROWS,
    *,
    deal: Any = None,
    fx: str | None = None,
    zone: str = "UTC",
    **options: Any,
) -> Analysis:
    log = write_log(folder, rows)
    (folder / "prices.json").write_text(json.dumps(PRICES), encoding="utf-8")
    if deal is not None:
        (folder / "deal.json").write_text(json.dumps(deal), encoding="utf-8")
        options["discount_files"] = (folder / "deal.json",)
    if fx is not None:
        (folder / "fx.csv").write_text(fx, encoding="utf-8")
        options |= {"fx_file": folder / "fx.csv", "currency": "EUR"}
    return analyse(
        [str(log)],
        AnalyseOptions(
            as_of=AS_OF,
            price_files=(folder / "prices.json",),
            period=Period(timezone=zone),
            cost_lines=True,
            command="advisor analyze log.csv",
            **options,
        ),
    )


def hostile_rows(names: Sequence[str] = HOSTILE) -> list[Call]:
    return [
        (f"2026-06-01T{hour:02d}:00:00Z", "openai", "demo-4o", name, "", 1_000 + hour, "", 10)
        for hour, name in enumerate(names)
    ]
