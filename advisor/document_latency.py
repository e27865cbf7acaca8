"""What requests waited for, in the document: lines fitted to the log's own times."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from workloads.latency import LatencyFit


class WaitsDoc(BaseModel):
    """Latency as two numbers, and the wait before them, of a mean request."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    basis: Literal["ttft", "duration"] = Field(description="duration: no first tokens were timed.")
    requests: int = Field(description="Timed, of those that answered.")
    wait_seconds: float = Field(description="Whatever the sizes: queue, network, start.")
    read_seconds_per_token: float | None = Field(
        description="For each computed prompt token (prefill); null: times do not surely grow with prompts."
    )
    write_seconds_per_token: float | None = Field(description="Time per output token (decode).")
    explained: float | None = Field(description="Share of the spread of times that the sizes explain.")
    waits_on: Literal["prefill", "decode", "neither", "both"] = Field(
        description="What takes more than half of a mean request."
    )


def waits_doc(fit: LatencyFit | None) -> WaitsDoc | None:
    """Return the document of what a workload's requests waited for."""
    if fit is None:
        return None
    return WaitsDoc(
        basis=fit.basis,
        requests=fit.requests,
        wait_seconds=_rounded(fit.wait_seconds),
        read_seconds_per_token=_maybe(fit.read_seconds_per_token),
        write_seconds_per_token=_maybe(fit.write_seconds_per_token),
        explained=_maybe(fit.explained),
        waits_on=fit.waits_on,
    )


def _maybe(value: float | None) -> float | None:
    return None if value is None else _rounded(value)


def _rounded(value: float) -> float:
    """Six significant digits: sums of floats differ in the last ones by the order that threads add them in."""
    return float(f"{value:.6g}")
