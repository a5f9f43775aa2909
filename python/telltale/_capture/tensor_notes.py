"""Whose memory is whose: what a program's modules and optimizers hold, noted while it runs, by address alone.

No tensor is kept alive and none is read but for where its storage is and how large. Each note is a record; for torch's
memory timeline they are kept as numbers as well, with the numbers that its columns have for categories.

Where the recording tells of modules that no other one calls, that is enough. Else hooks of all modules do, which make
each call of one slower: they go when the calls repeat themselves, and with them the inputs of later calls.

Programs that know nothing of the recording must not notice it: where there is a compiler, the hooks are gone before it
looks. In a long recording they come back for a call whenever the number of an optimizer's steps has doubled, and all is
noted again then.
"""

from __future__ import annotations

import sys
import threading
import time
from array import array
from collections import Counter
from typing import Any
from weakref import WeakKeyDictionary, WeakSet

import torch
from torch.nn.modules import module as all_modules
from torch.optim import optimizer as all_optimizers
from torch.utils.weak import WeakIdKeyDictionary

from telltale import _recorder

PARAMETER, OPTIMIZER_STATE, INPUT, GRADIENT, BUFFER = 0, 1, 2, 5, -1
_ROLES = {
    PARAMETER: "parameter",
    OPTIMIZER_STATE: "optimizer_state",
    INPUT: "input",
    GRADIENT: "gradient",
    BUFFER: "buffer",
}
HOST = -1
_NUMBERS_EACH = 5  # when, on which device, where, how many bytes, what for
_MOST = 1_000_000  # so that a long recording stays small: 40 MB
is_compiling = getattr(torch.compiler, "is_compiling", None) or torch._utils.is_compiling  # before 2.3
# An optimizer makes its state in its first step, and may replace parameters' memory then.
_STEPS_UNTIL_SETTLED = 2
# Gradients are noted in each step, as long as that takes less than this part of the time.
_STEPS_ALWAYS_NOTED = 8
_MOST_SHARE = 0.01


