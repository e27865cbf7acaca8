"""Any damage to any golden input: rows add up, nothing is negative, nothing is lost without a word.

``make fuzz`` runs the same with as many inputs as ``FUZZ_EXAMPLES`` says; see docs/reliability.md.
"""

import json
import os
from pathlib import Path
from random import Random

import pytest
from fuzz.cases import Case, found_inputs, golden_cases
from fuzz.invariants import ORDERED, faults, read, totals
from fuzz.mutations import mutated
from fuzz.odd_counts import lost_in_silence, with_odd_count
from fuzz.values import DEEP, deep, long_text
from hypothesis import HealthCheck, Phase, given, note, settings
from hypothesis import strategies as st

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning:ibis"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

LONG = "FUZZ_EXAMPLES" in os.environ
PROFILE = settings(
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "20")),
    derandomize=not LONG,
    database=None,
    deadline=None,
    phases=(Phase.generate, Phase.shrink) if LONG else (Phase.generate,),
    suppress_health_check=list(HealthCheck),
)
FEW = settings(PROFILE, max_examples=max(PROFILE.max_examples // 5, 6))

CASES = golden_cases()


def is_line_by_line(case: Case) -> bool:
    """Return whether every line of an input is a row, whatever lines are beside it."""
    lines = case.path.read_text(encoding="utf-8").split("\n")
    whole = case.path.suffix == ".jsonl" or all(line.count('"') % 2 == 0 for line in lines)
    return case.path.suffix in (".jsonl", ".csv") and whole and case.importer not in ORDERED


STRUCTURED = [case for case in CASES if case.path.suffix in (".csv", ".json", ".jsonl")]
LINES = [case for case in CASES if is_line_by_line(case)]


@PROFILE
@given(case=st.sampled_from(CASES), seed=st.integers(0, 2**63 - 1))
def test_damage_is_counted_and_named(tmp_path_factory: pytest.TempPathFactory, case: Case, seed: int) -> None:
    path = tmp_path_factory.mktemp("damaged") / case.path.name
    path.write_bytes(mutated(case.path.read_text(encoding="utf-8"), case.path.suffix, Random(seed)))
    note(f"{case.name} {seed}")
    assert faults(read([path], **case.options), [path]) == []


@FEW
@given(case=st.sampled_from(STRUCTURED), seed=st.integers(0, 2**63 - 1))
def test_an_odd_count_is_named(tmp_path_factory: pytest.TempPathFactory, case: Case, seed: int) -> None:
    changed = with_odd_count(case.path.read_text(encoding="utf-8"), case.path.suffix, Random(seed))
    if changed is None:
        return
    content, where = changed
    note(f"{case.name} {where}")
    path = tmp_path_factory.mktemp("odd") / case.path.name
    path.write_text(content, encoding="utf-8", newline="")
    before, after = read([case.path], **case.options), read([path], **case.options)
    assert faults(after, [path]) == []
    assert lost_in_silence(before, after) == []


@FEW
@given(case=st.sampled_from(LINES), seed=st.integers(0, 2**63 - 1))
def test_totals_do_not_depend_on_order_or_files(
    tmp_path_factory: pytest.TempPathFactory, case: Case, seed: int
) -> None:
    random, folder = Random(seed), tmp_path_factory.mktemp("ordered")
    note(f"{case.name} {seed}")
    whole = folder / case.path.name
    whole.write_bytes(case.path.read_bytes())
    parts = shuffled_parts(case.path, random, folder)
    one, other = read([whole], **case.options), read(parts, **case.options)
    assert totals(other) == totals(one)
    assert other.report.rows() == one.report.rows()


def shuffled_parts(source: Path, random: Random, folder: Path) -> list[Path]:
    """Write the rows of a log in another order into two files."""
    text = source.read_text(encoding="utf-8")
    head, rows = [], [line for line in text.rstrip("\n").split("\n") if line.strip()]
    if source.suffix == ".csv":
        start = 2 if rows[0].startswith("sep=") else 1
        head, rows = rows[:start], rows[start:]
    random.shuffle(rows)
    cut = random.randrange(len(rows) + 1)
    parts = []
    for index, part in enumerate((rows[:cut], rows[cut:])):
        if part:
            parts.append(folder / f"part-{index}{source.suffix}")
            parts[-1].write_text("\n".join([*head, *part, ""]), encoding="utf-8")
    return parts


@pytest.mark.parametrize("path", found_inputs(), ids=lambda path: path.name)
def test_what_was_found_stays_mended(path: Path) -> None:
    options = (
        json.loads(known.read_text("utf-8")) if (known := path.with_suffix(".options")).is_file() else {}
    )
    assert faults(read([path], **options), [path]) == []


ROW = '{"id":"%s","object":"chat.completion","created":1767225600,"model":"gpt-4o","note":%s,"usage":{"prompt_tokens":7,"completion_tokens":3}}\n'


@pytest.mark.parametrize("inside", ["a text of 10 MB", "500 arrays", "500 objects"])
def test_what_is_huge_or_deep_is_in_nobodys_way(tmp_path: Path, inside: str) -> None:
    value = {
        "a text of 10 MB": f'"{long_text(10_000_000)}"',
        "500 arrays": deep(DEEP),
        "500 objects": deep(DEEP, of="{}"),
    }[inside]
    path = tmp_path / "log.jsonl"
    path.write_text(ROW % ("a", value) + ROW % ("b", "1"), encoding="utf-8")
    reading = read([path])
    assert faults(reading, [path]) == []
    assert sum(row["input_uncached"] for row in reading.records) == 14


def test_a_cell_of_10_mb_is_in_nobodys_way(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    row = "2026-06-01T10:00:00Z,gpt-4o,100,10,"
    path.write_text(
        f"timestamp,model,prompt_tokens,completion_tokens,note\n{row}{long_text(10_000_000)}\n{row}\n",
        encoding="utf-8",
    )
    reading = read([path])
    assert faults(reading, [path]) == []
    assert sum(row["input_uncached"] for row in reading.records) == 200
