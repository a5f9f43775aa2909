"""Times the steps of a process in which PyTorch's profiler records a few: those that it leaves alone tell what a step
takes without it. A step is what the analysis of such a trace takes for one, from the end of an optimizer's step to that
of the next. One clock is read a step, and once in a while a look is taken at whether the profiler is done.
"""

import time

TYPE_CHECKING = False  # what typing has, whose import would cost every process
if TYPE_CHECKING:
    from typing import Any

    from telltale._inject.telltale_attachment import STEPS, TOLD, Attachment
else:
    from telltale_attachment import STEPS, TOLD, Attachment

_MOST = 4096  # steps that are kept, the newest ones
_AFTER = 32  # steps that are timed once the profiler is done
_LOOK_NS = 500_000_000


class _Times:
    """Steps of one optimizer, by its class: as annotations tell optimizers apart."""

    def __init__(self, now: int) -> None:
        self.count = 0
        self.last = now
        self.took = []  # type: list[int]

    def add(self, now: int) -> None:
        self.count += 1
        self.took.append(now - self.last)
        self.last = now
        if len(self.took) >= 2 * _MOST:
            del self.took[:_MOST]

    def text(self, warmup: int) -> str:
        import json

        took = self.took[-_MOST:]
        # The step that ended when the first time was taken has the number 0.
        first = self.count - len(took) + 1
        told = {"warmup": warmup, "first": first, "began_ns": self.last - sum(took), "took_ns": took}
        return json.dumps(told, separators=(",", ":"))


class StepTimer:
    """Writes what it has when the profiler is done, and again at the end."""

    def __init__(self, attachment: Attachment) -> None:
        self._attachment = attachment
        self._times = {}  # type: dict[str, _Times]
        self._hook = None  # type: Any
        self._next_look = 0
        self._was_told = False
        self._left = 0  # to be timed, once the profiler is done

    def start(self) -> None:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        self._hook = register_optimizer_step_post_hook(self._on_step)

    def _on_step(self, optimizer: "Any", _arguments: "Any", _named: "Any") -> None:
        if _is_compiling():
            return
        now = time.time_ns()
        name = type(optimizer).__name__
        times = self._times.get(name)
        if times is None:
            self._times[name] = _Times(now)
            return
        times.add(now)
        if self._left > 0:
            self._left -= 1
            if self._left == 0:
                self.end()
        elif now > self._next_look:
            self._next_look = now + _LOOK_NS
            self._look()

    def _look(self) -> None:
        is_told = self._attachment.has_mark(TOLD)
        if self._was_told and not is_told:
            self._left = _AFTER
            self.write()
        self._was_told = is_told

    def write(self) -> None:
        if self._times:
            most = max(self._times.values(), key=lambda times: (times.count, times.last))
            if most.took:
                self._attachment.write_mark(STEPS, most.text(self._attachment.warmup))

    def end(self) -> None:
        """Nothing of it stays but what it wrote."""
        if self._hook is not None:
            self._hook.remove()
            self._hook = None
            self.write()


def _is_compiling() -> bool:
    """A compiler that traces through the hook must find nothing that it cannot compile."""
    import torch

    ask = getattr(torch.compiler, "is_compiling", None)
    return bool(ask()) if ask is not None else False