class TensorNotes:
    """From start() to stop()."""

    def __init__(self, keeps_numbers: bool = False) -> None:
        self.numbers = array("q")
        self._keeps_numbers = keeps_numbers
        self._count = 0
        self._known: set[tuple[int, int]] = set()  # addresses of what seldom moves, by category
        self._names: Any = WeakIdKeyDictionary()  # of parameters
        self._modules: WeakSet[Any] = WeakSet()
        self._outermost: Counter[int] = Counter()  # calls of modules that no other one calls, by id
        self._steps: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # by optimizer
        self._gradient_names: WeakKeyDictionary[Any, list[str]] = WeakKeyDictionary()  # by optimizer, in its order
        self._calls = threading.local()
        self._has_hooks = False  # where the recording tells of no modules
        self._of_modules: list[Any] = []  # hooks
        self._of_optimizers: list[Any] = []
        self._began = self._spent = 0

    def start(self, with_hooks: bool) -> None:
        self._began = time.perf_counter_ns()
        self._has_hooks = with_hooks
        self._watch_modules()
        self._of_optimizers = [
            all_optimizers.register_optimizer_step_pre_hook(self._on_step),
            all_optimizers.register_optimizer_step_post_hook(self._after_step),
        ]

    def stop(self) -> None:
        self._leave_modules()
        for hook in self._of_optimizers:
            hook.remove()
        self._of_optimizers = []
        for module in list(self._modules):
            self._note_parameters(module.parameters(recurse=False))
        for optimizer in list(self._steps):
            self._note_optimizer(optimizer)

    def to_bytes(self) -> bytes:
        return self.numbers.tobytes()

    def _watch_modules(self) -> None:
        if self._has_hooks and not self._of_modules:
            self._outermost.clear()
            self._of_modules = [
                all_modules.register_module_forward_pre_hook(self._on_call),
                all_modules.register_module_forward_hook(self._on_return, always_call=True),
            ]

    def _leave_modules(self) -> None:
        for hook in self._of_modules:
            hook.remove()
        self._of_modules = []
        self._calls = threading.local()

    # ---- What torch calls ----

    def _on_call(self, module: Any, inputs: tuple[Any, ...]) -> None:
        if is_compiling():
            return
        depth = getattr(self._calls, "depth", 0)
        self._calls.depth = depth + 1
        if depth == 0:
            self._outermost[id(module)] += 1
            self.on_outermost(module, inputs)
            if not self._keeps_numbers and "torch._dynamo" in sys.modules:
                self._leave_modules()
        elif module not in self._modules:  # one that its parent does not know
            self._modules.add(module)
            self._note_parameters(module.parameters(recurse=False))

    def _on_return(self, _module: Any, _inputs: Any, _outputs: Any) -> None:
        if is_compiling():
            return
        self._calls.depth = max(0, getattr(self._calls, "depth", 0) - 1)
        if self._calls.depth == 0 and all(count > 1 for count in self._outermost.values()):
            self._leave_modules()

    def on_outermost(self, module: Any, inputs: tuple[Any, ...]) -> None:
        """A module that no other one calls is called; for recordings that tell of these."""
        self._note_inputs(inputs)
        if module not in self._modules:
            self._modules.update(module.modules())
            self._note_module(module)

    def _on_step(self, optimizer: Any, _arguments: Any, _named: Any) -> None:
        if is_compiling():
            return
        steps = self._steps.get(optimizer, 0)
        self._steps[optimizer] = steps + 1
        if steps < _STEPS_UNTIL_SETTLED:
            self._note_optimizer(optimizer)
        elif self._keeps_numbers or steps < _STEPS_ALWAYS_NOTED or self._is_cheap():
            began = time.perf_counter_ns()
            self._note_gradients(optimizer)
            self._spent += time.perf_counter_ns() - began

    def _after_step(self, optimizer: Any, _arguments: Any, _named: Any) -> None:
        if is_compiling():
            return
        steps = self._steps.get(optimizer, 0)
        is_doubled = steps & (steps - 1) == 0 and not self._keeps_numbers
        if is_doubled and steps > _STEPS_UNTIL_SETTLED:
            self._known.clear()
            for module in list(self._modules):
                self._note_parameters(module.parameters(recurse=False))
            self._watch_modules()
        if steps <= _STEPS_UNTIL_SETTLED or is_doubled:
            self._gradient_names.pop(optimizer, None)
            self._note_optimizer(optimizer)

    def _is_cheap(self) -> bool:
        return self._spent < (time.perf_counter_ns() - self._began) * _MOST_SHARE

    # ---- Notes ----

    def _note_module(self, module: Any) -> None:
        for name, parameter in module.named_parameters():
            self._names[parameter] = name
        self._note_parameters(module.parameters())
        for name, buffer in module.named_buffers():
            self._note(buffer, BUFFER, name)

    def _note_inputs(self, inputs: Any) -> None:
        for each in inputs:
            if isinstance(each, dict):
                self._note_inputs(each.values())
            elif isinstance(each, (list, tuple)):
                self._note_inputs(part for part in each if isinstance(part, torch.Tensor))
            else:
                self._note(each, INPUT)

    def _note_optimizer(self, optimizer: Any) -> None:
        for group in optimizer.param_groups:
            self._note_parameters(group["params"])
        for parameter, state in optimizer.state.items():
            name = self._name_of(parameter)
            for key, value in state.items() if isinstance(state, dict) else ():
                self._note(value, OPTIMIZER_STATE, f"{name}.{key}" if name else str(key))

    def _note_gradients(self, optimizer: Any) -> None:
        """In every step, and so in few calls: those that own their memory as a whole."""
        if self._count >= _MOST:
            return
        names = self._gradient_names.get(optimizer)
        if names is None:
            names = [self._name_of(each) for group in optimizer.param_groups for each in group["params"]]
            self._gradient_names[optimizer] = names
        now = time.time_ns()
        notes: list[int] = []
        place = -1
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                place += 1
                gradient = parameter.grad
                if gradient is None:
                    continue
                name = names[place] if place < len(names) else ""
                is_plain = type(gradient) is torch.Tensor and gradient.layout is torch.strided
                if not is_plain or gradient._base is not None:
                    self._note(gradient, GRADIENT, name)
                    continue
                device = gradient.device  # and number_of() it, without the call
                number = HOST if device.type == "cpu" else device.index or 0
                address, size = gradient.data_ptr(), gradient.nbytes
                self._count += 1
                _recorder.note_tensor(address, size, number, "gradient", name)
                if self._keeps_numbers:
                    notes += (now, number, address, size, GRADIENT)
        self.numbers.extend(notes)

    def _note_parameters(self, parameters: Any) -> None:
        for parameter in parameters:
            name = self._name_of(parameter)
            self._note(parameter, PARAMETER, name)
            if parameter.is_leaf:  # torch warns of looking at others
                self._note(parameter.grad, GRADIENT, name)

    def _name_of(self, parameter: Any) -> str:
        return self._names.get(parameter, "") if isinstance(parameter, torch.Tensor) else ""

    def _note(self, tensor: Any, category: int, name: str = "") -> None:
        if not isinstance(tensor, torch.Tensor) or self._count >= _MOST:
            return
        try:
            # A tensor in parts over several processes holds the one of this process.
            storage = getattr(tensor, "_local_tensor", tensor).untyped_storage()
            address, size = storage.data_ptr(), storage.nbytes()
        except (RuntimeError, NotImplementedError):  # a tensor without a storage, such as a sparse one
            return
        if category in (PARAMETER, OPTIMIZER_STATE):
            if (address, category) in self._known:
                return
            self._known.add((address, category))
        if address == 0:
            return
        number = number_of(tensor.device)
        self._count += 1
        _recorder.note_tensor(address, size, number, _ROLES[category], name)
        if self._keeps_numbers and category != BUFFER:
            self.numbers.extend((time.time_ns(), number, address, size, category))


def number_of(device: torch.device) -> int:
    """As the recording numbers devices."""
    return HOST if device.type == "cpu" else device.index or 0
