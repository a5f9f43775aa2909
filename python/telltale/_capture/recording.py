"""A recording of this process: a session of the recorder, and all that feeds it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from telltale import _recorder
from telltale._capture.adapter import Adapter, load_adapter
from telltale._capture.allocator_state import AllocatorWatch
from telltale._capture.code_paths import describe_code, module_call, own_folder, path_prefixes
from telltale._capture.compilations import CompilationWatch
from telltale._capture.cuda import CudaWatch, can_have_gpu
from telltale._capture.gauges import GaugeWatch
from telltale._capture.hooks import CollectionWatch, ModuleHooks, ModuleWatch
from telltale._capture.loader_work import LoaderWorkWatch
from telltale._capture.loaders import LoaderWatch
from telltale._capture.machine import has_bf16_instructions, memory_bytes
from telltale._capture.optimizers import OptimizerWatch
from telltale._capture.out_of_memory import OutOfMemoryWatch
from telltale._capture.referrers import ReferrerWatch
from telltale._capture.samples import SampleWatch
from telltale._capture.source import Source, Wanted
from telltale._capture.tensor_watch import TensorWatch
from telltale._inject.telltale_say import say


class OperatorWatch:
    """Operators, annotations, memory, collectives and steps of PyTorch, through the adapter.

    It finds where steps end, and so when a pause does; operators it leaves alone in one by itself.
    """

    stops_for_pauses = False

    def __init__(self) -> None:
        self._adapter: Adapter | None = None

    def start(self, wanted: Wanted) -> None:
        self._adapter = load_adapter()
        options = {
            Adapter.WITH_INPUTS: wanted.shapes,
            Adapter.WITH_MEMORY: wanted.memory,
            Adapter.FIND_STEPS: wanted.find_steps,
            Adapter.AS_PROFILER: wanted.as_profiler,
            Adapter.WITH_OVERLOADS: wanted.overloads,
            Adapter.CALLS_ARE_RECORDED: wanted.stacks,
        }
        adds_lines = wanted.stacks and not wanted.samples and _recorder.can_read_stacks()
        if adds_lines:
            describe_code()
        stack_source = _recorder.stack_source() if wanted.samples or adds_lines else 0
        if not self._adapter.start(sum(option for option, is_wanted in options.items() if is_wanted), stack_source):
            say("host memory is not recorded: an allocator other than torch's own is in use")

    def stop(self) -> None:
        if self._adapter is not None:
            self._adapter.stop()
            self._adapter = None


class PythonCallWatch:
    """Calls of Python functions."""

    stops_for_pauses = True

    def __init__(self) -> None:
        self._is_started = False
        self._recorded = 0
        self._modules = ModuleHooks()  # for what is called beyond the budget
        self.on_outermost_module: Callable[[Any, tuple[Any, ...]], None] | None = None

    def start(self, wanted: Wanted) -> None:
        if not wanted.stacks:
            return
        sees_modules = wanted.modules and _recorder.can_read_stacks()
        left = wanted.python_call_budget - self._recorded
        if left > 0:
            if self._recorded == 0:
                _recorder.forget_modules()
            call, on_end = (module_call(), self._modules.start) if sees_modules else (None, None)
            _recorder.start_python_calls(path_prefixes(), own_folder(), left, call, on_end, self.on_outermost_module)
            self._is_started = True
        elif sees_modules:
            self._modules.start()

    def stop(self) -> None:
        self._modules.stop()
        if self._is_started:
            self._recorded += _recorder.stop_python_calls()
            self._is_started = False


# In the order in which they start; they stop in the opposite one.
SOURCES: tuple[type[Source], ...] = (
    SampleWatch,
    GaugeWatch,
    OperatorWatch,
    AllocatorWatch,
    TensorWatch,
    OutOfMemoryWatch,
    OptimizerWatch,
    CollectionWatch,
    CompilationWatch,
    ModuleWatch,
    PythonCallWatch,
    LoaderWatch,
    LoaderWorkWatch,
    CudaWatch,
    ReferrerWatch,
)


class Recording:
    """One file. ``prepare()`` may take seconds, the first time; start and stop take none."""

    def __init__(
        self,
        path: str,
        wanted: Wanted,
        *,
        schedule: dict[str, int] | None = None,
        memory_limit: int = 0,
        own_file_after_fork: bool = False,
        pauses: bool = False,
    ) -> None:
        self.path = path
        self.wanted = wanted
        self._session: dict[str, Any] = {
            "schedule": schedule or {},
            "memory_limit": memory_limit,
            "own_file_after_fork": own_file_after_fork,
            "pauses": pauses,
            "on_toggle": self._follow,
        }
        self._sources = [source() for source in SOURCES]
        self._cuda = next(source for source in self._sources if isinstance(source, CudaWatch))
        self._cuda.has_one_file = not schedule
        for source in self._sources:
            if isinstance(source, LoaderWorkWatch) and pauses:
                source.toggle = self._toggle_all_but_samples
            if isinstance(source, OptimizerWatch):
                source.on_step = self._mark_paused_step
        self._pid = 0  # of the process that started it
        self._is_started = False
        self._is_paused = False
        self._cycles_left = (schedule or {}).get("repeat") or None  # None: it has no last one

    def prepare(self) -> None:
        """Compiles and loads the adapter, and attaches to the GPU; raises AdapterUnavailable where the former cannot be
        done, and says where the latter cannot. To be followed by start() or give_up()."""
        load_adapter()
        self._cuda.start(self.wanted)

    def give_up(self) -> None:
        """Takes back what was prepared."""
        self._cuda.end()

    def start(self) -> None:
        load_adapter()
        self._tell_about_process()
        _tell_threads()
        warm_up = self._warm_up if self.wanted.cuda and can_have_gpu() else None
        try:
            _recorder.start(self.path, **self._session, on_warmup=warm_up)
        except Exception:
            self.give_up()
            raise
        self._pid = os.getpid()
        self._is_started = True
        is_recording = _recorder.is_recording()
        for source in self._sources:
            if is_recording or not source.stops_for_pauses:
                source.start(self.wanted)
        if not is_recording:
            self._cuda.watch_graphs(self.wanted)

    def why_no_gpu(self) -> str:
        """Why the GPU is not recorded, if that has turned out; else empty."""
        return self._cuda.why_not()

    def _warm_up(self) -> None:
        """The steps that come now are not recorded, but some after them are."""
        self._cuda.start(self.wanted)

    def _follow(self, is_recording: bool) -> None:
        """Steps are left unrecorded from here on, or are recorded again."""
        if not self._is_started:
            return
        if self._session["pauses"] and not self._session["schedule"]:
            self._is_paused = not is_recording
            if is_recording:
                self._cuda.await_device(self.wanted)
            else:
                self._cuda.begin_pause()
        for source in self._sources if is_recording else reversed(self._sources):
            if not source.stops_for_pauses:
                continue
            if is_recording:
                source.start(self.wanted)
            else:
                source.stop()
        if not is_recording:
            self._watch_graphs_until_next()

    def _watch_graphs_until_next(self) -> None:
        """What is captured meanwhile may be replayed in what is recorded next; behind the last cycle nothing is."""
        if self._cycles_left is not None:
            self._cycles_left -= 1
        if self._cycles_left != 0:
            self._cuda.watch_graphs(self.wanted)

    def _mark_paused_step(self) -> None:
        if self._is_paused:
            self._cuda.mark_paused_step(self.wanted)

    def toggle_operators(self, is_on: bool) -> None:
        """Leaves operators out for a while, or takes them in again; the rest goes on."""
        for source in self._sources:
            if isinstance(source, OperatorWatch):
                if is_on:
                    source.start(self.wanted)
                else:
                    source.stop()

    def toggle_gpu(self, is_on: bool) -> None:
        """The same of the GPU."""
        if is_on:
            self._cuda.start(self.wanted)
        else:
            self._cuda.stop()

    def _toggle_all_but_samples(self, is_on: bool) -> None:
        self.toggle_operators(is_on)
        self._follow(is_on)

    def watch_outermost_modules(self, act: Callable[[Any, tuple[Any, ...]], None]) -> bool:
        """Acts on each call of a module that no other one calls, with the module and its arguments, from the next
        start on. False where that cannot be seen without hooks."""
        for source in self._sources:
            if isinstance(source, PythonCallWatch):
                source.on_outermost_module = act
        return self.wanted.stacks and self.wanted.modules and _recorder.can_read_stacks()

    def stop(self) -> dict[str, int]:
        """The file is complete when it returns; how much was recorded and lost."""
        if not self._is_started:
            return {}
        self._is_started = False
        if self._is_paused and os.getpid() == self._pid:
            self._cuda.await_device(self.wanted, is_end=True)
        for source in reversed(self._sources):
            source.stop()
        self._cuda.end()
        _tell_threads()
        if os.getpid() == self._pid or _recorder.is_recording():  # not every child is recorded
            _recorder.stop()
        return _recorder.statistics()

    def _tell_about_process(self) -> None:
        import torch

        _recorder.metadata("torch", torch.__version__)
        _recorder.metadata("processors", str(len(os.sched_getaffinity(0))))
        _recorder.metadata("cpu_capability", json.dumps(_cpu_capability()))
        _recorder.metadata("bf16_instructions", str(int(has_bf16_instructions())))
        _recorder.metadata("memory_bytes", str(memory_bytes()))
        recorded = {name: value for name, value in asdict(self.wanted).items() if isinstance(value, bool)}
        _recorder.metadata("recorded", json.dumps(recorded))
        for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK"):
            if name in os.environ:
                _recorder.metadata(name.lower(), os.environ[name])


def _tell_threads() -> None:
    """At the end as well: programs choose how many there are when they have begun."""
    import torch

    _recorder.metadata("torch_threads", str(torch.get_num_threads()))


def _cpu_capability() -> str:
    """The widest instructions that torch's kernels use here: "AVX2", "AVX512"."""
    import torch

    ask = getattr(torch.backends.cpu, "get_cpu_capability", None)  # since 2.0, but not documented
    return str(ask()) if ask is not None else ""
