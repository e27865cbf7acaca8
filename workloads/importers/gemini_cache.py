"""Gemini: the life of explicit caches, as an application logged what it did to ``cachedContents``.

Where it comes from: bodies of ``cachedContents`` calls (create, patch, delete) beside the responses of a log, with the
keys of the API (camelCase) or of the Python SDK (snake_case).

One row is: the making of a cache, which becomes a record with the token-hours for which it was kept, and no request.
Its change or end is ignored as a row and decides how long that was.

Token fields: ``totalTokenCount`` is the size of the cache. It was kept until it was deleted, or else until it expired:
at ``expireTime``, else ``ttl`` after the row that says so, the latest of which counts. A cache without either has the
default lifetime of one hour, and says so. Token-hours are rounded to whole ones.

Time zone: UTC.

What it cannot tell: whether a cache that the log does not delete was deleted by somebody else; the tokens of its
making, which the response that made it reports.
"""

from collections.abc import Mapping
from typing import Any, Final

import ibis

from pricing.units import SECONDS_PER_HOUR
from workloads.expressions import NO_TEXT, is_true
from workloads.importers import Columns, Importer, JsonImporter
from workloads.ledger import IGNORED, RECORD, SKIPPED
from workloads.raw import Envelope, Node
from workloads.schema import Schema
from workloads.times import parse_instant, seconds_between

CACHES: Final = "cachedContents/"
"""What the name of an explicit cache begins with."""
LIFETIME_ASSUMED: Final = "cache_lifetime_assumed"
"""Problem of a cache that the log neither ends nor gives a lifetime."""

_BIG: Final = "BIGINT"
_TIMES: Final = ("timestamp", "time", "createTime", "create_time", "updateTime", "update_time")
_EXPIRES: Final = ("expireTime", "expire_time")
_MODEL: Final = ("model", "modelVersion", "model_version")
_CORE: Final[Schema] = {
    "name": "VARCHAR",
    "event": "VARCHAR",
    "ttl": "VARCHAR",
    **dict.fromkeys((*_TIMES, *_EXPIRES, *_MODEL), "VARCHAR"),
    "usageMetadata": {"totalTokenCount": _BIG},
    "usage_metadata": {"total_token_count": _BIG},
}


class GeminiCache(JsonImporter):
    """Events of explicit caches."""

    name = "gemini-cache"
    title = "Gemini explicit caches: made, changed and deleted (cachedContents)"
    core = _CORE

    def claims(self, obj: Mapping[str, Any]) -> bool:
        """Return whether the object is about a cache."""
        return str(obj.get("name", "")).startswith(CACHES)

    def owns(self, node: Node) -> Any:
        """See ``JsonImporter.owns``."""
        return is_true(node.get("name").startswith(CACHES))

    def steps(self, node: Node) -> Columns:
        """See ``JsonImporter.steps``."""
        if not node.has_step("cache"):
            at = parse_instant(_first(node, _TIMES))
            # A lifetime is a number of seconds and an s.
            ttl = node.get("ttl").re_replace("s$", "").try_cast("float64")
            expires = ibis.coalesce(
                parse_instant(_first(node, _EXPIRES)), at + ttl.cast("int64").as_interval("s")
            )
            deleted = ibis.cases((is_true(node.get("event").lower().contains("delete")), at))
            return {"cache": ibis.struct({"at": at, "expires": expires, "deleted": deleted})}
        cache, same = node.step("cache"), ibis.window(group_by=node.get("name"))
        if not node.has_step("cache_last"):
            told = ibis.cases((cache["expires"].notnull(), cache["at"]))
            return {"cache_last": told.max().over(same)}
        expires = ibis.cases((cache["at"] == node.step("cache_last"), cache["expires"]))
        return {"cache_end": ibis.least(cache["deleted"].min().over(same), expires.max().over(same))}

    def ledger(self, node: Node, envelope: Envelope) -> Columns:
        """See ``JsonImporter.ledger``."""
        tokens = ibis.coalesce(
            node.get("usageMetadata", "totalTokenCount"), node.get("usage_metadata", "total_token_count")
        )
        cache, end = node.step("cache"), node.step("cache_end")
        seconds = ibis.cases(
            (end.isnull(), ibis.literal(float(SECONDS_PER_HOUR))), else_=seconds_between(cache["at"], end)
        )
        made = is_true(tokens > 0)
        lost = made & (cache["at"].isnull() | seconds.isnull())
        hours = (tokens.cast("float64") * seconds / SECONDS_PER_HOUR).round().cast("int64")
        return {
            "fate": ibis.cases((lost, SKIPPED), (made, RECORD), else_=IGNORED),
            "reason": ibis.cases(
                (lost, "an explicit cache without the time of its making, or that ends before it"),
                (made, NO_TEXT),
                else_="change or end of an explicit cache, without usage",
            ),
            "problem": ibis.cases((made & end.isnull(), LIFETIME_ASSUMED), else_=NO_TEXT),
            **envelope.labels(),
            "started_at": cache["at"],
            "provider": ibis.coalesce(envelope.get("provider"), "google"),
            "model": ibis.coalesce(_first(node, _MODEL), envelope.get("model")),
            "requests": ibis.literal(0, type="int64"),
            "cache_storage_token_hours": ibis.cases((made, hours)),
        }


def _first(node: Node, names: tuple[str, ...]) -> Any:
    return ibis.coalesce(*[node.get(name) for name in names])


IMPORTERS: Final[tuple[Importer, ...]] = (GeminiCache(),)
