/**
 * What the page asks and what the server answers. All requests are GETs below `api/`; a parameter that is left out has
 * the default named here. Times are whole nanoseconds from the start of the trace. What is not known is null.
 *
 * `steps` chooses steps as `telltale analyze --steps` does ("3..7"); without it, those that analyze takes.
 * An answer other than 200 has the body {"error": "one sentence"}. 503 with it: not ready yet, ask again.
 */

export type Nanoseconds = number;
export type EventId = number;
export type TrackId = number;

/**
 * api/state[?until=read]: answered at once, also while the trace is being read; with `until=read` when it has been read
 * or cannot be, or after a fifth of a second.
 */
export interface State {
  stage: "reading" | "indexing" | "ready" | "failed"; // ready: all but the diagnosis can be asked for
  doing: string; // "Reading", "Indexing", "Analyzing"; empty when there is nothing to wait for
  share: number | null; // done of it, from 0 to 1
  has_diagnosis: boolean; // api/overview answers at once
  error: string | null; // why the stage is "failed", or why the file could not be read again
  file: string; // without its folder
  generation: number; // another one: the trace was read again, and nothing that was asked before holds
  is_followed: boolean; // --follow: ask again every second
  is_recording: boolean; // the followed file is still being written
  has_source: boolean; // --source was given
  version: string; // of Telltale
}

/** One entry of the list that `color` points to. */
export interface Color {
  word: string; // "matmul", "idle: data loading", "operator", "Python"
  light: string; // "#1f5fae"
  dark: string; // the same on a dark ground
}

export interface Device {
  id: number;
  name: string;
}

export interface Process {
  id: number;
  name: string;
  pid: number | null;
  rank: number | null;
}

export type TrackKind = "thread" | "stream" | "async" | "recording" | "gaps" | "counter";

/** Something with a line of its own in the timeline. "gaps" are the idle times of a device, colored by cause. */
export interface Track {
  id: TrackId; // also of gaps and counters: unique among all
  kind: TrackKind;
  name: string;
  process: number;
  device: number | null;
  lanes: number; // how deep calls nest on it; 1 for gaps, 0 for counters
  events: number; // 0 for gaps and counters, as are the times of gaps: they are found when they are first asked for
  first_ns: Nanoseconds;
  last_ns: Nanoseconds;
  busy_ns: Nanoseconds; // of the outermost events
  unit: string | null; // of a counter: "W", "bytes", "%", ""
  minimum: number | null; // of a counter
  maximum: number | null;
}

export interface StepMark {
  index: number;
  start_ns: Nanoseconds;
  duration_ns: Nanoseconds;
}

/** api/trace */
export interface TraceShape {
  file: string;
  format: string;
  duration_ns: Nanoseconds;
  events: number;
  device_word: string; // what sentences call them: "GPU", "device"
  devices: Device[];
  processes: Process[];
  tracks: Track[]; // in the order in which they are best shown
  steps: StepMark[];
  colors: Color[];
  has_memory: boolean;
  has_modules: boolean;
  has_stacks: boolean;
}

/**
 * api/tiles?level=L&tile=K&tracks=1,2,3: a bucket is 2^L ns wide and a tile 1,024 buckets, so that tile K covers
 * [K·1024·2^L, (K+1)·1024·2^L). Spans that reach into it, by track, lane and start. An event of a bucket's width or
 * more stands alone; shorter ones that are neighbors on their lane are drawn together, at most some of them a bucket.
 * Gaps may take seconds when they are first asked for: ask for them apart. Their event is what is to blame, NO_EVENT
 * where nothing is. Gaps that are drawn together are one span for each cause, all with the same start and duration and
 * each with its share; the largest comes last, and `events` counts them all.
 * Binary and little-endian; columns one behind another, each padded to a multiple of 8 bytes:
 *
 *   u32 magic 0x314c5454 ("TTL1"), u32 spans, u32 bytes of names, u32 0
 *   f64 start_ns, f64 duration_ns, u32 event (the longest where several are drawn together), u32 name (of names),
 *   u32 events, u32 track, f32 busy (share of the duration, 1 for a single event), u16 lane, u8 color
 *   names: a JSON list of texts, UTF-8
 */
