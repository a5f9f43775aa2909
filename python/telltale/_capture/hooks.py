"""What Python tells us while it runs, as scopes: calls of nn.Module, and garbage collections.

Time by layer is known without Python stacks thanks to the first. Only the forward hooks of all modules are used: what
runs backward is found through the forward operators it goes back to, and a backward hook would put operators of its own
into the user's graph.
"""

from __future__ import annotations

import gc
import warnings
from typing import Any

from telltale import _recorder
from telltale._capture.source import Wanted


class ModuleHooks:
    """Calls of modules, by torch's hooks: one scope each."""

    def __init__(self) -> None:
        self._hooks: list[Any] = []
        self._has_begun = False

    def start(self) -> None:
        if self._hooks:
            return
        import torch
        from torch.nn.modules import module

        is_compiling = getattr(torch.compiler, "is_compiling", None) or torch._utils.is_compiling  # before 2.3

        # A compiler that traces through these must find nothing that it cannot compile.
        def begin(called: Any, _inputs: Any) -> None:
            if not is_compiling():
                _recorder.begin_module(called)

        def end(called: Any, _inputs: Any, _outputs: Any) -> None:
            if not is_compiling():
                _recorder.end_module(called)

        # The compiler warns of hooks like ours, which the user knows nothing of.
        warnings.filterwarnings("ignore", message="Using `torch.compile.* when there are global hooks on modules")
        if not self._has_begun:
            _recorder.forget_modules()
        self._has_begun = True
        self._hooks = [
            module.register_module_forward_pre_hook(begin),
            module.register_module_forward_hook(end, always_call=True),
        ]

    def stop(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []


class ModuleWatch:
    """Calls of modules, where calls of Python functions do not show them."""

    stops_for_pauses = True

    def __init__(self) -> None:
        self._modules = ModuleHooks()

    def start(self, wanted: Wanted) -> None:
        if wanted.modules and not (wanted.stacks and _recorder.can_read_stacks()):
            self._modules.start()

    def stop(self) -> None:
        self._modules.stop()


def _on_collection(phase: str, info: dict[str, Any]) -> None:
    if phase == "start":
        _recorder.begin_scope(f"gc.collect (generation {info['generation']})", "python")
    else:
        _recorder.end_scope()


class CollectionWatch:
    """Garbage collections: one scope each."""

    stops_for_pauses = False

    def start(self, _wanted: Wanted) -> None:
        if _on_collection not in gc.callbacks:
            gc.callbacks.append(_on_collection)

    def stop(self) -> None:
        if _on_collection in gc.callbacks:
            gc.callbacks.remove(_on_collection)
