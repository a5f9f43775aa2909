"""Files for TensorBoard, HTA and Perfetto, one a cycle."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable
from typing import Any


def tensorboard_trace_handler(
    dir_name: str, worker_name: str | None = None, use_gzip: bool = False, use_python_export: bool = False
) -> Callable[[Any], None]:
    """Something for ``on_trace_ready`` that writes each cycle to ``dir_name/{worker}.{time}.pt.trace.json[.gz]``.

    The worker is ``{host}_{process}`` unless it is named. ``use_python_export`` is torch's and changes nothing here.
    """

    def write(profile: Any) -> None:
        try:
            os.makedirs(dir_name, exist_ok=True)
        except OSError as error:
            raise RuntimeError(f"Can't create directory: {dir_name}") from error
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        ending = ".pt.trace.json.gz" if use_gzip else ".pt.trace.json"
        profile.export_chrome_trace(os.path.join(dir_name, f"{worker}.{time.time_ns()}{ending}"))

    return write
