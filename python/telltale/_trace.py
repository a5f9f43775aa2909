"""Traces: loading them, and asking them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, overload

from telltale._errors import TelltaleError
from telltale.diagnosis import Diagnosis
from telltale.memory_report import MemoryReport, MemoryWhatIf
from telltale.results import Info, Top, WhatIf

if TYPE_CHECKING:
    from telltale import _core

# One step, several as a range, or as the command takes them: "5", "3..7", "3.." or "..7".
Steps = int | range | str


def words_of(words: str | Iterable[str]) -> list[str]:
    """One word, or several."""
    return [words] if isinstance(words, str) else list(words)


def step_text(steps: Steps | None) -> str | None:
    """A choice of steps as the command takes it."""
    if isinstance(steps, range):
        if not steps or steps.step != 1:
            raise TelltaleError(f"{steps!r} is not a range of steps that follow each other")
        return f"{steps[0]}..{steps[-1]}"
    return None if steps is None else str(steps)


def capacity_text(fits: str | int | None) -> str | None:
    """An amount of memory as the command takes it."""
    if not isinstance(fits, int):
        return fits
    if fits < 1 << 20:
        raise TelltaleError(f"fits={fits} is a number of bytes: write fits='{fits}GB'")
    return f"{fits}B"


class Trace:
    """What happened in a process, as :func:`load` read it.

    Its answers are those of the command: :meth:`info`, :meth:`top`, :meth:`analyze`, :meth:`memory_report`,
    :meth:`memory_what_if` and :meth:`whatif`. Its tables go to pandas, polars, pyarrow or DuckDB: :meth:`events`, and
    each of :meth:`tables` by its name as an attribute.
    """

    def __init__(self, core: _core.Trace, path: str) -> None:
        self._core = core
        self._info: Info | None = None
        self.path = path

    def info(self) -> Info:
        """What the trace holds: devices, steps, threads, kinds of events, and what is wrong with it."""
        # Not a functools.cached_property, whose lock, up to Python 3.11, a fork on another thread would leave locked.
        if self._info is None:
            self._info = Info.of(self._core.info())
        return self._info

    def top(
        self,
        by: str | None = None,
        group: str = "name",
        *,
        kinds: str | Iterable[str] | None = None,
        stack_depth: int = 5,
        steps: Steps | None = None,
        sort: str | None = None,
        limit: int | None = None,
    ) -> Top:
        """What took the time, as torch.profiler's ``key_averages()`` has it.

        :param by: what the rows are: ``operator``, ``kernel`` (all device work), ``module``, ``annotation``, ``python``
            or ``all``; without it operators, annotations and runtime calls, as in torch.
        :param group: what shares a row: ``name``, ``shape`` (name and input shapes) or ``stack`` (name and frames).
        :param kinds: instead of ``by``, the kinds of events that have rows, such as ``["memcpy", "memset"]``.
        :param stack_depth: how many of the innermost frames tell stacks apart; 200 at most.
        :param steps: only what these steps called; device work counts where it was launched.
        :param sort: largest first by ``self-cpu``, ``device``, ``calls`` and so on; torch's own names work too.
        :param limit: at most this many rows; 0 is all of them. Printed, a result without a limit shows its first 20.
        """
        chosen = None if kinds is None else words_of(kinds)
        return Top.of(self._core.top(by, chosen, group, stack_depth, step_text(steps), sort, limit))

    def analyze(
        self,
        *,
        steps: Steps | None = None,
        rules: str | Iterable[str] = (),
        min_saving: float = 1.0,
        price: float | None = None,
        carbon: float | None = None,
    ) -> Diagnosis:
        """Why it is slow, at which line, and what each fix would buy. In a notebook, its value is shown as a page.

        :param steps: only these steps; without it all but those that warm up, where the recording began with the
            program.
        :param rules: only what these rules find; ``docs/rules.md`` lists them.
        :param min_saving: leave out what would save less than this share of a step, in percent.
        :param price: what a kilowatt-hour costs, to learn what 1,000 steps cost; needs gauges in the recording.
        :param carbon: grams of CO2 for a kilowatt-hour, likewise.
        """
        return Diagnosis.of(self._core.analyze(step_text(steps), words_of(rules), min_saving, price, carbon))

    def whatif(
        self,
        *,
        remove: str | Iterable[str] = (),
        scale: Mapping[str, float] | None = None,
        no_sync: bool = False,
        instant_data: bool = False,
        graph: bool = False,
        no_observer: bool = False,
        steps: Steps | None = None,
    ) -> WhatIf:
        """What a step would take if parts of it were gone, faster or slower. Changes combine.

        A pattern is ``NAME`` or ``KIND:NAME``; in it ``*`` stands for any text and ``?`` for one character.

        :param remove: patterns of what is gone: host events with all that they call, device work by itself.
        :param scale: patterns of what takes this many times as long: ``{"kernel:*gemm*": 0.5}`` is twice as fast.
        :param no_sync: no call waits for the device.
        :param instant_data: batches are ready when they are asked for.
        :param graph: all device work of a step is one CUDA graph.
        :param no_observer: without what the recording cost, before and after the change.
        :param steps: only these steps; without it those of :meth:`analyze`.
        """
        scaled = [f"{pattern}={float(factor)!r}" for pattern, factor in (scale or {}).items()]
        return WhatIf.of(
            self._core.what_if(words_of(remove), scaled, no_sync, instant_data, graph, no_observer, step_text(steps))
        )

    def memory_report(self) -> MemoryReport:
        """What holds the memory at its peak, by purpose, line, module and tensor; what grows; what would free some.

        :raises TelltaleError: when the trace has no memory events, with what to record.
        """
        return MemoryReport.of(self._core.memory_report())

    def memory_what_if(
        self,
        *,
        fits: str | int | None = None,
        batch: str | float | None = None,
        settings: str | None = None,
        without: str | Iterable[str] = (),
        other: str | os.PathLike[str] | None = None,
        device: int | None = None,
    ) -> MemoryWhatIf:
        """What memory would be on another device, with another batch or other settings, or with fixes made.

        All but ``without`` need the log of PyTorch's allocator for CUDA, which is simulated. Changes combine.

        :param fits: whether it fits into a GPU with this much memory: ``"24GB"``, or a number of bytes.
        :param batch: with so many times the recorded batch: ``2`` or ``"2x"``.
        :param settings: as in ``PYTORCH_CUDA_ALLOC_CONF``: ``"expandable_segments:True"``.
        :param without: with what these rules found fixed: ``["whole_logits"]``.
        :param other: a file with the same program at another batch size, from which it is seen what grows.
        :param device: the GPU that this is about; without it the one of which most is reserved.
        """
        chosen = words_of(without)
        if fits is None and batch is None and settings is None and not chosen:
            raise TelltaleError("say what would be different: fits, batch, settings or without")
        return MemoryWhatIf.of(
            self._core.memory_what_if(
                capacity_text(fits),
                None if batch is None else str(batch),
                settings,
                chosen,
                None if other is None else os.fsencode(other),
                device,
            )
        )

    def events(self, kind: str | Iterable[str] | None = None) -> _core.Table:
        """The events: all, in the trace's own memory as far as possible, or those of one or several kinds, copied."""
        return self._core.table("events") if kind is None else self._core.events(words_of(kind))

    def table(self, name: str) -> _core.Table:
        """One of :meth:`tables`."""
        return self._core.table(name)

    def tables(self) -> list[str]:
        """The names of all tables. Their columns are described in ``docs/python.md``."""
        from telltale import _core

        return _core.table_names()

    # Tables: written by tools/tables-page.

    @property
    def operators(self) -> _core.Table:
        """Arguments of operators, and their place in autograd."""
        return self._core.table("operators")

    @property
    def tensors(self) -> _core.Table:
        """A row for each tensor with dimensions that an operator was given."""
        return self._core.table("tensors")

    @property
    def stacks(self) -> _core.Table:
        """Where operators were called from, as recorders without Python events write it."""
        return self._core.table("stacks")

    @property
    def sources(self) -> _core.Table:
        """Where events stand in the program."""
        return self._core.table("sources")

    @property
    def kernels(self) -> _core.Table:
        """How kernels were launched."""
        return self._core.table("kernels")

    @property
    def graph_nodes(self) -> _core.Table:
        """Device work that is a node of a CUDA graph."""
        return self._core.table("graph_nodes")

    @property
    def graph_origins(self) -> _core.Table:
        """What work of CUDA graphs was captured from, where the recorder saw it."""
        return self._core.table("graph_origins")

    @property
    def copies(self) -> _core.Table:
        """Copies and fills: how much, from where and to where."""
        return self._core.table("copies")

    @property
    def syncs(self) -> _core.Table:
        """What synchronizations wait for."""
        return self._core.table("syncs")

    @property
    def collectives(self) -> _core.Table:
        """What collectives communicate, and with whom."""
        return self._core.table("collectives")

    @property
    def categories(self) -> _core.Table:
        """Categories of events that no kind stands for."""
        return self._core.table("categories")

    @property
    def arguments(self) -> _core.Table:
        """What the file says of events and no other column holds."""
        return self._core.table("arguments")

    @property
    def lanes(self) -> _core.Table:
        """Events that overlap another of their track without being inside it."""
        return self._core.table("lanes")

    @property
    def memory(self) -> _core.Table:
        """Allocations and frees, by time."""
        return self._core.table("memory")

    @property
    def counters(self) -> _core.Table:
        """Values of counters, by series and time."""
        return self._core.table("counters")

    @property
    def flows(self) -> _core.Table:
        """Links that the file draws and that no `cause` already says."""
        return self._core.table("flows")

    @property
    def steps(self) -> _core.Table:
        """Steps that the file marks, by start."""
        return self._core.table("steps")

    @property
    def tracks(self) -> _core.Table:
        """Threads, streams and whatever else events stand on."""
        return self._core.table("tracks")

    @property
    def processes(self) -> _core.Table:
        """What the tracks belong to."""
        return self._core.table("processes")

    @property
    def devices(self) -> _core.Table:
        """Those with events or properties."""
        return self._core.table("devices")

    @property
    def metadata(self) -> _core.Table:
        """Other values of the file's header."""
        return self._core.table("metadata")

    @property
    def allocator_events(self) -> _core.Table:
        """The log of PyTorch's caching allocators."""
        return self._core.table("allocator_events")

    @property
    def memory_segments(self) -> _core.Table:
        """What the allocators held when their log begins."""
        return self._core.table("memory_segments")

    @property
    def memory_blocks(self) -> _core.Table:
        """The parts of those segments, by address."""
        return self._core.table("memory_blocks")

    @property
    def noted_tensors(self) -> _core.Table:
        """Tensors of which the program says what they are."""
        return self._core.table("noted_tensors")

    # End of tables.

    def __repr__(self) -> str:
        info = self.info()
        return f"<telltale.Trace {self.path!r}: {info.events:,} events, {info.duration_ns / 1e6:,.1f} ms>"

    def _repr_html_(self) -> str:
        return self.analyze()._repr_html_()


