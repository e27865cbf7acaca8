"""What to try next when the engine cannot read a batch."""

import contextlib
from dataclasses import replace
from typing import Any

from workloads.batches import Batch
from workloads.failures import connection_errors, first_line, is_of_the_machine
from workloads.sources import Unreadable

Connection = Any


def with_care(connection: Connection, batch: Batch, error: Exception) -> Batch | None:
    """Return the batch as it is read where something in it is not as expected; None when it is read so already."""
    if batch.careful is None or is_of_the_machine(error):
        return None
    with contextlib.suppress(
        *connection_errors()
    ):  # whoever reads it in halves meets the same error, by its file
        return batch.careful(connection, batch.files)
    return None


def without_broken(batch: Batch, error: Exception) -> tuple[list[Batch], list[Unreadable]]:
    """Return what of a batch to try next (its halves), and what is given up (its only file).

    So one broken document is found among many, and does not take the run down.
    """
    if middle := len(batch.files) // 2:
        return [replace(batch, files=part) for part in (batch.files[:middle], batch.files[middle:])], []
    return [], [Unreadable(file.shown, first_line(error)) for file in batch.files]
