"""What is asked of the records besides sums of tokens, by a thread of its own: the engine works while Python prices."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import pandas as pd

from workloads.arrivals import arrivals
from workloads.cube import shapes
from workloads.endings import endings
from workloads.grouping import Grouping
from workloads.latency import latency_sums
from workloads.relations import way_into
from workloads.room import is_large
from workloads.sizes import size_quantiles

Connection = Any
Expr = Any
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Survey:
    """Tables that are there, or will be: whoever wants one waits for it.

    Attributes:
        sizes: See ``workloads.sizes.size_quantiles``.
        shapes: See ``workloads.cube.shapes``.
        arrivals: See ``workloads.arrivals.arrivals``.
        endings: See ``workloads.endings.endings``.
        latencies: See ``workloads.latency.latency_sums``.
    """

    sizes: Future[pd.DataFrame]
    shapes: Future[pd.DataFrame]
    arrivals: Future[pd.DataFrame]
    endings: Future[pd.DataFrame | None]
    latencies: Future[pd.DataFrame | None]


def begin_survey(connection: Connection, records: Expr, grouping: Grouping) -> Survey:
    """Return the survey of some records, which begins now, and of very many is over when this returns.

    Args:
        connection: The engine that holds the records.
        records: Records of the asked days, see ``workloads.cube.prepare``.
        grouping: How workloads are told apart.
    """
    other = way_into(connection)
    pool = ThreadPoolExecutor(max_workers=1)

    def begun(ask: Callable[[Connection, Expr, Grouping], _T]) -> Future[_T]:
        return pool.submit(ask, other, records, grouping)

    survey = Survey(
        begun(size_quantiles), begun(shapes), begun(arrivals), begun(endings), begun(latency_sums)
    )
    pool.shutdown(wait=is_large(connection))
    return survey
