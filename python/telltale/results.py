"""What a trace answers, as typed structs: the members of ``telltale info``, ``top`` and ``whatif`` with ``--json``.

Times are whole nanoseconds; what a trace does not say is None.
"""

# Written by tools/result-pages from the descriptions in src/report.
from __future__ import annotations

from dataclasses import dataclass

from telltale._struct import AnswerStruct, Struct


@dataclass(frozen=True)
class WhatIfSaving(Struct):
    """By how much a step would be shorter."""
    ns: int
    """Negative where it would be longer."""
    percent: float
    """Of ``before.step_ns``."""


@dataclass(frozen=True)
class ReplayedStep(Struct):
    """A step as it was replayed."""
    step_ns: int
    """How long it takes."""
    device_busy_ns: int | None
    """Null where the steps launch no device work."""
    host_busy_ns: int
    """Of the busiest line of host work, waits left out."""
    bottleneck: str
    """``device`` or ``host`` when it works for at least 95 % of the step, else ``neither``."""


@dataclass(frozen=True)
class Change(Struct):
    """A change that was asked for, and how much of the steps it is about."""
    change: str
    """``remove``, ``scale``, ``no_sync``, ``instant_data``, ``graph`` or ``no_observer``."""
    pattern: str | None
    """What to remove or scale."""
    factor: float | None
    """How many times as long it takes; 0 removes it."""
    calls: int
    """Host events that it is about, in all steps together."""
    device_work: int
    """Device work that it is about, in all steps together."""


@dataclass(frozen=True)
class WhatIfStep(Struct):
    """The steps that were replayed."""
    count: int
    """How many there are."""
    mean_ns: int
    """A step as it was recorded, as in telltale.analyze/1."""
    source: str
    """What the steps are, as in telltale.analyze/1."""


@dataclass(frozen=True, repr=False)
class WhatIf(AnswerStruct):
    """What a step would take if parts of it were gone, faster or slower (telltale.whatif/1)."""
    schema: str
    """``telltale.whatif/1``."""
    path: str
    """The file as it was named; ``-`` is standard input."""
    step: WhatIfStep
    """The steps as they were recorded."""
    changes: tuple[Change, ...]
    """What was asked for, in the order in which ``change`` lists them."""
    before: ReplayedStep
    """A step replayed without the changes."""
    after: ReplayedStep
    """The same with the changes."""
    saving: WhatIfSaving
    """What the changes would buy."""


@dataclass(frozen=True)
class AnomalyExample(Struct):
    """Where the file has an anomaly first."""
    byte_offset: int
    """In the decompressed text."""
    text: str
    """A short quote, or the name of the event."""


@dataclass(frozen=True)
class Anomaly(Struct):
    """Something that could not be taken as it stands, and how often."""
    kind: str
    """What it is."""
    severity: str
    """``lost``, ``repaired`` or ``note``; notes are normal for the file's writer."""
    count: int
    """How often."""
    example: AnomalyExample
    """The first one."""
    description: str
    """A sentence: what it is and what was done about it."""


@dataclass(frozen=True)
class ProcessGroup(Struct):
    """Processes that communicate with each other."""
    name: str
    """Its name."""
    description: str | None
    """What it is for."""
    backend: str | None
    """What it communicates by."""
    size: int
    """How many processes it has."""
    ranks: tuple[int, ...]
    """The ranks of its processes."""


@dataclass(frozen=True)
class Distributed(Struct):
    """This process's place among others."""
    backend: str | None
    """What they communicate by."""
    rank: int | None
    """The rank of this process."""
    world_size: int | None
    """How many processes there are."""
    nccl_version: str | None
    """The version of NCCL."""
    groups: tuple[ProcessGroup, ...]
    """Groups of processes."""


@dataclass(frozen=True)
class DeviceClock(Struct):
    """How well times of the device agree with those of the host."""
    samples: int
    """How often both clocks were read."""
    drift_ppm: float
    """By which the device's clock is faster, in millionths; taken out."""
    residual_ns: int
    """By which times may still differ."""


@dataclass(frozen=True)
class RecordedInfo(Struct):
    """What was recorded besides times."""
    shapes: bool
    """Shapes of the inputs of operators."""
    stacks: bool
    """Python calls or stacks of operators."""
    memory: bool
    """Allocations and frees."""
    modules: bool
    """Calls of modules."""
    flops: bool
    """Floating-point operations."""
    sampled: bool
    """Python calls are seen by samples and at operators: how many there were is not known."""


@dataclass(frozen=True)
class TrackInfo(Struct):
    """A thread, a stream or another line of events."""
    id: int
    """Its number in this list."""
    name: str
    """Its name."""
    kind: str
    """``thread``, ``stream``, ``async``, ``counter`` or ``recording``."""
    process: int
    """The index of its process in ``processes``."""
    device: int | None
    """The device of a stream."""
    native_id: int
    """Thread id or stream number."""
    events: int
    """How many it has."""


@dataclass(frozen=True)
class ProcessInfo(Struct):
    """A process."""
    pid: int
    """Its number; 0 where the file has text instead."""
    name: str | None
    """Its name."""
    labels: str | None
    """What else the file calls it."""