def load(
    path: str | os.PathLike[str], *, threads: int | None = None, progress: Callable[[float], object] | None = None
) -> Trace:
    """Reads a trace of whatever format the file has; ``-`` is standard input.

    :param threads: how many threads read; as many as the machine has unless it is given.
    :param progress: is called now and then with the share of the file that has been read, from 0 to 1.
    :raises TelltaleError: with a sentence, when the file cannot be read or is no trace.
    """
    try:
        import telltale._core as core
    except ModuleNotFoundError:
        raise TelltaleError(
            "this build of Telltale records but cannot read traces: it was made with TELLTALE_RECORD_ONLY"
        ) from None
    if threads is not None and threads < 1:
        raise TelltaleError(f"threads must be 1 or more, not {threads}")
    name = os.fsdecode(path)
    if "\0" in name:
        raise TelltaleError("the name of a file cannot contain a zero byte")
    return Trace(core.load(os.fsencode(name), threads or 0, progress), name)


@overload
def memory(path: str | os.PathLike[str]) -> MemoryReport: ...
@overload
def memory(
    path: str | os.PathLike[str],
    *,
    fits: str | int | None = ...,
    batch: str | float | None = ...,
    settings: str | None = ...,
    without: str | Iterable[str] = ...,
    other: str | os.PathLike[str] | None = ...,
    device: int | None = ...,
) -> MemoryWhatIf: ...
def memory(
    path: str | os.PathLike[str],
    *,
    fits: str | int | None = None,
    batch: str | float | None = None,
    settings: str | None = None,
    without: str | Iterable[str] = (),
    other: str | os.PathLike[str] | None = None,
    device: int | None = None,
) -> MemoryReport | MemoryWhatIf:
    """Reads a trace or a snapshot of PyTorch's allocator, and says what holds the memory, or what would.

    Without changes the same as :meth:`Trace.memory_report` of what :func:`load` reads, with them the same as
    :meth:`Trace.memory_what_if`.
    """
    trace = load(path)
    if (fits, batch, settings, other, device) == (None,) * 5 and not words_of(without):
        return trace.memory_report()
    return trace.memory_what_if(
        fits=fits, batch=batch, settings=settings, without=without, other=other, device=device
    )
