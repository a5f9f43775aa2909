"""Words for the user, on standard error: standard output is the program's own."""

import sys

_said = set()  # type: set[str]


def say(sentence: str) -> None:
    """One line. A program may have closed its standard error; that is no reason to disturb it."""
    try:
        sys.stderr.write(f"telltale: {sentence}\n")
        sys.stderr.flush()
    except Exception:
        pass


def say_once(sentence: str) -> None:
    """Not again in this process."""
    if sentence not in _said:
        _said.add(sentence)
        say(sentence)
