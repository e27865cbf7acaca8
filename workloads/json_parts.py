"""One importer's part in a plan: where its objects are in a record, and which of a record's fields are its own."""

from collections.abc import Iterable
from dataclasses import dataclass

from workloads.importers import Chain, JsonImporter
from workloads.schema import ITEM, Path, Schema, nest, widened


@dataclass(frozen=True, slots=True)
class Part:
    """One importer at one place of the record."""

    importer: JsonImporter
    path: Path
    wide: bool = False
    """Whether counts are read as 128-bit integers."""

    @property
    def declared(self) -> Schema:
        """The record as the importer declares it."""
        schema = nest(self.path, self.importer.core)
        return widened(schema) if self.wide else schema

    def places(self, chain: Chain) -> list[Path]:
        """Return where the part's object is, and the elements of each array of a chain."""
        places = [self.path]
        for path in chain:
            places.append((*places[-1], *path, ITEM))
        return places

    def own(self, place: Path, paths: Iterable[Path]) -> list[Path]:
        """Return those of some paths that begin with a place and lead into no array that is unfolded from there."""
        arrays = {inner for chain in self.importer.chains for inner in self.places(chain)}
        deeper = [inner for inner in arrays if len(inner) > len(place)]
        return [
            path[len(place) :]
            for path in paths
            if _within(path, place) and not any(_within(path, inner) for inner in deeper)
        ]


def _within(path: Path, place: Path) -> bool:
    return path[: len(place)] == place
