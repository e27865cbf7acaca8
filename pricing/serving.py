"""One deployment under a load: time to first token, time per output token, throughput.

In-flight batching is a closed loop: so many requests are in flight, and whenever one ends another takes its place, whose
prompt is read between the decode steps of the others. So each of a request's steps is longer by a part of everyone else's
prefill, which is most of a step where prompts are long and answers short. Pools of their own for prefill and decode remove
that part and add a transfer.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from pricing.calibration import Calibration
from pricing.deployment import Floats, Setups
from pricing.efficiency import Efficiency, efficiency
from pricing.phases import decode_step_seconds, prefill_pass_seconds, prefill_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Points:
    """What deployments do under their loads, as columns.

    Attributes:
        ttft_seconds: From sending a request to its first token; for a static batch, reading all its prompts.
        tpot_seconds: Between output tokens of one request.
        output_tokens_per_second_per_gpu: Of the whole deployment, over all its accelerators.
        prefill_tokens_per_second: That one replica reads when it does nothing else.
        batch: Requests that one replica decodes together.
        decode_step_seconds: Without prompts between the steps.
        prefill_seconds: Of one prompt alone, with the fixed cost of its pass.
    """

    ttft_seconds: Floats
    tpot_seconds: Floats
    output_tokens_per_second_per_gpu: Floats
    prefill_tokens_per_second: Floats
    batch: Floats
    decode_step_seconds: Floats
    prefill_seconds: Floats


def serve(s: Setups, calibration: Calibration) -> Points:
    """Work out what each deployment does under its load."""
    e = efficiency(s, calibration)
    batch = running_batch(s, e)
    step = decode_step_seconds(s, e, batch)
    prompt, fixed = prefill_seconds(s, e, s.input_tokens), prefill_pass_seconds(s, e)
    whole = prefill_seconds(s, e, s.input_tokens * _static_batch(s), _static_batch(s))
    between = interleaved_seconds(s, e, batch, prompt)
    tpot = np.where(s.static > 0, step, step + between)
    ttft = _first_token(s, e, batch, step, prompt + fixed, prompt, tpot)
    ttft = np.where(s.static > 0, whole + fixed, ttft)
    return Points(
        ttft_seconds=ttft,
        tpot_seconds=tpot,
        output_tokens_per_second_per_gpu=_throughput(s, e, batch, step, prompt, ttft, tpot),
        prefill_tokens_per_second=np.where(
            s.static > 0,
            s.input_tokens * _static_batch(s) / ttft,
            s.input_tokens / (prompt + fixed) * s.prefill_dp,
        ),
        batch=batch,
        decode_step_seconds=step,
        prefill_seconds=prompt + fixed,
    )


def running_batch(s: Setups, e: Efficiency) -> Floats:
    """Requests that one replica decodes together: those in flight, as far as the cache and the engine hold them."""
    offered = s.concurrency / s.replicas
    limit = np.where(np.isfinite(s.concurrency), np.inf, e.most_sequences * s.dp * s.pp)
    held = np.minimum(np.minimum(offered, limit), np.maximum(s.sequences, 1.0))
    # the load on pools is measured over all of them, and how many replicas there are is often not stated
    return np.maximum(np.where((s.disaggregated > 0) & np.isfinite(offered), offered, held), 1.0)


def interleaved_seconds(s: Setups, e: Efficiency, batch: Floats, prompt_seconds: Floats) -> Floats:
    """What the prompts of others add to each step of a request, as its replica reads them between decode steps.

    While a request writes its answer, each other request in flight starts once: (batch - 1) prompts over so many steps.

    Source: steady state of a closed loop; that a prompt costs less between steps than alone is fitted (``mix``), since
    the step reads the weights anyway (Sarathi-Serve, arXiv 2403.02310, section 4).
    """
    others = np.maximum(batch / s.dp - 1, 0.0)
    stages = np.where(s.layer_split > 0, 1.0, s.pp)
    added = others * prompt_seconds * e.mix / s.output_tokens / stages
    return np.where(s.disaggregated > 0, 0.0, added)


def _first_token(
    s: Setups, e: Efficiency, batch: Floats, step: Floats, prompt: Floats, busy: Floats, tpot: Floats
) -> Floats:
    """Time to first token: the prompt, the wait for others' prompts, a step, and what is left over when it is full.

    The wait grows with the requests in flight (fitted): they start together, and end together ever less. Pools cannot
    read prompts faster than decode frees places, nor answer faster than prompts are read: the wait is at least what is
    missing of the loop. Requests beyond what fits wait for whole answers.
    """
    pools = s.prefill_replicas * s.prefill_dp
    in_flight = np.where(s.disaggregated > 0, s.concurrency / pools, batch / s.dp)
    in_flight = np.where(np.isfinite(in_flight), in_flight, batch / s.dp)
    wait = busy * e.wait_share * np.maximum(in_flight - 1, 0.0) ** e.wait_power
    missing = np.maximum(in_flight * busy * e.pool_share - s.output_tokens * step, 0.0)
    wait = np.where(s.disaggregated > 0, np.maximum(wait, missing), wait)
    beyond = np.maximum(s.concurrency / s.replicas / batch - 1, 0.0)
    queue = np.where(np.isfinite(beyond), beyond, 0.0) * (s.output_tokens * tpot + busy)
    found: Floats = (
        e.first_token_seconds
        + prompt
        + step * e.first_token_steps
        + wait
        + np.where(s.disaggregated > 0, 0.0, queue)
    )
    return found


def _throughput(
    s: Setups, e: Efficiency, batch: Floats, step: Floats, prompt: Floats, ttft: Floats, tpot: Floats
) -> Floats:
    """Output tokens a second and accelerator.

    Saturated: each step gives ``batch`` tokens, and each request costs its prompt once. Otherwise by Little's law:
    requests in flight over the time that one takes.
    """
    stages = np.where(s.layer_split > 0, 1.0, s.pp)
    full = batch / (step + batch / s.dp * prompt * e.mix / s.output_tokens / stages) * s.replicas
    little = s.concurrency * s.output_tokens / (ttft + np.maximum(s.output_tokens - 1, 0.0) * tpot)
    little = np.where(s.static > 0, s.concurrency / tpot, little)
    return np.where(np.isfinite(s.concurrency), little, full) / s.n_gpus


def _static_batch(s: Setups) -> Floats:
    return np.where(np.isfinite(s.concurrency), s.concurrency, 1.0)


QUANTITIES: Final[Mapping[str, str]] = {
    "single.tpot": "decode of one sequence at a time",
    "single.ttft": "prefill of one prompt at a time",
    "batch.tpot": "decode of a static batch",
    "batch.ttft": "prefill of a static batch",
    "serving.tpot": "time per output token while serving",
    "serving.ttft": "time to first token while serving",
    "pools.tpot": "time per output token with pools for prefill and decode",
    "pools.ttft": "time to first token with pools for prefill and decode",
    "saturated.throughput": "output tokens a second and GPU when saturated",
}
"""What the bands are kept for."""
