"""A realistic month of one company's gateway log, for ``advisor demo`` and for tests.

Eight applications of four teams, each with its own shape, written as the JSON lines that a gateway keeps: an
envelope (who asked, when, how long it took) around the provider's own response object with its own accounting.
There is no prompt and no answer in it. One seed gives the same bytes under the same numpy.

What a reader of the report should find:

* ``code-review`` caches well, but pauses of more than five minutes make it write its conversation again;
* ``support-assistant`` sends the same 5,200-token prefix minute after minute and never caches it;
* ``contract-summary`` is nearly all prompt, and one day has several times the usual load;
* ``report-writer`` and ``product-copy`` are nearly all answer, the first with reasoning;
* ``translation`` reads as much as it writes, at two in the morning, when nobody waits for it;
* ``ticket-classifier`` is many requests and nearly no cost;
* the unlabelled rest (team and application null) mixes models, one of them in no price list.

``ttft_ms`` is the time to the first streamed event, reasoning included, and null where nothing was streamed.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from operator import itemgetter
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from pricing.units import KILO, MILLISECONDS_PER_SECOND, SECONDS_PER_HOUR, SECONDS_PER_MINUTE

Ints: TypeAlias = npt.NDArray[np.int64]

_HOUR_MS: Final = SECONDS_PER_HOUR * MILLISECONDS_PER_SECOND
_CACHE_LIFE_MS: Final = 5 * SECONDS_PER_MINUTE * MILLISECONDS_PER_SECOND
_CACHE_BLOCK, _REASONING_BLOCK = 128, 64  # tokens; OpenAI counts in such steps
_GROWTH_RATIO: Final = 0.4  # how much busier the last day is than the first
_ERROR_RATIO: Final = 0.003
_IDLE_RATIO: Final = 0.12  # of the turns of a session that come after a pause of more than five minutes
_SATURDAY, _OK, _TOO_MANY, _BROKEN = 5, 200, 429, 500
_TOOLS: Final = 16_000  # system prompt and tools of the coding agent; other sessions keep them in the cache
_WINDOW: Final = 165_000  # tokens of conversation at which the coding agent summarises it and starts over

_HOURS: Final = {
    "office": (1, 1, 1, 1, 1, 1, 3, 9, 22, 30, 33, 28, 19, 27, 32, 31, 26, 17, 8, 4, 3, 2, 1, 1),
    "always": (6, 5, 4, 4, 4, 6, 9, 14, 22, 28, 31, 32, 30, 29, 30, 29, 27, 25, 23, 21, 18, 14, 10, 8),
    "at-two": (0, 0, 1, *(0,) * 21),
}

_CHAT: Final = (
    '{"id":"chatcmpl-%(key)016x","object":"chat.completion","created":%(at_s)d,"model":"%(model)s","choices":'
    '[{"index":0,"message":{"role":"assistant","content":null},"finish_reason":"%(stop)s"}],'
    '"usage":{"prompt_tokens":%(prompt)d,"completion_tokens":%(output)d,"total_tokens":%(total)d,'
    '"prompt_tokens_details":{"cached_tokens":%(read)d,"audio_tokens":0},"completion_tokens_details":'
    '{"reasoning_tokens":%(reasoning)d,"audio_tokens":0}},"service_tier":"default"}'
)
_RESPONSES: Final = (
    '{"id":"resp_%(key)016x","object":"response","created_at":%(at_s)d,"model":"%(model)s","status":"%(stop)s",'
    '"output":[],"usage":{"input_tokens":%(prompt)d,"input_tokens_details":{"cached_tokens":%(read)d},'
    '"output_tokens":%(output)d,"output_tokens_details":{"reasoning_tokens":%(reasoning)d},'
    '"total_tokens":%(total)d},"service_tier":"default"}'
)
_MESSAGES: Final = (
    '{"id":"msg_%(key)016x","type":"message","role":"assistant","model":"%(model)s","content":[],'
    '"stop_reason":"%(stop)s","stop_sequence":null,"usage":{"input_tokens":%(uncached)d,'
    '"cache_creation_input_tokens":%(written)d,"cache_read_input_tokens":%(read)d,"cache_creation":'
    '{"ephemeral_5m_input_tokens":%(write_5m)d,"ephemeral_1h_input_tokens":%(write_1h)d},'
    '"output_tokens":%(output)d,"service_tier":"standard"}}'
)
_FAILURE: Final = '{"error":{"type":"%(kind)s","code":%(status)d,"message":null}}'
_LINE: Final = (
    '{"timestamp":"%(at)s","provider":"%(provider)s","team":%(team)s,"application":%(application)s,'
    '"endpoint":"%(endpoint)s","session_id":"s-%(session)016x","user_id":"u-%(user)05d","environment":"prod",'
    '"status":%(status)d,"duration_ms":%(duration_ms)d,"ttft_ms":%(ttft_ms)s,"stream":%(stream)s,"response":'
)


@dataclass(frozen=True, slots=True)
class _Api:
    """A provider's interface: its path, its response object, and its words for a whole and a cut answer."""

    provider: str
    endpoint: str
    response: str
    whole: str
    cut: str


