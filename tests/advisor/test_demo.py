"""The demo log: the same bytes for a seed, in order of time, with each provider's own accounting."""

import hashlib
import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from genai_prices import Usage, calc_price

from advisor.demo import write_demo_log

REQUESTS = 6_000
UNPRICED = "internal-proto-7b"


@dataclass(frozen=True)
class Sample:
    path: Path
    lines: list[dict[str, Any]]

    def answered(self) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
        return ((line, line["response"]) for line in self.lines if line["status"] == 200)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Sample:
    path = tmp_path_factory.mktemp("demo") / "nested" / "demo.jsonl"
    written = write_demo_log(path, requests=REQUESTS)
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert written.path == path
    assert written.requests == len(lines) == REQUESTS
    assert written.bytes == path.stat().st_size
    return Sample(path, lines)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_one_seed_writes_the_same_bytes(sample: Sample, tmp_path: Path) -> None:
    again = write_demo_log(tmp_path / "again.jsonl", requests=REQUESTS)
    other = write_demo_log(tmp_path / "other.jsonl", requests=REQUESTS, seed=8)
    assert digest(again.path) == digest(sample.path)
    assert digest(other.path) != digest(sample.path)


def test_lines_are_in_order_of_time_and_inside_the_month(sample: Sample) -> None:
    times = [datetime.fromisoformat(line["timestamp"]) for line in sample.lines]
    assert times == sorted(times)
    assert times[0] >= datetime(2026, 10, 1, tzinfo=UTC)
    assert times[-1] < datetime(2026, 10, 31, tzinfo=UTC)


@pytest.mark.parametrize(("requests", "days"), [(1, 1), (40, 1), (500, 3)])
def test_small_logs_and_short_periods_stay_inside_the_period(
    tmp_path: Path, requests: int, days: int
) -> None:
    start = date(2027, 2, 28)
    log = write_demo_log(tmp_path / "small.jsonl", requests=requests, start=start, days=days)
    stamps = [json.loads(line)["timestamp"] for line in log.path.read_text(encoding="utf-8").splitlines()]
    assert len(stamps) == requests
    assert all(0 <= (date.fromisoformat(stamp[:10]) - start).days < days for stamp in stamps)


@pytest.mark.parametrize(("requests", "days"), [(0, 30), (10, 0)])
def test_nothing_to_write_is_an_error(tmp_path: Path, requests: int, days: int) -> None:
    with pytest.raises(ValueError, match="at least 1 request and 1 day"):
        write_demo_log(tmp_path / "none.jsonl", requests=requests, days=days)


def test_the_default_is_a_log_worth_analysing() -> None:
    assert inspect.signature(write_demo_log).parameters["requests"].default >= 50_000


def test_openai_counts_include_their_parts(sample: Sample) -> None:
    seen = {"chat.completion": 0, "response": 0}
    for line, body in sample.answered():
        if line["provider"] != "openai":
            continue
        usage = body["usage"]
        if body["object"] == "chat.completion":
            prompt, output = usage["prompt_tokens"], usage["completion_tokens"]
            cached = usage["prompt_tokens_details"]["cached_tokens"]
            reasoning = usage["completion_tokens_details"]["reasoning_tokens"]
        else:
            prompt, output = usage["input_tokens"], usage["output_tokens"]
            cached = usage["input_tokens_details"]["cached_tokens"]
            reasoning = usage["output_tokens_details"]["reasoning_tokens"]
        seen[body["object"]] += 1
        assert usage["total_tokens"] == prompt + output
        assert 0 <= cached <= prompt
        assert cached % 128 == 0
        assert cached == 0 or cached >= 1_024
        assert 0 <= reasoning <= output
    assert all(seen.values())


def test_anthropic_cache_counts_stand_beside_the_input(sample: Sample) -> None:
    read = written = 0
    for line, body in sample.answered():
        if line["provider"] != "anthropic":
            continue
        usage = body["usage"]
        split = usage["cache_creation"]
        assert usage["input_tokens"] > 0
        assert usage["cache_read_input_tokens"] >= 0
        assert usage["cache_creation_input_tokens"] == sum(split.values())
        read += usage["cache_read_input_tokens"]
        written += usage["cache_creation_input_tokens"]
    assert read > written > 0


def test_a_pause_of_five_minutes_makes_the_agent_write_its_conversation_again(sample: Sample) -> None:
    shared = 16_000
    last: dict[str, datetime] = {}
    kept = lost = 0
    for line in sample.lines:
        if line["application"] != "code-review":
            continue
        at, session = datetime.fromisoformat(line["timestamp"]), line["session_id"]
        before, last[session] = last.get(session), at
        if before is None or line["status"] != 200:
            continue
        read = line["response"]["usage"]["cache_read_input_tokens"]
        if (at - before).total_seconds() >= 300:
            lost += 1
            assert read == shared
        else:
            kept += read > shared
    assert kept > lost > 0


def test_failed_requests_carry_no_usage(sample: Sample) -> None:
    failed = [line for line in sample.lines if line["status"] != 200]
    assert 0.001 < len(failed) / REQUESTS < 0.006
    assert {line["status"] for line in failed} == {429, 500}
    assert all("usage" not in line["response"] for line in failed)


def test_some_answers_are_cut_at_their_limit(sample: Sample) -> None:
    stops = [
        body.get("stop_reason") or body.get("status") or body["choices"][0]["finish_reason"]
        for _, body in sample.answered()
    ]
    assert {"stop", "length", "completed", "end_turn"} <= set(stops)


def test_teams_and_applications_have_their_own_shapes(sample: Sample) -> None:
    owners = {line["application"]: line["team"] for line in sample.lines}
    assert len(owners) == 8
    assert len(set(owners.values()) - {None}) == 4
    assert owners[None] is None
    nightly = [line["timestamp"][11:13] for line in sample.lines if line["application"] == "translation"]
    assert set(nightly) == {"02"}
    idle = [body["usage"] for line, body in sample.answered() if line["application"] == "support-assistant"]
    assert all(usage["cache_read_input_tokens"] == 0 and usage["input_tokens"] > 5_200 for usage in idle)


def test_every_model_but_one_has_a_price(sample: Sample) -> None:
    models = {(line["provider"], body["model"]) for line, body in sample.answered()}
    for provider, model in models - {("openai", UNPRICED)}:
        price = calc_price(Usage(input_tokens=1, output_tokens=1), model_ref=model, provider_id=provider)
        assert price.total_price > 0
    assert ("openai", UNPRICED) in models
    with pytest.raises(LookupError):
        calc_price(Usage(input_tokens=1, output_tokens=1), model_ref=UNPRICED, provider_id="openai")


def test_there_is_no_prompt_and_no_answer_in_it(sample: Sample) -> None:
    for _, body in sample.answered():
        assert not body.get("content")
        assert not body.get("output")
        assert all(choice["message"]["content"] is None for choice in body.get("choices", ()))
