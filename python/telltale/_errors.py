"""What goes wrong, as exceptions."""

from __future__ import annotations


class TelltaleError(Exception):
    """A file, a choice or a request that Telltale cannot work with; its text is a sentence that says why.

    ``path`` is the file it is about, or None.
    """

    def __init__(self, message: str, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path


TelltaleError.__module__ = "telltale"  # where users find it
