"""Time the bare engine over a benchmark's file: ``python benchmarks/scan.py KIND PATH``; prints JSON.

It reads the columns of the file that an analysis reads (what tells repeats, tiers and endings among them), with a declared
schema of these alone, and adds up the tokens. Nothing that reads the file with this engine can be faster, so the ratio to it
tells what the rest of an analysis costs.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import duckdb

CLAUDE_CODE = """
WITH lines AS (
    SELECT * FROM read_json($path, format = 'newline_delimited', columns = {
        type: 'VARCHAR', timestamp: 'TIMESTAMP', "requestId": 'VARCHAR', uuid: 'VARCHAR', "isSidechain": 'BOOLEAN',
        "sessionId": 'VARCHAR', cwd: 'VARCHAR', message: 'STRUCT(id VARCHAR, model VARCHAR, stop_reason VARCHAR,
            usage STRUCT(input_tokens BIGINT, cache_creation_input_tokens BIGINT, cache_read_input_tokens BIGINT,
                cache_creation STRUCT(ephemeral_5m_input_tokens BIGINT, ephemeral_1h_input_tokens BIGINT),
                output_tokens BIGINT, service_tier VARCHAR))'})
    WHERE message.usage IS NOT NULL
), calls AS (
    SELECT max(message.usage.input_tokens) AS input, max(message.usage.cache_creation_input_tokens) AS written,
        max(message.usage.cache_read_input_tokens) AS kept, max(message.usage.output_tokens) AS output,
        max(message.usage.cache_creation.ephemeral_1h_input_tokens) AS hourly, min(timestamp) AS moment,
        min(message.model) AS model, max(message.stop_reason) AS stop, max(message.usage.service_tier) AS tier,
        max("sessionId") AS session, max(cwd) AS folder, max(type) AS type, max(uuid) AS line, bool_or("isSidechain") AS side
    FROM lines GROUP BY message.id, "requestId"
)
SELECT count(*), sum(input + written + kept), sum(output), sum(hourly), max(moment), max(model), max(stop), max(tier),
    max(session), max(folder), max(type), max(line), bool_or(side)
FROM calls
"""
CHAT = """
SELECT count(*), sum(usage.prompt_tokens), sum(usage.completion_tokens), sum(usage.total_tokens),
    sum(usage.prompt_tokens_details.cached_tokens), sum(usage.prompt_tokens_details.audio_tokens),
    sum(usage.completion_tokens_details.reasoning_tokens), sum(usage.completion_tokens_details.audio_tokens), max(created),
    max(model), max(id), max(object), max(service_tier), max(choices[1].finish_reason)
FROM read_json($path, format = 'newline_delimited', columns = {id: 'VARCHAR', object: 'VARCHAR', created: 'BIGINT',
    model: 'VARCHAR', service_tier: 'VARCHAR', choices: 'STRUCT(finish_reason VARCHAR)[]',
    usage: 'STRUCT(prompt_tokens BIGINT, completion_tokens BIGINT, total_tokens BIGINT,
        prompt_tokens_details STRUCT(cached_tokens BIGINT, audio_tokens BIGINT),
        completion_tokens_details STRUCT(reasoning_tokens BIGINT, audio_tokens BIGINT))'})
"""
CSV = """
SELECT count(*), sum(input_tokens), sum(output_tokens), sum(cached_input_tokens), max(timestamp), max(project), max(model)
FROM read_csv($path, header = true, columns = {timestamp: 'TIMESTAMPTZ', project: 'VARCHAR', model: 'VARCHAR',
    input_tokens: 'BIGINT', cached_input_tokens: 'BIGINT', output_tokens: 'BIGINT'})
"""
PARQUET = """
SELECT count(*), sum(input_tokens), sum(output_tokens), sum(cached_input_tokens), max(timestamp::TIMESTAMPTZ), max(project),
    max(model)
FROM read_parquet($path)
"""
QUERIES = {"parquet": PARQUET, "claude-code": CLAUDE_CODE, "chat": CHAT, "csv": CSV}


def main() -> int:
    """Print the seconds that the query took, and the requests and tokens that it saw."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kind", choices=sorted(QUERIES))
    parser.add_argument("path", type=Path)
    options = parser.parse_args()
    path = options.path / "**" / "*.jsonl" if options.path.is_dir() else options.path
    begin = time.perf_counter()
    row = duckdb.execute(QUERIES[options.kind], {"path": str(path)}).fetchone()
    seconds = time.perf_counter() - begin
    if row is None:
        print(f"{path}: the query gave no row", file=sys.stderr)
        return 1
    print(json.dumps({"seconds": seconds, "requests": row[0], "input": int(row[1]), "output": int(row[2])}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
