"""Write the pairs of log and bill under tests/golden/reconcile: shapes of real exports, figures that are invented.

Eight days of June 2026, the same calls every day: on day d a model is called ``d % 3 + 2`` times with one million tokens
in and a tenth of that out, so that every amount can be worked out by hand. What each bill does differently is said
beside it, and tests/advisor/test_reconcile_pairs.py says what must be found.
"""
# ruff: noqa: PLR2004  (days of the invented month)

import csv
import io
import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "tests" / "golden" / "reconcile"
DAYS = range(1, 9)
TOKENS_IN, TOKENS_OUT = 1_000_000, 100_000
RATES = {
    "gpt-4o": ("2.50", "10.00"),
    "gpt-5-mini": ("0.25", "2.00"),
    "claude-sonnet-4-5": ("3.00", "15.00"),
    "claude-haiku-4-5": ("1.00", "5.00"),
}
PRICES = {
    "unit": "USD per 1,000,000 tokens",
    "models": {name: {"input": rate[0], "output": rate[1]} for name, rate in RATES.items()},
}


def calls(day: int) -> int:
    """Return how often a model is called on a day."""
    return day % 3 + 2


def cost(model: str, day: int) -> tuple[Decimal, Decimal]:
    """Return what input and output of a model cost on a day."""
    usd_in, usd_out = (Decimal(rate) for rate in RATES[model])
    return usd_in * calls(day), usd_out * calls(day) / 10


def moments(day: int) -> Iterator[str]:
    """Yield when the calls of a day were, the first and the last near midnight."""
    count = calls(day)
    for number in range(count):
        yield f"2026-06-{day:02}T{number * 23 // (count - 1):02}:{30 if number else 10}:00Z"


def epoch(day: int) -> int:
    """Return when a day begins."""
    return int(datetime(2026, 6, day, tzinfo=UTC).timestamp())


def plain(amount: Decimal) -> str:
    """Return an amount with every digit."""
    return f"{amount.normalize():f}"


def cents(amount: Decimal) -> str:
    """Return an amount rounded to cents."""
    return str(amount.quantize(Decimal("0.01"), ROUND_HALF_UP))


def write(case: str, name: str, text: str) -> None:
    """Write a file of a case, and its prices."""
    folder = FOLDER / case
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, encoding="utf-8", newline="\n")
    (folder / "prices.json").write_text(json.dumps(PRICES, indent=1) + "\n", encoding="utf-8")


def lines(records: Iterable[Any]) -> str:
    """Return records as JSON Lines."""
    return "".join(json.dumps(record) + "\n" for record in records)


def table(header: str, rows: Iterable[Iterable[Any]]) -> str:
    """Return rows as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header.split(","))
    writer.writerows(rows)
    return out.getvalue()


def chat_log(models: Iterable[str], days: Iterable[int]) -> str:
    """Return a log of chat completions."""
    return lines(
        {
            "timestamp": at,
            "response": {
                "id": f"chatcmpl-{model}-{at}",
                "object": "chat.completion",
                "model": model,
                "usage": {"prompt_tokens": TOKENS_IN, "completion_tokens": TOKENS_OUT},
            },
        }
        for day in days
        for model in models
        for at in moments(day)
    )


def messages_log(models: Iterable[str], days: Iterable[int]) -> str:
    """Return a log of messages."""
    return lines(
        {
            "timestamp": at,
            "response": {
                "id": f"msg_{model}-{at}",
                "type": "message",
                "model": f"{model}-20250929",
                "usage": {
                    "input_tokens": TOKENS_IN,
                    "output_tokens": TOKENS_OUT,
                    "cache_read_input_tokens": 0,
                    "cache_creation_input_tokens": 0,
                },
            },
        }
        for day in days
        for model in models
        for at in moments(day)
    )


def openai_page() -> None:
    """Log without day 4; a credit; an embedding model that the log lacks; the last day is not complete."""
    write("openai-page", "log.jsonl", chat_log(("gpt-4o", "gpt-5-mini"), [day for day in DAYS if day != 4]))

    def result(amount: Decimal, item: str) -> dict[str, Any]:
        return {
            "object": "organization.costs.result",
            "amount": {"value": plain(amount), "currency": "usd"},
            "line_item": item,
            "project_id": None,
        }

    buckets = []
    for day in DAYS:
        results = []
        for model in ("gpt-4o-2024-08-06", "gpt-5-mini-2025-08-07"):
            base = "gpt-4o" if "4o" in model else "gpt-5-mini"
            amounts = zip(("input", "output"), cost(base, day), strict=True)
            part = Decimal("0.25") if day == 8 else Decimal(1)
            results += [result(amount * part, f"{model}, {kind}") for kind, amount in amounts]
        if day == 2:
            results.append(result(Decimal("0.0625"), "text-embedding-3-small, input"))
        if day == 5:
            results.append(result(Decimal(-3), "promotional credit"))
        bucket = {
            "object": "bucket",
            "start_time": epoch(day),
            "end_time": epoch(day + 1),
            "results": results,
        }
        buckets.append(bucket)
    page = {"object": "page", "data": buckets, "has_more": False, "next_page": None}
    write("openai-page", "bill.json", json.dumps(page, indent=1) + "\n")


def anthropic_csv() -> None:
    """Amounts in whole cents, one row a key; searches; half of one model's days went through a batch."""
    write("anthropic-csv", "log.jsonl", messages_log(("claude-sonnet-4-5", "claude-haiku-4-5"), DAYS))
    rows = []
    for day in DAYS:
        for name, model in (
            ("Claude Sonnet 4.5", "claude-sonnet-4-5"),
            ("Claude Haiku 4.5", "claude-haiku-4-5"),
        ):
            part = Decimal("0.5") if "haiku" in model else Decimal(1)
            for kind, amount in zip(("input_no_cache", "output"), cost(model, day), strict=True):
                # Seven keys used the model: their sevenths are rounded each.
                share = cents(amount * part / 7)
                rows += [
                    (f"2026-06-{day:02}", name, "Default", f"key-{key}", "message", "≤ 200k", kind, share, share, "token", "global", "")
                    for key in range(7)
                ]  # fmt: skip
    search = (
        "2026-06-03",
        "",
        "Default",
        "key-1",
        "message",
        "",
        "",
        "0.42",
        "0.42",
        "web_search",
        "global",
        "",
    )
    header = (
        "usage_date_utc,model,workspace,api_key,usage_type,context_window,token_type,cost_usd,list_price_usd,"
        "cost_type,inference_geo,speed"
    )
    write("anthropic-csv", "bill.csv", table(header, [*rows, search]))


