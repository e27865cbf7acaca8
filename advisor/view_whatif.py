"""The panel that tries changes out in the page: its data, as compact JSON that only the page's script reads."""

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from advisor import numbers
from advisor.analysis import Analysis
from advisor.view_savings import USD, monthly
from advisor.view_whatif_hosting import HostingFields, hosting_data, hosting_fields
from advisor.what_if_cells import PROMPT
from advisor.what_if_model import CubeSummary
from pricing.meters import OUTPUT_METERS, Meter

_EXACT_IN_SCRIPTS: Final = 2**53
_MOST_BYTES: Final = 400_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SliderField:
    """One share that can be chosen, in whole percent."""

    key: str
    label: str
    hint: str
    lowest: int = 0
    highest: int = 100
    unit: str = "%"


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfSection:
    """The panel."""

    data: str
    """JSON without characters that could end a script."""
    lead: str
    fields: tuple[SliderField, ...]
    swaps: bool
    """Whether there is any model to swap."""
    hosting: HostingFields | None
    """None where own accelerators were not asked about."""
    notes: tuple[str, ...]


_FIELDS: Final = (
    SliderField(
        key="prompt", label="Shorter prompts", hint="Part of the prompt text that goes away", highest=95
    ),
    SliderField(
        key="answer",
        label="Shorter answers",
        hint="Part of the answers, reasoning included, that goes away",
        highest=95,
    ),
    SliderField(key="cached", label="Prompt text read from a cache", hint=""),
    SliderField(
        key="batch",
        label="Sent as batch jobs",
        hint="Of the requests at the standard tier, where their model is sold so",
    ),
    SliderField(key="grow", label="More or fewer requests", hint="Of the same kind", lowest=-90, highest=300),
    SliderField(key="discount", label="Discount on list prices", hint="", highest=90),
)


def whatif_section(analysis: Analysis) -> WhatIfSection | None:
    """Return the panel; None where the log has no priced tokens, or where its data would make a page heavy."""
    summary = analysis.what_if
    if summary is None:
        return None
    data = _json(
        _data(summary, analysis.period_days)
        | {"partial": bool(analysis.cost.unpriced), "host": hosting_data(analysis)}
    )
    if len(data) > _MOST_BYTES:
        return None
    return WhatIfSection(
        data=data,
        lead=(
            "Change something and see this log priced again, here in the page: the steps of advisor whatif, one after the "
            "other, at list prices in USD."
        ),
        fields=_FIELDS,
        swaps=bool(summary.swaps),
        hosting=hosting_fields(analysis),
        notes=tuple(_notes(analysis)),
    )


def _notes(analysis: Analysis) -> list[str]:
    notes = [
        (
            "Tokens are whole numbers of any size times decimal rates; shares of them are kept to a billionth of a token, and "
            "only the amounts shown are rounded, half a cent up. The command rounds shares to whole tokens, so that the last "
            "cent may differ."
        ),
        (
            "Whether another model's answers are good enough, and whether a cache would really be read that often, is not known "
            "from prices: advisor cache replays what a cache would do."
        ),
    ]
    cost = analysis.cost
    if cost.discounts or cost.commitments or cost.currency != USD:
        notes.append("Negotiated terms and other currencies of this report are not in these amounts.")
    if cost.unpriced:
        notes.append("Requests without a price are in none of these amounts.")
    return notes


def _data(summary: CubeSummary, period_days: float | None) -> dict[str, Any]:
    meters = [Meter(name) for name in summary.meters]
    factor, unit = monthly(period_days)
    text = [m for m in meters if m.is_tokens and not m.startswith(("audio", "image"))]
    return {
        "phases": [meter.phase.value for meter in meters],
        "text": _places(meters, text),
        "prompt": _places(meters, PROMPT),
        "answer": _places(meters, OUTPUT_METERS),
        "calls": _places(meters, [Meter.REQUEST_CALLS]),
        "rates": [[None if rate is None else f"{rate:f}" for rate in row] for row in summary.rates],
        "ladders": [[list(one.thresholds), list(one.rates)] for one in summary.ladders],
        "situations": [
            [
                one.prices.plain,
                one.prices.batch,
                {str(place): [prices.plain, prices.batch] for place, prices in one.swaps.items()},
            ]
            for one in summary.situations
        ],
        "parts": [
            [
                one.workload,
                one.situation,
                one.context_tokens,
                int(one.cacheable),
                [_whole(n) for n in one.counts],
            ]
            for one in summary.parts
        ],
        "workloads": summary.workloads,
        "swaps": [
            [
                one.provider,
                one.model,
                one.target.provider,
                one.target.model,
                f"{one.target.token_ratio.normalize():f}",
                one.target.measured,
            ]
            for one in summary.swaps
        ],
        "month": f"{factor.quantize(Decimal('0.000001')):f}",
        "unit": unit,
        "period": numbers.period(period_days),
    }


def _places(meters: list[Meter], wanted: Any) -> list[int]:
    return [meters.index(meter) for meter in wanted if meter in meters]


def _whole(number: int) -> int | str:
    """A count as a script reads it exactly."""
    return number if abs(number) <= _EXACT_IN_SCRIPTS else str(number)


def _json(data: dict[str, Any]) -> str:
    """JSON of plain letters; what could end or open an element is escaped."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
