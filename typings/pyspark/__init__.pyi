# Comes with an extra: whoever checks the types need not have it.
from typing import Any

def __getattr__(name: str) -> Any: ...
