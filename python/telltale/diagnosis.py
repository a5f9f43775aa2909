"""A diagnosis as typed structs: the members of ``telltale analyze --json``.

Unless it says otherwise, a time is that of one step in whole nanoseconds, the mean of those looked at. What a trace
does not say is None.
"""

# Written by tools/result-pages from the descriptions in src/report.
from __future__ import annotations

from dataclasses import dataclass

from telltale._struct import PageStruct, Struct
from telltale.results import SourceLine


@dataclass(frozen=True)
class RunningCost(Struct):
    """What 1,000 steps cost."""
    kilowatt_hours: float
    """That they use."""
    money: float | None
    """By ``--price``."""
    carbon_grams: float | None
    """Of CO₂, by ``--carbon``."""
    saved_by: str | None
    """The rule of the first finding; null where there is none."""
    saved_percent: float
    """Of the energy, if the mean power stays the same."""
    saved_money: float | None
    """By that finding."""
    saved_carbon_grams: float | None
    """Likewise."""


@dataclass(frozen=True)
class SlowedClock(Struct):
    """What throttling does to a busy device."""
    throttled_mhz: float
    """The clock of its multiprocessors while throttled."""
    free_mhz: float
    """While it is not."""
    throttled_percent: float
    """How much of its busy time it is throttled."""


@dataclass(frozen=True)
class ThrottleReason(Struct):
    """Why a device lowers its clock."""
    name: str
    """``power limit``, ``temperature``, …."""
    percent: float
    """Of the time; several may hold at once."""


@dataclass(frozen=True)
class GaugedDevice(Struct):
    """What the gauges of a device or of the processors say."""
    name: str
    """``GPU 0``, ``CPU``."""
    is_used: bool
    """Whether the program uses it."""
    readings: int
    """How many there are within the steps."""
    mean_watts: float | None
    """Null with too few readings."""
    source: str
    """How its energy is known: by a ``counter`` of the device, or by its ``power``, added up."""
    joules_per_step: float | None
    """Mean power times ``step.unobserved_ns``, or from one request to the next; of the whole device, whoever uses
    it."""
    recorded_joules_per_step: float | None
    """Mean power times ``step.mean_ns``."""
    limit_watts: float | None
    """Its power limit."""
    limit_percent: float | None
    """Mean power, of the limit."""
    utilization_percent: float | None
    """As the device tells it."""
    memory_bytes: int | None
    """In all."""
    peak_memory_bytes: int | None
    """In use at most, by all processes."""
    memory_headroom_bytes: int | None
    """Never in use."""
    throttled_percent: float
    """How much of the time it is throttled."""
    throttle_reasons: tuple[ThrottleReason, ...]
    """By falling share."""
    clock: SlowedClock | None
    """Null where too few readings of a busy device are throttled, or are not."""


@dataclass(frozen=True)
class EnergyUse(Struct):
    """Energy, power, throttling and memory, by gauges."""
    joules_per_step: float | None
    """Of all devices that the program uses."""
    recorded_joules_per_step: float | None
    """Likewise."""
    samples_per_step: int | None
    """Null where shapes do not tell it."""
    joules_per_sample: float | None
    """Likewise."""
    devices: tuple[GaugedDevice, ...]
    """Those that were read."""


@dataclass(frozen=True)
class Counter(Struct):
    """Values of a counter, of all steps together."""
    name: str
    """Its name."""
    series: str
    """The name of its values."""
    values: int
    """How many there are."""
    mean: float
    """Over time: a value holds until the next."""
    minimum: float
    """The least value."""
    maximum: float
    """The greatest value."""
    last: float
    """The last value."""


@dataclass(frozen=True)
class RequestWait(Struct):
    """What threads that serve wait for."""
    what: str
    """Lock, socket, poll, pipe, file, process, sleep or other."""
    ns: int
    """Of all these threads together."""


@dataclass(frozen=True)
class Requests(Struct):
    """What a server answers, found as calls of its model; of all steps together."""
    name: str
    """The module's class, or the function that calls modules several times."""
    count: int
    """How many there are."""
    calls: float
    """Of modules that stand in no other one, in a request."""
    p50_ns: int
    """The median; both by the nearest rank."""
    p99_ns: int
    """99 % take at most this."""
    per_second: float
    """How many come, from the first start to the last end."""
    threads: tuple[int, ...]
    """The ids of the tracks that serve."""
    busy_percent: float
    """Of these threads' time, within requests."""
    most_at_once: int
    """The most that run at one time."""
    mean_at_once: float
    """While there is any."""
    rows: int | None
    """Samples of the first layer, in most requests; null when not known."""
    are_on_event_loop: bool
    """Whether they run where asyncio's loop does."""
    waits_between: tuple[RequestWait, ...]
    """Between requests, by falling time."""
    waits_inside: tuple[RequestWait, ...]
    """Within requests, by falling time."""


