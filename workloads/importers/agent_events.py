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
from workloads.attributes import flat_of, keys_of, listed_of, lookup, texts_of, words_of
from workloads.count_texts import ODD, odd_cell
from workloads.expressions import NO_TEXT, is_true, text_of
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.numbers import parse_count
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
        attributes = node.get("attributes")
        listed = listed_of(attributes)
        event = ibis.coalesce(
            flat_of(attributes, ("event.name",))["event.name"].nullif(""),
            lookup(keys_of(listed), texts_of(listed))("event.name"),
        )
        named = ibis.coalesce(event, "") + " " + ibis.coalesce(self._body(node), "")
        inside = node.get("resourceLogs").cast("string").contains(self.prefix)
        return named.re_search(rf"(^|\s){self.prefix}") | is_true(inside)

    def _body(self, node: Node) -> Any:
        return words_of(node.get("body"))

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``: every attribute, parsed once."""

        def step(name: str) -> Any:
            return node.step(self._own(name))

        if node.has_step(self._own("body")):
            return {self._own(f"{name} count"): parse_count(step(name), None) for name in self.counts}
        if node.has_step(self._own("keys")):
            of, around = (lookup(step(f"{of}keys"), step(f"{of}texts")) for of in ("", "resource "))

            def text(name: str, flat: Any, listed: Callable[[str], Any]) -> Any:
                return ibis.coalesce(flat[name].nullif(""), listed(name))

            teams = [text(name, step("flat"), of) for name in _TEAMS]
            teams += [text(name, step("resource flat"), around) for name in _TEAMS]
            names = (*_COMMON, *self.texts, *self.counts)
            return {
                **{self._own(name): text(name, step("flat"), of) for name in names},
                self._own("team"): ibis.coalesce(*teams),
                self._own("body"): self._body(node),
            }
        attributes, resource = node.get("attributes"), ibis.null("json")
        if node.parent and node.parent.parent:
            resource = node.parent.parent.get("resource", "attributes")
        found = {
            "flat": flat_of(attributes, (*_COMMON, *_TEAMS, *self.texts, *self.counts)),
            "keys": keys_of(listed_of(attributes)),
            "texts": texts_of(listed_of(attributes)),
            "resource flat": flat_of(resource, _TEAMS),
            "resource keys": keys_of(listed_of(resource)),
            "resource texts": texts_of(listed_of(resource)),
        }
        return {self._own(name): value for name, value in found.items()}

    def _own(self, name: str) -> str:
        return f"{self.name} {name}"

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope

        def step(name: str) -> Any:
            return node.step(self._own(name))

        def count(name: str) -> Any:
            return step(f"{name} count")

        name = ibis.coalesce(step("event.name"), step("body"))
        call = is_true(name.isin((self.event, self.prefix + self.event)))
        if node.parent:  # another client's record in the same request
            call &= is_true((name + " " + ibis.coalesce(step("body"), "")).contains(self.prefix))
        counts = [count(name) for name in self.counts]
        negative = is_negative(*counts)
        odd = ibis.coalesce(*(odd_cell(step(name), count(name)) for name in self.counts))
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
            ODD: odd,
            **time_columns(moment),
            "model": step("model"),
            "requests": ibis.literal(1, type="int64"),
            "team": step("team"),
            "session": step("session.id"),
            "user": ibis.coalesce(step("user.email"), step("user.id")),
            "duration_seconds": step("duration_ms").try_cast("float64") / MILLISECONDS_PER_SECOND,
            "dedup_size": sum((zero(count) for count in counts[1:]), zero(counts[0])),
            **self.call(step, count),
        }

    @abstractmethod
    def call(self, step: Callable[[str], Any], count: Callable[[str], Any]) -> Columns:
        """Return the ledger columns that are the client's own, from its attributes by name, as text and as counts."""


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

    def call(self, step: Callable[[str], Any], count: Callable[[str], Any]) -> Columns:
        """See ``AgentEvents.call``."""
        numbered = step("session.id") + "|" + step("event.sequence")
        return {
            "provider": ibis.literal("anthropic"),
            "service_tier": ibis.cases((step("speed") == "fast", "fast"), else_=NO_TEXT),
            "input_uncached": count("input_tokens"),
            "cache_read": count("cache_read_tokens"),
            "cache_write_5m": count("cache_creation_tokens"),
            "output": count("output_tokens"),
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

    def call(self, step: Callable[[str], Any], count: Callable[[str], Any]) -> Columns:
        """See ``AgentEvents.call``."""
        thoughts, total = count("thoughts_token_count"), count("total_token_count")
        prompt = count("input_token_count") + zero(count("tool_token_count"))
        output = ibis.coalesce(count("output_token_count") + zero(thoughts), thoughts)
        uncached, reads, problem = split_input(
            prompt,
            cached=count("cached_content_token_count"),
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
