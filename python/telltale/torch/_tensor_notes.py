"""Whose memory is whose: what a program's modules and optimizers hold, noted while it runs, by address alone.

No tensor is kept alive and none is read but for where its storage is and how large. The numbers of categories are those
of the columns of torch's memory timeline.

Where the recording tells of modules that no other one calls, that is enough. Else hooks of all modules do, which make
each call of one slower: they go when the calls repeat themselves, and with them the inputs of later calls.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections import Counter
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import torch
from torch.nn.modules import module as all_modules
from torch.optim import optimizer as all_optimizers

PARAMETER, OPTIMIZER_STATE, INPUT, GRADIENT = 0, 1, 2, 5
HOST = -1
_NUMBERS_EACH = 5  # when, on which device, where, how many bytes, what for
_MOST = 1_000_000  # so that a long recording stays small: 40 MB
is_compiling = getattr(torch.compiler, "is_compiling", None) or torch._utils.is_compiling  # before 2.3
# An optimizer makes its state in its first step, and may replace parameters' memory then.
_STEPS_UNTIL_SETTLED = 2


class TensorNotes:
    """From start() to stop()."""

    def __init__(self) -> None:
        self.numbers = array("q")
        self._known: set[tuple[int, int]] = set()  # addresses of what seldom moves, by category
        self._modules: WeakSet[Any] = WeakSet()
        self._outermost: Counter[int] = Counter()  # calls of modules that no other one calls, by id
        self._steps: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # by optimizer, until it has settled
        self._calls = threading.local()
        self._of_modules: list[Any] = []  # hooks
        self._of_optimizers: list[Any] = []

    def start(self, with_hooks: bool) -> None:
        if with_hooks:
            self._of_modules = [
                all_modules.register_module_forward_pre_hook(self._on_call),
                all_modules.register_module_forward_hook(self._on_return, always_call=True),
            ]
        self._of_optimizers = [
            all_optimizers.register_optimizer_step_pre_hook(self._on_step),
            all_optimizers.register_optimizer_step_post_hook(self._after_step),
        ]

    def stop(self) -> None:
        for hook in self._of_modules + self._of_optimizers:
            hook.remove()
        self._of_modules = self._of_optimizers = []
        for module in list(self._modules):
            self._note_parameters(module.parameters(recurse=False))
        for optimizer in list(self._steps):
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
            self._outermost[id(module)] += 1
            self._note_inputs(inputs)
        if module not in self._modules:
            self._modules.add(module)
            self._note_parameters(module.parameters(recurse=False))

    def _on_return(self, _module: Any, _inputs: Any, _outputs: Any) -> None:
        if is_compiling():
            return
        self._calls.depth = max(0, getattr(self._calls, "depth", 0) - 1)
        if self._calls.depth == 0 and self._of_modules and all(count > 1 for count in self._outermost.values()):
            for hook in self._of_modules:
                hook.remove()
            self._of_modules = []

    def on_outermost(self, module: Any, inputs: tuple[Any, ...]) -> None:
        """For recordings that tell of these."""
        self._note_inputs(inputs)
        if module not in self._modules:
            self._modules.update(module.modules())
            self._note_parameters(module.parameters())

    def _note_inputs(self, inputs: tuple[Any, ...]) -> None:
        for each in inputs:
            self._note(each, INPUT)

    def _on_step(self, optimizer: Any, _arguments: Any, _named: Any) -> None:
        if is_compiling():
            return
        steps = self._steps.get(optimizer, 0)
        if steps >= _STEPS_UNTIL_SETTLED:
            self._note_gradients(optimizer)
        else:
            self._steps[optimizer] = steps + 1
            self._note_optimizer(optimizer)

    def _after_step(self, optimizer: Any, _arguments: Any, _named: Any) -> None:
        if not is_compiling() and self._steps.get(optimizer, 0) < _STEPS_UNTIL_SETTLED:
            self._note_optimizer(optimizer)

    # ---- Notes ----

    def _note_optimizer(self, optimizer: Any) -> None:
        for group in optimizer.param_groups:
            self._note_parameters(group["params"])
        for state in optimizer.state.values():
            for value in state.values() if isinstance(state, dict) else ():
                self._note(value, OPTIMIZER_STATE)

    def _note_gradients(self, optimizer: Any) -> None:
        """In every step, and so in few calls: those that own their memory as a whole."""
        if len(self.numbers) >= _MOST * _NUMBERS_EACH:
            return
        now = time.time_ns()
        notes: list[int] = []
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                gradient = parameter.grad
                if gradient is None:
                    continue
                is_plain = type(gradient) is torch.Tensor and gradient.layout is torch.strided
                if not is_plain or gradient._base is not None:
                    self._note(gradient, GRADIENT)
                    continue
                device = gradient.device  # and number_of() it, without the call
                number = HOST if device.type == "cpu" else device.index or 0
                notes += (now, number, gradient.data_ptr(), gradient.nbytes, GRADIENT)
        self.numbers.extend(notes)

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
