"""What a trace answers, as typed structs: the members of ``telltale info``, ``top`` and ``whatif`` with ``--json``.

Times are whole nanoseconds; what a trace does not say is None. ``docs/json.md`` tells what each member means.
"""

from __future__ import annotations

from dataclasses import dataclass

from telltale._struct import AnswerStruct, Struct


@dataclass(frozen=True)
class StepInfo(Struct):
    """A step that the recorder marked."""

    index: int
    name: str
    start_ns: int
    duration_ns: int


@dataclass(frozen=True)
class DeviceInfo(Struct):
    """A device, as far as the file describes it."""

    id: int
    name: str | None
    memory_bytes: int | None
    compute_major: int | None
    compute_minor: int | None
    multiprocessors: int | None
    warp_size: int | None
    max_threads_per_multiprocessor: int | None
    registers_per_multiprocessor: int | None
    shared_memory_per_multiprocessor: int | None


@dataclass(frozen=True)
class ProcessInfo(Struct):
    """A process; its pid is 0 where the file has text instead."""

    pid: int
    name: str | None
    labels: str | None


@dataclass(frozen=True)
class TrackInfo(Struct):
    """A thread, a stream or another line of events; ``process`` is an index of :attr:`Info.processes`."""

    id: int
    name: str
    kind: str
    process: int
    device: int | None
    native_id: int
    events: int


@dataclass(frozen=True)
class RecordedInfo(Struct):
    """What was recorded besides times."""

    shapes: bool
    stacks: bool
    memory: bool
    modules: bool
    flops: bool


@dataclass(frozen=True)
class ProcessGroup(Struct):
    """Processes that communicate with each other."""

    name: str
    description: str | None
    backend: str | None
    size: int
    ranks: tuple[int, ...]


@dataclass(frozen=True)
class Distributed(Struct):
    """This process's place among others."""

    backend: str | None
    rank: int | None
    world_size: int | None
    nccl_version: str | None
    groups: tuple[ProcessGroup, ...]


@dataclass(frozen=True)
class AnomalyExample(Struct):
    """Where the file has an anomaly first."""

    byte_offset: int
    text: str


@dataclass(frozen=True)
class Anomaly(Struct):
    """Something that could not be taken as it stands, and how often."""

    kind: str
    count: int
    example: AnomalyExample
    description: str


@dataclass(frozen=True, repr=False)
class Info(AnswerStruct):
    """What a trace holds (telltale.info/1)."""

    schema: str
    path: str
    format: str
    bytes: int | None
    text_bytes: int
    tool: str | None
    versions: dict[str, str]
    recorded_at: str | None
    events: int
    memory_events: int
    counter_values: int
    flows: int
    duration_ns: int
    memory_bytes: int
    steps: tuple[StepInfo, ...]
    devices: tuple[DeviceInfo, ...]
    processes: tuple[ProcessInfo, ...]
    tracks: tuple[TrackInfo, ...]
    kinds: dict[str, int]
    recorded: RecordedInfo
    distributed: Distributed | None
    anomalies: tuple[Anomaly, ...]


@dataclass(frozen=True)
class SourceLine(Struct):
    """A line of the user's code."""

    file: str
    line: int
    function: str


@dataclass(frozen=True)
class TopRow(Struct):
    """Everything of one name: how often it was called and what it took, as in torch's ``key_averages()``."""

    name: str
    kind: str
    calls: int
    self_cpu_ns: int | None
    cpu_ns: int | None
    cpu_once_ns: int | None
    self_device_ns: int | None
    device_ns: int | None
    cpu_memory_bytes: int | None
    self_cpu_memory_bytes: int | None
    device_memory_bytes: int | None
    self_device_memory_bytes: int | None
    flops: int | None
    input_shapes: tuple[tuple[int, ...], ...] | None
    stack: tuple[str, ...] | None
    source: SourceLine | None


@dataclass(frozen=True)
class TopTotals(Struct):
    """Self time of the whole trace or of the chosen steps, whichever rows there are."""

    self_cpu_ns: int
    self_device_ns: int | None


@dataclass(frozen=True, repr=False)
class Top(AnswerStruct):
    """What took the time (telltale.top/1)."""

    schema: str
    rows: tuple[TopRow, ...]
    totals: TopTotals
    anomalies: int


@dataclass(frozen=True)
class WhatIfStep(Struct):
    """The steps that were replayed."""

    count: int
    recorded_ns: int
    source: str


@dataclass(frozen=True)
class Change(Struct):
    """A change that was asked for, and how much of the steps it is about."""

    change: str
    pattern: str | None
    factor: float | None
    calls: int
    device_work: int


@dataclass(frozen=True)
class ReplayedStep(Struct):
    """A step as it was replayed."""

    step_ns: int
    device_busy_ns: int | None
    host_busy_ns: int
    bottleneck: str


@dataclass(frozen=True)
class WhatIfSaving(Struct):
    """By how much a step would be shorter."""

    ns: int
    percent: float


@dataclass(frozen=True, repr=False)
class WhatIf(AnswerStruct):
    """What a step would take if parts of it were gone, faster or slower (telltale.whatif/1)."""

    schema: str
    path: str
    step: WhatIfStep
    changes: tuple[Change, ...]
    before: ReplayedStep
    after: ReplayedStep
    saving: WhatIfSaving
