#include "analysis/key_averages.h"

#include <algorithm>
#include <unordered_map>

#include "analysis/call_groups.h"
#include "analysis/call_tree.h"
#include "analysis/operator_work.h"
#include "analysis/torch_launches.h"
#include "analysis/torch_memory.h"

namespace telltale {
namespace {

constexpr std::uint32_t kNoRow = UINT32_MAX;

// Kinds whose calls nest in each other, and which of them the tree counts. Python's frames and modules do not
// take time away from operators nor operators from them: each is a view of its own on the same time.
struct Layer {
  KindSet nested;
  KindSet counted;
  bool as_torch = false;
};
constexpr Layer kTorchLayer = {kTorchHostKinds, kTorchHostKinds, true};
constexpr Layer kOtherLayers[] = {
    {{Kind::kPython, Kind::kModule}, {Kind::kPython}},
    {{Kind::kModule}, {Kind::kModule}},
    {{Kind::kOther, Kind::kOverhead}, {Kind::kOther, Kind::kOverhead}},
};

// Spans that are no work of their own: projections, waits of the device, and what belongs to no thread.
constexpr KindSet kUntimedKinds = {Kind::kDeviceAnnotation, Kind::kSync, Kind::kSpan, Kind::kInstant, Kind::kAsync};

// Indices of Trace::source_locations, and what stands for none or several of them.
constexpr std::uint32_t kNoSource = UINT32_MAX, kManySources = UINT32_MAX - 1;

struct Sums {
  std::int64_t calls = 0;
  Nanoseconds first_start = INT64_MAX;
  EventId longest = kNoEvent;
  Nanoseconds self_cpu = 0, cpu = 0, cpu_once = 0;
  Nanoseconds self_device = 0, device = 0;
  MemoryChange memory, self_memory;
  std::int64_t flops = 0;
  bool has_flops = false;
  std::uint32_t source = kNoSource;
  // The latest end of a call on the track that is being counted: what lies before it was counted already.
  TrackId covered_track = UINT32_MAX;
  Nanoseconds covered_until = 0;
};

void add(MemoryChange& to, const MemoryChange& change) {
  to.host += change.host;
  to.device += change.device;
}
void subtract(MemoryChange& from, const MemoryChange& change) {
  from.host -= change.host;
  from.device -= change.device;
}

class Counting {
 public:
  Counting(const Trace& trace, const KeyAveragesOptions& options)
      : trace_(trace),
        options_(options),
        memory_(trace),
        groups_(trace, options),
        operators_(trace.operators),
        sources_(trace.sources),
        has_device_(std::ranges::any_of(trace.events.kind, is_on_device) ||
                    std::ranges::any_of(trace.memory.device, [](DeviceId device) { return device != kHost; })) {
    if (options.steps) steps_.emplace(trace, *options.steps);
    formulas_.reserve(trace.strings.size());
    for (StringId id = 0; id < trace.strings.size(); ++id) formulas_.push_back(flop_formula(trace.strings[id]));
  }

  void count_layer(const Layer& layer);
  void count_device();
  void count_the_rest();
  KeyAverages result() const;

 private:
  std::uint32_t row_of(EventId event) {
    const std::uint32_t row = groups_.of(event);
    if (row >= sums_.size()) sums_.resize(row + 1);
    return row;
  }
  void note_call(EventId event, Sums& sums) const {
    const Events& events = trace_.events;
    sums.first_start = std::min(sums.first_start, events.start[event]);
    if (sums.longest == kNoEvent || events.duration[event] > events.duration[sums.longest]) sums.longest = event;
  }
  bool is_chosen(EventId event) const { return !steps_ || steps_->accepts(event); }

  void count_calls(const Layer& layer, const CallTree& tree, std::vector<std::uint32_t>& rows);
  void count_launches(const Layer& layer, const CallTree& tree, const std::vector<std::uint32_t>& rows);
  void count_captured_work(const Layer& layer, const CallTree& tree, auto call_at);
  EventId captured_in(EventId event) const;  // where captures count; else kNoEvent
  void count_flops_of(EventId event, Sums& sums);
  void note_source_of(EventId event, Sums& sums);
  std::optional<SourceLine> described_source(std::uint32_t source) const;

