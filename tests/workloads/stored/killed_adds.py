"""Adds to a ledger over and over and kills most of them: ``python killed_adds.py LOGS LEDGER KILLS SEED``.

Logs grow and new ones appear between the runs. Everything is imported once: each run is a fork, killed at a random moment.
"""

import json
import os
import random
import signal
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import ibis.backends.duckdb  # noqa: F401  (here, and not in every fork)
import pyarrow as pa  # noqa: F401

from workloads.load import LoadOptions
from workloads.stored.add import add
from workloads.stored.manifest import read_manifest
from workloads.stored.place import is_ledger
from workloads.stored.versions import version_of

NOW = datetime(2026, 7, 1, tzinfo=UTC)
LONGEST_SECONDS = 60.0


def line(name: str, number: int) -> str:
    usage = {"prompt_tokens": 10 + number, "completion_tokens": 5, "total_tokens": 15 + number}
    body = {"id": f"{name}-{number}", "object": "chat.completion", "model": "gpt-4o", "usage": usage}
    return json.dumps({"timestamp": f"2026-06-{1 + number % 5:02}T12:00:00Z", "response": body}) + "\n"


def grow(logs: Path, turn: int, chance: random.Random) -> None:
    """Add lines to one log that is there, and every third time a new log."""
    name = f"log{chance.randrange(4) if turn else 0}"
    for each in [name, f"new{turn}"] if turn % 3 == 0 else [name]:
        file = logs / f"{each}.jsonl"
        have = file.read_text().count("\n") if file.exists() else 0
        with file.open("a") as out:
            out.writelines(line(each, number) for number in range(have, have + chance.randrange(1, 30)))


def begin(logs: Path, ledger: Path) -> int:
    child = os.fork()
    if child == 0:
        try:
            add(ledger, [str(logs)], LoadOptions(), NOW)
        except BaseException as error:  # noqa: BLE001  (a fork must not go on as its parent)
            sys.stderr.write(f"{type(error).__name__}: {error}\n")
            os._exit(1)
        os._exit(0)
    return child


def finish(logs: Path, ledger: Path) -> float:
    began = time.monotonic()
    child = begin(logs, ledger)
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() - began > LONGEST_SECONDS:
            os.kill(child, signal.SIGKILL)
            raise SystemExit("an add hangs")
        time.sleep(0.005)
    return time.monotonic() - began


def main() -> None:
    logs, ledger, kills, seed = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    chance = random.Random(seed)  # noqa: S311
    grow(logs, 0, chance)
    version_of("openai")
    whole_seconds = finish(logs, ledger)
    generations = set()
    for turn in range(1, kills + 1):
        grow(logs, turn, chance)
        child = begin(logs, ledger)
        time.sleep(chance.random() * whole_seconds)
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        # However busy the machine is, most are killed on their way, and some get through.
        whole_seconds *= 1.1 if os.WIFSIGNALED(status) else 0.8
        if is_ledger(ledger):
            manifest = read_manifest(ledger)
            generations.add(manifest.generation)
            missing = [file.path for file in manifest.files if not (ledger / file.path).is_file()]
            if missing:
                raise SystemExit(f"after kill {turn}: {missing} missing")
    finish(logs, ledger)
    sys.stdout.write(str(len(generations)))


if __name__ == "__main__":
    main()
