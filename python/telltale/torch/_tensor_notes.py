"""Whose memory is whose: what a program's modules and optimizers hold, noted while it runs, by address alone.

No tensor is kept alive and none is read but for where its storage is and how large. The numbers of categories are those
of the columns of torch's memory timeline.
"""

from __future__ import annotations

import threading
import time
from array import array
from typing import Any
from weakref import WeakSet

import torch
from torch.nn.modules import module as all_modules
from torch.optim import optimizer as all_optimizers

from telltale._capture.compiling import is_compiling

PARAMETER, OPTIMIZER_STATE, INPUT, GRADIENT = 0, 1, 2, 5
HOST = -1
_NUMBERS_EACH = 5  # when, on which device, where, how many bytes, what for
_MOST = 1_000_000  # so that a long recording stays small: 40 MB


class TensorNotes:
    """From start() to stop()."""

    def __init__(self) -> None:
        self.numbers = array("q")
        self._known: set[tuple[int, int]] = set()  # addresses of what seldom moves, by category
        self._modules: WeakSet[Any] = WeakSet()
        self._optimizers: WeakSet[Any] = WeakSet()
        self._calls = threading.local()
        self._hooks: list[Any] = []

    def start(self) -> None:
        self._hooks = [
            all_modules.register_module_forward_pre_hook(self._on_call),
            all_modules.register_module_forward_hook(self._on_return, always_call=True),
            all_optimizers.register_optimizer_step_pre_hook(self._on_step),
            all_optimizers.register_optimizer_step_post_hook(self._on_step),
        ]

    def stop(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks = []
        for module in list(self._modules):
            self._note_parameters(module.parameters(recurse=False))
        for optimizer in list(self._optimizers):
            self._note_optimizer(optimizer)

    def to_bytes(self) -> bytes:
        return self.numbers.tobytes()

    # ---- What torch calls ----

    def _on_call(self, module: Any, inputs: tuple[Any, ...]) -> None:
        if is_compiling():
            return
        depth = getattr(self._calls, "depth", 0)
        self._calls.depth = depth + 1
        if depth == 0:
            for each in inputs:
                self._note(each, INPUT)
        if module not in self._modules:
            self._modules.add(module)
            self._note_parameters(module.parameters(recurse=False))

    def _on_return(self, _module: Any, _inputs: Any, _outputs: Any) -> None:
        if not is_compiling():
            self._calls.depth = max(0, getattr(self._calls, "depth", 0) - 1)

    def _on_step(self, optimizer: Any, _arguments: Any, _named: Any) -> None:
        if not is_compiling():
            self._optimizers.add(optimizer)
            self._note_optimizer(optimizer)

    # ---- Notes ----

    def _note_optimizer(self, optimizer: Any) -> None:
        for group in optimizer.param_groups:
            self._note_parameters(group["params"])
        for state in optimizer.state.values():
            for value in state.values() if isinstance(state, dict) else ():
                self._note(value, OPTIMIZER_STATE)

    def _note_parameters(self, parameters: Any) -> None:
        for parameter in parameters:
            self._note(parameter, PARAMETER)
            self._note(parameter.grad, GRADIENT)

    def _note(self, tensor: Any, category: int) -> None:
        if not isinstance(tensor, torch.Tensor) or len(self.numbers) >= _MOST * _NUMBERS_EACH:
            return
        try:
            storage = tensor.untyped_storage()
            address, size = storage.data_ptr(), storage.nbytes()
        except (RuntimeError, NotImplementedError):  # a tensor without a storage, such as a sparse one
            return
        if category in (PARAMETER, OPTIMIZER_STATE):
            if (address, category) in self._known:
                return
            self._known.add((address, category))
        if address != 0:
            self.numbers.extend((time.time_ns(), number_of(tensor.device), address, size, category))


def number_of(device: torch.device) -> int:
    """As the recording numbers devices."""
    return HOST if device.type == "cpu" else device.index or 0
