"""Time the bare engine over a benchmark's file: ``python benchmarks/scan.py KIND PATH``; prints JSON.

It reads the columns that an analysis needs, with a declared schema, and adds up the tokens. Nothing that reads the
file with this engine can be faster, so the ratio to it tells what the rest of an analysis costs.
"""

import argparse
import json
import sys
import time
from pathlib import Path

import duckdb

CLAUDE_CODE = """
WITH lines AS (
    SELECT message.id AS id, "requestId" AS request, message.usage AS usage, message.model AS model, timestamp
    FROM read_json($path, format = 'newline_delimited', columns = {
        timestamp: 'TIMESTAMP', "requestId": 'VARCHAR', "isSidechain": 'BOOLEAN', "sessionId": 'VARCHAR',
        message: 'STRUCT(id VARCHAR, model VARCHAR, usage STRUCT(input_tokens BIGINT,
            cache_creation_input_tokens BIGINT, cache_read_input_tokens BIGINT, output_tokens BIGINT))'})
    WHERE message.usage IS NOT NULL
), calls AS (
    SELECT max(usage.input_tokens) AS input, max(usage.cache_creation_input_tokens) AS written,
        max(usage.cache_read_input_tokens) AS kept, max(usage.output_tokens) AS output,
        min(timestamp) AS moment, min(model) AS model
    FROM lines GROUP BY id, request
)
SELECT count(*), sum(input + written + kept), sum(output), max(moment), max(model) FROM calls
"""
CHAT = """
SELECT count(*), sum(usage.prompt_tokens), sum(usage.completion_tokens), sum(usage.prompt_tokens_details.cached_tokens),
    sum(usage.completion_tokens_details.reasoning_tokens), max(created), max(model)
FROM read_json($path, format = 'newline_delimited', columns = {created: 'BIGINT', model: 'VARCHAR',
    usage: 'STRUCT(prompt_tokens BIGINT, completion_tokens BIGINT, prompt_tokens_details STRUCT(cached_tokens BIGINT),
        completion_tokens_details STRUCT(reasoning_tokens BIGINT))'})
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
