"""What holds the memory of a program, as typed structs: the members of ``telltale memory --json``.

Times are whole nanoseconds from the start of the trace; what a trace does not say is None.
"""

# Written by tools/result-pages from the descriptions in src/report.
from __future__ import annotations

from dataclasses import dataclass

from telltale._struct import AnswerStruct, Struct
from telltale.diagnosis import Finding
from telltale.results import SourceLine


@dataclass(frozen=True)
class GrowingProcess(Struct):
    """A process whose resident size grows."""
    child: str | None
    """``process 1234``; null: the recorded process itself."""
    is_loader_worker: bool
    """Whether that is a worker of a data loader."""


@dataclass(frozen=True)
class MemoryLeak(Struct):
    """What grows from step to step."""
    source: SourceLine | None
    """The line that makes it; null where it is not known."""
    bytes_per_step: float
    """How fast."""
    bytes: int
    """How much it has come to."""
    device: int
    """Whose memory; -1: the host."""
    category: str
    """What it is, as in ``categories``."""
    operator: str | None
    """That makes most of it."""
    process: GrowingProcess | None
    """The process whose size grows; null: it is tensors."""
    kept_by: tuple[str, ...] | None
    """What keeps one of its tensors alive, from the tensor to a variable, a few words each; empty: not found; null:
    nobody looked, see ``--referrers``."""
    steps_to_full: float | None
    """Until memory is full at this rate, where its size is known."""


@dataclass(frozen=True)
class MemoryCategoriesAt(Struct):
    """What memory is used for at a time."""
    time_ns: int
    """When."""
    bytes: dict[str, int]
    """By category, those that have any."""


@dataclass(frozen=True)
class MemoryStep(Struct):
    """A step's memory."""
    index: int
    """Its number."""
    peak_bytes: int
    """The most allocated."""
    minimum_bytes: int
    """The least allocated."""
    differs: bool
    """Whether its peak is a tenth or more off the median."""


@dataclass(frozen=True)
class PinningBlock(Struct):
    """A block beside free memory."""
    source: SourceLine | None
    """The line that made it; null where it is not known."""
    pinned_bytes: int
    """As in ``PinningLine``."""
    bytes: int
    """Its own."""
    address: int
    """Where it is."""


@dataclass(frozen=True)
class PinningLine(Struct):
    """Blocks that one line made and that lie beside free memory."""
    source: SourceLine | None
    """The line; null where it is not known."""
    pinned_bytes: int
    """Free ones that cannot be given back because of them; between two blocks, half for each."""
    bytes: int
    """Their own."""
    blocks: int
    """How many."""


@dataclass(frozen=True)
class MemoryFragmentation(Struct):
    """What PyTorch's allocator holds and no tensor uses, when it holds most."""
    time_ns: int
    """When that is."""
    hard_bytes: int
    """Free beside live blocks, which pin it."""
    soft_bytes: int
    """Free in whole segments, none of them large enough alone."""
    stream_bytes: int
    """Free in segments of other streams and private pools."""
    rounding_bytes: int
    """What blocks have beyond what was asked for."""
    pinned_by_lines: tuple[PinningLine, ...]
    """What pins ``hard_bytes``, up to 50 by falling bytes pinned."""
    pinned_by_blocks: tuple[PinningBlock, ...]
    """Likewise, up to 10."""


@dataclass(frozen=True)
class MemoryTensor(Struct):
    """One of the largest pieces."""
    bytes: int
    """How large."""
    category: str
    """What it is for."""
    is_noted: bool
    """Whether the program itself said so."""
    name: str | None
    """As the program calls it."""
    operator: str | None
    """That made it."""
    module: str | None
    """Around that."""
    source: SourceLine | None
    """The line that made it."""
    made_ns: int | None
    """When; null: before the recording."""
    freed_ns: int | None
    """When; null: not within it."""
    freed_by: str | None
    """The operator during which it was freed, which used it last."""
    kept_by: tuple[str, ...] | None
    """What keeps it alive at the end, as in ``leaks``; null: it is gone by then, a module or an optimizer has it, or
    nobody looked, see ``--referrers``."""


