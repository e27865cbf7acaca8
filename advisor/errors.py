"""What ``advisor.analyse`` raises: one family, so that a caller can catch all of it by one name.

Every message is what the command line would print: what, where, the value seen, the values allowed, what to do.
"""


class AdvisorError(Exception):
    """Base of everything that keeps a report from being made, or from being written."""


class OptionError(AdvisorError):
    """An argument, or a file of prices, discounts, rates or budgets, is not allowed; the command line exits 2 then."""


class InputError(AdvisorError):
    """No record could be read, or none lies in the asked days; the command line exits 3 then."""
