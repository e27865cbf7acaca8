"""Telemetry events of coding agents: Claude Code and Gemini CLI.

Where it comes from: OpenTelemetry logs as a collector's file exporter, a relay or the client itself writes them: OTLP/JSON
requests, single log records, or records with their attributes as a plain object.

One row is: a log record. Only ``claude_code.api_request`` and ``gemini_cli.api_response`` are calls; prompts, tools and errors
are not.

Token fields: Claude Code's ``input_tokens`` EXCLUDES cache reads and writes. Gemini CLI's ``input_token_count`` INCLUDES cached
tokens (the record's own total decides), its tool tokens are further input, and its output EXCLUDES thoughts.

Time zone: UTC.

What it cannot tell: a write's lifetime (taken as 5 minutes); what a subscription costs: the recorded money is the
client's own estimate at list prices. Metrics of the same clients count the same tokens again and are not read.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Final

import ibis

from pricing.units import MILLISECONDS_PER_SECOND
from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.attributes import Attributes, words_of
from workloads.expressions import NO_TEXT, is_true, text_of
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node, time_columns
from workloads.schema import Schema
from workloads.spans import instant_text

_RECORD: Final[Schema] = {
    "timeUnixNano": "VARCHAR",
    "observedTimeUnixNano": "VARCHAR",
    "timestamp": "VARCHAR",
    "hrTime": "VARCHAR",
    "body": "JSON",
    "attributes": "JSON",
}
_CORE: Final[Schema] = {
    **_RECORD,
    "resourceLogs": [{"resource": {"attributes": "JSON"}, "scopeLogs": [{"logRecords": [_RECORD]}]}],
}
_COMMON: Final = (
    "event.name",
    "event.timestamp",
    "session.id",
    "user.email",
    "user.id",
    "model",
    "duration_ms",
)
_TEAMS: Final = ("team.id", "team", "department", "cost_center")
_NO_TEAMS: Final = Attributes(ibis.null("json"), _TEAMS)


class AgentEvents(JsonImporter):
    """Log records of one client."""

    core = _CORE
    chains = ((), (("resourceLogs",), ("scopeLogs",), ("logRecords",)))
    prefix: ClassVar[str]
    """How the names of the client's events begin."""
    event: ClassVar[str]
    """The event that is a call, without the prefix."""
    texts: ClassVar[tuple[str, ...]]
    """Attributes that are read as text."""
    counts: ClassVar[tuple[str, ...]]
    """Attributes that are read as whole numbers."""

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is an event of the client, or holds some."""
        return any(name.startswith(self.prefix) for record in _log_records(obj) for name in _names(record))

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        attributes = Attributes(node.get("attributes"), ("event.name",))
        named = ibis.coalesce(attributes.text("event.name"), "") + " " + ibis.coalesce(self._body(node), "")
        inside = node.get("resourceLogs").cast("string").contains(self.prefix)
        return named.re_search(rf"(^|\s){self.prefix}") | is_true(inside)

    def _body(self, node: Node) -> Any:
        return words_of(node.get("body"))

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``: every attribute, parsed once."""
        attributes = Attributes(node.get("attributes"), (*_COMMON, *_TEAMS, *self.texts, *self.counts))
        around = _NO_TEAMS
        if node.parent and node.parent.parent:
            around = Attributes(node.parent.parent.get("resource", "attributes"), _TEAMS)
        return {
            **{self._own(name): attributes.text(name) for name in (*_COMMON, *self.texts)},
            **{self._own(name): attributes.count(name) for name in self.counts},
            self._own("team"): ibis.coalesce(*map(attributes.text, _TEAMS), *map(around.text, _TEAMS)),
            self._own("body"): self._body(node),
        }

    def _own(self, name: str) -> str:
        return f"{self.name} {name}"

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope

        def step(name: str) -> Any:
            return node.step(self._own(name))

        name = ibis.coalesce(step("event.name"), step("body"))
        call = is_true(name.isin((self.event, self.prefix + self.event)))
        if node.parent:  # another client's record in the same request
            call &= is_true((name + " " + ibis.coalesce(step("body"), "")).contains(self.prefix))
        counts = [step(name) for name in self.counts]
        negative = is_negative(*counts)
        moment = ibis.coalesce(
            step("event.timestamp"),
            node.get("timestamp"),
            node.get("timeUnixNano").nullif("0"),
            node.get("observedTimeUnixNano").nullif("0"),
            instant_text(node.get("hrTime")),
        )
        return {
            "fate": ibis.cases((~call, IGNORED), (negative, SKIPPED), else_=RECORD),
            "reason": ibis.cases(
                (~call, "telemetry of something other than a call"),
                (negative, NEGATIVE_COUNT),
                else_=NO_TEXT,
            ),
            **time_columns(moment),
            "model": step("model"),
            "requests": ibis.literal(1, type="int64"),
            "team": step("team"),
            "session": step("session.id"),
            "user": ibis.coalesce(step("user.email"), step("user.id")),
            "duration_seconds": step("duration_ms").try_cast("float64") / MILLISECONDS_PER_SECOND,
            "dedup_size": sum((zero(count) for count in counts[1:]), zero(counts[0])),
            **self.call(step),
        }

    @abstractmethod
    def call(self, step: Callable[[str], Any]) -> Columns:
        """Return the ledger columns that are the client's own, from its attributes by name."""