@dataclass(frozen=True)
class DeviceInfo(Struct):
    """A device, as far as the file describes it."""
    id: int
    """As the recorder numbers it."""
    name: str | None
    """Its model."""
    memory_bytes: int | None
    """How much it has."""
    compute_major: int | None
    """The major number of its compute capability."""
    compute_minor: int | None
    """The minor number of its compute capability."""
    multiprocessors: int | None
    """How many."""
    warp_size: int | None
    """Threads of a warp."""
    max_threads_per_multiprocessor: int | None
    """At a time."""
    registers_per_multiprocessor: int | None
    """How many."""
    shared_memory_per_multiprocessor: int | None
    """In bytes."""


@dataclass(frozen=True)
class StepInfo(Struct):
    """A step that the recorder marked."""
    index: int
    """The number in its name, or its place."""
    name: str
    """The name of its mark."""
    start_ns: int
    """When it starts."""
    duration_ns: int
    """How long it takes on the host."""


@dataclass(frozen=True, repr=False)
class Info(AnswerStruct):
    """What a trace holds (telltale.info/1)."""
    schema: str
    """``telltale.info/1``."""
    path: str
    """The file as it was named; ``-`` is standard input."""
    format: str
    """What the trace was first written as: ``kineto``, the JSON of PyTorch's profiler, ``chrome``, a Chrome trace of
    another tool, or ``tell``, a recording of Telltale's own."""
    bytes: int | None
    """Size of the file as it is stored; null for standard input."""
    text_bytes: int
    """Size of its text, decompressed."""
    tool: str | None
    """What recorded it, where the file tells."""
    versions: dict[str, str]
    """By name, those that the file has: ``cuda_runtime``, ``cuda_driver``, ``cupti``, ``hip_runtime``, ``hip_driver``,
    ``roctracer``, ``rocprofiler``, ``pytorch``, ``nccl``, ``telltale``."""
    recorded_at: str | None
    """When the recording started, in UTC: ``2026-11-15T01:13:02Z``."""
    events: int
    """Events of all kinds."""
    memory_events: int
    """Allocations and frees."""
    counter_values: int
    """Values of counters."""
    flows: int
    """Links between events that the file draws and that are neither a launch nor a backward pass."""
    duration_ns: int
    """From the start of the first event to the end of the last."""
    memory_bytes: int
    """What the trace takes in our memory."""
    steps: tuple[StepInfo, ...]
    """By start."""
    devices: tuple[DeviceInfo, ...]
    """By id."""
    processes: tuple[ProcessInfo, ...]
    """In the order of their first track."""
    tracks: tuple[TrackInfo, ...]
    """In the order of their first event."""
    kinds: dict[str, int]
    """Number of events by kind, for the kinds that occur."""
    recorded: RecordedInfo
    """What was recorded besides times."""
    device_clock: DeviceClock | None
    """How well times of the device agree with those of the host; null where the recorder did not measure it."""
    distributed: Distributed | None
    """Null where the process is alone."""
    anomalies: tuple[Anomaly, ...]
    """What was lost first, then what was repaired, then notes."""


@dataclass(frozen=True)
class TopTotals(Struct):
    """Self time of the whole trace or of the chosen steps, whichever rows are shown."""
    self_cpu_ns: int
    """Of all operators, annotations, runtime and driver calls."""
    self_device_ns: int | None
    """Of all device work; null when the trace has none."""


@dataclass(frozen=True)
class SourceLine(Struct):
    """A line of the user's code."""
    file: str
    """Its path, as the recorder has it."""
    line: int
    """Its number; where only calls are known, that of the function."""
    function: str
    """The function around it."""


@dataclass(frozen=True)
class TopRow(Struct):
    """Everything of one name: how often it was called and what it took, as in torch's ``key_averages()``."""
    name: str
    """What was called; all steps together are ``ProfilerStep*``."""
    kind: str
    """``operator``, ``kernel``, …: what it is."""
    calls: int | None
    """How often; null of Python calls that are seen by samples."""
    self_cpu_ns: int | None
    """Host time in the calls themselves, without calls inside them."""
    cpu_ns: int | None
    """Host time with the calls inside them; a call inside another of the same row counts twice, as in torch."""
    cpu_once_ns: int | None
    """The same with each nanosecond of a thread counted once."""
    self_device_ns: int | None
    """Time of the device work that the calls launched themselves; of device work, its own."""
    device_ns: int | None
    """And of the device work that the calls inside them launched."""
    cpu_memory_bytes: int | None
    """By how much the host memory in use grew while the calls ran."""
    self_cpu_memory_bytes: int | None
    """The same without the calls inside them."""
    device_memory_bytes: int | None
    """Likewise for devices."""
    self_device_memory_bytes: int | None
    """Likewise without the calls inside them."""
    flops: int | None
    """Floating-point operations, by torch's formulas for ``conv2d``, ``mm``, ``addmm``, ``bmm``, ``baddbmm``, ``add``
    and ``mul``."""
    input_shapes: tuple[tuple[int, ...], ...] | None
    """With ``--group shape``: a list for each argument, empty where it is no tensor or a list of tensors."""
    stack: tuple[str, ...] | None
    """With ``--group stack``: Python frames, innermost first; those of the forward pass for backward operators."""
    source: SourceLine | None
    """The place in the program, where the trace has it and all calls stand in one; in CSV ``file:line``."""


@dataclass(frozen=True, repr=False)
class Top(AnswerStruct):
    """What took the time (telltale.top/1)."""
    schema: str
    """``telltale.top/1``."""
    rows: tuple[TopRow, ...]
    """What took the time, in the order that was asked for."""
    totals: TopTotals
    """What shares are of."""
    anomalies: int
    """How many things in the file were lost or repaired; ``telltale info`` lists them."""
