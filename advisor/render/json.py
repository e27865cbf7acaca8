"""The JSON document as text."""

import json

from advisor.analysis import Analysis
from advisor.document import document_of
from advisor.document_model import Document
from advisor.saved import kept


def render_json(analysis: Analysis) -> str:
    """Return the document, indented, ending in a newline; what is kept for ``advisor render`` is one line, the last."""
    text = document_of(analysis).model_dump_json(indent=1, by_alias=True, exclude={"saved"})
    saved = json.dumps(kept(analysis), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return f'{text.removesuffix("}").rstrip()},\n "saved": {saved}\n}}\n'


def schema_json() -> str:
    """Return the JSON Schema of the document."""
    return json.dumps(Document.model_json_schema(by_alias=True), indent=1, sort_keys=True) + "\n"
