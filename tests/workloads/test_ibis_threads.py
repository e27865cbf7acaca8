"""Two threads that build and let go of expressions at once: ibis's table of comparisons stays whole."""

import gc
from concurrent.futures import ThreadPoolExecutor

import ibis
from ibis.common.bases import Comparable

from workloads.relations import connect, way_into


def test_comparisons_of_two_threads_leave_nothing_behind() -> None:
    """Without the lock entries of dead expressions stay, and letting go of their partners fails."""
    way_into(connect())
    table = ibis.table({"a": "int64", "b": "string"}, name="t")

    def build(start: int) -> bool:
        found = True
        for number in range(start, start + 150):
            one, other = (table.a + number).op(), (table.a + number).op()
            found &= one == other and one != (table.a - number).op()
        return found

    with ThreadPoolExecutor(max_workers=2) as pool:
        assert all(pool.map(build, (0, 1_000)))
    gc.collect()
    table_of_comparisons = Comparable.__cache__
    assert all(
        one in table_of_comparisons.get(two, {})
        for one in table_of_comparisons
        for two in table_of_comparisons[one]
    )
