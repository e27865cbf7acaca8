"""LangSmith: runs, exported or as the clients send them.

Where it comes from: runs that the API or the SDK returned or the page exported, as CSV, JSON or JSONL; bodies of batch
ingestion (``{"post": [...], "patch": [...]}``) as a proxy or a test recorded them.

One row is: a run. Only runs of type ``llm`` are calls; chains, agents and graphs carry the sums of what is below them. A
run is posted when it starts and patched when it ends: both are one call.

Token fields: ``prompt_tokens`` INCLUDES the cached and written part that ``prompt_token_details`` tells, completion
includes reasoning; ``usage_metadata`` likewise, where the server has not yet counted. Zeros mean that nothing was
counted.

Time zone: UTC; ISO without offset, or epoch milliseconds.

What it cannot tell: the service tier, mostly. ``session_id`` names the PROJECT; the conversation is in the metadata, and
without it the trace stands for it. A cost of 0 means that no price was found.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import ibis

from workloads.accounting import NEGATIVE_COUNT, is_negative, split_input, zero
from workloads.count_texts import ODD, counts, odd_within
from workloads.declared import as_declared
from workloads.expressions import NO_TEXT, first_label, is_true, not_negative, unless_among
from workloads.importers import Columns, Importer, JsonImporter, TableImporter
from workloads.langsmith_json import INPUT_DETAILS, OBJECTS, OUTPUT_DETAILS, SAID
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node, time_columns
from workloads.schema import Schema
from workloads.table import Table
from workloads.times import parse_instant, seconds_between

_STANDARD: Final = ("auto", "default", "standard", "on_demand")
_ID_LENGTH: Final = len("00000000-0000-0000-0000-000000000000")
_STAMP: Final = r"(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{6})Z" + f".{{{_ID_LENGTH}}}$"
"""The last part of a run's place in its trace: when it began, and its id."""

_RUN: Final[Schema] = {
    "id": "VARCHAR",
    "name": "VARCHAR",
    "run_type": "VARCHAR",
    "start_time": "VARCHAR",
    "end_time": "VARCHAR",
    "session_name": "VARCHAR",
    "session_id": "VARCHAR",
    "trace_id": "VARCHAR",
    "dotted_order": "VARCHAR",
    "error": "VARCHAR",
    "status": "VARCHAR",
    "inputs": "JSON",
    "outputs": "JSON",
    "extra": "JSON",
}


_TIMES: Final = {"started_at": "start_time", "ended_at": "end_time", "first_at": "first_token_time"}


def _ledger(run: Mapping[str, Any], count: Callable[[str], Any]) -> Columns:
    """Return the ledger columns of a run.

    Args:
        run: Fields of the run by name; ``inputs``, ``outputs`` and ``extra`` as objects; ``posted_extra`` of its start.
        count: Gives a count by name, as ``_counts`` made it.
    """
    outputs = run["outputs"]
    negative, unused, meters = _meters(count)

    def said(column: str) -> Any:
        told = (run["extra"]["metadata"], run["posted_extra"]["metadata"])
        return ibis.coalesce(*(first_label(metadata, *SAID[column]) for metadata in told))

    named = said("model")
    kind = run["run_type"].lower()
    call = is_true(kind == "llm") | (kind.isnull() & (~unused | named.notnull()))
    failed = unused & run["error"].notnull()
    started = ibis.coalesce(run["started_at"], _placed_at(run["dotted_order"]))
    message = outputs["generations"][0][0]
    return {
        "fate": ibis.cases((~call | failed, IGNORED), (negative, SKIPPED), else_=RECORD),
        "reason": ibis.cases(
            (~call, "run that is no model call"),
            (failed, "failed call without usage"),
            (negative, NEGATIVE_COUNT),
            else_=NO_TEXT,
        ),
        **meters,
        "started_at": started,
        "provider": said("provider"),
        "model": ibis.coalesce(
            first_label(outputs, "model", "model_name"),
            first_label(outputs["llm_output"], "model_name", "model"),
            named,
            first_label(run["extra"]["invocation_params"], "model", "model_name"),
            first_label(run["inputs"], "model"),
        ),
        "service_tier": unless_among(outputs["service_tier"], _STANDARD),
        "requests": ibis.literal(1, type="int64"),
        "project": ibis.coalesce(run["session_name"], run["session_id"]),
        "application": said("application"),
        "endpoint": run["name"],
        "environment": said("environment"),
        "session": ibis.coalesce(said("session"), run["trace_id"]),
        "user": said("user"),
        "stop_reason": ibis.coalesce(
            outputs["choices"][0]["finish_reason"], message["generation_info"]["finish_reason"]
        ),
        "status": run["status"],
        "ttft_seconds": seconds_between(started, run["first_at"]),
        "duration_seconds": seconds_between(started, run["ended_at"]),
        "dedup_group": ibis.coalesce(
            run["id"], run["dotted_order"].re_extract(f"Z(.{{{_ID_LENGTH}}})$", 1).nullif("")
        ),
    }


