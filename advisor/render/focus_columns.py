"""The columns of FOCUS 1.2 (focus.finops.org), and what may stand in them."""

from collections.abc import Mapping
from typing import Final

from pricing.meters import CALL_METERS, Meter

TEXT: Final = "text"
NUMBER: Final = "number"
TIME: Final = "time"

COLUMNS: Final[Mapping[str, str]] = {
    "BilledCost": NUMBER,
    "BillingAccountId": TEXT,
    "BillingAccountName": TEXT,
    "BillingAccountType": TEXT,
    "BillingCurrency": TEXT,
    "BillingPeriodEnd": TIME,
    "BillingPeriodStart": TIME,
    "ChargeCategory": TEXT,
    "ChargeClass": TEXT,
    "ChargeDescription": TEXT,
    "ChargeFrequency": TEXT,
    "ChargePeriodEnd": TIME,
    "ChargePeriodStart": TIME,
    "CommitmentDiscountStatus": TEXT,
    "ConsumedQuantity": NUMBER,
    "ConsumedUnit": TEXT,
    "ContractedCost": NUMBER,
    "ContractedUnitPrice": NUMBER,
    "EffectiveCost": NUMBER,
    "InvoiceId": TEXT,
    "InvoiceIssuerName": TEXT,
    "ListCost": NUMBER,
    "ListUnitPrice": NUMBER,
    "PricingCategory": TEXT,
    "PricingCurrency": TEXT,
    "PricingCurrencyContractedUnitPrice": NUMBER,
    "PricingCurrencyEffectiveCost": NUMBER,
    "PricingCurrencyListUnitPrice": NUMBER,
    "PricingQuantity": NUMBER,
    "PricingUnit": TEXT,
    "ProviderName": TEXT,
    "PublisherName": TEXT,
    "RegionId": TEXT,
    "RegionName": TEXT,
    "ServiceCategory": TEXT,
    "ServiceName": TEXT,
    "ServiceSubcategory": TEXT,
    "SkuId": TEXT,
    "SkuMeter": TEXT,
    "SkuPriceDetails": TEXT,
    "SkuPriceId": TEXT,
    "SubAccountId": TEXT,
    "SubAccountName": TEXT,
    "SubAccountType": TEXT,
    "Tags": TEXT,
    "x_ChargePeriodBasis": TEXT,
    "x_CostBasis": TEXT,
    "x_Model": TEXT,
    "x_PriceAsOf": TEXT,
    "x_PriceRule": TEXT,
    "x_PriceSource": TEXT,
    "x_ReportComplete": TEXT,
    "x_ServiceTier": TEXT,
    "x_TokenType": TEXT,
    "x_UnpricedRequests": TEXT,
    "x_Workload": TEXT,
}
"""Name -> kind, in the order of the file."""

MANDATORY: Final = (
    *("BilledCost", "BillingAccountId", "BillingAccountName", "BillingCurrency", "BillingPeriodStart"),
    *("BillingPeriodEnd", "ChargeCategory", "ChargeClass", "ChargeDescription", "ChargePeriodStart"),
    *("ChargePeriodEnd", "ContractedCost", "EffectiveCost", "InvoiceIssuerName", "ListCost"),
    *("PricingQuantity", "PricingUnit", "ProviderName", "PublisherName", "ServiceCategory", "ServiceName"),
)
MAY_BE_NULL: Final = frozenset(
    ("BillingAccountName", "ChargeClass", "ChargeDescription", "PricingQuantity", "PricingUnit")
)
"""Of the mandatory ones."""

SERVICE_CATEGORY: Final = "AI and Machine Learning"
SERVICE_SUBCATEGORY: Final = "Generative AI"

ALLOWED: Final[Mapping[str, frozenset[str]]] = {
    "ChargeCategory": frozenset(("Usage", "Purchase", "Tax", "Credit", "Adjustment")),
    "ChargeClass": frozenset(("Correction",)),
    "ChargeFrequency": frozenset(("One-Time", "Recurring", "Usage-Based")),
    "PricingCategory": frozenset(("Standard", "Dynamic", "Committed", "Other")),
    "ServiceCategory": frozenset((SERVICE_CATEGORY, "Compute")),
    "ServiceSubcategory": frozenset(
        (
            "AI Platforms",
            "Bots",
            SERVICE_SUBCATEGORY,
            "Machine Learning",
            "Natural Language Processing",
            "Other (AI and Machine Learning)",
        )
    ),
}
"""Column -> the values that FOCUS allows, where it says so; of services, those that language models come under."""

TOKENS: Final = "Tokens"
_NOUNS: Final[Mapping[Meter, str]] = {
    **dict.fromkeys(CALL_METERS, "Requests"),
    Meter.CACHE_STORAGE_TOKEN_HOURS: "Token-Hours",
}


def consumed_unit(meter: Meter) -> str:
    """Return what a meter counts, as FOCUS writes units."""
    return _NOUNS.get(meter, TOKENS)


def pricing_unit(meter: Meter) -> str:
    """Return what a meter's rate is for."""
    noun = consumed_unit(meter)
    return f"1000000 {noun}" if meter.per_million else noun


def token_type(meter: Meter) -> str:
    """Return a meter's name as vendors write it: ``CacheWrite5m``.

    >>> token_type(Meter.CACHE_WRITE_5M), token_type(Meter.INPUT_UNCACHED)
    ('CacheWrite5m', 'Input')
    """
    words = str(meter).removesuffix("_uncached").split("_")
    return "".join(word if word[0].isdigit() else word.capitalize() for word in words)
