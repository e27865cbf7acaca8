"""Smaller models and tokenizers: the rows, and what is read from them."""

from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pytest
from genai_prices.data_snapshot import get_snapshot

from pricing.book import load_book
from pricing.errors import PriceFileError
from pricing.line_ups import MODELS_DIR, newer_models, read_rows, smaller_models, token_ratios
from pricing.meters import Meter
from pricing.names import provider_id

LINES, TOKENIZERS, SAMPLES = read_rows(MODELS_DIR)
CHECKED = datetime(2026, 11, 29, tzinfo=UTC)
BOOK = load_book()


@pytest.mark.parametrize("line", LINES, ids=lambda line: line.models[0])
def test_smaller_models_are_sold_and_the_last_is_cheaper(line: object) -> None:
    (own,) = [one for one in LINES if one is line]
    assert provider_id(own.maker) == own.maker
    assert not set(own.models) & set(own.smaller)
    retired = {
        model.id
        for one in get_snapshot().providers
        if one.id == own.maker
        for model in one.models
        if model.deprecated
    }
    assert not retired & set(own.smaller)
    rates = [BOOK.find(own.maker, name).resolve(CHECKED, None, None).rates for name in own.smaller]
    # A model that was withdrawn may have no card of this maker any more; one that is sold has.
    mine = [
        BOOK.find(own.maker, name).resolve(CHECKED, None, None).rates
        for name in own.models
        if "." not in name
    ]
    assert all(rates[-1][Meter.OUTPUT] < each[Meter.OUTPUT] for each in mine)


@pytest.mark.parametrize("line", [one for one in LINES if one.newer], ids=lambda line: line.models[0])
def test_newer_models_are_sold(line: object) -> None:
    (own,) = [one for one in LINES if one is line]
    assert not set(own.newer) & set(own.smaller)
    for name in own.newer:
        assert {Meter.INPUT_UNCACHED, Meter.OUTPUT} <= set(
            BOOK.find(own.maker, name).resolve(CHECKED, None, None).rates
        )


def test_the_newest_has_no_newer_one() -> None:
    assert newer_models("us.anthropic.claude-opus-4-1-20250805-v1:0") == ("claude-opus-5-5",)
    assert newer_models("claude-opus-5-5") == newer_models("anthropic/claude-opus-5.5") == ()
    assert newer_models("gpt-5.5") == ("gpt-6.1-sol",)
    assert newer_models("gpt-5") == newer_models("unheard-of") == ()


def test_a_model_stands_in_one_line() -> None:
    names = [name for line in LINES for name in line.models]
    assert len(names) == len(set(names))


def test_every_sample_was_counted_by_every_tokenizer() -> None:
    names = {one.name for one in TOKENIZERS}
    assert len(names) == len(TOKENIZERS)
    assert all(set(one.tokens) == names for one in SAMPLES)
    assert sum(one.usual for one in SAMPLES) % 2 == 1
    assert any(not one.usual for one in SAMPLES)


def test_models_are_found_by_the_names_of_logs() -> None:
    assert smaller_models("us.anthropic.claude-opus-4-5-20251101-v1:0")[0] == "claude-sonnet-5-5"
    assert smaller_models("regional.anthropic.claude-opus-4-5-v1:0")[0] == "claude-sonnet-5-5"
    assert smaller_models("my-deployment", "gpt-5") == ("gpt-5-mini", "gpt-5-nano")
    assert smaller_models("gpt-5-codex") == ()


def test_open_models_are_counted_by_way_of_a_tokenizer_that_was_held_against_theirs() -> None:
    straight = token_ratios("gpt-5", "Qwen/Qwen3-32B")
    assert (straight.usual, straight.measured) == (Fraction("1.028"), True)
    assert straight.smallest < 1 < straight.largest
    claude = token_ratios("claude-opus-4-5-20251101", "gpt-5")
    hosted = token_ratios("claude-opus-4-5-20251101", "deepseek-ai/DeepSeek-V3.2")
    assert hosted.usual == claude.usual * Fraction("1.006")
    back = token_ratios("deepseek-ai/DeepSeek-V3", "claude-opus-4-5-20251101")
    assert back.usual * hosted.usual == 1
    assert back.smallest * hosted.largest == 1
    assert token_ratios("Qwen/Qwen3-32B", "Qwen/Qwen2.5-72B-Instruct").usual == 1
    assert not token_ratios("gpt-5", "Qwen/Qwen3.5-27B").measured
    assert not token_ratios("gemini-2.5-pro", "Qwen/Qwen3-32B").measured


def test_ratios_of_tokens() -> None:
    same = token_ratios("gpt-5", "gpt-5-mini")
    assert (same.smallest, same.usual, same.largest, same.measured) == (1, 1, 1, True)
    unknown = token_ratios("gemini-2.5-pro", "gemini-3.8-flash")
    assert (unknown.usual, unknown.measured) == (1, False)
    newer = token_ratios("claude-opus-4-5-20251101", "claude-sonnet-5-5")
    assert newer.usual == Fraction(28892, 22229)
    assert newer.smallest < newer.usual < newer.largest
    assert token_ratios("claude-opus-4-7", "claude-opus-4-6").usual < 1


def test_a_wrong_row_is_told_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "one.toml").write_text('[[line]]\nmodels = ["a"]\nsmaler = ["b"]\n', "utf-8")
    with pytest.raises(PriceFileError, match=r"one\.toml.*(?s:.*)smaler"):
        read_rows(tmp_path)
