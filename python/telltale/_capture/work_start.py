"""When the work of a program begins, so that seconds of recording are seconds of work."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

PATIENCE_S = 10.0


def when_work_begins(act: Callable[[], None]) -> None:
    """Acts once: when a module is first called or, in a program that calls none, some seconds after this.

    What a program imports, loads and builds before it calls its model runs operators as well, but is no work yet.
    """
    from torch.nn.modules import module

    pending = [act]

    def begin(*_: Any) -> None:
        hook.remove()
        timer.cancel()
        with contextlib.suppress(IndexError):  # another thread was first
            pending.pop()()

    timer = threading.Timer(PATIENCE_S, begin)
    timer.daemon = True
    hook = module.register_module_forward_pre_hook(begin)
    timer.start()
