"""How `telltale record` and the Python processes that it records talk to each other: the side of the process.

The other side has the same names, and tells how it goes: src/capture/run/attachment.h. In short, the process finds what
it is to do as JSON in TELLTALE_ATTACH, and both leave marks, files called <mark>_<pid>, in a folder.
"""

import os

TYPE_CHECKING = False  # what typing has, whose import would cost every process
if TYPE_CHECKING:
    from typing import Any

VARIABLE = "TELLTALE_ATTACH"

# Marks that the process sets …
TORCH = "torch"  # it is about to import torch
STEPS = "steps"  # what steps took in it, as JSON; see telltale_steps.py
WORKER = "worker"  # what a loader's worker spends its time on, as JSON, for its parent; see _capture/loader_work.py
KINETO = "kineto"  # our adapter does not work in it, so that PyTorch's profiler will ask what to record
# … and that the command sets.
TOLD = "told"  # PyTorch's profiler was asked for a trace, which is not there yet
RECORDING = "recording"  # PyTorch's profiler is busy with it


class Attachment:
    """What a process is told. What is missing is as if it had not been asked for."""

    def __init__(self, values: "dict[str, Any]") -> None:
        self.values = values
        self.engine = str(values.get("engine") or "telltale")
        self.path = str(values.get("path") or "")
        self.package = str(values.get("package") or "")
        self.marks = str(values.get("marks") or "")
        self.schedule = values.get("schedule")  # type: dict[str, int] | None
        self.seconds = values.get("seconds")  # type: float | None
        self.shapes = bool(values.get("shapes"))
        self.stacks = bool(values.get("stacks"))
        self.memory = bool(values.get("memory"))
        self.referrers = bool(values.get("referrers"))
        self.api = bool(values.get("api"))
        self.memory_limit = values.get("memory_limit")  # type: int | None
        self.pauses = bool(values.get("pauses"))
        self.native = bool(values.get("native"))
        self.warmup = int(values.get("warmup") or 0)

    @staticmethod
    def from_text(text: str) -> "Attachment":
        import json

        return Attachment(json.loads(text))

    def set_mark(self, mark: str) -> None:
        """With the rank of this process in it; forked children leave their own."""
        self.write_mark(mark, os.environ.get("RANK", ""))

    def write_mark(self, mark: str, text: str) -> None:
        """With a text in it, all at once."""
        if not self.marks:
            return
        path = self._path_of(mark)
        try:
            with open(f"{path}.new", "w", encoding="utf-8") as file:
                file.write(text)
            os.replace(f"{path}.new", path)
        except OSError:
            pass

    def has_mark(self, mark: str) -> bool:
        return bool(self.marks) and os.path.exists(self._path_of(mark))

    def _path_of(self, mark: str) -> str:
        return os.path.join(self.marks, f"{mark}_{os.getpid()}")