@dataclass(frozen=True)
class Waiting(Struct):
    """How long spans wait for what serves them."""
    spans: int
    """How many it is known of."""
    total_ns: int
    """How long these take together."""
    waiting_ns: int
    """How much of that passed until what served them began."""
    waiting_percent: float
    """The same of ``total_ns``."""
    beside_idle_ns: int
    """Of ``waiting_ns``, while a thread that serves was idle."""
    p50_ns: int
    """The median of a single wait."""
    p99_ns: int
    """99 % wait at most this long."""
    served_in: str
    """The name of what serves most of them."""
    threads: tuple[int, ...]
    """The ids of the tracks that serve."""
    busy_percent: float
    """How busy these threads are, the mean."""


@dataclass(frozen=True)
class Latency(Struct):
    """How long something that repeats takes; of all steps together."""
    name: str
    """Its name."""
    is_async: bool
    """Whether it belongs to no thread."""
    count: int
    """How many there are."""
    unfinished: int
    """How many more have no end in the trace."""
    p50_ns: int
    """The median; all by the nearest rank."""
    p90_ns: int
    """90 % take at most this."""
    p99_ns: int
    """99 % take at most this."""
    max_ns: int
    """The longest."""
    total_ns: int
    """All together."""
    longest: int | None
    """The number of the longest event."""
    waiting: Waiting | None
    """Of spans that an arrow ties to what served them."""


@dataclass(frozen=True)
class ScopeTime(Struct):
    """What a thread does under one name."""
    name: str
    """Its name."""
    calls: float
    """That start in a step."""
    own_ns: int
    """Without the calls inside."""
    longest: int | None
    """The number of the longest event."""


@dataclass(frozen=True)
class ThreadActivity(Struct):
    """What a thread of the host does in a step."""
    track: int
    """Its id, as in telltale.info/1."""
    name: str
    """Its name."""
    busy_ns: int
    """In anything that was recorded, marks of steps aside."""
    busy_percent: float
    """Of the step."""
    scopes: tuple[ScopeTime, ...]
    """Up to 20, by falling own time."""


@dataclass(frozen=True)
class Memory(Struct):
    """Memory of the device with the highest peak or, without device work, of the host."""
    device: int
    """Its id; -1: the host."""
    peak_allocated_bytes: int
    """The most that tensors took."""
    peak_reserved_bytes: int
    """The most that the allocator held."""
    reserved_at_peak_bytes: int
    """What it held when tensors took most."""
    peak_time_ns: int
    """When that was."""
    step_minimum_bytes: tuple[int, ...]
    """The least allocated, by step."""
    step_peak_bytes: tuple[int, ...]
    """The most allocated, by step."""
    growth_bytes_per_step: float | None
    """Of the minima, with three steps or more."""
    device_allocations: float
    """Calls of ``cudaMalloc`` in a step."""
    device_frees: float
    """Calls of ``cudaFree`` in a step."""
    allocator_call_ns: int
    """In those calls."""
    curve: tuple[tuple[int, ...], ...]
    """``[time_ns, allocated_bytes, reserved_bytes]`` at up to a few thousand times, peaks kept."""


@dataclass(frozen=True)
class Collective(Struct):
    """Collectives of one name."""
    name: str
    """The collective, or its kernel where the file says no more."""
    calls: float
    """In a step."""
    bytes: float | None
    """Sent in a step, by the calls that say so."""
    device_ns: int
    """Each instant once."""
    exposed_ns: int
    """Of that, while the device computes nothing."""


@dataclass(frozen=True)
class Communication(Struct):
    """Communication, and how much of it nothing hides."""
    total_ns: int
    """Each instant once."""
    exposed_ns: int
    """Of that, while the device computes nothing."""
    overlap_percent: float | None
    """Of it that computing hides; null without any."""
    collectives: tuple[Collective, ...]
    """By name, by falling time."""