export const TILE_MAGIC = 0x314c5454;
export const TILE_BUCKETS = 1024;
export const NO_EVENT: EventId = 0xffffffff;

/** api/counters?level=L&tile=K&tracks=7,8: as tiles, at most a point a bucket. Values hold until the next point. */
export interface CounterTile {
  track: TrackId;
  time_ns: Nanoseconds[]; // the first may lie before the tile: the value at its start
  minimum: number[];
  maximum: number[];
  last: number[];
}
export interface CounterTiles {
  counters: CounterTile[];
}

export interface SourceLine {
  file: string;
  line: number;
  function: string;
}

/** Enough of an event to draw it, name it and go there. */
export interface EventPlace {
  id: EventId;
  name: string;
  kind: string;
  track: TrackId;
  lane: number;
  start_ns: Nanoseconds;
  duration_ns: Nanoseconds;
  color: number;
}

export interface Relation {
  role: string; // "launched by", "launches", "called by", "forward", "backward", "captured by", "captures", "flow"
  direction: "cause" | "effect"; // which way the arrow points: from a cause, to an effect
  event: EventPlace;
}

export interface Fact {
  name: string;
  value: string;
}

/** api/event?id=N */
export interface EventDetails {
  event: EventPlace;
  full_name: string;
  self_ns: Nanoseconds; // without what it contains
  step: number | null;
  source: SourceLine | null;
  stack: string[]; // Python frames, innermost first
  facts: Fact[]; // shapes, bytes, launch: as text with units
  parents: EventPlace[]; // from the innermost outward
  relations: Relation[]; // at most 100
  relations_left_out: number;
}

/**
 * api/search?q=TEXT[&exact=1][&from=EVENT][&towards=next|previous]: by start. Without `from` the first one; behind the
 * last comes the first.
 */
export interface SearchAnswer {
  count: number; // of events
  position: number | null; // of `event` among them, from 0
  event: EventPlace | null;
  names: { name: string; events: number }[]; // that match, the most frequent first; at most 50
}

export interface NamedTime {
  name: string;
  calls: number;
  ns: Nanoseconds; // inside the range, without what is called within
  color: number;
  example: EventId;
}

export interface CauseTime {
  word: string;
  ns: Nanoseconds;
  color: number;
}

/** api/range?start=NS&end=NS[&tracks=1,2] */
export interface RangeAnswer {
  start_ns: Nanoseconds;
  end_ns: Nanoseconds;
  events: number;
  threads: { track: TrackId; name: string; busy_ns: Nanoseconds }[];
  devices: { id: number; name: string; busy_ns: Nanoseconds; idle_ns: Nanoseconds; idle: CauseTime[] }[];
  operators: NamedTime[]; // by falling time, at most 20, likewise below
  kernels: NamedTime[];
  python: NamedTime[];
}

/** api/overview[?steps=S]: takes as long as telltale analyze. */
export interface Overview {
  analyze: Analyze; // telltale.analyze/1, docs/json.md
  headline: { step: string; filling: string };
  subject: string; // "train.json.gz · NVIDIA H200 · 3 steps"
  recording_cost: string; // sentences; empty where there is nothing to say, likewise below
  remarks: string;
  look: string;
  nothing_found: string;
  chosen: { steps: string; window_start_ns: Nanoseconds; window_end_ns: Nanoseconds };
  has_device: boolean; // whether these are what a device does; else what the host does
  breakdown: { word: string; color: number; ns: Nanoseconds; percent: number; is_idle: boolean }[];
  findings: FindingExtra[]; // as analyze.findings
}

export interface FindingExtra {
  saving: string; // "saves 1.99 ms (65 %)", as the report has it
  range: string; // "33 to 66 %"
  where: string; // "train.py:13 in step"; empty
  doubt: string;
  also: string; // parts and what else it explains, as sentences
  places: EventPlace[]; // its evidence
  can_be_tried: boolean; // api/fixes knows what it does to the step
  why_not_tried: string; // a sentence where it does not
}

