"""Coverage-guided fuzzing of what meets strangers' bytes first: the detection of files, and price files.

``pip install atheris``, then ``python tests/fuzz/guided.py detection -max_total_time=300`` or ``... prices ...``; what
follows the name is libFuzzer's. Only what is no error of the tool's own stops it; the input is then left beside.
"""

import contextlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import atheris

sys.path[:0] = [str(Path(__file__).parents[2])]

with atheris.instrument_imports(include=["workloads", "pricing"]):
    from pricing.errors import PriceFileError
    from pricing.user_cards import parse_price_file
    from workloads.batches import ReadOptions
    from workloads.importers import importers
    from workloads.load import make_batches
    from workloads.sniff import inspect
    from workloads.sources import InputFile

_FOLDER = Path(tempfile.mkdtemp(prefix="guided-"))
_SUFFIXES = (".jsonl", ".json", ".csv", ".log", ".gz", ".parquet", ".zip")
_SYNTAXES = (".json", ".yaml", ".toml")


def detect(content: bytes) -> None:
    """Tell what a file is, and who would read it."""
    if not content:
        return
    path = _FOLDER / f"log{_SUFFIXES[content[0] % len(_SUFFIXES)]}"
    path.write_bytes(content[1:])
    looked = inspect("log", path)
    if isinstance(looked, InputFile):
        make_batches([looked], ReadOptions())


def price(content: bytes) -> None:
    """Read a price file."""
    if not content:
        return
    name = Path(f"cards{_SYNTAXES[content[0] % len(_SYNTAXES)]}")
    with contextlib.suppress(PriceFileError):
        parse_price_file(content[1:], name)


TARGETS: dict[str, Callable[[bytes], Any]] = {"detection": detect, "prices": price}


def main() -> None:
    """Run one target until its time is over or something breaks."""
    importers()
    name = sys.argv.pop(1)
    atheris.Setup(sys.argv, TARGETS[name])
    atheris.Fuzz()


main()
