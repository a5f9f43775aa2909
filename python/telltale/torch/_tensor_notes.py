"""Which memory is whose: noted while a program runs, by address alone."""

from __future__ import annotations


class TensorNotes:
    def start(self) -> None:
        pass

    def stop(self) -> None:
        pass
