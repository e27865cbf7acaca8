"""Why a price could not be given. Each says what was asked, and none is ever replaced by 0."""


class PricingError(Exception):
    """Base of everything that keeps a usage from being priced."""


class PriceFileError(PricingError):
    """A price file of the user's is malformed; the message names file, card and key."""


class UnknownModelError(PricingError):
    """Raised when no card of the book is for this model; a close name is never taken instead."""


class AmbiguousModelError(PricingError):
    """Raised when more than one card claims the model and the provider does not decide."""


class UnpricedMeterError(PricingError):
    """Raised when the card has no rate for a meter that was used."""


class NoPriceAtTimeError(PricingError):
    """Raised when the card has no rates at the asked instant."""


class UnknownAcceleratorError(PricingError):
    """Raised when no row of the accelerator table goes by a name; the message gives the nearest ones."""


class UnknownOpenModelError(PricingError):
    """Raised when no row of the table of open models goes by a name, or several do; the message lists names."""


class TableFileError(PricingError):
    """A table of hardware, of models or of offers, or a model's ``config.json``, is malformed: file, row and column."""