def aws_cur() -> None:
    """A regional endpoint at 1.1 times the price, tax, a credit and an enterprise discount as lines of their own."""
    model = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
    log = lines(
        {
            "schemaType": "ModelInvocationLog",
            "schemaVersion": "1.0",
            "timestamp": at,
            "accountId": "111122223333",
            "region": "us-east-1",
            "requestId": f"r-{at}",
            "operation": "InvokeModel",
            "modelId": model.removeprefix("us."),
            "input": {"inputContentType": "application/json", "inputTokenCount": TOKENS_IN},
            "output": {"outputContentType": "application/json", "outputTokenCount": TOKENS_OUT},
        }
        for day in DAYS
        for at in moments(day)
    )
    write("aws-cur", "log.jsonl", log)
    rows = []

    def line(number: str, kind: str, day: int, usage: str, amount: str, end: str = "") -> None:
        until = end or f"2026-06-{day + 1:02}T00:00:00Z"
        product = "Claude Sonnet 4.5 (Amazon Bedrock Edition)"
        rows.append(
            (
                number,
                "111122223333",
                kind,
                f"2026-06-{day:02}T00:00:00Z",
                until,
                "abc123def",
                usage,
                "USD",
                amount,
                product,
            )
        )

    for day in DAYS:
        for kind, amount in zip(
            ("InputTokenCount", "OutputTokenCount"), cost("claude-sonnet-4-5", day), strict=True
        ):
            line(f"{day}-{kind}", "Usage", day, f"MP:USE1_{kind}-Units", plain(amount * Decimal("1.1")))
        line(f"{day}-edp", "EdpDiscount", day, "MP:USE1_InputTokenCount-Units", "-0.25")
    line("tax", "Tax", 1, "", "7.5", end="2026-07-01T00:00:00Z")
    line("credit", "Credit", 6, "MP:USE1_InputTokenCount-Units", "-2.5")
    header = (
        "identity_line_item_id,line_item_usage_account_id,line_item_line_item_type,line_item_usage_start_date,"
        "line_item_usage_end_date,line_item_product_code,line_item_usage_type,line_item_currency_code,"
        "line_item_unblended_cost,product_product_name"
    )
    write("aws-cur", "bill.csv", table(header, rows))


def azure() -> None:
    """An agreed discount of 12 %; a refund."""
    log = lines(
        {
            "time": at,
            "resourceId": "/SUBSCRIPTIONS/0/RESOURCEGROUPS/RG/PROVIDERS/MICROSOFT.COGNITIVESERVICES/ACCOUNTS/CHAT",
            "category": "AzureOpenAIRequestUsage",
            "operationName": "ChatCompletions_Create",
            "resultSignature": "200",
            "durationMs": 900,
            "correlationId": f"c-{at}",
            "properties": {
                "modelDeploymentName": "chat",
                "modelName": "gpt-4o",
                "modelVersion": "2024-08-06",
                "promptTokens": [TOKENS_IN],
                "generatedTokens": [TOKENS_OUT],
                "cachedTokens": [0],
            },
        }
        for day in DAYS
        for at in moments(day)
    )
    write("azure", "log.jsonl", log)
    rows = [
        (f"06/{day:02}/2026", "rg", "eastus", "Azure OpenAI", "gpt 4o", f"gpt 4o 0806 {kind} glbl Tokens", 1, "1K",
         plain(amount * Decimal("0.88")), "USD", "Usage")
        for day in DAYS
        for kind, amount in zip(("Inp", "Outp"), cost("gpt-4o", day), strict=True)
    ]  # fmt: skip
    rows.append(("06/07/2026", "rg", "eastus", "Azure OpenAI", "gpt 4o", "gpt 4o 0806 Inp glbl Tokens", 1, "1K", "-1.1", "USD", "Refund"))  # fmt: skip
    header = (
        "Date,ResourceGroup,ResourceLocation,MeterCategory,MeterSubCategory,MeterName,Quantity,UnitOfMeasure,"
        "CostInBillingCurrency,BillingCurrency,ChargeType"
    )
    write("azure", "bill.csv", table(header, rows))


