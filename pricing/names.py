"""What a model is called: the exact names that a log's name may stand for, and the words for providers.

Logs decorate names with routes (``openrouter/anthropic/...``), regions (``us.anthropic.``), versions (``-v1:0``) and
dates. Each decoration is removed whole; a name is never shortened to a prefix or searched for inside another one.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Final

PROVIDER_IDS: Final[Mapping[str, str]] = {
    "amazon": "aws",
    "amazon_bedrock": "aws",
    "aws_bedrock": "aws",
    "az_ai_inference": "azure",
    "az_ai_openai": "azure",
    "azure_ai": "azure",
    "azure_ai_inference": "azure",
    "azure_ai_openai": "azure",
    "azure_openai": "azure",
    "azureopenai": "azure",
    "bedrock": "aws",
    "bedrock_converse": "aws",
    "claude": "anthropic",
    "alibaba_cloud": "alibaba",
    "aliyun": "alibaba",
    "bailian": "alibaba",
    "copilot": "github-copilot",
    "dashscope": "alibaba",
    "fireworks_ai": "fireworks",
    "gcp": "google",
    "gcp_gemini": "google",
    "gcp_gen_ai": "google",
    "gcp_vertex_ai": "google",
    "gemini": "google",
    "google_ai_studio": "google",
    "google_genai": "google",
    "google_vertex": "google",
    "google_vertex_ai": "google",
    "google_vertexai": "google",
    "mistral_ai": "mistral",
    "mistralai": "mistral",
    "moonshot": "moonshotai",
    "moonshot_ai": "moonshotai",
    "open_ai": "openai",
    "openai_chat": "openai",
    "openai_responses": "openai",
    "perplexity_ai": "perplexity",
    "together_ai": "together",
    "togetherai": "together",
    "vertex": "google",
    "vertex_ai": "google",
    "vertex_ai_beta": "google",
    "vertexai": "google",
    "workers_ai": "cloudflare",
    "x_ai": "x-ai",
    "xai": "x-ai",
    "z_ai": "zai",
}
"""Words that logs use, with underscores, to the ids of genai-prices."""

GATEWAYS: Final = frozenset(
    {"litellm", "litellm_proxy", "portkey", "helicone", "langfuse", "langsmith", "kong", "proxy"}
)
"""Words for a go-between that is not the one who sets the price."""

_ROUTES: Final = frozenset(
    {
        *PROVIDER_IDS, *PROVIDER_IDS.values(), *GATEWAYS, "openrouter", "deepseek", "cohere", "groq", "perplexity",
        "cerebras", "databricks", "cloudflare", "novita", "baseten", "minimax", "meta", "meta_llama", "google",
        "models", "model", "publishers", "converse", "responses", "chat", "global", "us", "eu",
    }
)  # fmt: skip
_PRODUCT_WORDS: Final = frozenset(
    {
        "mini", "nano", "micro", "lite", "flash", "pro", "plus", "max", "ultra", "turbo", "fast", "high", "cyber",
        "code", "codex", "coder", "vision", "vl", "omni", "image", "video", "audio", "tts", "speech", "voice",
        "live", "realtime", "transcribe", "translate", "search", "research", "embed", "embedding", "guard", "ocr",
        "computer", "use", "robotics", "customtools", "law",
    }
)  # fmt: skip
"""Words behind the name of a model that make it another one, with a price of its own."""
_PATH: Final = re.compile(r"^(?:arn:aws[^/]*/|projects/.*/models/|publishers/.*/models/)")
_REGION_VENDOR: Final = re.compile(
    r"^(?:(?:us-gov|us|eu|apac|ap|jp|au|ca|in|global)\.)?"
    r"(?:anthropic|amazon|meta|mistral|cohere|deepseek|openai|ai21|qwen|moonshotai|moonshot|google|nvidia|writer)\.(?=[a-z])"
)
_PROFILE: Final = re.compile(
    r"^(?:bedrock/|converse/)*(us-gov|us|eu|apac|ap|jp|au|ca|in|global)\.[a-z0-9]+\."
)
_VERSION: Final = re.compile(r"-v\d+(?::\d+)?$")
_AT_VERSION: Final = re.compile(r"@[^@/]*$")
_DATE: Final = re.compile(r"[-@](20\d\d)(-?)(\d\d)\2(\d\d)$")


def provider_id(word: str | None) -> str | None:
    """The genai-prices id for a log's word for the provider; None for none and for mere gateways."""
    if word is None or not (lowered := word.strip().lower()):
        return None
    key = lowered.replace("-", "_").replace(" ", "_").replace(".", "_")
    if key in GATEWAYS:
        return None
    return PROVIDER_IDS.get(key, lowered)


def provider_in_name(model: str) -> str | None:
    """The provider that a model's own name states (``azure/gpt-5``, ``us.anthropic.claude-...``), or None."""
    name = model.strip().lower()
    if name.startswith("arn:aws") or _REGION_VENDOR.match(name):
        return "aws"
    if name.startswith("projects/"):
        return "google"
    words = re.split(r"[/:]", name)[:-1]
    return next((provider_id(word) for word in words if _is_route(word) and provider_id(word)), None)


def region_in_name(model: str) -> str | None:
    """The region of a regional id (``us.anthropic.claude-...``, ``global.anthropic...``), or None."""
    found = _PROFILE.match(_PATH.sub("", model.strip().lower()))
    return None if found is None else found[1]


def names_another_product(rest: str) -> bool:
    """Whether what follows a model's name, such as ``-cyber``, makes it another product; a date or version does not."""
    return not _PRODUCT_WORDS.isdisjoint(re.split(r"[^a-z]+", rest))


def candidates(model: str) -> tuple[str, ...]:
    """Exact names to look up for a log's model name, lower case, best first.

    The name itself; then without its route; then without its version; then without its full trailing date (a partial
    date such as ``-0613`` names a different model and stays).
    """
    return tuple(dict.fromkeys(_candidates(model.strip().lower())))


def _candidates(name: str) -> Iterator[str]:
    yield name
    name = _PATH.sub("", name)
    yield name
    while (cut := re.search(r"[/:]", name)) and _is_route(name[: cut.start()]):
        name = name[cut.end() :]
        yield name
    name = _REGION_VENDOR.sub("", name)
    yield name
    name = _undated(name)
    yield name
    for version in (_VERSION, _AT_VERSION):
        name = version.sub("", name)
        yield name
    yield _undated(name)


def _is_route(word: str) -> bool:
    return word in _ROUTES or word.replace("-", "_") in _ROUTES


def _undated(name: str) -> str:
    found = _DATE.search(name)
    if found is None:
        return name
    try:
        date(int(found[1]), int(found[3]), int(found[4]))
    except ValueError:
        return name
    return name[: found.start()]
