"""What feeds the recorder: the interface of a source, and what a recording wants of all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Wanted:
    """What to record besides operators and annotations."""

    shapes: bool = False
    memory: bool = False
    referrers: bool = False  # what keeps tensors alive, looked for at the end
    stacks: bool = False  # every call of a Python function, and the lines at which operators are called
    samples: bool = False  # stacks of operators and samples of all threads, which show modules as well
    modules: bool = False
    load: bool = False  # how busy the machine is
    find_steps: bool = False
    as_profiler: bool = False  # in place of torch's own: what only its files and its users ask for
    overloads: bool = False  # which overload of an operator was called; with `as_profiler`
    python_call_budget: int = 5_000_000
    cuda: bool = False  # what GPUs do, and the calls of CUDA that ask for it
    cuda_calls: str = "chosen"  # which of them: see devices.CALLS
    marks: str = ""  # the folder in which the processes of a recording leave things for each other


class Source(Protocol):
    """One way to learn what the process does. Started once the recorder has begun, stopped before it ends; each looks
    itself whether it is wanted. A source that was not started may be stopped.

    One that costs something even where nothing is recorded stops for steps that are left unrecorded, and starts again.
    """

    stops_for_pauses: bool

    def start(self, wanted: Wanted, /) -> None: ...

    def stop(self) -> None: ...
