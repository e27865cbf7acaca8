"""How a lever is pulled, in the words of the client library that a workload is called with."""

from collections.abc import Mapping
from typing import Final

from advisor.evidence import Evidence
from advisor.sdks import maker_of

_ANY: Final = ""
_SNIPPETS: Final[Mapping[str, Mapping[str, str]]] = {
    "batch": {
        "openai": (
            'lines = client.files.create(file=open("requests.jsonl", "rb"), purpose="batch")\n'
            'client.batches.create(\n    input_file_id=lines.id,\n    endpoint="/v1/chat/completions",\n'
            '    completion_window="24h",\n)'
        ),
        "anthropic": (
            "client.messages.batches.create(\n"
            '    requests=[{"custom_id": key, "params": params} for key, params in waiting.items()],\n)'
        ),
        "google": "client.batches.create(model=MODEL, src=uploaded_file.name)",
    },
    "service_tier": {
        "openai": 'service_tier="default"  # "priority" only where a person watches',
        "anthropic": 'service_tier="standard_only"',
    },
    "prompt_trimming": {_ANY: "passages = [one for one in retrieve(question, top_k=8) if one.score > LEAST]"},
    "history_growth": {
        _ANY: (
            "if tokens(messages) > MOST:\n"
            '    messages = [{"role": "user", "content": summary_of(messages[:-8])}, *messages[-8:]]'
        ),
    },
    "exact_repeats": {
        _ANY: (
            "key = sha256(json.dumps([customer, model, settings, messages], sort_keys=True).encode()).hexdigest()\n"
            "answer = kept.get(key) or kept.setdefault(key, ask(model, messages, **settings))"
        ),
    },
    "waste": {
        "openai": "client = OpenAI(max_retries=2, timeout=120)",
        "anthropic": "client = Anthropic(max_retries=2, timeout=120)",
    },
}


def snippet_for(evidence: Evidence, lever: str, workload: str) -> str | None:
    """Return an example for whoever made the model that a workload mostly runs on; None where there is none."""
    ways = _SNIPPETS[lever]
    return ways.get(_ANY) or ways.get(maker_of(evidence, workload))
