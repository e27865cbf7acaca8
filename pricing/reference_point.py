"""How long the accelerators of one reference deployment work for requests: what the time shares of a log are made of.

The coefficients are the phase model's, worked out once by ``tools/make_reference_point.py`` and kept as data, so that to
split a log's time takes no arrays and no search. Both phases scale with the size of the model and with the speed of the
hardware, so the *split* depends on either far less than the seconds do.
"""

import tomllib
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Final

from pricing.table_rows import DATA_DIR
from pricing.units import MICROSECONDS_PER_SECOND

REFERENCE_FILE: Final = DATA_DIR / "serving" / "reference_point.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencePoint:
    """A deployment, and the seconds that all its accelerators work together.

    Attributes:
        name: The deployment in words.
        fitted_on: Day of the calibration that the seconds come from.
        batch: Sequences decoded together on a busy server.
        prefill_token_seconds: For each prompt token that is computed, in full passes.
        prefill_pair_seconds: For each token that such a token looks at.
        decode_token_seconds: For each answer token, as its share of a step: the weights are read once for the batch.
        decode_pair_seconds: For each token of its sequence so far: keys and values are each sequence's own.
    """

    name: str
    fitted_on: str
    batch: int
    prefill_token_seconds: float
    prefill_pair_seconds: float
    decode_token_seconds: float
    decode_pair_seconds: float

    @property
    def words(self) -> str:
        """The deployment and its assumptions in one sentence."""
        prompt = self.prefill_token_seconds * MICROSECONDS_PER_SECOND
        answer = self.decode_token_seconds * MICROSECONDS_PER_SECOND
        return (
            f"{self.name} by the calibrated phase model ({self.fitted_on}): {prompt:.0f} µs for a prompt token in full "
            f"passes, {answer:.0f} µs for an answer token with {self.batch} sequences decoded together, and attention over "
            "the context of each"
        )

    def prefill_seconds(self, tokens: float, context_pairs: float) -> float:
        """Seconds to read prompts.

        Args:
            tokens: Prompt tokens that are computed (cache reads are not).
            context_pairs: Sum over those tokens of the tokens that each looks at (before it, cached or not).

        Ignores: queueing, and passes that are not full, so short prompts on an idle server come out too cheap.
        """
        return tokens * self.prefill_token_seconds + context_pairs * self.prefill_pair_seconds

    def decode_seconds(self, tokens: float, context_pairs: float) -> float:
        """Seconds to write answers, as the share of a busy server's batch.

        Args:
            tokens: Output tokens.
            context_pairs: Sum over output tokens of the tokens in their sequence so far.

        Ignores: an emptier server, on which each token costs up to ``batch`` times as much.
        """
        return tokens * self.decode_token_seconds + context_pairs * self.decode_pair_seconds


@cache
def reference_point() -> ReferencePoint:
    """The built-in reference deployment."""
    with REFERENCE_FILE.open("rb") as file:
        raw: dict[str, Any] = tomllib.load(file)
    return ReferencePoint(**{field.name: raw[field.name] for field in fields(ReferencePoint)})
