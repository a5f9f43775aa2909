"""A diagnosis as typed structs: the members of ``telltale analyze --json``, which ``docs/json.md`` describes.

Unless it says otherwise, a time is that of one step in whole nanoseconds, the mean of those looked at. What a trace
does not say is None.
"""

from __future__ import annotations

import html
from dataclasses import dataclass

from telltale._struct import AnswerStruct, Struct
from telltale.results import SourceLine


@dataclass(frozen=True)
class AnomalyCount(Struct):
    """Something that could not be taken as it stands, and how often."""

    kind: str
    count: int


@dataclass(frozen=True)
class DiagnosedTrace(Struct):
    """The trace that was diagnosed."""

    path: str
    events: int
    duration_ns: int
    devices: tuple[str | None, ...]
    anomalies: tuple[AnomalyCount, ...]


@dataclass(frozen=True)
class StepSummary(Struct):
    """A step: as recorded, and as it would be without the profiler."""

    count: int
    mean_ns: int
    median_ns: int
    unobserved_ns: int
    observer_percent: float
    source: str


@dataclass(frozen=True)
class StepTime(Struct):
    """One step on the host, and the work that it launched."""

    index: int
    start_ns: int
    duration_ns: int
    device_busy_ns: int


@dataclass(frozen=True)
class BreakdownPart(Struct):
    """A part of a step's recorded time; the parts add up to it."""

    category: str
    ns: int
    percent: float


@dataclass(frozen=True)
class IdlePart(Struct):
    """Time in which the busiest device waits, by cause."""

    cause: str
    ns: int
    percent: float


@dataclass(frozen=True)
class DeviceUse(Struct):
    """How busy a device is."""

    id: int
    name: str | None
    busy_ns: int
    idle_ns: int
    utilization_percent: float
    kernels: int


@dataclass(frozen=True)
class PhaseTime(Struct):
    """A phase of the step: data, copy, forward, backward, optimizer or other."""

    phase: str
    cpu_ns: int
    device_ns: int


@dataclass(frozen=True)
class ModuleTime(Struct):
    """A module; ``parent`` is an index of :attr:`Analysis.modules`."""

    name: str
    path: str
    parent: int | None
    depth: int
    calls: int
    forward_cpu_ns: int
    forward_device_ns: int
    backward_cpu_ns: int
    backward_device_ns: int
    self_device_ns: int


@dataclass(frozen=True)
class KernelTime(Struct):
    """Device work of one name and class; ``example`` is the event of its longest call."""

    name: str
    class_: str
    precision: str | None
    uses_tensor_cores: bool
    calls: int
    device_ns: int
    mean_ns: float
    occupancy_percent: float | None
    blocks_per_multiprocessor: float | None
    waves: float | None
    flops_per_second: float | None
    bytes_per_second: float | None
    roofline_percent: float | None
    example: int | None


@dataclass(frozen=True)
class Saving(Struct):
    """What a fix alone would buy. Savings overlap and do not add up."""

    low_ns: int
    likely_ns: int
    high_ns: int
    low_percent: float
    likely_percent: float
    high_percent: float


@dataclass(frozen=True)
class Evidence(Struct):
    """An event that shows what a finding is about."""

    event: int
    name: str
    start_ns: int
    duration_ns: int


@dataclass(frozen=True)
class Fix(Struct):
    """What to change, in words and as code."""

    id: str
    text: str
    code: str


@dataclass(frozen=True)
class Finding(Struct):
    """Something that makes the program slow, and what its fix would buy."""

    rule: str
    title: str
    explanation: str
    saving: Saving
    confidence: str
    evidence: tuple[Evidence, ...]
    source: SourceLine | None
    fix: Fix
    also_explains: tuple[str, ...]


@dataclass(frozen=True)
class LaunchQueue(Struct):
    """Work that is launched and waits for the device."""

    mean_depth: float
    share_empty: float
    launch_latency_ns: int


