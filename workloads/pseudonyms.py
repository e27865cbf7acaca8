"""Names of people and secrets in what a report shows: replaced by a keyed hash, the same on every run of one machine.

The key is ``ADVISOR_PSEUDONYM_KEY`` where it is set (a team that compares its reports shares one), else a random one
that is made at the first need and kept in the user's own configuration folder, readable by nobody else. Without the key
nobody can find a name by hashing a list of likely ones.
"""

import contextlib
import os
import secrets
from functools import cache
from pathlib import Path
from typing import Any, Final

import ibis

from workloads.expressions import FALSE

Expr = Any

VARIABLE: Final = "ADVISOR_PSEUDONYM_KEY"
_DIGITS: Final = 10
_SHORTEST_KEY: Final = 19
_E_MAIL: Final = r"^[^@\s]+@[^@\s]+\.[A-Za-z]{2,}$"
_OPENS_SOMETHING: Final = r"^(?:Bearer\s+)?(?:(?:sk|pk|rk|gsk|xai|key|api|pplx|hf|r8|ghp)[-_][A-Za-z0-9_.-]{16,}|AIza[A-Za-z0-9_-]{20,}|eyJ[A-Za-z0-9_.-]{20,})$"
"""What a key looks like that opens something; names and ids of keys are shorter, or have other shapes."""


def pseudonym(name: Expr, kind: str = "user") -> Expr:
    """Return what stands for a name: ``user-`` and ten digits of its keyed hash. Null stays null."""
    key = _key()
    # Hashed twice under the key, as HMAC does, with what every engine has.
    inner = (ibis.literal(f"{key}|token-cost-advisor|") + name).hexdigest("sha256")
    return f"{kind}-" + (ibis.literal(f"{key}|") + inner).hexdigest("sha256").substr(0, _DIGITS)


def discreet(label: Expr) -> Expr:
    """Return a label, with a pseudonym in the place of an e-mail address and of a secret key."""
    closer = ibis.cases(
        (label.re_search(_E_MAIL), pseudonym(label)),
        (label.re_search(_OPENS_SOMETHING), pseudonym(label, "key")),
        else_=label,
    )
    return ibis.cases((_deserves_a_look(label), closer), else_=label)


def names_somebody(label: Expr) -> Expr:
    """Return whether ``discreet`` would put a pseudonym in the place of a label."""
    secret = label.re_search(_E_MAIL) | label.re_search(_OPENS_SOMETHING)
    return ibis.cases((_deserves_a_look(label), secret), else_=FALSE)


def _deserves_a_look(label: Expr) -> Expr:
    """Said first for speed: hardly a label does."""
    return label.contains("@") | (label.length() >= _SHORTEST_KEY)


@cache
def _key() -> str:
    """Return the key: the one that was given, else the machine's own, else one for this run."""
    if given := os.environ.get(VARIABLE):
        return given
    made = secrets.token_hex(32)
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")  # noqa: PTH111  (Path's raises for users without a home)
    path = Path(home, "token-cost-advisor", "pseudonym.key")
    if not path.is_absolute():  # nobody's home is known
        return made
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w") as file:
            file.write(made)
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return path.read_text(encoding="utf-8").strip() or made
    return made
