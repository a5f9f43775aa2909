"""Waits for the import of torch, in processes that `telltale record` started. See sitecustomize.py beside it."""

import os
import sys

TYPE_CHECKING = False  # what typing has, whose import would cost every process
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

    from telltale._inject.telltale_attachment import KINETO, RECORDING, TOLD, TORCH, Attachment
    from telltale._inject.telltale_say import say
    from telltale._inject.telltale_steps import StepTimer
else:
    from telltale_attachment import KINETO, RECORDING, TOLD, TORCH, Attachment
    from telltale_say import say
    from telltale_steps import StepTimer


def _attach_module(attachment: Attachment) -> "Any":
    """telltale's own half, from this interpreter's packages or else from where `telltale record` found it."""
    import importlib

    name = "telltale._capture.attach"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name != "telltale":
            raise
    sys.path.append(attachment.package)
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(attachment.package)


def _let_profiler_finish(attachment: Attachment) -> None:
    """Keeps a process that is about to end for as long as PyTorch's profiler needs to write what it has recorded.

    Its trace is complete after so many steps; those that do not come any more are counted here, empty as they are. A
    process that ends while it records crashes in it.
    """
    import time

    from torch.autograd import profiler

    tracker = getattr(profiler, "KinetoStepTracker", None)
    has_steps = tracker is not None and tracker.current_step() > 0
    if not attachment.has_mark(RECORDING) and not (has_steps and attachment.has_mark(TOLD)):
        return
    was_recording = False
    deadline = time.monotonic() + 3  # it says once a second that it records
    while attachment.has_mark(TOLD) and time.monotonic() < deadline:
        if attachment.has_mark(RECORDING) != was_recording:
            if was_recording:
                return
            was_recording = True
            deadline = time.monotonic() + 30
            say("waiting for PyTorch's profiler to write its trace …")
        for _ in range(1000 if has_steps else 0):
            profiler._kineto_step()
        time.sleep(0.1)


class TorchWatch:
    """A finder that finds nothing; it only sees the import of torch coming and stands around it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def find_spec(
        self, name: str, path: "Sequence[str] | None" = None, target: "ModuleType | None" = None
    ) -> "ModuleSpec | None":
        if name != "torch" or path is not None:
            return None
        for finder in list(sys.meta_path):
            look = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = look(name, path, target) if look and finder is not self else None
            if spec is None:
                continue
            if hasattr(spec.loader, "exec_module"):
                self._surround(spec.loader)
            return spec
        return None

    def _surround(self, loader: "Any") -> None:
        """The loader, should it be used and not only looked at, runs torch between our two calls."""
        execute = loader.exec_module

        def exec_module(module: "ModuleType") -> None:
            loader.__dict__.pop("exec_module", None)
            attachment, attach = self._before()
            execute(module)
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            self._after(attachment, attach)

        loader.exec_module = exec_module

    def _before(self) -> "tuple[Attachment, Any]":
        """Gets ready; where that fails, PyTorch's own profiler is told to ask `telltale record` what to do."""
        attachment = Attachment({})
        try:
            attachment = Attachment.from_text(self._text)
            attachment.set_mark(TORCH)
            if attachment.engine == "kineto":
                return attachment, None
            attach = _attach_module(attachment)
            if attach.before_torch(attachment.values):
                return attachment, attach
        except Exception as error:  # nothing of ours may break the user's program
            say(f"PyTorch's own profiler records instead, since telltale cannot record in this Python: {error}")
        os.environ["KINETO_USE_DAEMON"] = "1"
        attachment.set_mark(KINETO)
        return attachment, None

    @staticmethod
    def _after(attachment: Attachment, attach: "Any") -> None:
        try:
            if attach is not None:
                attach.after_torch(attachment.values)
            elif attachment.marks:
                import atexit

                timer = StepTimer(attachment)
                timer.start()
                atexit.register(_let_profiler_finish, attachment)
                atexit.register(timer.end)  # before that: the steps that are counted there are none
        except Exception as error:  # nothing of ours may break the user's program
            say(f"nothing is recorded in process {os.getpid()}: {error}")
