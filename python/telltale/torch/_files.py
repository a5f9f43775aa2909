"""Where recordings stand until somebody saves them."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from typing import Any


class RecordingFiles:
    """A folder of recordings that is removed with ``owner``, but not by a child that was forked from this process."""

    def __init__(self, owner: Any) -> None:
        self.folder = tempfile.mkdtemp(prefix="telltale-")
        self.paths: list[str] = []
        weakref.finalize(owner, _remove, self.folder, os.getpid())

    def next_path(self) -> str:
        self.paths.append(os.path.join(self.folder, f"cycle-{len(self.paths)}.tell"))
        return self.paths[-1]

    def forget(self, path: str) -> None:
        """Removes a recording that nobody can ask for any more."""
        if os.path.exists(path):
            os.unlink(path)


def _remove(folder: str, process: int) -> None:
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)
