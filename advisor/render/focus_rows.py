"""From the lines of a bill to rows of FOCUS 1.2: one a day, model, meter, tier and workload."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from advisor.analysis import Analysis, PriceRow
from advisor.cost_lines import CostLine, Owed
from advisor.document_money import money
from advisor.render.focus_columns import (
    COLUMNS,
    SERVICE_CATEGORY,
    SERVICE_SUBCATEGORY,
    consumed_unit,
    pricing_unit,
    token_type,
)
from advisor.wording import full
from pricing.meters import Meter
from pricing.rules import EXACT
from pricing.units import TOKENS_PER_MTOK
from workloads.grouping import UNLABELLED

NOT_STATED: Final = "Not stated"
Row = dict[str, str]
"""Column -> cell as it is written; an empty one is null."""

_NAMES: Final[Mapping[str, tuple[str, str]]] = {
    "anthropic": ("Anthropic", "Claude API"),
    "aws": ("AWS", "Amazon Bedrock"),
    "azure": ("Azure", "Azure OpenAI"),
    "cohere": ("Cohere", "Cohere API"),
    "deepseek": ("DeepSeek", "DeepSeek API"),
    "google": ("Google", "Gemini API"),
    "groq": ("Groq", "Groq API"),
    "mistral": ("Mistral", "Mistral API"),
    "openai": ("OpenAI", "OpenAI API"),
    "openrouter": ("OpenRouter", "OpenRouter API"),
}
"""Provider -> its name, which is the id again in small letters, and that of its service."""
_FORMULA: Final = re.compile(r"^\s*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_REMEMBERED: Final = 1 << 16
"""Names, days and tags come again and again: that many of each are worked out once."""
_PLAIN_NUMBER: Final = re.compile(r"-?\d+\.\d+")


@dataclass(frozen=True, slots=True)
class _Calendar:
    """Days and months of a zone as UTC instants, ends exclusive."""

    zone: ZoneInfo

    def day(self, day: date) -> str:
        start = datetime.combine(day, time(), tzinfo=self.zone).astimezone(UTC)
        return start.strftime("%Y-%m-%dT%H:%M:%SZ")

    @lru_cache(_REMEMBERED)  # noqa: B019  (calendars are few, small and equal by zone)
    def period(self, first: date, last: date) -> Row:
        following = (first.replace(day=1) + timedelta(days=32)).replace(day=1)
        return {
            "ChargePeriodStart": self.day(first),
            "ChargePeriodEnd": self.day(last + timedelta(days=1)),
            "BillingPeriodStart": self.day(first.replace(day=1)),
            "BillingPeriodEnd": self.day(following),
        }


def focus_rows(analysis: Analysis) -> Iterator[Row]:
    """Yield the rows of an analysis that has cost lines, each with every column.

    Billed cost adds up to the total of the analysis; effective cost to its effective total, where commitments are
    adjustments of their months. Money that a log states without usage is in no row.
    """
    lines = analysis.cost_lines
    if lines is None:
        return
    calendar = _Calendar(ZoneInfo(analysis.data.timezone))
    constant = dict.fromkeys(COLUMNS, "") | _constants(analysis)
    untimed = analysis.provenance.as_of.astimezone(calendar.zone).date()
    for line in lines.lines:
        if line.meter is not None and line.price is not None:
            price = analysis.prices[line.price]
            period = calendar.period(line.day or untimed, line.day or untimed)
            basis = {"x_ChargePeriodBasis": "assumed" if line.day is None else "logged"}
            yield constant | period | basis | _usage(line, line.meter, price, lines.label_keys)
    for owed in lines.owed:
        yield constant | calendar.period(owed.first, owed.last) | _adjustment(owed)


def decimal(amount: Decimal) -> str:
    """Return a number that looks like a decimal, exact: ``5.0``, never ``5`` or ``5E+3``."""
    text = money(amount)
    return text if "." in text else f"{text}.0"


@lru_cache(_REMEMBERED)
def harmless(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula, on one line, with nothing hidden in it."""
    shown = full(text)
    return f"'{shown}" if is_formula(shown) else shown


def is_formula(text: str) -> bool:
    """Whether a spreadsheet may take a cell for a formula."""
    return bool(_FORMULA.match(text)) and not _PLAIN_NUMBER.fullmatch(text)


def _constants(analysis: Analysis) -> Row:
    unpriced = sum(item.requests for item in analysis.cost.unpriced)
    whole = analysis.cost.complete and not (
        analysis.cost.conversion is not None and analysis.cost.conversion.unconverted
    )
    return {
        "BillingAccountId": NOT_STATED,
        "BillingAccountName": NOT_STATED,
        "BillingAccountType": "Organization",
        "BillingCurrency": analysis.cost.currency,
        "PricingCurrency": "USD",
        "ServiceCategory": SERVICE_CATEGORY,
        "ServiceSubcategory": SERVICE_SUBCATEGORY,
        "x_CostBasis": analysis.cost.basis,
        "x_ReportComplete": "true" if whole else "false",
        "x_UnpricedRequests": str(unpriced),
    }