/** The members of telltale.analyze/1 that the page reads. */
export interface Analyze {
  schema: string;
  step: { count: number; mean_ns: Nanoseconds; unobserved_ns: Nanoseconds; unobserved_source: string };
  steps: { index: number; start_ns: Nanoseconds; duration_ns: Nanoseconds; device_busy_ns: Nanoseconds | null; is_outlier: boolean; is_cut: boolean; is_counted: boolean }[];
  modules: ModuleTime[];
  findings: Finding[];
  latencies: { name: string; count: number; p50_ns: Nanoseconds; p90_ns: Nanoseconds; p99_ns: Nanoseconds; max_ns: Nanoseconds; longest: EventId; waiting: { waiting_percent: number } | null }[];
  counters: { name: string; series: string; values: number; mean: number; minimum: number; maximum: number }[];
  threads: { name: string; busy_percent: number; scopes: { name: string; own_ns: Nanoseconds; longest: EventId | null }[] }[];
}

export interface Finding {
  rule: string;
  title: string;
  explanation: string;
  saving: { low_ns: number; likely_ns: number; high_ns: number; low_percent: number; likely_percent: number; high_percent: number };
  saving_bytes: number; // of the peak of memory
  confidence: string;
  source: SourceLine | null;
  fix: { id: string; text: string; code: string }; // code: empty where words must do
}

export interface ModuleTime {
  name: string;
  path: string;
  parent: number | null; // an earlier entry
  depth: number;
  calls: number;
  forward_cpu_ns: Nanoseconds;
  forward_device_ns: Nanoseconds;
  backward_cpu_ns: Nanoseconds;
  backward_device_ns: Nanoseconds;
  self_device_ns: Nanoseconds;
}

/** api/fixes?finding=0,2[&steps=S]: the step with the fixes of these findings together, replayed. */
export interface FixesAnswer {
  before_ns: Nanoseconds; // the unobserved step
  after_ns: Nanoseconds; // for as many samples
  batch: number; // how many times the samples a batch has then
  saved_percent: number;
  bottleneck: "device" | "host" | "neither";
}

export type Cell = string | number | null;
export interface Column {
  id: string; // what `sort` takes
  title: string;
  unit: "text" | "ns" | "bytes" | "count" | "percent" | "flops";
  text: string; // what it means
}

/**
 * api/table?rows=operators|kernels|annotations|python|modules|lines[&group=name|shape|stack][&steps=S][&filter=TEXT]
 * [&sort=COLUMN][&order=falling|rising][&offset=0][&limit=200]. `filter` looks at name, shapes and stack. Rows follow
 * key_averages() and equal `telltale top --json`, which without `steps` is about the whole trace; modules and lines are
 * a step's, of the steps that analyze takes. api/table.csv: all rows that pass, as CSV.
 */
export interface Table {
  columns: Column[];
  sort: string; // the column that it is sorted by
  order: "falling" | "rising";
  mean_of: number; // over so many steps the numbers are a step's mean; 0 where they are sums
  total: number; // rows that pass the filter
  all: number; // without the filter
  offset: number;
  rows: { cells: Cell[]; color: number; example: EventId | null; search: string | null }[]; // search: exact name of its events
}

/** api/flame?weight=host|device|memory|peak&by=stack|module[&order=heavy|time][&steps=S]: by node; parents come first. */
export interface Flame {
  unit: "ns" | "bytes";
  total: number;
  names: string[];
  name: number[];
  parent: number[]; // -1: a root
  value: number[]; // with all within
  start: number[]; // where it lies among its siblings, from the root's left end
  color: number[];
  example: (EventId | null)[];
  left_out: number; // nodes too small to be drawn
}

/** What memory is for: one of the categories of telltale.memory/1. */
export interface MemoryCategory {
  category: string; // "optimizer_state"
  words: string; // "optimizer state"
  color: number;
}

/**
 * api/memory[?device=0][&at=NS][&start=NS&end=NS][&points=600]: without `at` the peak, without `start` and `end` all of
 * the trace. Host memory is the device -1.
 */
export interface Memory {
  devices: { id: number; name: string; peak_allocated_bytes: number; peak_reserved_bytes: number | null; peak_ns: Nanoseconds; capacity_bytes: number | null }[];
  device: number;
  time_ns: Nanoseconds[]; // the curve; peaks are kept
  allocated_bytes: number[];
  reserved_bytes: (number | null)[];
  layers: { category: string; words: string; color: number; bytes: number[] }[]; // from the ground up, at the times of the curve
  tensors: { bytes: number; category: string; maker: string }[]; // the largest at some time
  largest: number[][]; // at the times of the curve: places in `tensors`, by falling size
  at: MemoryStanding;
}

