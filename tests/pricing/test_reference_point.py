"""The seconds behind time shares: still those of the calibrated model, and shares as by hand."""

import importlib.util
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from pricing.calibration import calibration
from pricing.reference_point import ReferencePoint, reference_point

DRIFT = 0.05
"""A calibration that moves them by less is finer than what it knows: its bands are five times as wide."""


def tool() -> Any:
    path = Path(__file__).parents[2] / "tools" / "make_reference_point.py"
    spec = importlib.util.spec_from_file_location("make_reference_point", path)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_kept_seconds_are_those_of_the_calibrated_model() -> None:
    """If this fails after a calibration, run tools/make_reference_point.py and read the goldens."""
    kept, now = reference_point(), tool().reference(calibration())
    for field in fields(ReferencePoint):
        if field.name.endswith("_seconds"):
            assert getattr(kept, field.name) == pytest.approx(getattr(now, field.name), rel=DRIFT), field.name
    assert (kept.name, kept.batch) == (now.name, now.batch)


def test_the_file_is_as_the_tool_writes_it() -> None:
    made = tool()
    assert made.REFERENCE_FILE.read_text("utf-8") == made.document(reference_point())


POINT = ReferencePoint(
    name="By hand",
    fitted_on="2026-01-01",
    batch=32,
    prefill_token_seconds=50e-6,
    prefill_pair_seconds=2e-9,
    decode_token_seconds=400e-6,
    decode_pair_seconds=10e-9,
)


def test_a_long_prompt_with_a_short_answer_is_prefill_by_time() -> None:
    read = POINT.prefill_seconds(20_000, 20_000 * 10_000)
    written = POINT.decode_seconds(50, 50 * 20_025)
    assert read == pytest.approx(1.0 + 0.4)
    assert written == pytest.approx(0.02 + 0.01, rel=0.01)


def test_a_short_prompt_with_a_long_answer_is_decode_by_time() -> None:
    read, written = POINT.prefill_seconds(200, 200 * 100), POINT.decode_seconds(2_000, 2_000 * 1_200)
    assert written / (read + written) > 0.98


def test_what_a_cache_reads_takes_no_time_of_its_own() -> None:
    """10,000 tokens before 1,000 new ones are looked at, and not multiplied."""
    cached, alone = POINT.prefill_seconds(1_000, 1_000 * 10_500), POINT.prefill_seconds(1_000, 1_000 * 500)
    assert cached - alone == pytest.approx(1_000 * 10_000 * 2e-9)


def test_the_words_say_what_was_assumed() -> None:
    assert POINT.words == (
        "By hand by the calibrated phase model (2026-01-01): 50 µs for a prompt token in full passes, 400 µs for an answer "
        "token with 32 sequences decoded together, and attention over the context of each"
    )