  const Trace& trace_;
  const KeyAveragesOptions& options_;
  MemoryChanges memory_;
  CallGroups groups_;
  SideTableWalk<OperatorInfo> operators_;
  SideTableWalk<std::uint32_t> sources_;
  std::optional<StepFilter> steps_;
  bool has_device_;
  std::vector<FlopFormula> formulas_;                                     // by name
  std::unordered_map<std::uint64_t, std::optional<std::int64_t>> flops_;  // by formula and inputs
  std::vector<Sums> sums_;                                                // by group
  Nanoseconds total_self_device_ = 0;
};

void Counting::count_layer(const Layer& layer) {
  const CallTree tree = call_tree(trace_, {layer.nested, layer.as_torch});
  std::vector<std::uint32_t> rows(trace_.events.size(), kNoRow);
  count_calls(layer, tree, rows);
  if (has_device_) count_launches(layer, tree, rows);
}

// Host times, memory and FLOPs. Parents come before their children, so a parent's row is known when a child
// takes its share from it.
void Counting::count_calls(const Layer& layer, const CallTree& tree, std::vector<std::uint32_t>& rows) {
  const Events& events = trace_.events;
  for (TrackId track_id = 0; track_id < trace_.tracks.size(); ++track_id) {
    const Track& track = trace_.tracks[track_id];
    MemoryChanges::Walk memory = memory_.walk(track.process);
    for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
      if (!tree.is_call[event]) continue;
      const EventId parent = tree.parent[event];
      const std::uint32_t parent_row = parent == kNoEvent ? kNoRow : rows[parent];
      if (tree.is_folded[event]) {
        rows[event] = parent_row;
        continue;
      }
      const Nanoseconds duration = events.duration[event];
      const MemoryChange change =
          memory_.empty() ? MemoryChange{} : memory.during(events.start[event], events.end(event));
      if (parent_row != kNoRow) {
        sums_[parent_row].self_cpu -= duration;
        subtract(sums_[parent_row].self_memory, change);
      }
      if (!layer.counted.contains(events.kind[event]) || !is_chosen(event)) continue;

      const std::uint32_t row = rows[event] = row_of(event);
      Sums& sums = sums_[row];
      ++sums.calls;
      note_call(event, sums);
      sums.self_cpu += duration;
      sums.cpu += duration;
      add(sums.memory, change);
      add(sums.self_memory, change);
      if (sums.covered_track != track_id) {
        sums.covered_track = track_id;
        sums.covered_until = events.start[event];
      }
      const Nanoseconds fresh_from = std::max(sums.covered_until, events.start[event]);
      sums.cpu_once += std::max<Nanoseconds>(0, events.end(event) - fresh_from);
      sums.covered_until = std::max(sums.covered_until, events.end(event));
      if (formulas_[events.name[event]] != FlopFormula::kNone) count_flops_of(event, sums);
      if (!trace_.sources.empty()) note_source_of(event, sums);
    }
  }
}

void Counting::count_flops_of(EventId event, Sums& sums) {
  const OperatorInfo* info = operators_.find(event);
  if (info == nullptr || info->inputs == OperatorInfo::kNoInputs) return;
  const FlopFormula formula = formulas_[trace_.events.name[event]];
  const std::uint64_t key = std::uint64_t{info->inputs} << 8 | static_cast<std::uint64_t>(formula);
  auto [known, is_new] = flops_.try_emplace(key);
  if (is_new) {
    const OperatorInputs& inputs = trace_.operator_inputs[info->inputs];
    known->second = count_flops(formula, trace_.strings[inputs.shapes], trace_.strings[inputs.concrete]);
  }
  if (!known->second) return;
  sums.flops += *known->second;
  sums.has_flops = true;
}

void Counting::note_source_of(EventId event, Sums& sums) {
  const std::uint32_t* source = sources_.find(event);
  const std::uint32_t here = source == nullptr ? kManySources : *source;
  sums.source = sums.source == kNoSource || sums.source == here ? here : kManySources;
}

std::optional<SourceLine> Counting::described_source(std::uint32_t source) const {
  if (source >= trace_.source_locations.size()) return std::nullopt;
  const SourceLocation& location = trace_.source_locations[source];
  return SourceLine{std::string(trace_.strings[location.file]), location.line,
                    std::string(trace_.strings[location.function])};
}

// Device time goes to the call that launched it and to all calls around that one.
void Counting::count_launches(const Layer& layer, const CallTree& tree, const std::vector<std::uint32_t>& rows) {
  const Events& events = trace_.events;
  std::optional<TorchLaunches> as_torch;
  if (layer.as_torch) as_torch.emplace(trace_, tree, options_.annotations_launch);
  // The call that something was launched or captured in.
  const auto call_at = [&](EventId cause) {
    if (cause == kNoEvent) return kNoEvent;
    if (as_torch) return as_torch->call_around(cause);
    return tree.is_call[cause] ? cause : tree.parent[cause];
  };
  std::vector<Nanoseconds> launched(events.size(), 0);
  for (EventId event = 0; event < events.size(); ++event) {
    if (!is_device_work(events.kind[event]) || captured_in(event) != kNoEvent) continue;
    const EventId call = call_at(events.cause[event]);
    if (call == kNoEvent) continue;
    launched[call] += events.duration[event];
    if (rows[call] != kNoRow) sums_[rows[call]].self_device += events.duration[event];
  }
  for (EventId event = static_cast<EventId>(events.size()); event-- > 0;) {
    if (launched[event] == 0) continue;
    if (rows[event] != kNoRow && !tree.is_folded[event]) sums_[rows[event]].device += launched[event];
    if (tree.parent[event] != kNoEvent) launched[tree.parent[event]] += launched[event];
  }
  count_captured_work(layer, tree, call_at);
}

// Of graphs that the chosen steps launched, whenever they were captured: calls of that time have rows even where they
// are not counted themselves.
void Counting::count_captured_work(const Layer& layer, const CallTree& tree, auto call_at) {
  if (!options_.counts_captures || trace_.graph_origins.empty()) return;
  const Events& events = trace_.events;
  std::vector<Nanoseconds> captured(events.size(), 0);
  const auto row_at = [&](EventId call) -> Sums* {
    if (!layer.counted.contains(events.kind[call])) return nullptr;
    Sums& sums = sums_[row_of(call)];
    note_call(call, sums);
    return &sums;
  };
  for (std::size_t i = 0; i < trace_.graph_origins.size(); ++i) {
    const EventId event = trace_.graph_origins.event(i);
    if (!is_device_work(events.kind[event]) || captured_in(event) == kNoEvent || !is_chosen(event)) continue;
    const EventId call = call_at(captured_in(event));
    if (call == kNoEvent) continue;
    captured[call] += events.duration[event];
    if (Sums* const sums = row_at(call)) sums->self_device += events.duration[event];
  }
  for (EventId event = static_cast<EventId>(events.size()); event-- > 0;) {
    if (captured[event] == 0) continue;
    Sums* const sums = tree.is_folded[event] ? nullptr : row_at(event);
    if (sums != nullptr) sums->device += captured[event];
    if (tree.parent[event] != kNoEvent) captured[tree.parent[event]] += captured[event];
  }
}

EventId Counting::captured_in(EventId event) const {
  const bool may_be = options_.counts_captures && !trace_.graph_origins.empty();
  const GraphOrigin* const origin = may_be ? trace_.graph_origins.find(event) : nullptr;
  return origin == nullptr ? kNoEvent : origin->captured_in;
}

void Counting::count_device() {
  const Events& events = trace_.events;
  for (EventId event = 0; event < events.size(); ++event) {
    if (!is_device_work(events.kind[event]) || !is_chosen(event)) continue;
    total_self_device_ += events.duration[event];
    if (!options_.kinds.contains(events.kind[event])) continue;
    Sums& sums = sums_[row_of(event)];
    ++sums.calls;
    note_call(event, sums);
    sums.self_device += events.duration[event];
    sums.device += events.duration[event];
  }
}

// What occupies neither a thread nor a device is only counted.
void Counting::count_the_rest() {
  for (EventId event = 0; event < trace_.events.size(); ++event) {
    const Kind kind = trace_.events.kind[event];
    if (!kUntimedKinds.contains(kind) || !options_.kinds.contains(kind) || !is_chosen(event)) continue;
    Sums& sums = sums_[row_of(event)];
    ++sums.calls;
    note_call(event, sums);
  }
}

KeyAverages Counting::result() const {
  const bool has_memory = trace_.recorded.memory || !memory_.empty();
  KeyAverages result;
  result.lost = trace_.anomalies.count(Severity::kLost);
  result.repaired = trace_.anomalies.count(Severity::kRepaired);
  if (has_device_) result.totals.self_device_ns = total_self_device_;
  for (std::uint32_t group = 0; group < sums_.size(); ++group) {
    const Sums& sums = sums_[group];
    KeyAverage row = groups_.described(group);
    if (kTorchHostKinds.contains(row.kind)) result.totals.self_cpu_ns += sums.self_cpu;
    if (!options_.kinds.contains(row.kind)) continue;

    row.calls = sums.calls;
    row.is_sampled = trace_.recorded.sampled && row.kind == Kind::kPython;
    row.first_start = sums.first_start;
    row.example = sums.longest;
    const bool is_host = !is_on_device(row.kind) && !kUntimedKinds.contains(row.kind);
    if (is_host) {
      row.self_cpu_ns = sums.self_cpu;
      row.cpu_ns = sums.cpu;
      row.cpu_once_ns = sums.cpu_once;
    }
    if (is_device_work(row.kind) || (is_host && has_device_)) {
      row.self_device_ns = sums.self_device;
      row.device_ns = sums.device;
    }
    if (is_host && has_memory) {
      row.cpu_memory_bytes = sums.memory.host;
      row.self_cpu_memory_bytes = sums.self_memory.host;
    }
    if (is_host && has_memory && has_device_) {
      row.device_memory_bytes = sums.memory.device;
      row.self_device_memory_bytes = sums.self_memory.device;
    }
    if (sums.has_flops) row.flops = sums.flops;
    row.source = described_source(sums.source);
    result.rows.push_back(std::move(row));
  }
  return result;
}

std::optional<Nanoseconds> average(std::optional<Nanoseconds> total, std::optional<std::int64_t> calls) {
  if (!total || calls.value_or(0) == 0) return std::nullopt;
  return *total / *calls;
}

}  // namespace

std::optional<std::int64_t> KeyAverage::known_calls() const { return is_sampled ? std::nullopt : std::optional(calls); }
std::optional<Nanoseconds> KeyAverage::cpu_average_ns() const { return average(cpu_ns, known_calls()); }
std::optional<Nanoseconds> KeyAverage::device_average_ns() const { return average(device_ns, known_calls()); }

std::optional<double> share_of(std::optional<Nanoseconds> part, std::optional<Nanoseconds> whole) {
  if (!part || !whole || *whole == 0) return std::nullopt;
  return static_cast<double>(*part) / static_cast<double>(*whole);
}

KeyAverages key_averages(const Trace& trace, const KeyAveragesOptions& options) {
  Counting counting(trace, options);
  counting.count_layer(kTorchLayer);
  for (const Layer& layer : kOtherLayers) {
    if (layer.counted.overlaps(options.kinds)) counting.count_layer(layer);
  }
  counting.count_device();
  if (options.kinds.overlaps(kUntimedKinds)) counting.count_the_rest();
  return counting.result();
}

}  // namespace telltale
