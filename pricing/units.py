"""Every power of ten and of two in the project, so that no other module writes one.

Rates are decimal (a TB/s is 1e12 bytes a second); only memory sizes that a vendor states in binary use ``GIB``.
"""

from typing import Final

TOKENS_PER_MTOK: Final = 1_000_000
"""Tokens in the unit that price lists quote: USD per million tokens."""

CENTS_PER_USD: Final = 100

KILO: Final = 1_000
MEGA: Final = 1_000_000
GIGA: Final = 1_000_000_000
TERA: Final = 1_000_000_000_000

GIB: Final = 2**30

SECONDS_PER_MINUTE: Final = 60
SECONDS_PER_HOUR: Final = 3_600
SECONDS_PER_DAY: Final = 86_400
MINUTES_PER_DAY: Final = 1_440
MINUTES_PER_WEEK: Final = 10_080
DAYS_PER_MONTH: Final = 30.4375
"""Mean length of a month (365.25 / 12), used wherever a period is restated per month."""

MILLISECONDS_PER_SECOND: Final = 1_000
MICROSECONDS_PER_SECOND: Final = 1_000_000
NANOSECONDS_PER_SECOND: Final = 1_000_000_000
