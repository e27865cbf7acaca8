"""Examples in the words of the library that a workload is called with."""

from typing import TYPE_CHECKING, Any, cast

import pandas as pd
import pytest

from advisor.snippets import snippet_for

if TYPE_CHECKING:
    from advisor.evidence import Evidence


class Seen:
    """As much of the evidence as tells whose models a workload runs on."""

    def __init__(self, model: str) -> None:
        self.cube: Any = pd.DataFrame({"workload": ["app"], "model": [model], "output": [7]})


@pytest.mark.parametrize(
    ("model", "lever", "word"),
    [
        ("claude-sonnet-5", "batch", "messages.batches"),
        ("gpt-4o", "batch", "completion_window"),
        ("gemini-2.5-pro", "batch", "src="),
        ("claude-sonnet-5", "service_tier", "standard_only"),
        ("anything", "prompt_trimming", "retrieve"),
        ("anything", "history_growth", "summary_of"),
        ("anything", "exact_repeats", "sha256"),
        ("gpt-4o", "waste", "OpenAI(max_retries"),
    ],
)
def test_the_example_is_for_the_provider_at_hand(model: str, lever: str, word: str) -> None:
    snippet = snippet_for(cast("Evidence", Seen(model)), lever, "app")
    assert snippet is not None
    assert word in snippet
    assert "http" not in snippet


def test_a_provider_without_an_example_gets_none() -> None:
    assert snippet_for(cast("Evidence", Seen("mistral-large")), "batch", "app") is None