def focus() -> None:
    """The log is a table of its own; the bill ends on day 6, and has a month's tax and a subscription."""
    log = table(
        "time,model,prompt_tokens,completion_tokens",
        (
            (at, model, TOKENS_IN, TOKENS_OUT)
            for day in DAYS
            for model in ("claude-sonnet-4-5", "claude-haiku-4-5")
            for at in moments(day)
        ),
    )
    write("focus", "log.csv", log)
    rows = [
        (plain(sum(cost(model, day))), "USD", "Usage", f"2026-06-{day:02}T00:00:00Z", f"2026-06-{day + 1:02}T00:00:00Z",
         "Anthropic", "AI and Machine Learning", "Claude API", model, model)
        for day in range(1, 7)
        for model in ("claude-sonnet-4-5", "claude-haiku-4-5")
    ]  # fmt: skip
    for kind, amount in (("Tax", "9.03"), ("Purchase", "20")):
        rows.append((amount, "USD", kind, "2026-06-01T00:00:00Z", "2026-07-01T00:00:00Z", "Anthropic", "AI and Machine Learning", "Claude API", "", ""))  # fmt: skip
    header = (
        "BilledCost,BillingCurrency,ChargeCategory,ChargePeriodStart,ChargePeriodEnd,ProviderName,ServiceCategory,"
        "ServiceName,SkuId,x_Model"
    )
    write("focus", "bill.csv", table(header, rows))


def openrouter() -> None:
    """The bill is the activity export, whose own tokens are left alone; one day costs more than anything explains."""
    write("openrouter", "log.jsonl", chat_log(("openai/gpt-4o", "openai/gpt-5-mini"), DAYS))
    rows = [
        (f"2026-06-{day:02} 00:00:00", f"openai/{model}", plain(sum(cost(model, day)) + (Decimal(2) if day == 5 and model == "gpt-4o" else 0)),
         "0", calls(day), calls(day) * TOKENS_IN, calls(day) * TOKENS_OUT, 0)
        for day in DAYS
        for model in ("gpt-4o", "gpt-5-mini")
    ]  # fmt: skip
    header = "Date,Slug,Usage,BYOK Usage,Requests,Prompt Tokens,Completion Tokens,Reasoning Tokens"
    write("openrouter", "bill.csv", table(header, rows))


def litellm() -> None:
    """Spend log against the daily table: a model that has no price here, and calls that failed after they were sent."""
    spend = []
    for day in DAYS:
        for model in ("gpt-4o", "house-model-9"):
            for number, at in enumerate(moments(day)):
                spend.append(_spend_row(f"{model}-{day}-{number}", at, model, "success"))
        if day in (3, 6):
            spend.append(_spend_row(f"failed-{day}", f"2026-06-{day:02}T12:00:00Z", "gpt-4o", "failure"))
    header = (
        "request_id,call_type,api_key,spend,total_tokens,prompt_tokens,completion_tokens,startTime,endTime,model,"
        "custom_llm_provider,metadata,cache_hit,status"
    )
    write("litellm", "log.csv", table(header, spend))
    rows = []
    for day in DAYS:
        failed = Decimal("3.5") if day in (3, 6) else Decimal(0)
        usd = {"gpt-4o": sum(cost("gpt-4o", day)) + failed, "house-model-9": Decimal("0.4") * calls(day)}
        rows += [
            (f"d-{day}-{model}", "u", f"2026-06-{day:02}", "hash-a", model, model, "openai", calls(day) * TOKENS_IN,
             calls(day) * TOKENS_OUT, 0, 0, plain(amount), calls(day), calls(day), 0)
            for model, amount in usd.items()
        ]  # fmt: skip
    header = (
        "id,user_id,date,api_key,model,model_group,custom_llm_provider,prompt_tokens,completion_tokens,"
        "cache_read_input_tokens,cache_creation_input_tokens,spend,api_requests,successful_requests,failed_requests"
    )
    write("litellm", "bill.csv", table(header, rows))


def _spend_row(key: str, at: str, model: str, status: str) -> tuple[Any, ...]:
    failed = status == "failure"
    metadata = {"error_information": {"error_code": "504"}} if failed else {}
    tokens_out = 0 if failed else TOKENS_OUT
    return (
        key, "acompletion", "hash-a", 0, TOKENS_IN + tokens_out, TOKENS_IN, tokens_out, at, at, model, "openai",
        json.dumps(metadata), "False", status,
    )  # fmt: skip


if __name__ == "__main__":
    for make in (openai_page, anthropic_csv, aws_cur, azure, focus, openrouter, litellm):
        make()