def _placed_at(dotted_order: Any) -> Any:
    """Return when a run began, from its place in the trace: the last of ``20260601T100000000000Z<id>.<...>``."""
    stamp = dotted_order.re_extract(_STAMP, 0)
    return parse_instant(stamp.re_replace(_STAMP, r"\1-\2-\3T\4:\5:\6.\7Z"))


def _counts(run: Mapping[str, Any], top: Columns) -> Columns:
    """Return the counts of a run by name: the server's, else those of the answer.

    Args:
        run: Fields of the run by name; ``outputs`` and ``extra`` as objects.
        top: What the server has counted: ``prompt``, ``output``, ``total``, and details of the first two as objects.
    """
    outputs, metadata = run["outputs"], run["extra"]["metadata"]
    message = outputs["generations"][0][0]["message"]
    usages = [
        holder["usage_metadata"]
        for holder in (outputs, metadata, message["kwargs"], message, outputs["message"])
    ]
    raw = [outputs["usage"], outputs["llm_output"]["token_usage"]]

    def first(server: Any, path: tuple[str, ...], raw_path: tuple[str, ...]) -> Any:
        found = [_at(usage, path) for usage in usages] + [_at(usage, raw_path) for usage in raw]
        return ibis.coalesce(server.nullif(0), *found, server)

    def detail(side: str, name: str, raw_name: str) -> Any:
        words = ("prompt", "input") if side == "prompt" else ("completion", "output")
        server = top[f"{side}_details"][name]
        return first(server, (f"{words[1]}_token_details", name), (f"{words[0]}_tokens_details", raw_name))

    return {
        "prompt": first(top["prompt"], ("input_tokens",), ("prompt_tokens",)),
        "output": first(top["output"], ("output_tokens",), ("completion_tokens",)),
        "total": first(top["total"], ("total_tokens",), ("total_tokens",)),
        "cached": detail("prompt", "cache_read", "cached_tokens"),
        "written": detail("prompt", "cache_creation", "cache_write_tokens"),
        "written_5m": detail("prompt", "ephemeral_5m_input_tokens", "ephemeral_5m_input_tokens"),
        "written_1h": detail("prompt", "ephemeral_1h_input_tokens", "ephemeral_1h_input_tokens"),
        "audio": detail("prompt", "audio", "audio_tokens"),
        "reasoning": detail("output", "reasoning", "reasoning_tokens"),
        "audio_output": detail("output", "audio", "audio_tokens"),
    }


def _meters(count: Callable[[str], Any]) -> tuple[Any, Any, Columns]:
    """Return whether a count is negative, whether nothing was counted, and the token columns."""
    prompt, output, cached, written = (count(name) for name in ("prompt", "output", "cached", "written"))
    audio, audio_out = count("audio"), count("audio_output")
    split = zero(count("written_5m")) + zero(count("written_1h"))
    # Some clients set the count of all writes to 0 when they tell them by lifetime.
    written = ibis.cases((split > zero(written), zero(written) + split), else_=written)
    uncached, reads, problem = split_input(
        prompt, cached=cached, written=written, output=output, total=count("total"), additive=False
    )
    used = zero(prompt) + zero(output) + zero(cached) + zero(written) != 0
    columns = {
        "input_uncached": not_negative(uncached - zero(audio)),
        "cache_read": reads,
        "cache_write_5m": written - zero(count("written_1h")),
        "cache_write_1h": count("written_1h"),
        "audio_input": audio.nullif(0),
        "output": not_negative(output - zero(audio_out)),
        "audio_output": audio_out.nullif(0),
        "reasoning": count("reasoning"),
    }
    columns = {name: ibis.cases((used, value)) for name, value in columns.items()}
    columns |= {"problem": problem, "dedup_size": zero(prompt) + zero(output)}
    return is_negative(prompt, output, cached, written), ~used, columns


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        value = value[key]
    return value


