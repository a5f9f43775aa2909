"""Which optimizer takes a step: torch's annotations name its class, and programs have several of one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from telltale._capture.adapter import Adapter, load_adapter
from telltale._capture.compiling import is_compiling
from telltale._capture.source import Wanted


class OptimizerWatch:
    """Tells the adapter, so that a step ends with one of them only. It counts while nothing is recorded as well."""

    stops_for_pauses = False

    def __init__(self) -> None:
        self._hook: Any = None
        self.on_step: Callable[[], None] = lambda: None

    def start(self, wanted: Wanted) -> None:
        if not wanted.find_steps or self._hook is not None:
            return
        from torch.optim import optimizer

        adapter: Adapter = load_adapter()

        def tell(taking: Any, *_: Any) -> None:
            if not is_compiling():
                adapter.optimizer_steps(id(taking))
                self.on_step()

        self._hook = optimizer.register_optimizer_step_pre_hook(tell)

    def stop(self) -> None:
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