/** What stands there at a time; lists by falling bytes. */
export interface MemoryStanding {
  time_ns: Nanoseconds;
  allocated_bytes: number;
  reserved_bytes: number | null;
  placed_bytes: number; // that lines, modules and operators are about, listed or not
  categories: { category: string; words: string; color: number; bytes: number; noted_bytes: number; blocks: number }[];
  lines: { name: string; bytes: number; blocks: number; category: string; example: EventId | null }[];
  modules: MemoryRow[];
  operators: MemoryRow[];
  tensors: { maker: string; bytes: number; category: string; last_use: string; made_ns: Nanoseconds | null; freed_ns: Nanoseconds | null; example: EventId | null }[]; // the ten largest
}
export interface MemoryRow {
  name: string;
  bytes: number;
  blocks: number;
  example: EventId | null; // where the largest was made
}

/** api/memory_report: takes as long as telltale memory, once. Sentences are empty where there is nothing to say. */
export interface MemoryReport {
  memory: HeldMemory; // telltale.memory/1, docs/json.md
  subject: string;
  categories: MemoryCategory[]; // all there are, from the ground of a stacked curve up
  devices: { device: number; label: string; peak: string; place: string; steps: string; keepers: string; pinning: string; certainty: string; segments: Segments }[]; // as memory.devices
  leaks: string[]; // as memory.leaks
  findings: { saving: string; where: string }[]; // as memory.findings
  overlap: string; // what to know of savings
  urgent_remarks: number; // of memory.remarks, the first so many come before all else
}

/** The members of telltale.memory/1 that the page reads. */
export interface HeldMemory {
  schema: string;
  devices: {
    device: number;
    peak_reserved_bytes: number;
    fragmentation: { time_ns: Nanoseconds; hard_bytes: number; soft_bytes: number; stream_bytes: number; rounding_bytes: number } | null;
    steps: { index: number; peak_bytes: number; minimum_bytes: number; differs: boolean }[];
  }[];
  leaks: { source: SourceLine | null; bytes_per_step: number; bytes: number; device: number; category: string }[];
  findings: Finding[];
  remarks: string[];
}

/** The segments of PyTorch's allocator at the peak, the largest of them, by falling size. */
export interface Segments {
  segments: Segment[];
  makers: string[];
  left_out: number; // smaller segments
  left_out_bytes: number;
}
export interface Segment {
  address: string;
  bytes: number;
  used_bytes: number;
  stream: number;
  pool: string; // empty: the usual ones
  part_bytes: number[]; // by part, by address, likewise below; they fill it
  part_used_bytes: number[];
  part_blocks: number[]; // 1, or how many small ones stand together
  part_state: number[]; // 0 free, 1 allocated, 2 awaiting its free, 3 several
  part_category: number[]; // in MemoryReport.categories; -1: none
  part_maker: number[]; // in makers; -1: not known
}

/** api/roofline[?steps=S] */
export interface Roofline {
  device: string;
  bytes_per_second: number | null; // ceilings; null: not known for this device
  peaks: { precision: string; flops_per_second: number }[];
  kernels: {
    name: string;
    full_name: string;
    work: string;
    precision: string | null;
    color: number;
    device_ns: Nanoseconds; // a step
    calls: number;
    bytes_per_second: number;
    flops_per_second: number | null; // null: only the bytes are known
    flops_per_byte: number | null;
    roofline_percent: number | null;
    example: EventId;
  }[];
  left_out_ns: Nanoseconds; // a step, of kernels whose bytes are not known
}

/** api/source: which files there are, and api/source?file=ID: one of them. Times are a step's, of the chosen steps. */
export interface SourceFiles {
  files: { id: number; file: string; owner: "user" | "package" | "library"; host_ns: Nanoseconds; device_ns: Nanoseconds; is_readable: boolean }[];
}
export interface SourceText {
  id: number;
  file: string;
  problem: string | null; // why there is no text, and what to do
  lines: { line: number; text: string | null; host_ns: Nanoseconds; device_ns: Nanoseconds; calls: number; example: EventId | null }[]; // all, or those with time where there is no text
  mean_of: number; // over so many steps the numbers are a step's mean
}