_APIS: Final = {
    "chat": _Api("openai", "/v1/chat/completions", _CHAT, "stop", "length"),
    "responses": _Api("openai", "/v1/responses", _RESPONSES, "completed", "incomplete"),
    "messages": _Api("anthropic", "/v1/messages", _MESSAGES, "end_turn", "max_tokens"),
}


@dataclass(frozen=True, slots=True)
class DemoLog:
    """What was written.

    Attributes:
        path: The file.
        requests: Lines in it, failed requests included.
        bytes: Its size.
    """

    path: Path
    requests: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _App:
    """One application: who owns it, what it calls, when, and how big its requests are, in tokens."""

    name: str | None
    team: str | None
    api: str
    model: str
    share: float
    prefix: int = 0  # the same at the head of every prompt
    prompt: float = 0  # median of what differs
    answer: float = 500  # median, without reasoning
    spread: float = 0.35  # of both, as the sigma of a log-normal
    reasoning: float = 0
    history: int = 0  # what each turn of a session adds to the prompt of the next
    hit_ratio: float = 0  # of the requests whose prompt is partly read from the provider's cache
    limit: int = 16_384  # longest answer
    hours: str = "office"
    weekend: float = 0.2
    surge: int = 1  # load of the one busy day
    turns: float = 1  # mean of a session
    users: int = 30
    stream: bool = True
    ms_per_token: float = 11


# fmt: off
_APPS: Final = (
    _App("support-assistant", "customer-care", "messages", "claude-haiku-4-5-20251001", 0.160, prefix=5_200, prompt=3_500,
         answer=280, history=420, limit=1_024, hours="always", weekend=0.6, turns=3, users=2_500, ms_per_token=7),
    _App("ticket-classifier", "customer-care", "chat", "gpt-4o-mini-2024-07-18", 0.170, prompt=900, answer=12,
         spread=0.15, hours="always", weekend=0.6, users=1, stream=False, ms_per_token=9),
    _App("code-review", "engineering", "messages", "claude-sonnet-4-5-20250929", 0.370, prefix=_TOOLS, prompt=9_000,
         answer=1_400, spread=0.6, weekend=0.12, turns=24, users=60, ms_per_token=14),
    _App("contract-summary", "operations", "chat", "gpt-5-2025-08-07", 0.120, prompt=38_000, answer=300, spread=0.25,
         reasoning=64, hit_ratio=0.03, limit=800, surge=5),
    _App("report-writer", "operations", "responses", "gpt-5-2025-08-07", 0.080, prompt=300, answer=3_000, spread=0.25,
         reasoning=4_200),
    _App("translation", "marketing", "chat", "gpt-4o-2024-08-06", 0.060, prefix=1_400, prompt=9_600, answer=11_000,
         spread=0.25, hit_ratio=0.9, hours="at-two", weekend=1, users=1, stream=False, ms_per_token=13),
    _App("product-copy", "marketing", "chat", "gpt-4.1-2025-04-14", 0.020, prompt=250, answer=900, limit=2_048),
    _App(None, None, "chat", "gpt-4.1-2025-04-14", 0.008, prompt=1_300, spread=0.9, hit_ratio=0.3),
    _App(None, None, "responses", "gpt-5-mini-2025-08-07", 0.005, prompt=900, spread=0.9, reasoning=600),
    _App(None, None, "messages", "claude-opus-4-1-20250805", 0.004, prefix=6_000, prompt=900, hit_ratio=1, turns=5),
    _App(None, None, "chat", "internal-proto-7b", 0.003, prompt=900, spread=0.9, turns=4),
)
# fmt: on


