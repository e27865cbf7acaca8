"""Latency as two numbers: how long a first token takes by the size of its prompt, and each further one, fitted on sums.

The engine adds up products and squares in one pass; what is fitted here are lines through those sums. Nothing is done
for single records.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

import ibis
import numpy as np
import pandas as pd

from pricing.meters import CACHE_READ_METERS
from workloads.cube_columns import column, total
from workloads.expressions import is_true
from workloads.grouping import Grouping

Expr = Any
Connection = Any

Waited = Literal["prefill", "decode", "neither", "both"]

FEWEST: Final = 30
"""Requests from which a line is fitted."""
_LONGEST_SECONDS: Final = 3_600.0
"""What takes longer was suspended, not slow."""
_EVEN_RATIO: Final = 0.05
"""Spread of prompt sizes over their mean below which no slope can be told."""
_CERTAIN: Final = 3.0
"""Standard errors that a slope must be above zero by."""
_HTTP_ERROR: Final = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class LatencyFit:
    """What requests of a workload wait for.

    Attributes:
        basis: ``ttft``: first tokens were timed; ``duration``: whole requests only, so that both lines come from one fit.
        requests: That were timed.
        wait_seconds: Before a prompt is read, whatever its size: queue, network, start.
        read_seconds_per_token: More for each computed prompt token; None if the sizes are too alike to tell, or times do
            not grow with them.
        write_seconds_per_token: For each token of the answer after the first (of all, by duration); None if not timed.
        computed_tokens, output_tokens: Of a request on average.
        explained: Share of the spread of times to first token (of durations) that prompt sizes (both sizes) explain; None if
            there is no spread.
    """

    workload: str
    basis: Literal["ttft", "duration"]
    requests: int
    wait_seconds: float
    read_seconds_per_token: float | None
    write_seconds_per_token: float | None
    computed_tokens: float
    output_tokens: float
    explained: float | None

    @property
    def read_seconds(self) -> float:
        """Reading the mean prompt."""
        return (self.read_seconds_per_token or 0.0) * self.computed_tokens

    @property
    def write_seconds(self) -> float:
        """Writing the mean answer."""
        written = self.output_tokens - 1 if self.basis == "ttft" else self.output_tokens
        return (self.write_seconds_per_token or 0.0) * max(written, 0.0)

    @property
    def whole_seconds(self) -> float:
        """A mean request."""
        return self.wait_seconds + self.read_seconds + self.write_seconds

    @property
    def waits_on(self) -> Waited:
        """What takes more than half of a mean request."""
        half = self.whole_seconds / 2
        if self.wait_seconds > half:
            return "neither"
        if self.read_seconds > half:
            return "prefill"
        return "decode" if self.write_seconds > half else "both"


def latency_sums(connection: Connection, records: Expr, grouping: Grouping) -> pd.DataFrame | None:
    """Return the sums of each workload that its lines are fitted on; None where the log times nothing.

    Of single requests that answered. One row a workload and ``first`` (whether a first token was timed, else the whole
    request): ``n``, sums of ``x`` (prompt tokens that were computed), ``o`` (answer tokens) and ``t`` (the time), of their products
    (``xx``, ``xo``, ``xt`` ...), and ``rest_n``, ``rest_o``, ``rest_t``: requests, tokens and seconds after first tokens.
    """
    if not {"ttft_seconds", "duration_seconds"} & set(records.columns):
        return None
    timed = _timed(records, grouping)
    values = {"x": timed.x, "o": timed.o, "t": timed.t}
    names = list(values)
    pairs = {a + b: values[a] * values[b] for at, a in enumerate(names) for b in names[at:]}
    sums = {name: value.sum() for name, value in (values | pairs).items()}
    frame: pd.DataFrame = connection.execute(
        timed.group_by(["workload", "first"]).agg(
            n=timed.count(),
            **sums,
            rest_n=timed.rest.count(),
            rest_o=(timed.o - 1).sum(where=timed.rest.notnull()),
            rest_t=timed.rest.sum(),
        )
    )
    return frame


def _timed(records: Expr, grouping: Grouping) -> Expr:
    status = column(records, "status").try_cast("int64")
    single = records.filter(
        column(records, "bucket_seconds").isnull()
        & (records.input_tokens > 0)
        & (records.output_tokens > 0)
        & ~is_true(status >= _HTTP_ERROR)
    )
    cached = ibis.coalesce(total(single, CACHE_READ_METERS), 0)
    first, whole = _seconds(single, "ttft_seconds"), _seconds(single, "duration_seconds")
    found = single.select(
        workload=grouping.name_of(single),
        x=(single.input_tokens - cached).cast("float64"),
        o=single.output_tokens.cast("float64"),
        first=first.notnull(),
        t=ibis.coalesce(first, whole),
        rest=ibis.cases(
            ((whole > first) & (single.output_tokens > 1), whole - first), else_=ibis.null("float64")
        ),
    )
    return found.filter(found.t.notnull())


def _seconds(records: Expr, name: str) -> Expr:
    """A time of a record; none of nothing or less, or so long that it was no answer's."""
    found = column(records, name).cast("float64")
    return ibis.cases(((found > 0) & (found < _LONGEST_SECONDS), found), else_=ibis.null("float64"))


