"""Words for the user, on standard error: standard output is the program's own."""

from __future__ import annotations

import contextlib
import sys

_said: set[str] = set()


def say(words: str) -> None:
    """One line. A program may have closed its standard error; that is no reason to disturb it."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(f"telltale: {words}", file=sys.stderr, flush=True)


def say_once(words: str) -> None:
    """Not again in this process."""
    if words not in _said:
        _said.add(words)
        say(words)
