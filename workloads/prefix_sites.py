"""Call sites of a log without labels: requests whose prompts begin with the same block, text or marked prefix.

Prompts that do not begin alike share nothing that a cache keeps: so what a cache does for one call site never depends on
another one.
"""

from typing import Any, Final

import ibis

from workloads.cube_columns import column
from workloads.ledger import PREFIX_NAMES

Connection = Any
Expr = Any

OTHERS: Final = "other prompts"
_LEAST_COVERAGE: Final = 0.5
_LEAST_SHARE: Final = 0.01
_MOST_SITES: Final = 24
_MOST_A_SESSION: Final = 0.5
_DIGITS: Final = 6


def names_prefixes(ledger: Expr) -> bool:
    """Return whether the log has a column that names what prompts begin with."""
    return bool(set(PREFIX_NAMES) & set(ledger.columns))


def leading(ledger: Expr) -> Expr:
    """Return what names the beginning of each prompt, as a text; null where the log does not."""
    name = ibis.null("string")
    if "prefix_hash" in ledger.columns:
        name = ledger.prefix_hash
    for hashes in ("text_hashes", "block_hashes"):
        if hashes in ledger.columns:
            name = ibis.coalesce(ledger[hashes][0].cast("string"), name)
    return ibis.coalesce(column(ledger, "cache_scope"), "") + ":" + name


def common_sites(connection: Connection, ledger: Expr) -> tuple[str, ...] | None:
    """Return the beginnings of many prompts, the most frequent first.

    None where most records do not tell how their prompt begins; nothing where most prompts have a beginning of their own.
    """
    sites = ledger.select(site=leading(ledger)).group_by("site").agg(n=ibis._.count())
    total = int(connection.execute(sites.n.sum()) or 0)
    known = sites.filter(sites.site.notnull())
    frame = connection.execute(known.order_by([ibis.desc("n"), "site"]).limit(_MOST_SITES))
    told = int(connection.execute(known.n.sum()) or 0)
    if told <= total * _LEAST_COVERAGE:
        return None
    common = frame[frame["n"] >= told * _LEAST_SHARE]
    if common["n"].sum() < told * _LEAST_COVERAGE:
        return ()
    sessions = (
        int(connection.execute(column(ledger, "session").nunique())) if "session" in ledger.columns else 0
    )
    if len(common) > 1 and len(common) > sessions * _MOST_A_SESSION > 0:
        return ()  # each conversation begins in its own way: no call site, but a session
    return tuple(map(str, common["site"]))


def site_name(ledger: Expr, sites: tuple[str, ...]) -> Expr:
    """Return the name of each record's call site: from what its prompts begin with, so that it stays between logs."""
    first = leading(ledger)
    named = "call site " + first.hexdigest("md5").substr(0, _DIGITS)
    return ibis.cases((first.isin(sites), named), else_=OTHERS)
