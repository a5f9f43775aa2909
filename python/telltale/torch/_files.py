"""Where recordings stand until somebody saves them."""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any

_PREFIX, _UNLOCKED_PREFIX = "telltale-cycles-", "telltale-new-"


class RecordingFiles:
    """A folder of recordings that is removed with ``owner``, but not by a child that was forked from this process.

    The folder is locked. What a process leaves that is killed, the next one that records removes.
    """

    def __init__(self, owner: Any) -> None:
        _remove_abandoned()
        self.folder, lock = _locked_folder()
        self.paths: list[str] = []
        weakref.finalize(owner, _remove, self.folder, os.getpid(), lock)

    def next_path(self) -> str:
        self.paths.append(os.path.join(self.folder, f"cycle-{len(self.paths)}.tell"))
        return self.paths[-1]

    def forget(self, path: str) -> None:
        """Removes a recording that nobody can ask for any more."""
        if os.path.exists(path):
            os.unlink(path)


def save_recording(source: str, target: str | os.PathLike[str]) -> None:
    """Copies a recording to a file for this user alone, which bears its name once it is complete; what had that name
    before is replaced, a link, too."""
    folder, name = os.path.split(os.path.abspath(target))
    handle, unfinished = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
    try:
        with open(handle, "wb") as written, open(source, "rb") as read:
            shutil.copyfileobj(read, written)
        os.replace(unfinished, os.path.join(folder, name))
    except BaseException:
        os.unlink(unfinished)
        raise


def _locked_folder() -> tuple[str, int]:
    """A new folder, and what holds its lock until it is closed. Nobody looks for it before it is locked."""
    unlocked = tempfile.mkdtemp(prefix=_UNLOCKED_PREFIX)
    lock = os.open(unlocked, os.O_RDONLY | os.O_DIRECTORY)
    with contextlib.suppress(OSError):  # a file system without locks: then nobody looks for it at all
        fcntl.flock(lock, fcntl.LOCK_EX)
        locked = unlocked.replace(_UNLOCKED_PREFIX, _PREFIX)
        os.rename(unlocked, locked)
        return locked, lock
    return unlocked, lock


def _remove(folder: str, process: int, lock: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
    os.close(lock)


@functools.cache
def _remove_abandoned() -> None:
    """Folders of this user whose process is gone; once a process."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if folder.lstat().st_uid != os.getuid():
                continue
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)
