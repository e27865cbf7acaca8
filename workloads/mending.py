"""What to try next when the engine cannot read a batch."""

from dataclasses import replace

from workloads.batches import Batch
from workloads.failures import first_line
from workloads.sources import Unreadable


def without_broken(batch: Batch, error: Exception) -> tuple[list[Batch], list[Unreadable]]:
    """Return what of a batch to try next (its halves), and what is given up (its only file).

    So one broken document is found among many, and does not take the run down.
    """
    if middle := len(batch.files) // 2:
        return [replace(batch, files=part) for part in (batch.files[:middle], batch.files[middle:])], []
    return [], [Unreadable(file.shown, first_line(error)) for file in batch.files]