@dataclass(frozen=True)
class Sync(Struct):
    """Waits of the host for the device, by what waits."""

    name: str
    calls: float
    waited_ns: int
    idle_ns: int
    example: int | None


@dataclass(frozen=True)
class Copies(Struct):
    """Copies in one direction."""

    direction: str
    is_pageable: bool
    calls: float
    bytes: float
    duration_ns: int
    exposed_ns: int
    host_blocked_ns: int
    bytes_per_second: float


@dataclass(frozen=True)
class Collective(Struct):
    """Collectives of one name."""

    name: str
    calls: float
    bytes: float | None
    device_ns: int
    exposed_ns: int


@dataclass(frozen=True)
class Communication(Struct):
    """Communication, and how much of it nothing hides."""

    total_ns: int
    exposed_ns: int
    overlap_percent: float
    collectives: tuple[Collective, ...]


@dataclass(frozen=True)
class Memory(Struct):
    """Memory of the device with the highest peak; the curve's points are time, allocated and reserved bytes."""

    device: int
    peak_allocated_bytes: int
    peak_reserved_bytes: int
    reserved_at_peak_bytes: int
    peak_time_ns: int
    step_minimum_bytes: tuple[int, ...]
    step_peak_bytes: tuple[int, ...]
    growth_bytes_per_step: float | None
    device_allocations: float
    device_frees: float
    allocator_call_ns: int
    curve: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ScopeTime(Struct):
    """What a thread does under one name; ``longest`` is an event's number."""

    name: str
    calls: int
    own_ns: int
    longest: int | None


@dataclass(frozen=True)
class ThreadActivity(Struct):
    """What a thread of the host does, in all steps together."""

    track: int
    name: str
    busy_ns: int
    busy_percent: float
    scopes: tuple[ScopeTime, ...]


@dataclass(frozen=True)
class Waiting(Struct):
    """How long spans wait for what serves them."""

    spans: int
    total_ns: int
    waiting_ns: int
    waiting_percent: float
    beside_idle_ns: int
    p50_ns: int
    p99_ns: int
    served_in: str
    threads: tuple[int, ...]
    busy_percent: float


@dataclass(frozen=True)
class Latency(Struct):
    """How long something that repeats takes."""

    name: str
    is_async: bool
    count: int
    unfinished: int
    p50_ns: int
    p90_ns: int
    p99_ns: int
    max_ns: int
    total_ns: int
    longest: int | None
    waiting: Waiting | None


@dataclass(frozen=True)
class Counter(Struct):
    """Values of a counter."""

    name: str
    series: str
    values: int
    mean: float
    minimum: float
    maximum: float
    last: float


@dataclass(frozen=True, repr=False)
class Analysis(AnswerStruct):
    """Why a program is slow, and what each fix would buy (telltale.analyze/1)."""

    schema: str
    trace: DiagnosedTrace
    step: StepSummary
    steps: tuple[StepTime, ...]
    breakdown: tuple[BreakdownPart, ...]
    idle: tuple[IdlePart, ...]
    devices: tuple[DeviceUse, ...]
    phases: tuple[PhaseTime, ...]
    modules: tuple[ModuleTime, ...]
    kernels: tuple[KernelTime, ...]
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]
    queue: LaunchQueue
    syncs: tuple[Sync, ...]
    copies: tuple[Copies, ...]
    communication: Communication
    memory: Memory | None
    threads: tuple[ThreadActivity, ...]
    latencies: tuple[Latency, ...]
    counters: tuple[Counter, ...]

    def to_html(self) -> str:
        """The page that ``telltale analyze --html`` writes: one file, no script, nothing from the network."""
        if self.answer is None:
            raise ValueError("an analysis that was made from a dictionary, or unpickled, has no page")
        return self.answer.page()

    def _repr_html_(self) -> str:
        if self.answer is None:
            return super()._repr_html_()
        # A frame of its own, so that the page's style and the notebook's leave each other alone.
        page = html.escape(self.to_html(), quote=True)
        return f'<iframe srcdoc="{page}" sandbox="" style="width:100%;height:40em;border:0"></iframe>'
