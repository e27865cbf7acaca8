"""Rows of a gateway's spend log in the columns of its real table, made by the engine: any number, always the same."""
# ruff: noqa: S608  (numbers and paths of our own)

from pathlib import Path
from typing import Any

DDL = """
CREATE TABLE "LiteLLM_SpendLogs" (
    "request_id" TEXT NOT NULL PRIMARY KEY, "call_type" TEXT NOT NULL, "api_key" TEXT NOT NULL DEFAULT '',
    "spend" DOUBLE PRECISION NOT NULL DEFAULT 0.0, "total_tokens" INTEGER NOT NULL DEFAULT 0,
    "prompt_tokens" INTEGER NOT NULL DEFAULT 0, "completion_tokens" INTEGER NOT NULL DEFAULT 0,
    "startTime" TIMESTAMP(3) NOT NULL, "endTime" TIMESTAMP(3) NOT NULL, "completionStartTime" TIMESTAMP(3),
    "model" TEXT NOT NULL DEFAULT '', "model_id" TEXT DEFAULT '', "model_group" TEXT DEFAULT '',
    "custom_llm_provider" TEXT DEFAULT '', "api_base" TEXT DEFAULT '', "user" TEXT DEFAULT '',
    "metadata" JSONB DEFAULT '{}', "cache_hit" TEXT DEFAULT '', "cache_key" TEXT DEFAULT '',
    "request_tags" JSONB DEFAULT '[]', "team_id" TEXT, "organization_id" TEXT, "end_user" TEXT,
    "requester_ip_address" TEXT, "messages" JSONB DEFAULT '{}', "response" JSONB DEFAULT '{}',
    "session_id" TEXT, "status" TEXT, "mcp_namespaced_tool_name" TEXT, "proxy_server_request" JSONB DEFAULT '{}'
)"""
"""The table as the gateway's own migrations make it."""

_ROWS = """
WITH numbers AS (
    SELECT i, hash(i) AS a, hash(i + 1000000007) AS b, hash(i * 31 + 7) AS c FROM range({rows}) t(i)
), drawn AS (
    SELECT *,
        CAST(exp(4 + 6 * ((a % 10000) / 10000.0)) AS INTEGER) AS prompt,
        CAST(exp(2 + 5 * ((b % 10000) / 10000.0)) AS INTEGER) AS answer,
        TIMESTAMP '2026-06-01 00:00:00' + to_milliseconds(CAST(i * (2592000000.0 / {rows}) AS BIGINT)) AS began,
        a % 97 = 0 AS failed, a % 89 = 1 AS own_cache, b % 5 < 3 AS anthropic, c % 3 = 0 AS cached, c % 41 = 0 AS odd
    FROM numbers
), sized AS (
    SELECT *, CASE WHEN cached THEN CAST(prompt * 0.8 AS INTEGER) ELSE 0 END AS reads,
        CASE WHEN cached AND c % 7 = 0 THEN CAST(prompt * 0.1 AS INTEGER) ELSE 0 END AS writes FROM drawn
)
SELECT
    'req-' || i || CASE WHEN own_cache THEN '_cache_hit' || i ELSE '' END AS request_id,
    CASE WHEN odd THEN 'anthropic_messages' ELSE 'acompletion' END AS call_type,
    'hash-' || (b % 40) AS api_key,
    CASE WHEN failed THEN 0.0 ELSE (prompt * 3 + answer * 15) / 1000000.0 END AS spend,
    CASE WHEN failed THEN 0 ELSE prompt + answer END AS total_tokens,
    CASE WHEN failed AND c % 2 = 0 THEN 0 WHEN odd THEN prompt - reads ELSE prompt END AS prompt_tokens,
    CASE WHEN failed THEN 0 WHEN i % 100003 = 5 THEN -2 ELSE answer END AS completion_tokens,
    began AS "startTime",
    began + to_milliseconds(CAST(300 + answer * 11 + prompt // 20 AS BIGINT)) AS "endTime",
    CASE WHEN c % 4 = 0 THEN NULL ELSE began + to_milliseconds(CAST(200 + prompt // 20 AS BIGINT)) END AS "completionStartTime",
    CASE WHEN anthropic THEN 'anthropic/claude-sonnet-4-5' WHEN b % 5 = 3 THEN 'gpt-4o' ELSE 'gpt-4o-mini' END AS model,
    CASE WHEN anthropic THEN 'sonnet' ELSE '' END AS model_group,
    CASE WHEN anthropic THEN 'anthropic' ELSE 'openai' END AS custom_llm_provider,
    CASE WHEN c % 6 = 0 THEN '' ELSE 'user-' || (c % 500) END AS "user",
    CASE
        WHEN failed THEN '{{"error_information": {{"error_code": "' || CASE WHEN b % 2 = 0 THEN '429' ELSE '504' END || '"}}}}'
        WHEN c % 11 = 0 THEN '{{}}'
        WHEN anthropic THEN '{{"additional_usage_values": {{"cache_read_input_tokens": ' || reads
            || ', "cache_creation_input_tokens": ' || writes
            || CASE WHEN writes > 0 AND c % 2 = 0 THEN ', "cache_creation": {{"ephemeral_1h_input_tokens": ' || (writes // 2) || '}}' ELSE '' END
            || '}}, "user_api_key_team_alias": "team-' || (b % 7) || '", "user_api_key_alias": "key ' || (b % 40) || '"}}'
        ELSE '{{"usage_object": {{"prompt_tokens_details": {{"cached_tokens": ' || reads
            || '}}, "completion_tokens_details": {{"reasoning_tokens": ' || (answer // 3)
            || '}}}}, "user_api_key_team_alias": "team-' || (b % 7) || '"}}'
    END AS metadata,
    CASE WHEN own_cache THEN 'True' WHEN failed THEN 'None' ELSE 'False' END AS cache_hit,
    '["prod"]' AS request_tags,
    CASE WHEN b % 3 = 0 THEN NULL ELSE 'team-' || (b % 7) END AS team_id,
    CASE WHEN c % 10 = 0 THEN 'customer-' || (c % 90) END AS end_user,
    'session-' || (i // 20) AS session_id,
    CASE WHEN failed THEN 'failure' ELSE 'success' END AS status
FROM sized ORDER BY i
"""


def write(connection: Any, folder: Path, rows: int) -> tuple[Path, Path]:
    """Write so many rows as Parquet, and as CSV with a header for a server to copy; return both files."""
    query = _ROWS.format(rows=rows)
    parquet, csv = folder / "spend.parquet", folder / "spend.csv"
    connection.raw_sql(f"COPY ({query}) TO '{parquet}' (FORMAT parquet)")
    connection.raw_sql(f"COPY (SELECT * FROM '{parquet}') TO '{csv}' (FORMAT csv, HEADER)")
    return parquet, csv