@dataclass(frozen=True)
class Copies(Struct):
    """Copies in one direction."""
    direction: str
    """``host_to_device``, ``device_to_host``, ``device_to_device`` or ``other``."""
    is_pageable: bool
    """Whether the host's memory is not pinned."""
    calls: float
    """In a step."""
    bytes: float
    """In a step."""
    duration_ns: int
    """In a step."""
    exposed_ns: int
    """Of that, while the device does nothing else."""
    host_blocked_ns: int
    """How long the host stands in these calls."""
    bytes_per_second: float
    """While copying."""


@dataclass(frozen=True)
class HostWait(Struct):
    """Waits of the host for anything but the device, the data loader and other ranks."""
    waits_for: str
    """``sleep``, ``lock``, ``socket``, ``pipe``, ``file``, ``process``, ``poll`` or ``other``."""
    source: SourceLine | None
    """The line that waits; null where the trace does not say."""
    ns: int
    """In a step."""
    percent: float
    """Of the recorded step."""
    example: int | None
    """The number of the longest event."""


@dataclass(frozen=True)
class Sync(Struct):
    """Waits of the host for the device, by what waits."""
    name: str
    """The operator around the call that waits, or the call itself."""
    calls: float
    """In a step."""
    waited_ns: int
    """How long the host waits."""
    idle_ns: int
    """That the device then spends idle."""
    example: int | None
    """The number of the event with the longest idle time behind it."""


@dataclass(frozen=True)
class LaunchQueue(Struct):
    """Work that is launched and waits for the device."""
    mean_depth: float
    """How much of it there is, over time."""
    empty_percent: float
    """Of the time, with at most one waiting."""
    launch_latency_ns: int
    """From the start of a call to that of its kernel, where the stream has nothing else to do; the median."""


@dataclass(frozen=True)
class BlindRule(Struct):
    """A rule that could not look at the trace."""
    rule: str
    """Its id."""
    lacks: tuple[str, ...]
    """What it cannot do without: ``shapes``, ``stacks``, ``memory``, ``modules``, ``collections``, or ``steps`` where
    there are fewer than three."""


@dataclass(frozen=True)
class Look(Struct):
    """Which rules had what they need."""
    rules: int
    """How many looked; those that do not apply, as to a trace without a GPU, aside."""
    blind: tuple[BlindRule, ...]
    """Those that could not look."""
    remedy: str | None
    """What lets them look next time, in the words of whoever recorded."""


@dataclass(frozen=True)
class FindingPart(Struct):
    """What another rule found that the fix of a finding mends as well."""
    rule: str
    """Its rule."""
    title: str
    """What is wrong."""
    explanation: str
    """The same with its numbers."""
    saving: Saving
    """What ``fix`` would buy; part of what the finding's buys."""
    fix: str
    """The finding's fix, or ``compile`` and ``compile_graphs`` for one another."""


@dataclass(frozen=True)
class Fix(Struct):
    """What to change, in words and as code."""
    id: str
    """A word of a fixed vocabulary."""
    text: str
    """A sentence."""
    code: str
    """A short change with ``- `` and ``+ `` where something is replaced; may be empty."""


@dataclass(frozen=True)
class Evidence(Struct):
    """An event that shows what a finding is about."""
    event: int
    """Its number."""
    name: str
    """Its name."""
    start_ns: int
    """When it starts."""
    duration_ns: int
    """How long it takes."""


@dataclass(frozen=True)
class Saving(Struct):
    """What a fix alone would buy in a step; all zero where a finding is about memory or trust. Savings overlap and must
    not be added up."""
    low_ns: int
    """At least."""
    likely_ns: int
    """Our best estimate."""
    high_ns: int
    """At most."""
    low_percent: float
    """The same of ``step.unobserved_ns``."""
    likely_percent: float
    """Likewise."""
    high_percent: float
    """Likewise."""


@dataclass(frozen=True)
class Finding(Struct):
    """Something that makes the program slow, and what its fix would buy."""
    rule: str
    """Its rule; ``telltale analyze --explain RULE`` tells what it looks for."""
    title: str
    """What is wrong."""
    explanation: str
    """The same with its numbers."""
    saving: Saving
    """What its fix alone would buy."""
    saving_bytes: int
    """By how much the peak of memory falls with it; 0 where that is not the point."""
    cost_ns: int | None
    """What a fix that saves memory costs in time, in a step; null: not known."""
    confidence: str
    """``low``, ``medium`` or ``high``."""
    evidence: tuple[Evidence, ...]
    """Up to eight events, the most telling first."""
    source: SourceLine | None
    """The line of the user's code."""
    fix: Fix
    """What to change."""
    parts: tuple[FindingPart, ...]
    """What other rules found that the same change mends, by falling saving."""
    also_explains: tuple[str, ...]
    """Rules with another fix whose findings this one would mend."""