@dataclass(frozen=True)
class MemorySize(Struct):
    """Pieces of one size."""
    size: int
    """Of each, in bytes."""
    bytes: int
    """Of all."""
    blocks: int
    """How many."""


@dataclass(frozen=True)
class MemoryPlace(Struct):
    """What one module or operator made."""
    name: str
    """Its name; empty: outside of any."""
    bytes: int
    """How much of it is there."""
    blocks: int
    """How many pieces."""


@dataclass(frozen=True)
class MemoryLine(Struct):
    """What one line made."""
    source: SourceLine | None
    """The line; null where it is not known."""
    bytes: int
    """How much of it is there."""
    blocks: int
    """How many pieces."""
    category: str
    """Of most of it."""


@dataclass(frozen=True)
class MemoryCategory(Struct):
    """What stands in memory for one purpose."""
    name: str
    """``parameters``, ``gradients``, ``optimizer_state``, ``activations`` (kept for backward), ``temporaries``,
    ``inputs``, ``communication``, ``workspace``, ``kv_cache``, ``cuda_graphs`` (their pools), ``outside_pytorch``,
    ``before`` (made before the recording, and nothing tells what it is), ``left_behind`` (by a leak, in earlier steps)
    or ``other``."""
    bytes: int
    """How much."""
    noted_bytes: int
    """Of which the program itself said what they are; the rest follows from when and where it was made and freed."""
    blocks: int
    """How many pieces."""


@dataclass(frozen=True)
class DeviceMemoryUse(Struct):
    """A device's memory, and what fills it when most of it is allocated."""
    device: int
    """Its id; -1: the host."""
    has_history: bool
    """Whether memory over time was recorded; else the peak is what stood there when a snapshot was taken."""
    capacity_bytes: int | None
    """How much memory it has; null where the trace does not say."""
    peak_allocated_bytes: int
    """The most that tensors took."""
    peak_reserved_bytes: int
    """The most that the allocator held; 0: not recorded."""
    reserved_at_peak_bytes: int
    """What it held when tensors took most."""
    device_used_bytes: int | None
    """What was in use then by the device's own count, of other processes as well."""
    peak_time_ns: int
    """When that was."""
    peak_operator: str | None
    """What was allocated for then."""
    peak_module: str | None
    """Around that."""
    peak_source: SourceLine | None
    """The line of that."""
    categories: tuple[MemoryCategory, ...]
    """At the peak, by falling bytes; all but ``outside_pytorch`` add up to ``peak_allocated_bytes``."""
    lines: tuple[MemoryLine, ...]
    """At the peak, up to 50 by falling bytes."""
    modules: tuple[MemoryPlace, ...]
    """Likewise."""
    operators: tuple[MemoryPlace, ...]
    """Likewise."""
    sizes: tuple[MemorySize, ...]
    """Likewise."""
    tensors: tuple[MemoryTensor, ...]
    """The ten largest at the peak."""
    fragmentation: MemoryFragmentation | None
    """Null where the allocator's log was not recorded."""
    steps: tuple[MemoryStep, ...]
    """By start; empty where no steps were found."""
    peaks_rise: bool
    """Whether nearly each step peaks above the one before it."""
    curve: tuple[tuple[int, ...], ...]
    """``[time_ns, allocated_bytes, reserved_bytes]`` at up to a few hundred times, peaks kept."""
    requested_over_time: tuple[int, ...]
    """At the times of ``curve``, how many bytes the program asked for of those that it holds; what is allocated beyond
    that is rounding. Empty where the allocator's log was not recorded."""
    device_used_over_time: tuple[int, ...]
    """At the times of ``curve``, the bytes in use by the device's own count, of other processes as well. Empty where
    that was not recorded."""
    categories_over_time: tuple[MemoryCategoriesAt, ...]
    """At the times of ``curve``."""