def _log_records(obj: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield obj
    level: list[Any] = [obj]
    for key in ("resourceLogs", "scopeLogs", "logRecords"):
        lists = [item.get(key) for item in level if isinstance(item, Mapping)]
        level = [item for found in lists if isinstance(found, list) for item in found]
    yield from (item for item in level if isinstance(item, Mapping))


def _names(record: Mapping[str, Any]) -> list[str]:
    """Return what may be the name of an event: its text, and the attribute for it."""
    attributes, body = record.get("attributes"), record.get("body")
    names = [body.get("stringValue") if isinstance(body, Mapping) else body]
    if isinstance(attributes, Mapping):
        names.append(attributes.get("event.name"))
    elif isinstance(attributes, list):
        pairs = [pair for pair in attributes if isinstance(pair, Mapping) and pair.get("key") == "event.name"]
        names += [
            value.get("stringValue") for pair in pairs if isinstance(value := pair.get("value"), Mapping)
        ]
    return [name for name in names if isinstance(name, str)]


class ClaudeCodeEvents(AgentEvents):
    """Claude Code's events."""

    name = "claude-code-otel"
    title = "Claude Code telemetry (OTLP/JSON log records)"
    prefix = "claude_code."
    event = "api_request"
    texts = ("cost_usd", "request_id", "event.sequence", "speed")
    counts = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_creation_tokens")

    def call(self, step: Callable[[str], Any]) -> Columns:
        """See ``AgentEvents.call``."""
        numbered = step("session.id") + "|" + step("event.sequence")
        return {
            "provider": ibis.literal("anthropic"),
            "service_tier": ibis.cases((step("speed") == "fast", "fast"), else_=NO_TEXT),
            "input_uncached": step("input_tokens"),
            "cache_read": step("cache_read_tokens"),
            "cache_write_5m": step("cache_creation_tokens"),
            "output": step("output_tokens"),
            "recorded_cost_usd": step("cost_usd").try_cast("decimal(38, 12)"),
            "dedup_group": ibis.coalesce(step("request_id"), numbered),
        }


class GeminiCliEvents(AgentEvents):
    """Gemini CLI's events."""

    name = "gemini-cli-otel"
    title = "Gemini CLI telemetry (log records)"
    prefix = "gemini_cli."
    event = "api_response"
    texts = ("prompt_id", "status_code")
    counts = (
        "input_token_count",
        "output_token_count",
        "cached_content_token_count",
        "thoughts_token_count",
        "tool_token_count",
        "total_token_count",
    )

    def call(self, step: Callable[[str], Any]) -> Columns:
        """See ``AgentEvents.call``."""
        thoughts, total = step("thoughts_token_count"), step("total_token_count")
        prompt = step("input_token_count") + zero(step("tool_token_count"))
        output = ibis.coalesce(step("output_token_count") + zero(thoughts), thoughts)
        uncached, reads, problem = split_input(
            prompt,
            cached=step("cached_content_token_count"),
            written=ibis.null("int64"),
            output=output,
            total=total,
            additive=False,
        )
        return {
            "problem": problem,
            "provider": ibis.literal("google"),
            "input_uncached": uncached,
            "cache_read": reads,
            "output": output,
            "reasoning": thoughts,
            "status": step("status_code"),
            "dedup_group": step("prompt_id") + "|" + step("event.timestamp"),
            "dedup_key": text_of(total),
        }


IMPORTERS: Final[tuple[Importer, ...]] = (ClaudeCodeEvents(), GeminiCliEvents())