class LangSmithRuns(TableImporter):
    """Exported runs."""

    name = "langsmith"
    title = "LangSmith runs (CSV, JSON, JSONL)"
    keys = (*_RUN, "first_token_time", "prompt_tokens", "completion_tokens", "total_tokens", "prompt_token_details",
            "completion_token_details", "total_cost")  # fmt: skip

    def claims_columns(self, names: frozenset[str]) -> bool:
        """See ``TableImporter.claims_columns``."""
        return "run_type" in names and bool({"dotted_order", "prompt_tokens"} & names)

    def steps(self, table: Table) -> Columns:
        """See ``TableImporter.steps``."""
        run = {name: table.object(name, OBJECTS[name]) for name in ("outputs", "extra")}
        return _counts(
            run,
            {
                "prompt": table.count("prompt_tokens"),
                "output": table.count("completion_tokens"),
                "total": table.count("total_tokens"),
                "prompt_details": table.object("prompt_token_details", INPUT_DETAILS),
                "output_details": table.object("completion_token_details", OUTPUT_DETAILS),
            },
        )

    def ledger_of_table(self, table: Table) -> Columns:
        """See ``TableImporter.ledger_of_table``."""
        run = {
            name: table.object(name, OBJECTS[name]) if name in OBJECTS else table.text(name) for name in _RUN
        }
        run["posted_extra"] = as_declared(ibis.null("json"), OBJECTS["extra"])
        for name, source in _TIMES.items():
            run[name] = table.time(source).get("started_at", ibis.null("timestamp"))
        return {**_ledger(run, table.step), "recorded_cost_usd": table.number("total_cost").nullif(0)}


_BODY: Final[Schema] = {"post": [_RUN], "patch": [_RUN]}
_POSTED: Final[Mapping[str, Schema]] = {**OBJECTS, "posted_extra": OBJECTS["extra"]}


class LangSmithBatch(JsonImporter):
    """Bodies of batch ingestion."""

    name = "langsmith-batch"
    title = "LangSmith batch ingestion bodies (JSON)"
    core = _BODY
    chains = ((("post",),), (("patch",),))

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object holds lists of runs, new or finished."""
        runs = [run for key in ("post", "patch") for run in _list(obj.get(key)) if isinstance(run, Mapping)]
        return bool(runs) and all({"dotted_order", "run_type", "trace_id"} & run.keys() for run in runs)

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return node.get("post")[0].notnull() | node.get("patch")[0].notnull()

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``."""
        if node.has_step("outputs_object"):
            run = _posted(node)
            nothing = {
                "prompt_details": as_declared(ibis.null("json"), INPUT_DETAILS),
                "output_details": as_declared(ibis.null("json"), OUTPUT_DETAILS),
            }
            counts = dict.fromkeys(("prompt", "output", "total"), ibis.null("int64"))
            return {f"{name}_count": value for name, value in _counts(run, {**counts, **nothing}).items()}
        body = node.parent
        assert body is not None  # noqa: S101  (a run lies in a body)

        def is_same(run: Any) -> Any:
            return run["dotted_order"] == node.get("dotted_order")

        # A patch tells only what is new: the rest is in the post of the same run, when that is in the same body.
        posted = body.get("post").filter(is_same)[0]
        run = {name: ibis.coalesce(node.get(name), posted[name]) for name in _RUN}
        run["posted_extra"] = posted["extra"]
        return run | {f"{name}_object": as_declared(run[name], schema) for name, schema in _POSTED.items()}

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        del envelope
        run = _posted(node)
        for name, source in _TIMES.items():
            run[name] = time_columns(run[source])["started_at"] if source in run else ibis.null("timestamp")
        odd = [odd_within(node.step(name), schema) for name, schema in _POSTED.items() if any(counts(schema))]
        return {**_ledger(run, lambda name: node.step(f"{name}_count")), ODD: ibis.coalesce(*odd)}


def _posted(node: Node) -> dict[str, Any]:
    """Return the fields of a run by name, with its objects."""
    run = {name: node.step(name) for name in _RUN}
    return run | {name: node.step(f"{name}_object") for name in _POSTED}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


IMPORTERS: Final[tuple[Importer, ...]] = (LangSmithRuns(), LangSmithBatch())
