"""Recording a program that knows nothing of it: what ``telltale record`` brings into the processes it starts.

``before_torch`` runs when a process is about to import torch, ``after_torch`` once it has. Both get the members of an
``Attachment``, as they came.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import multiprocessing.util
import os
import threading
from typing import Any, NoReturn

from telltale._inject.telltale_attachment import Attachment
from telltale._inject.telltale_say import say

_recording: Any = None


def before_torch(values: dict[str, Any]) -> bool:
    """Whether we can record here; compiles the adapter where that has not been done yet, and says why we cannot."""
    try:
        from telltale._capture.adapter import AdapterUnavailable, build_adapter
        from telltale._capture.devices import DevicesUnavailable, has_gpu, load_devices
        from telltale._capture.torch_place import find_torch
    except ImportError as error:
        say(f"the recorder does not load into this Python ({error}); PyTorch's own profiler records instead")
        return False
    try:
        build_adapter()
    except AdapterUnavailable as reason:
        say(f"our adapter cannot be used: {reason}; PyTorch's own profiler records instead")
        return False
    torch = find_torch()
    if Attachment(values).engine == "auto" and torch is not None and torch.has_cuda() and has_gpu():
        try:
            load_devices().check_cuda()
        except DevicesUnavailable as reason:
            say(f"we cannot record the GPU: {reason}; PyTorch's own profiler records instead")
            return False
    return True


def after_torch(values: dict[str, Any]) -> None:
    """Starts the recording."""
    global _recording
    from telltale import _recorder
    from telltale._capture.recording import Recording
    from telltale._capture.source import Wanted
    from telltale._capture.work_start import when_work_begins

    told = Attachment(values)
    samples = not told.stacks and _recorder.can_read_stacks()
    wanted = Wanted(
        shapes=told.shapes,
        memory=told.memory,
        referrers=told.referrers,
        stacks=told.stacks,
        samples=samples,
        modules=not samples,
        load=True,
        cuda=True,
        cuda_calls="all" if told.api else "chosen",
        find_steps=True,
        marks=told.marks,
    )
    recording = Recording(
        told.path,
        wanted,
        schedule=told.schedule,
        memory_limit=told.memory_limit or 0,
        own_file_after_fork=True,
        # What is allocated in a pause may be freed behind it; and who asks for some seconds gets all of them.
        pauses=told.pauses and not told.memory and not told.seconds,
    )
    if not any((told.schedule or {}).get(name) for name in ("skip_first", "wait", "warmup")):
        # What precedes the first step is recorded, and the first ones warm up: the analysis takes that into account.
        _recorder.metadata("telltale_from_start", "true")
    _end_injected()
    try:
        recording.start()
    except Exception as error:  # the user's program goes on, whatever happens to us
        say(f"nothing is recorded in this process: {error}")
        return
    _recording = recording
    atexit.register(_stop)
    _stop_at_hasty_exit()
    # Children that multiprocessing forks leave without a word to atexit, but not without one to multiprocessing.
    multiprocessing.util.register_after_fork(recording, _stop_with_child)
    if told.seconds:
        seconds = told.seconds
        when_work_begins(lambda: _stop_after(seconds))


def _end_injected() -> None:
    """Who used CUDA before torch was imported is recorded since then as a program without torch: no longer."""
    from telltale._capture.devices import DevicesUnavailable, load_devices

    with contextlib.suppress(DevicesUnavailable):
        load_devices().stop_injected()


def _stop_after(seconds: float) -> None:
    timer = threading.Timer(seconds, _stop)
    timer.daemon = True
    timer.start()


def _stop_with_child(_: Any) -> None:
    multiprocessing.util.Finalize(None, _stop, exitpriority=0)


def _stop_at_hasty_exit() -> None:
    """``os._exit()`` says nothing to atexit; what was recorded last would be lost with it."""
    leave = os._exit

    @functools.wraps(leave)
    def leaving(*arguments: Any, **named: Any) -> NoReturn:
        _stop()
        leave(*arguments, **named)

    os._exit = leaving


def _stop() -> None:
    global _recording
    recording, _recording = _recording, None
    if recording is None:
        return
    try:
        recording.stop()
    except Exception as error:
        say(f"the recording could not be ended: {error}")