@dataclass(frozen=True)
class KernelTime(Struct):
    """Device work of one name and class."""
    name: str
    """The kernel, or the sort of copy."""
    class_: str
    """Its class, as in ``breakdown``."""
    precision: str | None
    """``fp64``, ``fp32``, ``tf32``, ``fp16``, ``bf16``, ``fp8``, ``int8``, as far as its name and its operator's types
    tell."""
    uses_tensor_cores: bool
    """Whether its name says so."""
    calls: int
    """In all steps together."""
    device_ns: int
    """A step, summed over calls."""
    mean_ns: float
    """A call."""
    occupancy_percent: float | None
    """How well launches fill multiprocessors, by time."""
    blocks_per_multiprocessor: float | None
    """Of a launch, by time."""
    waves: float | None
    """Rounds of blocks that a launch takes, by time; below 1 some room stays empty."""
    flops_per_second: float | None
    """By the shapes of its operator, where they were recorded."""
    bytes_per_second: float | None
    """Likewise."""
    roofline_percent: float | None
    """100 is as fast as the device's peaks allow."""
    example: int | None
    """The number of the event that is its longest call."""


@dataclass(frozen=True)
class ModuleTime(Struct):
    """A module of the model; its times include what is called inside."""
    name: str
    """As the recorder names it."""
    path: str
    """With the modules around it; past 2,000 bytes, ``…`` and the innermost."""
    parent: int | None
    """The index of the module around it in this list."""
    depth: int
    """How many modules are around it."""
    calls: int
    """In all steps together."""
    forward_cpu_ns: int
    """Host time of the forward pass."""
    forward_device_ns: int
    """Device time of the forward pass."""
    backward_cpu_ns: int
    """Host time of the backward pass."""
    backward_device_ns: int
    """Device time of the backward pass."""
    self_device_ns: int
    """Device time of both passes that no module inside takes."""


@dataclass(frozen=True)
class PhaseTime(Struct):
    """A phase of the step."""
    phase: str
    """``data``, ``copy``, ``forward``, ``backward``, ``optimizer`` or ``other``."""
    cpu_ns: int
    """On the threads that work for it."""
    device_ns: int
    """Of the device work launched in it."""


@dataclass(frozen=True)
class DeviceUse(Struct):
    """How busy a device is in a step."""
    id: int
    """As the recorder numbers it."""
    name: str | None
    """Its model."""
    busy_ns: int
    """In which it has work, each instant once."""
    idle_ns: int
    """The rest of the step."""
    utilization_percent: float
    """How much of the step it is busy."""
    kernels: int
    """That start in a step, rounded."""


@dataclass(frozen=True)
class BreakdownPart(Struct):
    """A part of a step's recorded time; the parts add up to it."""
    category: str
    """``matmul``, ``idle_sync``, …: what the device does or waits for."""
    ns: int
    """The time."""
    percent: float
    """Of the recorded step."""
    is_idle: bool
    """Whether the device waits meanwhile; never so in a trace without device work."""


@dataclass(frozen=True)
class StepTime(Struct):
    """One step on the host, and the work that it launched."""
    index: int
    """The number in its mark, or its place."""
    start_ns: int
    """When it starts on the host."""
    duration_ns: int
    """How long it takes there, up to the next one."""
    device_busy_ns: int
    """How long the work that it launched occupies a device."""
    is_outlier: bool
    """Whether it is unlike the others, as steps that warm up are."""
    is_cut: bool
    """Whether it waits for work of before the recording, or its own was not recorded to the end."""
    is_counted: bool
    """Whether the numbers are about it; not so for outliers and for steps that a pause or an outlier parts from the
    longest run."""