@dataclass(frozen=True, repr=False)
class MemoryReport(AnswerStruct):
    """What holds the memory, what grows, and what would free some (telltale.memory/1)."""
    schema: str
    """``telltale.memory/1``."""
    path: str
    """The file as it was named; ``-`` is standard input."""
    devices: tuple[DeviceMemoryUse, ...]
    """Those with memory events, by id; the host comes last."""
    leaks: tuple[MemoryLeak, ...]
    """By falling bytes per step."""
    findings: tuple[Finding, ...]
    """What would free memory, ``saving_bytes`` of it, for the least time first; leaks and others without a number come
    behind."""
    remarks: tuple[str, ...]
    """What a reader should know before trusting the rest, as sentences."""


@dataclass(frozen=True)
class SimulationCheck(Struct):
    """How well the simulated allocator reproduces the recording."""
    recorded_peak_reserved_bytes: int
    """The most that the allocator held."""
    simulated_peak_reserved_bytes: int
    """The same, simulated."""
    peak_miss_percent: float
    """By how much it misses; negative: too low."""
    largest_miss_percent: float
    """The most by which the curve of what is reserved misses, of the recorded peak."""
    holds: bool
    """Whether the peak is met to 2 %."""
    skipped_entries: int
    """Of the log, that contradict what came before them."""
    unknown_settings: tuple[str, ...]
    """Under which the program ran and which are not simulated."""


@dataclass(frozen=True)
class MemoryFailure(Struct):
    """The first request for which there would be no memory."""
    source: SourceLine | None
    """The line of the program; null where it is not known."""
    operator: str | None
    """That asks."""
    requested_bytes: int
    """How much it asks for."""
    allocated_bytes: int
    """What tensors take then."""
    reserved_bytes: int
    """What the allocator holds then."""
    time_ns: int | None
    """Null: what was there before the recording does not fit."""
    was_survived: bool
    """Whether there was none in the recording either, and the program went on."""


@dataclass(frozen=True)
class SimulatedMemory(Struct):
    """A run of the program's requests through the simulated allocator."""
    peak_allocated_bytes: int
    """The most that tensors take; simulated, until it fails."""
    peak_reserved_bytes: int | None
    """The most that the allocator holds; simulated, until it fails; null where it was not recorded."""
    retries: int
    """How often the allocator has to empty its cache, which takes time."""
    failure: MemoryFailure | None
    """Null: everything fits."""


@dataclass(frozen=True)
class FixedFinding(Struct):
    """A finding whose fix is taken as made."""
    rule: str
    """Its id."""
    title: str
    """What was found."""
    fix_id: str
    """What was done about it."""


@dataclass(frozen=True, repr=False)
class MemoryWhatIf(AnswerStruct):
    """What memory would be with another device, batch or settings of the allocator, or with fixes made
    (telltale.memory_whatif/1)."""
    schema: str
    """``telltale.memory_whatif/1``."""
    path: str
    """The file as it was named; ``-`` is standard input."""
    device: int
    """Its id."""
    verdict: str
    """``fits``, ``may_fit`` (at the low end of the range) or ``fails``."""
    capacity_bytes: int | None
    """Of the device that was asked about; null: no limit."""
    outside_bytes: int
    """Of it, what PyTorch could not have when it was out of memory."""
    batch_factor: float | None
    """How many times the recorded batch."""
    without: tuple[FixedFinding, ...]
    """The findings that are taken as fixed."""
    is_simulated: bool
    """Whether the allocator is simulated; without its log, allocations are added up, and what is reserved is a range:
    from what tensors take to as much beyond that as was recorded."""
    settings: str
    """As in PYTORCH_CUDA_ALLOC_CONF; empty: PyTorch's own."""
    before: SimulatedMemory
    """As recorded; simulated, without a limit."""
    low: SimulatedMemory
    """With the changes, the least of each amount: where as little grows with the batch, or is reserved, as may be."""
    high: SimulatedMemory
    """With the changes, the most of each amount: where as much grows with the batch, or is reserved, as may be."""
    largest_batch_factor: float | None
    """Of the recorded batch, that surely fits; 64: larger ones are not tried."""
    largest_batch_factor_at_best: float | None
    """That fits at the low end of the range."""
    is_from_two_recordings: bool
    """Whether what grows with the batch was seen in two recordings."""
    check: SimulationCheck
    """How far to trust the simulation, where there is one."""
    remarks: tuple[str, ...]
    """Sentences."""
