"""Write big synthetic usage logs, fast and the same for a seed: ``python benchmarks/generate.py KIND PATH``.

Kinds:
    claude-code: A folder ``projects/<project>/<session>.jsonl`` as the Claude Code client keeps it: user lines without
        usage, two or three lines for each answer (same message id, request id and input, growing output), prompt
        cache counts with their lifetimes, side chains. 1,000,000 lines are about 620 MB and 285,715 requests.
    chat: OpenAI chat completion objects, one a line. 2,000,000 lines are about 1 GB.
    csv: timestamp, project, model, input_tokens, cached_input_tokens, output_tokens. 10,000,000 rows are about
        820 MB. A path that ends in ``.parquet`` gets Parquet.

DuckDB makes the rows from their number and the seed alone, so they are made on all cores and in constant memory. Its
``hash`` may change between releases; the same release gives the same bytes.
"""

import argparse
import os
import random
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import duckdb

ROWS = {"claude-code": 1_000_000, "chat": 2_000_000, "csv": 10_000_000}
SEED = 7

WORDS = (
    "the file test returns a value when we read it and then change one line of that module so the check passes now"
    " with fewer branches before adding another case for empty input which failed on main after last merge"
)

CLAUDE_CODE = """
WITH lines AS (  -- two calls are seven lines: a question and two answer lines, a question and three
    SELECT range AS line, range % 7 AS place, 2 * (range // 7) + (place >= 3)::INT AS call, call // 100 AS session,
        call % 100 AS turn, CASE WHEN place >= 3 THEN place - 3 ELSE place END AS part, (place >= 3)::INT + 2 AS parts
    FROM range($first, $last)
), calls AS (
    SELECT *, dice(call, $seed) AS h, dice(line, $seed) AS l,
        15000 + 1100 * turn + dice(call, $seed) % 1000 AS context,
        CASE WHEN turn % 25 = 0 THEN 15000 ELSE 15000 + 1100 * (turn - 1) + dice(call - 1, $seed) % 1000 END AS kept,
        context - kept AS written, 50 + h % 1500 AS output,
        format('{:08x}-{:04x}-4000-8000-{:012x}', session, $seed % 65536, session * 7919) AS session_id,
        format('-home-dev-project-{:02d}', session % 40) AS project,
        ['claude-sonnet-4-5-20250929', 'claude-sonnet-4-5-20250929', 'claude-haiku-4-5-20251001',
         'claude-opus-4-1-20250805'][session % 4 + 1] AS model,
        TIMESTAMP '2026-09-01' + to_milliseconds((session * 2654435761) % 2400000000 + turn * 37000 + part * 900) AS moment
    FROM lines
), texts AS (
    SELECT calls.*, strftime(moment, '%Y-%m-%dT%H:%M:%S.%gZ') AS stamp, text, turn % 20 = 13 AS side
    FROM calls JOIN fillers ON fillers.id = l % 256
)
SELECT project, session_id, string_agg(CASE WHEN part = 0 THEN to_json({
    parentUuid: format('{:016x}', dice(line - 1, $seed)), isSidechain: side, cwd: format('/home/dev/project-{:02d}', session % 40),
    sessionId: session_id, version: '2.1.63', type: 'user',
    message: {role: 'user', content: left(text, 5 * $answer)}, uuid: format('{:016x}', l), timestamp: stamp})
ELSE to_json({
    parentUuid: format('{:016x}', dice(line - 1, $seed)), isSidechain: side, cwd: format('/home/dev/project-{:02d}', session % 40),
    sessionId: session_id, version: '2.1.63', type: 'assistant',
    message: {id: format('msg_{:016x}', h), type: 'message', role: 'assistant', model: model,
        content: [{type: 'text', text: left(text, $answer)}],
        stop_reason: CASE WHEN part = parts THEN 'end_turn' END,
        usage: {input_tokens: 3 + h % 9, cache_creation_input_tokens: written, cache_read_input_tokens: kept,
            cache_creation: {ephemeral_5m_input_tokens: CASE WHEN session % 4 = 0 THEN 0 ELSE written END,
                ephemeral_1h_input_tokens: CASE WHEN session % 4 = 0 THEN written ELSE 0 END},
            output_tokens: CASE WHEN part = parts THEN output ELSE 1 + output * part // (2 * parts) END,
            service_tier: 'standard'}},
    requestId: format('req_{:016x}', h), uuid: format('{:016x}', l), timestamp: stamp})
END::VARCHAR, chr(10) ORDER BY line) AS body
FROM texts GROUP BY ALL ORDER BY ALL
"""