def write_demo_log(
    path: Path, *, requests: int = 80_000, seed: int = 7, start: date = date(2026, 10, 1), days: int = 30
) -> DemoLog:
    """Write the sample log, in order of time.

    Args:
        path: The file to write; its folder is made when missing, a file that is there is replaced.
        requests: Lines to write.
        seed: Seed of everything random.
        start: First day, in UTC.
        days: Days that the log covers.

    Returns:
        What was written.

    Raises:
        ValueError: If ``requests`` or ``days`` is less than one.
    """
    if requests < 1 or days < 1:
        raise ValueError(f"a demo log needs at least 1 request and 1 day, not {requests} and {days}")
    rng = np.random.default_rng(seed)
    counts = [int(requests * app.share) for app in _APPS]
    counts[0] += requests - sum(counts)
    lines: list[tuple[int, bytes]] = []
    for app, count in zip(_APPS, counts, strict=True):
        lines += _lines(rng, app, count, start, days)
    lines.sort(key=itemgetter(0))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        size = sum(file.write(line) for _, line in lines)
    return DemoLog(path, len(lines), size)


def _lines(
    rng: np.random.Generator, app: _App, count: int, start: date, days: int
) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of one application, each with its time in milliseconds."""
    api = _APIS[app.api]
    session, turn, gap_ms = _sessions(rng, app, count)
    first_day_ms = int(np.datetime64(start, "ms").astype(np.int64))
    at_ms = first_day_ms + _times(rng, session, gap_ms, _load(app, start, days))
    tokens = _tokens(rng, app, session, turn, gap_ms)
    tokens["prompt"] = tokens["uncached"] + tokens["read"]
    tokens["total"] = tokens["prompt"] + tokens["output"]
    tokens["written"] = tokens["write_5m"] + tokens["write_1h"]
    prefill_ms = 250 + 0.05 * (tokens["uncached"] + tokens["written"]) + 0.004 * tokens["read"]
    first_ms = np.rint(prefill_ms * rng.lognormal(0, 0.25, count)).astype(np.int64)
    decode_ms = np.rint(tokens["output"] * app.ms_per_token * rng.lognormal(0, 0.15, count)).astype(np.int64)
    status = np.where(rng.random(count) < _ERROR_RATIO, rng.choice((_TOO_MANY, _BROKEN), count), _OK)
    key = rng.integers(1, 2**62, count)
    columns = {
        **tokens,
        "key": key,
        "at_s": at_ms // MILLISECONDS_PER_SECOND,
        "at": np.datetime_as_string(at_ms.astype("datetime64[ms]"), timezone="UTC"),
        "session": key[np.searchsorted(session, session)],
        "user": rng.integers(1, app.users + 1, count)[session],
        "status": status,
        "duration_ms": first_ms + np.where(status == _OK, decode_ms, 0),
        "ttft_ms": np.where((status == _OK) & app.stream, first_ms.astype(np.str_), "null"),
        "kind": np.where(status == _TOO_MANY, "rate_limit_error", "server_error"),
        "stop": np.where(tokens["output"] == app.limit, api.cut, api.whole),
    }
    team, application, stream = map(json.dumps, (app.team, app.name, app.stream))
    fixed = {"model": app.model, "provider": api.provider, "endpoint": api.endpoint}
    fixed |= {"team": team, "application": application, "stream": stream}
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    for at, code, values in zip(at_ms.tolist(), status.tolist(), rows, strict=True):
        line = _LINE + (api.response if code == _OK else _FAILURE) + "}\n"
        yield at, (line % (fixed | dict(zip(columns, values, strict=True)))).encode()


def _sessions(rng: np.random.Generator, app: _App, count: int) -> tuple[Ints, Ints, Ints]:
    """Return each request's session, its turn in it and the milliseconds since the turn before."""
    lengths = 1 + rng.poisson(app.turns - 1, count)
    session = np.repeat(np.arange(count), lengths)[:count]
    turn = np.arange(count) - np.searchsorted(session, session)
    pause = rng.lognormal(np.log(45), 0.6, count).clip(20, 280)
    idle = np.where(rng.random(count) < _IDLE_RATIO, rng.uniform(360, 3_000, count), 0)
    return session, turn, np.where(turn == 0, 0, (pause + idle) * MILLISECONDS_PER_SECOND).astype(np.int64)


