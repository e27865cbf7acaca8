"""A PostgreSQL server of the test's own: in a temporary folder, on a Unix socket, gone afterwards."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

USER = "postgres"


@dataclass(frozen=True)
class Server:
    """Where the server listens."""

    folder: Path

    @property
    def environment(self) -> dict[str, str]:
        """What libpq reads."""
        return {"PGHOST": str(self.folder), "PGUSER": USER}

    def run(self, sql: str, database: str = "postgres") -> None:
        """Run statements with the server's own client."""
        command = ["psql", "-q", "-v", "ON_ERROR_STOP=1", "-h", str(self.folder), "-U", USER, database]
        done = subprocess.run(command, input=sql, text=True, capture_output=True, check=False)
        assert not done.returncode, done.stderr


def _programs() -> Path:
    found = shutil.which("initdb")
    places = (
        [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    )
    for place in places:
        if (place / "initdb").exists():
            return place
    pytest.skip("no PostgreSQL server here (Debian: apt-get install postgresql)")


@contextmanager
def postgres_server() -> Iterator[Server]:
    """Start a server, or skip the test with the reason."""
    programs = _programs()
    as_user = _unprivileged()
    with tempfile.TemporaryDirectory(prefix="pg-", dir="/tmp") as name:  # a socket's path must be short
        folder = Path(name)
        if as_user:
            shutil.chown(folder, as_user, as_user)
        _run(
            [
                programs / "initdb",
                "-D",
                folder / "data",
                "-A",
                "trust",
                "-U",
                USER,
                "-E",
                "UTF8",
                "--locale",
                "C.UTF-8",
            ],
            as_user,
        )
        options = f"-k {folder} -h '' -c fsync=off -c synchronous_commit=off"
        control = [programs / "pg_ctl", "-D", folder / "data"]
        _run([*control, "-o", options, "-l", folder / "log", "-w", "start"], as_user)
        try:
            yield Server(folder)
        finally:
            _run([*control, "-m", "immediate", "stop"], as_user)


def _unprivileged() -> str | None:
    """The server refuses to run as root: Debian's package makes a user for it."""
    if os.geteuid():
        return None
    import pwd  # noqa: PLC0415

    if USER not in {entry.pw_name for entry in pwd.getpwall()}:
        pytest.skip(f"running as root, and there is no user {USER!r} to run the server as")
    return USER


def _run(command: Sequence[str | Path], user: str | None) -> None:
    done = subprocess.run(
        list(map(str, command)),
        user=user,
        cwd="/",
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        check=False,
        env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
    )
    assert not done.returncode, done.stdout.decode()
