"""What a document keeps so that ``advisor render`` can make every other output from it, without the log."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class SavedPart(BaseModel):
    """The part of the document that is for this tool alone."""

    saved: dict[str, Any] | None = Field(
        default=None,
        description="The whole analysis as this version keeps it, for `advisor render`; its shape is no contract. null: "
        "saved by another way or an older version.",
    )

    model_config = ConfigDict(extra="forbid", frozen=True)