@dataclass(frozen=True)
class StepSummary(Struct):
    """A step: as recorded, and as it would be without the profiler."""
    count: int
    """How many steps the numbers are about."""
    mean_ns: int
    """A step as it was recorded: the period with which the program repeats itself, which is the device's where the host
    runs ahead of it."""
    median_ns: int
    """The median of the same."""
    unobserved_ns: int
    """A step as it would have been without the profiler: measured where steps of the program ran unrecorded, else by
    our model of what recording costs."""
    unobserved_low_ns: int
    """The least that it may be: the fastest of the measured steps, or the estimate if recording cost more."""
    unobserved_high_ns: int
    """The most that it may be: the slowest of the measured steps, or the estimate if recording cost less."""
    unobserved_source: str
    """How it is known: ``measured``, ``estimated``, or ``recorded`` where recording cost nothing."""
    unrecorded_steps: int
    """Over how many unrecorded steps it was measured; 0 where it was not."""
    slowdown_percent: float
    """How much slower recording made the step: by how much of ``unobserved_ns`` the two differ."""
    observer_percent: float
    """By how much of ``mean_ns`` the two differ."""
    source: str
    """What the steps are: ``marks`` (annotations: ProfilerStep#, or a framework's own), ``optimizer`` (from one
    optimizer step to the next), ``pattern`` (what repeats at the outermost level of the busiest thread), ``parts`` (a
    single pass that warms up: its alike parts), ``whole_trace`` (nothing repeats: the trace counts as one step)."""


@dataclass(frozen=True)
class AnomalyCount(Struct):
    """Something that could not be taken as it stands, and how often."""
    kind: str
    """What it is; ``telltale info`` describes it and has an example."""
    severity: str
    """``lost`` or ``repaired``."""
    count: int
    """How often."""


@dataclass(frozen=True)
class DiagnosedTrace(Struct):
    """The trace that was diagnosed."""
    path: str
    """The file as it was named; ``-`` is standard input."""
    events: int
    """How many it has."""
    duration_ns: int
    """From the start of the first event to the end of the last."""
    devices: tuple[str | None, ...]
    """Their names, null where the file does not say."""
    anomalies: tuple[AnomalyCount, ...]
    """What was lost or repaired; ``telltale info`` also lists what is normal."""


@dataclass(frozen=True, repr=False)
class Diagnosis(PageStruct):
    """Why a program is slow, and what each fix would buy (telltale.analyze/1)."""
    schema: str
    """``telltale.analyze/1``."""
    trace: DiagnosedTrace
    """The trace."""
    step: StepSummary
    """How long a step takes."""
    steps: tuple[StepTime, ...]
    """One by one, also those that do not count."""
    breakdown: tuple[BreakdownPart, ...]
    """Where the recorded step's time goes, each instant once; the ``ns`` add up to ``step.mean_ns``, exactly. Only what
    is not zero: first what the busiest device does, then what it waits for, each by falling time."""
    devices: tuple[DeviceUse, ...]
    """Those with work."""
    phases: tuple[PhaseTime, ...]
    """Of a step."""
    modules: tuple[ModuleTime, ...]
    """As a tree, parents before children; empty when no modules were recorded."""
    kernels: tuple[KernelTime, ...]
    """Device work by name and class, the 100 rows of most time."""
    findings: tuple[Finding, ...]
    """What would help, by falling ``saving.likely_ns``; those about memory and trust come last."""
    look: Look
    """Which rules looked, and which could not: their silence says nothing."""
    remarks: tuple[str, ...]
    """Sentences: what a reader should know before trusting the rest."""
    queue: LaunchQueue
    """Work that waits for the device."""
    syncs: tuple[Sync, ...]
    """By falling idle time."""
    waits: tuple[HostWait, ...]
    """Of the host, by line and what is waited for, by falling time."""
    copies: tuple[Copies, ...]
    """By direction."""
    communication: Communication
    """With other processes."""
    memory: Memory | None
    """Null when no memory of a device, or of the host without one, was recorded."""
    threads: tuple[ThreadActivity, ...]
    """Of the host, the busiest first."""
    latencies: tuple[Latency, ...]
    """Requests and other spans that belong to no thread come first, then scopes at the top of threads that come at
    least three times; each by falling ``total_ns``."""
    requests: Requests | None
    """Of a server that marks none; null for other programs."""
    counters: tuple[Counter, ...]
    """Those that have a value; gauges are told of by ``energy``."""
    energy: EnergyUse | None
    """Null when no gauges were read."""
    cost: RunningCost | None
    """Null without a price, or when energy is not known."""
