"""The page of a trace: ``telltale view``, started from Python."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING

from telltale._command import PROGRAM
from telltale._errors import TelltaleError

if TYPE_CHECKING:
    from telltale._trace import Trace


class Page:
    """A page that is served until :meth:`close`, the end of a ``with`` block, or that of this process.

    ``url`` is its address, for a browser of this machine.
    """

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self._process = process
        self.url = url

    def close(self) -> None:
        """Ends the server. A page that is still open says so."""
        self._process.terminate()
        self._process.communicate()  # closes its streams, and waits

    @property
    def is_served(self) -> bool:
        """Whether the server still runs: ``idle`` may have ended it, or a file that turned out to be no trace."""
        return self._process.poll() is None

    def __enter__(self) -> Page:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<telltale.Page {self.url!r}>" if self.is_served else "<telltale.Page, ended>"


def view(
    trace: Trace | str | os.PathLike[str],
    *,
    port: int = 0,
    browser: bool = True,
    follow: bool = False,
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] = (),
    idle: float | None = None,
) -> Page:
    """Opens the page of a trace, as ``telltale view`` does, and returns at once.

    :param trace: a file, or what :func:`load` made of one; it is read again, by a process of its own.
    :param port: where to listen; 0 is any port that is free.
    :param browser: open a browser where there is a display; else print or pass on ``url``.
    :param follow: read the file again while it grows, until its recording has ended.
    :param source: folders whose source files may be shown.
    :param idle: end after so many minutes in which nobody looked.
    """
    path = os.fspath(trace) if isinstance(trace, str | os.PathLike) else trace.path
    folders = [source] if isinstance(source, str | os.PathLike) else source
    words = ["view", path, "--until-eof", f"--port={port}", *(f"--source={os.fspath(folder)}" for folder in folders)]
    words += ["--no-browser"] * (not browser) + ["--follow"] * follow + ([] if idle is None else [f"--idle={idle}"])
    try:
        process = subprocess.Popen(
            [PROGRAM, *words],
            stdin=subprocess.PIPE,  # closed when this process ends, however it does
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,  # Ctrl-C in an interactive Python is not meant for it
        )
    except OSError as error:
        raise TelltaleError(f"cannot run {PROGRAM}: {error.strerror}", str(PROGRAM)) from error
    assert process.stdout is not None
    url = process.stdout.readline().rstrip("\n")
    if not url:
        _, sentence = process.communicate()
        raise TelltaleError(sentence.removeprefix("telltale: ").rstrip("\n"), path)
    return Page(process, url)


Page.__module__ = view.__module__ = "telltale"  # where users find them