CHAT = """
SELECT format('chatcmpl-{:016x}', dice(range, $seed)) AS id, 'chat.completion' AS object,
    1759276800 + range * 2592000 // $rows AS created,
    ['gpt-4o-mini-2024-07-18', 'gpt-4o-2024-08-06', 'gpt-4.1-2025-04-14', 'gpt-5-2025-08-07'][h % 4 + 1] AS model,
    [{index: 0, message: {role: 'assistant', content: left(text, 24)},
        finish_reason: 'stop'}] AS choices,
    {prompt_tokens: prompt, completion_tokens: output, total_tokens: prompt + output,
        prompt_tokens_details: {cached_tokens: CASE WHEN h % 3 = 0 THEN prompt // 128 * 128 ELSE 0 END,
            audio_tokens: 0},
        completion_tokens_details: {reasoning_tokens: CASE WHEN h % 4 = 3 THEN output // 2 ELSE 0 END,
            audio_tokens: 0, accepted_prediction_tokens: 0, rejected_prediction_tokens: 0}} AS usage,
    'default' AS service_tier
FROM (SELECT range, dice(range, $seed + 1) AS h, 200 + h % 6000 AS prompt, 10 + (h >> 16) % 900 AS output
      FROM range($rows)) JOIN fillers ON fillers.id = h % 256
"""

TABLE = """
SELECT strftime(TIMESTAMP '2026-09-01' + to_milliseconds(range * 2592000000 // $rows), '%Y-%m-%dT%H:%M:%S.%gZ')
        AS timestamp,
    format('team-{:02d}-project-{:03d}', h % 20, h % 200) AS project,
    ['gpt-4o-mini-2024-07-18', 'gpt-4o-2024-08-06', 'gpt-4.1-2025-04-14', 'claude-sonnet-4-5-20250929']
        [(h >> 8) % 4 + 1] AS model,
    200 + (h >> 16) % 60000 AS input_tokens,
    CASE WHEN h % 3 = 0 THEN input_tokens // 256 * 128 ELSE 0 END AS cached_input_tokens,
    10 + (h >> 40) % 9000 AS output_tokens
FROM (SELECT range, dice(range, $seed) AS h FROM range($rows))
"""


def engine(seed: int) -> duckdb.DuckDBPyConnection:
    """Open an engine that knows ``dice`` (a number from 0 to 2**63 - 1) and 256 texts of about 200 characters."""
    connection = duckdb.connect()
    rng = random.Random(seed)
    words = WORDS.split()
    texts = [(number, " ".join(rng.choices(words, k=40))) for number in range(256)]
    connection.execute("CREATE MACRO dice(number, seed) AS (hash(number, seed) >> 1)::BIGINT")
    connection.execute("CREATE TABLE fillers (id BIGINT, text VARCHAR)")
    connection.executemany("INSERT INTO fillers VALUES (?, ?)", texts)
    return connection


def claude_code(path: Path, rows: int, seed: int) -> None:
    """Write a folder of session files."""
    connection = engine(seed)
    block = 350 * 200  # 200 whole sessions at a time keep the memory flat
    for first in range(0, rows, block):
        values = {"first": first, "last": min(first + block, rows), "seed": seed, "answer": 32}
        for project, session, body in connection.execute(CLAUDE_CODE, values).fetchall():
            folder = path / "projects" / project
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{session}.jsonl").write_text(f"{body}\n", encoding="utf-8")


def chat(path: Path, rows: int, seed: int) -> None:
    """Write chat completion objects as JSON lines."""
    copy(path, CHAT, "FORMAT json", rows, seed)


def table(path: Path, rows: int, seed: int) -> None:
    """Write a flat table as CSV or, by the name's ending, Parquet."""
    copy(path, TABLE, "FORMAT parquet" if path.suffix == ".parquet" else "FORMAT csv, HEADER", rows, seed)


def copy(path: Path, query: str, options: str, rows: int, seed: int) -> None:
    """Let the engine write the query's rows; COPY takes no parameters, so they are written into it."""
    query = query.replace("$rows", str(rows)).replace("$seed", str(seed))
    path.parent.mkdir(parents=True, exist_ok=True)
    target = str(path).replace("'", "''")
    engine(seed).execute(f"COPY ({query}) TO '{target}' ({options})")


WRITERS: dict[str, Callable[[Path, int, int], None]] = {
    "claude-code": claude_code,
    "chat": chat,
    "csv": table,
}


def generate(kind: str, path: Path, *, rows: int, seed: int = SEED) -> Path:
    """Write one log, or leave the one that is there; a half-written log is never left under the name."""
    if path.exists():
        return path
    part = path.with_name(f"part-{os.getpid()}-{path.name}")
    try:
        WRITERS[kind](part, rows, seed)
        part.rename(path)
    finally:
        if part.is_dir():
            shutil.rmtree(part)
        part.unlink(missing_ok=True)
    return path


def main() -> int:
    """Write what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=sorted(WRITERS))
    parser.add_argument("path", type=Path)
    parser.add_argument("--rows", type=int, help="lines or rows; default as above")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    rows = ROWS[options.kind] if options.rows is None else options.rows
    if rows < 1:
        parser.error(f"--rows must be at least 1, not {rows}")
    begin = time.perf_counter()
    path = generate(options.kind, options.path, rows=rows, seed=options.seed)
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files)
    print(
        f"{path}: {rows:,} rows, {size / 1e6:,.0f} MB, {len(files):,} files, {time.perf_counter() - begin:.1f} s"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