def _load(app: _App, start: date, days: int) -> Ints:
    """Return the relative load of each hour of the period: trend, weekday, the busy day, hour of day."""
    day = np.arange(days)
    load = (100 * (1 + _GROWTH_RATIO * day / days)).astype(np.int64)
    load = load * np.where((start.weekday() + day) % 7 < _SATURDAY, 100, round(100 * app.weekend))
    load[days * 2 // 3] *= app.surge
    return np.outer(load, _HOURS[app.hours]).ravel()


def _times(rng: np.random.Generator, session: Ints, gap_ms: Ints, load: Ints) -> Ints:
    """Start the sessions where the load is; return milliseconds into the period, all of them inside it."""
    begins = rng.choice(load.size, session.size, p=load / load.sum()) * _HOUR_MS
    begins += rng.integers(0, _HOUR_MS, session.size)
    elapsed = np.cumsum(gap_ms)
    elapsed -= elapsed[np.searchsorted(session, session)]
    longest = np.zeros(session.size, np.int64)
    np.maximum.at(longest, session, elapsed)
    last_ms = load.size * _HOUR_MS - 1
    at_ms: Ints = np.minimum(begins, last_ms - longest)[session] + elapsed
    return at_ms.clip(0, last_ms)


def _tokens(rng: np.random.Generator, app: _App, session: Ints, turn: Ints, gap_ms: Ints) -> dict[str, Ints]:
    """Draw disjoint counts: uncached, read, write_5m, write_1h, output and, a part of that, reasoning."""
    fresh = _size(rng, turn.size, app.prompt, app.spread)
    reasoning = _size(rng, turn.size, app.reasoning, 0.4) // _REASONING_BLOCK * _REASONING_BLOCK
    output = (_size(rng, turn.size, app.answer, app.spread) + reasoning).clip(max=app.limit)
    counts: dict[str, Ints] = dict.fromkeys(("read", "write_5m", "write_1h"), np.zeros_like(turn))
    counts["uncached"] = app.prefix + fresh + app.history * turn
    hit = rng.random(turn.size) < app.hit_ratio
    if app.name == "code-review":
        total = np.cumsum(fresh)
        talk = (total - (total - fresh)[np.searchsorted(session, session)]) % _WINDOW
        rewrite = (turn == 0) | (gap_ms >= _CACHE_LIFE_MS) | (talk < fresh)
        counts["write_5m"] = np.where(rewrite, talk, fresh)
        counts["read"] = app.prefix + talk - counts["write_5m"]
        counts["uncached"] = rng.integers(3, 12, turn.size)
    elif app.api == "messages":
        counts["write_1h"] = np.where(hit & (turn == 0), app.prefix, 0)
        counts["read"] = np.where(hit & (turn > 0), app.prefix, 0)
        counts["uncached"] -= counts["write_1h"] + counts["read"]
    else:
        same = np.full_like(turn, app.prefix) if app.prefix else counts["uncached"] * 9 // 10
        counts["read"] = np.where(hit & (same >= KILO), same // _CACHE_BLOCK * _CACHE_BLOCK, 0)
        counts["uncached"] -= counts["read"]
    return {**counts, "output": output, "reasoning": np.minimum(reasoning, output)}


def _size(rng: np.random.Generator, count: int, median: float, spread: float) -> Ints:
    """Draw whole, right-skewed sizes around a median; a median of nought is nought."""
    draws = np.rint(rng.lognormal(np.log(max(median, 1)), spread, count)).astype(np.int64)
    return draws.clip(1) * (median > 0)