def latency_fits(sums: pd.DataFrame | None) -> tuple[LatencyFit, ...]:
    """Fit what each workload waits for; workloads with fewer than ``FEWEST`` timed requests are left out.

    Args:
        sums: See ``latency_sums``.
    """
    if sums is None or sums.empty:
        return ()
    enough = sums[sums["n"] >= FEWEST].fillna(0.0)
    kept = enough.sort_values(["workload", "first"]).drop_duplicates("workload", keep="last")
    rows = ({str(key): value for key, value in row.items()} for row in kept.to_dict("records"))
    return tuple(_by_first_token(row) if row["first"] else _by_duration(row) for row in rows)


def _by_first_token(row: Mapping[str, Any]) -> LatencyFit:
    """Two lines: the first token by the prompt, and the rest by the answer (through zero, so a ratio of sums)."""
    count = float(row["n"])
    x, t = row["x"] / count, row["t"] / count
    spread = max(row["xx"] / count - x * x, 0.0)
    together, around = row["xt"] / count - x * t, max(row["tt"] / count - t * t, 0.0)
    slope = together / spread if spread > (_EVEN_RATIO * x) ** 2 else 0.0
    certain = together**2 * count >= _CERTAIN**2 * spread * around
    tells = slope > 0 and certain
    slope = min(slope, t / x) if tells else 0.0
    return LatencyFit(
        workload=str(row["workload"]),
        basis="ttft",
        requests=int(count),
        wait_seconds=t - slope * x,
        read_seconds_per_token=slope if tells else None,
        write_seconds_per_token=float(row["rest_t"] / row["rest_o"]) if row["rest_n"] >= FEWEST else None,
        computed_tokens=float(x),
        output_tokens=float(row["o"] / count),
        explained=float(together**2 / (spread * around)) if tells and around > 0 else None,
    )


def _by_duration(row: Mapping[str, Any]) -> LatencyFit:
    """One plane: duration by prompt and answer; what its slopes cannot explain is waiting."""
    count = float(row["n"])
    x, o, t = row["x"] / count, row["o"] / count, row["t"] / count
    xx, oo, xo = row["xx"] / count - x * x, row["oo"] / count - o * o, row["xo"] / count - x * o
    xt, ot, tt = row["xt"] / count - x * t, row["ot"] / count - o * t, row["tt"] / count - t * t
    read, write = _slopes(((xx, xo), (xo, oo)), (xt, ot), (x, o), tt, count)
    wait = t - read * x - write * o
    if wait < 0:  # the plane passes below zero: all of it is reading and writing
        read, write, wait = (*(slope * t / (read * x + write * o) for slope in (read, write)), 0.0)
    explained = (read * xt + write * ot) / tt if tt > 0 else None
    return LatencyFit(
        workload=str(row["workload"]),
        basis="duration",
        requests=int(count),
        wait_seconds=float(wait),
        read_seconds_per_token=float(read) if read > 0 else None,
        write_seconds_per_token=float(write) if write > 0 else None,
        computed_tokens=float(x),
        output_tokens=float(o),
        explained=None if explained is None else float(min(max(explained, 0.0), 1.0)),
    )


def _slopes(
    spread: tuple[tuple[float, float], tuple[float, float]],
    together: tuple[float, float],
    means: tuple[float, float],
    around: float,
    count: float,
) -> tuple[float, float]:
    """Least squares of two sizes; one without spread, or whose slope is not surely above zero, is left out.

    Source: ordinary least squares; the standard error of a slope is that of the residuals through the inverse of the spreads.
    """
    kept = [at for at in (0, 1) if spread[at][at] > (_EVEN_RATIO * means[at]) ** 2]
    found = [0.0, 0.0]
    while kept:
        inverse = np.linalg.pinv(np.array([[spread[a][b] for b in kept] for a in kept]))
        aside = np.array([together[a] for a in kept])
        slopes = inverse @ aside
        left = max(around - float(slopes @ aside), 0.0) / max(count - 1 - len(kept), 1.0)
        surplus = slopes - _CERTAIN * np.sqrt(left * np.diag(inverse))
        if (surplus > 0).all():
            for at, slope in zip(kept, slopes, strict=True):
                found[at] = float(slope)
            break
        kept = [at for at in kept if at != kept[int(surplus.argmin())]]
    return found[0], found[1]
