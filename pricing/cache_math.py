"""When caching pays: break-even points of a prompt cache. One function a formula, each with its derivation.

All in multiples of the plain input rate: a token of the prefix costs 1 uncached, ``write`` when it is written and
``read`` when it is found (``pricing.cache_rules.multiples``). ``hit_ratio`` is the share of requests that find the
prefix. Output is untouched. The formulas explain and size; a decision replays the log, whose requests come in bursts.
"""

import math
from typing import Final

from pricing.units import SECONDS_PER_HOUR

_DIGITS: Final = 9
"""To which quotients of multiples are rounded before they become whole numbers: 24 may come out as 23.999..."""


def saving_ratio(hit_ratio: float, write: float, read: float) -> float:
    """Return the share of the prefix's input cost that a cache saves; negative where it costs.

    Source: 1 - [h r + (1 - h) w], the mean cost of a request whose misses all write.
    """
    return hit_ratio * (1 - read) - (1 - hit_ratio) * (write - 1)


def break_even_hit_ratio(write: float, read: float) -> float | None:
    """Return the share of hits above which a cache saves; None where no share does.

    Source: :func:`saving_ratio` = 0, h = (w - 1) / (w - r). Anthropic states the same as "one read pays" at 1.25 and 0.1
    (platform.claude.com, prompt caching and pricing).
    """
    return None if read >= 1 else max(0.0, (write - 1) / (write - read))


def reads_per_write(write: float, read: float) -> float | None:
    """Return how many reads each write needs, to pay; None where no number does.

    Source: a write costs w - 1 more than no cache, each read saves 1 - r: (w - 1) / (1 - r).
    """
    return None if read >= 1 else max(0.0, (write - 1) / (1 - read))


def requests_per_life(write: float, read: float) -> int | None:
    """Return the fewest requests in the life of an entry, its write included, with which it does not lose."""
    reads = reads_per_write(write, read)
    return None if reads is None else 1 + math.ceil(round(reads, _DIGITS))


def hit_ratio_poisson(rate_per_hour: float, lifetime_seconds: float, *, refresh: bool) -> float:
    """Return the share of hits when requests come independently of one another at a constant rate.

    Source: with refresh a request hits when the gap before it is at most the lifetime T: 1 - exp(-rate T). Without, each
    write is followed by rate T reads in the mean (renewal reward): rate T / (1 + rate T). Real traffic comes in bursts and
    hits more often.
    """
    expected = rate_per_hour * lifetime_seconds / SECONDS_PER_HOUR
    return -math.expm1(-expected) if refresh else expected / (1 + expected)


def break_even_rate_per_hour(
    write: float, read: float, lifetime_seconds: float, *, refresh: bool
) -> float | None:
    """Return the steady rate of requests above which a cache saves; None where no rate does.

    Source: :func:`hit_ratio_poisson` solved for :func:`break_even_hit_ratio`.
    """
    share = break_even_hit_ratio(write, read)
    if share is None or share >= 1:
        return None
    expected = -math.log1p(-share) if refresh else share / (1 - share)
    return expected * SECONDS_PER_HOUR / lifetime_seconds


def longer_lifetime_threshold(short_write: float, long_write: float, read: float) -> float | None:
    """Return the rewrites that are spared for each write that stays, above which a longer lifetime wins.

    Source: in a gap between the two lifetimes the longer one reads where the shorter one writes anew, and saves w_short - r;
    what both write costs w_long - w_short more. None where a read is no cheaper than the shorter write.
    """
    return None if read >= short_write else (long_write - short_write) / (short_write - read)


def longer_lifetime_pays(
    rewrites: float, writes: float, *, short_write: float, long_write: float, read: float
) -> bool:
    """Return whether a longer lifetime costs less than a shorter one.

    Args:
        rewrites: Requests after a gap longer than the short and within the long lifetime, or the prefix tokens of those.
        writes: Requests after a gap longer than both, or all tokens that are written under the long lifetime: in a chat
            that grows, the increment of every turn as well. Same unit as ``rewrites``.
        short_write: Multiple of the short lifetime's write.
        long_write: Multiple of the long lifetime's write.
        read: Multiple of a read.

    Source: :func:`longer_lifetime_threshold`.
    """
    return rewrites * (short_write - read) > writes * (long_write - short_write)


def keep_alive_break_even(write: float, read: float) -> float | None:
    """Return how many pings, each a read, cost as much as letting an entry expire and writing it again; None if reads are free.

    Source: with k pings the next request reads, (k + 1) r; without it writes, w: k = w / r - 1. Fewer save. It is negative
    where a write is no dearer than a read.
    """
    return None if not read else write / read - 1


def most_pings(write: float, read: float) -> int | None:
    """Return the most pings over one gap that do not lose; at exactly the break-even they gain nothing."""
    bound = keep_alive_break_even(write, read)
    return None if bound is None else max(0, math.floor(round(bound, _DIGITS)))


def ping_break_even_probability(write: float, read: float) -> float | None:
    """Return how likely a request must be before the next expiry, for one ping to pay; None where none does.

    Source: a ping costs r and, if the request comes, spares w - r: r / (w - r).
    """
    return None if write <= read else read / (write - read)


def storage_break_even_reads_per_hour(storage: float, read: float) -> float | None:
    """Return how many reads an hour pay for the storage of an entry; None where no number does.

    Args:
        storage: Of a token and hour, in multiples of the input rate of a token.
        read: Multiple of a read.

    Source: each read saves 1 - r and the hour costs s: s / (1 - r). Against an automatic cache with hit share h, divide
    by 1 - h.
    """
    return None if read >= 1 else storage / (1 - read)


def padding_pays(tokens: int, minimum_tokens: int, hit_ratio: float, write: float, read: float) -> bool:
    """Return whether a prefix below the minimum is cheaper when it is filled up to it.

    Source: m [h r + (1 - h) w] < n.
    """
    return minimum_tokens * (1 - saving_ratio(hit_ratio, write, read)) < tokens