def _usage(line: CostLine, meter: Meter, price: PriceRow, label_keys: tuple[str, ...]) -> Row:
    units = Decimal(line.quantity or 0)
    quantity = EXACT.divide(units, Decimal(TOKENS_PER_MTOK)) if meter.per_million else units
    usd = price.usd_per_unit
    contracted_usd = EXACT.multiply(usd, line.multiplier)
    cost = decimal(line.cost)
    kind, model, tier = token_type(meter), harmless(line.model), harmless(line.service_tier)
    noun = consumed_unit(meter)
    return {
        **_provider(line.provider),
        **_allocation(line.workload, label_keys),
        "BilledCost": cost,
        "ContractedCost": cost,
        "EffectiveCost": cost,
        "ListCost": decimal(line.list_cost),
        "ListUnitPrice": decimal(EXACT.multiply(usd, line.fx_rate)),
        "ContractedUnitPrice": decimal(EXACT.multiply(contracted_usd, line.fx_rate)),
        "PricingCurrencyListUnitPrice": decimal(usd),
        "PricingCurrencyContractedUnitPrice": decimal(contracted_usd),
        "PricingCurrencyEffectiveCost": decimal(EXACT.multiply(quantity, contracted_usd)),
        "ConsumedQuantity": decimal(units),
        "ConsumedUnit": noun,
        "PricingQuantity": decimal(quantity),
        "PricingUnit": pricing_unit(meter),
        "PricingCategory": "Standard",
        "ChargeCategory": "Usage",
        "ChargeFrequency": "Usage-Based",
        "ChargeDescription": f"{model} {kind} {noun.lower()}",
        "RegionId": harmless(line.region) if line.region else "",
        "RegionName": harmless(line.region) if line.region else "",
        "SkuId": model,
        "SkuMeter": f"{kind} {noun}",
        "SkuPriceId": harmless(":".join(filter(None, (line.model, kind, line.service_tier, line.region)))),
        "SkuPriceDetails": _details(kind, line.model, line.service_tier),
        "x_Model": model,
        "x_PriceAsOf": price.retrieved.isoformat() if price.retrieved else "",
        "x_PriceRule": harmless(price.rule),
        "x_PriceSource": harmless(price.source),
        "x_ServiceTier": tier,
        "x_TokenType": kind,
        "x_Workload": harmless(line.workload),
    }  # fmt: skip


def _adjustment(owed: Owed) -> Row:
    """What a commitment changes: no bill is computed for it, so that only the effective cost moves."""
    return {
        **_provider(None),
        "BilledCost": "0.0",
        "ContractedCost": "0.0",
        "ListCost": "0.0",
        "EffectiveCost": decimal(owed.amount),
        "ChargeCategory": "Adjustment",
        "ChargeFrequency": "Recurring",
        "ChargeDescription": harmless(f"Commitment {owed.name}: effective less contracted cost"),
        "PricingCurrencyEffectiveCost": decimal(owed.amount_usd),
        "Tags": "{}",
        "x_ChargePeriodBasis": "logged",
    }


@lru_cache(_REMEMBERED)
def _provider(provider: str | None) -> Row:
    name, service = _NAMES.get(provider or "", (provider or NOT_STATED, f"{provider or NOT_STATED} API"))
    names = ("ProviderName", "PublisherName", "InvoiceIssuerName")
    return {**dict.fromkeys(names, harmless(name)), "ServiceName": harmless(service)}


@lru_cache(_REMEMBERED)
def _allocation(workload: str, keys: tuple[str, ...]) -> Row:
    parts = [workload] if len(keys) == 1 else workload.split(" / ")
    tags = dict(zip(keys, parts, strict=True)) if len(keys) == len(parts) else {"workload": workload}
    labelled = {key: value for key, value in tags.items() if value not in ("", UNLABELLED)}
    if not labelled:
        return {"Tags": "{}"}
    return {
        "SubAccountId": harmless(workload),
        "SubAccountName": harmless(workload),
        "SubAccountType": "Workload",
        "Tags": _json(labelled),
    }


@lru_cache(_REMEMBERED)
def _details(kind: str, model: str, tier: str) -> str:
    return _json({"x_TokenType": kind, "x_Model": model, "x_ServiceTier": tier})


def _json(values: Mapping[str, str]) -> str:
    return json.dumps({key: full(value) for key, value in values.items()}, ensure_ascii=False)
