"""Work that is done once, in a thread of its own, while the engine reads."""

import contextlib
from collections.abc import Callable
from threading import Thread


def beside(work: Callable[[], None]) -> Callable[[], None]:
    """Return what starts some work, once, in a thread of its own."""

    def try_it() -> None:
        with contextlib.suppress(Exception):  # whoever needs the work done meets the same error, in the open
            work()

    thread = Thread(target=try_it, daemon=True)
    return lambda: None if thread.ident else thread.start()
