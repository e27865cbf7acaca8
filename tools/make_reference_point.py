"""Work out the coefficients of the reference deployment: ``python tools/make_reference_point.py``.

Run it after ``tools/calibrate.py``. Shares of time in reports move with them, so goldens change too.
"""

import numpy as np

from pricing.calibration import Calibration, calibration
from pricing.deployment import Load, Setups, setups
from pricing.efficiency import efficiency
from pricing.memory import BATCHED_TOKENS
from pricing.phases import decode_step_seconds, prefill_pass_seconds, prefill_seconds
from pricing.reference_deployment import REFERENCE_BATCH, REFERENCE_NAME, reference_deployment
from pricing.reference_point import REFERENCE_FILE, ReferencePoint

BATCH = REFERENCE_BATCH
CONTEXTS = (1_000.0, 4_000.0)
"""Between which a step is taken to grow in a straight line."""
PROMPTS = (1.0, 8.0)
"""That fill one pass: the same tokens with many pairs and with few."""
DIGITS = 5


def reference(fitted: Calibration) -> ReferencePoint:
    """The reference deployment by a calibration."""
    few, many = (_read(fitted, prompts) for prompts in reversed(PROMPTS))
    pair = (many - few) / (_pairs(PROMPTS[0]) - _pairs(PROMPTS[1]))
    short, long = (_write(fitted, context) for context in CONTEXTS)
    position = (long - short) / (CONTEXTS[1] - CONTEXTS[0])
    return ReferencePoint(
        name=REFERENCE_NAME,
        fitted_on=fitted.fitted_on,
        batch=BATCH,
        prefill_token_seconds=_rounded((many - pair * _pairs(PROMPTS[0])) / BATCHED_TOKENS),
        prefill_pair_seconds=_rounded(pair),
        decode_token_seconds=_rounded(short - position * CONTEXTS[0]),
        decode_pair_seconds=_rounded(position),
    )


def _pairs(prompts: float) -> float:
    """Tokens that the tokens of a full pass look at, when so many equal prompts share it."""
    return BATCHED_TOKENS * BATCHED_TOKENS / prompts / 2


def _read(fitted: Calibration, prompts: float) -> float:
    """Seconds of a full pass."""
    s = _setups(fitted, 1.0)
    e = efficiency(s, fitted)
    tokens = np.array([float(BATCHED_TOKENS)])
    return float((prefill_seconds(s, e, tokens, prompts) + prefill_pass_seconds(s, e))[0])


def _write(fitted: Calibration, context: float) -> float:
    """Seconds of a step, for each of its tokens."""
    s = _setups(fitted, context)
    return float(decode_step_seconds(s, efficiency(s, fitted), np.array([float(BATCH)]))[0]) / BATCH


def _setups(fitted: Calibration, context: float) -> Setups:
    deployment = reference_deployment()
    load = Load(input_tokens=context, output_tokens=1e-9)
    return setups([deployment], [load], [float(BATCH)], [fitted.family_of(deployment.accelerator)])


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def document(found: ReferencePoint) -> str:
    """The data file."""
    return (
        "# Seconds of the reference deployment by the phase model. Written by tools/make_reference_point.py; do not edit.\n"
        f'name = "{found.name}"\n'
        f'fitted_on = "{found.fitted_on}"\n'
        f"batch = {found.batch}\n"
        f"prefill_token_seconds = {found.prefill_token_seconds}\n"
        f"prefill_pair_seconds = {found.prefill_pair_seconds}\n"
        f"decode_token_seconds = {found.decode_token_seconds}\n"
        f"decode_pair_seconds = {found.decode_pair_seconds}\n"
    )


if __name__ == "__main__":
    REFERENCE_FILE.write_text(document(reference(calibration())), encoding="utf-8")
    print(REFERENCE_FILE.read_text(encoding="utf-8"))
