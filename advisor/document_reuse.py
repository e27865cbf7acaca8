"""Reuse in the document: what caches would have read of a workload's prompts."""

from pydantic import BaseModel, ConfigDict, Field

from advisor.cache_reuse import UNLIMITED, WorkloadReuse


class CurvePointDoc(BaseModel):
    """What a cache of some lifetime would have read."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lifetime_seconds: float | None = Field(
        description="From the last use of an entry; null: for all of the log."
    )
    hit_ratio: float


class ReuseDoc(BaseModel):
    """What the log's own prompts and arrivals would have read from caches."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    known_by: str = Field(description="blocks, prefixes, texts or sessions: what tells prompts apart.")
    requests: int
    text_tokens: int
    achievable_ratio: float | None = Field(
        description="With the lifetimes that cost least; null: no cache of its models is known."
    )
    lifetimes: list[str] = Field(description="Those; empty: none pays, or none is known.")
    curve: list[CurvePointDoc]


def reuse_doc(found: WorkloadReuse | None) -> ReuseDoc | None:
    """Return the document of a workload's reuse."""
    if found is None:
        return None
    return ReuseDoc(
        known_by=str(found.known_by),
        requests=found.requests,
        text_tokens=found.text_tokens,
        achievable_ratio=found.achievable_ratio,
        lifetimes=list(found.lifetimes),
        curve=[
            CurvePointDoc(
                lifetime_seconds=None if point.lifetime_seconds == UNLIMITED else point.lifetime_seconds,
                hit_ratio=point.hit_ratio,
            )
            for point in found.curve
        ],
    )
