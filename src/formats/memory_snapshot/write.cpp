#include "formats/memory_snapshot/write.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "formats/input/text_in_memory.h"
#include "formats/memory_snapshot/byte_cursor.h"
#include "formats/memory_snapshot/final_state.h"
#include "formats/memory_snapshot/json_document.h"
#include "formats/memory_snapshot/pickle_writer.h"
#include "formats/output/left_out_of_trace.h"

namespace telltale::memory_snapshot {
namespace {

constexpr std::size_t kEntriesBetweenReports = 1 << 14;

std::string_view action_name(AllocatorAction action) {
  switch (action) {
    case AllocatorAction::kAllocate:
      return "alloc";
    case AllocatorAction::kFreeRequested:
      return "free_requested";
    case AllocatorAction::kFreeCompleted:
      return "free_completed";
    case AllocatorAction::kSegmentAllocate:
      return "segment_alloc";
    case AllocatorAction::kSegmentFree:
      return "segment_free";
    case AllocatorAction::kSegmentMap:
      return "segment_map";
    case AllocatorAction::kSegmentUnmap:
      return "segment_unmap";
    case AllocatorAction::kOutOfMemory:
      return "oom";
    case AllocatorAction::kSnapshot:
      break;
  }
  return "snapshot";
}

std::string_view state_name(BlockState state) {
  switch (state) {
    case BlockState::kAllocated:
      return "active_allocated";
    case BlockState::kAwaitingFree:
      return "active_pending_free";
    case BlockState::kInactive:
      break;
  }
  return "inactive";
}

class SnapshotWriter {
 public:
  SnapshotWriter(const Trace& trace, TextWriter& out) : trace_(trace), pickle_(out) {}

  void write(const WriteProgress& progress) {
    const auto states = final_states(trace_);
    pickle_.open_dict();
    write_segments(states);
    write_logs(states, progress);
    pickle_.text("allocator_settings");
    write_settings();
    write_annotations();
    pickle_.close_dict();
    pickle_.end();
  }

 private:
  void number(std::string_view key, std::int64_t value) {
    pickle_.text(key);
    pickle_.integer(value);
  }
  void handle(std::string_view key, std::uint64_t value) {
    pickle_.text(key);
    pickle_.handle(value);
  }
  void text(std::string_view key, std::string_view value) {
    pickle_.text(key);
    pickle_.text(value);
  }
  std::int64_t microseconds(Nanoseconds time) const { return (trace_.origin_epoch_ns + time) / 1000; }

  // "1.0" as (1, 0).
  void pool(std::string_view key, StringId pool) {
    const std::string_view name = trace_.strings[pool];
    std::uint64_t numbers[2] = {};
    const auto first = std::from_chars(name.data(), name.data() + name.size(), numbers[0]);
    if (first.ptr != name.data() + name.size()) std::from_chars(first.ptr + 1, name.data() + name.size(), numbers[1]);
    pickle_.text(key);
    pickle_.handle(numbers[0]);
    pickle_.handle(numbers[1]);
    pickle_.end_pair();
  }

  void frames(StringId call_stack) {
    pickle_.text("frames");
    if (const auto known = stacks_.find(call_stack); known != stacks_.end()) return pickle_.again(known->second);
    pickle_.open_list();
    for (std::string_view rest = trace_.strings[call_stack]; !rest.empty();) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      frame(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    pickle_.close_list();
    stacks_.emplace(call_stack, pickle_.remember());
  }
  // "model.py(12): forward"; what looks otherwise is a name alone.
  void frame(std::string_view words) {
    if (const auto known = frames_.find(words); known != frames_.end()) return pickle_.again(known->second);
    const std::size_t close = words.find("): ");
    const std::size_t open = close == std::string_view::npos ? close : words.rfind('(', close);
    std::int64_t line = 0;
    const bool is_whole =
        open != std::string_view::npos &&
        std::from_chars(words.data() + open + 1, words.data() + close, line).ptr == words.data() + close;
    pickle_.open_dict();
    text("name", is_whole ? words.substr(close + 3) : words);
    text("filename", is_whole ? words.substr(0, open) : "??");
    number("line", is_whole ? line : 0);
    pickle_.close_dict();
    frames_.emplace(words, pickle_.remember());
  }

  void write_segments(const std::map<DeviceId, AllocatorState>& states) {
    pickle_.text("segments");
    pickle_.open_list();
    for (const auto& [device, state] : states)
      for (const auto& [address, segment] : state.segments()) write_segment(segment, state);
    pickle_.close_list();
  }
  void write_segment(const MemorySegment& segment, const AllocatorState& state) {
    const auto first = state.blocks().lower_bound(segment.address);
    const auto last = state.blocks().lower_bound(segment.address + static_cast<std::uint64_t>(segment.bytes));
    std::int64_t allocated = 0, active = 0, requested = 0;
    for (auto block = first; block != last; ++block) {
      if (block->second.state == BlockState::kInactive) continue;
      active += block->second.bytes;
      requested += block->second.requested;
      if (block->second.state == BlockState::kAllocated) allocated += block->second.bytes;
    }
    pickle_.open_dict();
    number("device", segment.device);
    handle("address", segment.address);
    number("total_size", segment.bytes);
    number("allocated_size", allocated);
    number("active_size", active);
    number("requested_size", requested);
    handle("stream", segment.stream);
    text("segment_type", segment.is_large ? "large" : "small");
    pool("segment_pool_id", segment.pool);
    pickle_.text("is_expandable");
    pickle_.truth(segment.is_expandable);
    frames(segment.call_stack);
    pickle_.text("blocks");
    pickle_.open_list();
    for (auto block = first; block != last; ++block) {
      pickle_.open_dict();
      handle("address", block->first);
      number("size", block->second.bytes);
      number("requested_size", block->second.requested);
      text("state", state_name(block->second.state));
      frames(block->second.call_stack);
      pickle_.close_dict();
    }
    pickle_.close_list();
    pickle_.close_dict();
  }

  // A list for each device up to the last, also for those without entries.
  void write_logs(const std::map<DeviceId, AllocatorState>& states, const WriteProgress& progress) {
    std::map<DeviceId, std::vector<const AllocatorEvent*>> logs;
    for (const AllocatorEvent& entry : trace_.allocator_events) logs[entry.device].push_back(&entry);
    const DeviceId devices = states.empty() ? 0 : states.rbegin()->first + 1;
    std::size_t written = 0;
    pickle_.text("device_traces");
    pickle_.open_list();
    for (DeviceId device = 0; device < devices; ++device) {
      pickle_.open_list();
      for (const AllocatorEvent* entry : logs[device]) {
        write_entry(*entry);
        if (progress && ++written % kEntriesBetweenReports == 0)
          progress(static_cast<double>(written) / static_cast<double>(trace_.allocator_events.size()));
      }
      pickle_.close_list();
    }
    pickle_.close_list();
  }
  void write_entry(const AllocatorEvent& entry) {
    pickle_.open_dict();
    text("action", action_name(entry.action));
    handle(entry.action == AllocatorAction::kOutOfMemory ? "device_free" : "addr", entry.address);
    number("size", entry.bytes);
    handle("stream", entry.stream);
    number("time_us", microseconds(entry.time));
    pool("pool_id", entry.pool);
    frames(entry.call_stack);
    pickle_.close_dict();
  }

  // As they were read; without them an empty dict, as old snapshots have none.
  void write_settings() {
    const std::string* settings = trace_.metadata_named("allocator_settings");
    if (settings != nullptr) {
      TextInMemory input(*settings);
      ByteCursor cursor(input, {}, settings->size() + 1);
      if (const auto document = read_json(cursor, {})) return write_value(document->values, document->top, 16);
    }
    pickle_.open_dict();
    pickle_.close_dict();
  }
  void write_value(const Values& values, ValueId value, int levels) {
    const bool is_dict = values.is_dict(value);
    if (levels > 0 && (is_dict || values.is_list(value))) {
      is_dict ? pickle_.open_dict() : pickle_.open_list();
      values.each_item(value, [&](ValueId item) { return write_value(values, item, levels - 1), true; });
      is_dict ? pickle_.close_dict() : pickle_.close_list();
    } else if (const auto words = values.as_text(value)) {
      pickle_.text(*words);
    } else if (values.kind(value) == ValueKind::kTruth) {
      pickle_.truth(value == kTrue);
    } else if (const auto whole = values.as_integer(value)) {
      pickle_.integer(*whole);
    } else if (const auto large = values.as_unsigned(value)) {
      pickle_.handle(*large);
    } else if (const auto real = values.as_real(value)) {
      pickle_.real(*real);
    } else {
      pickle_.none();
    }
  }

  void write_annotations() {
    struct Mark {
      Nanoseconds time;
      EventId event;
      std::int64_t device;
      bool is_end;
    };
    std::vector<Mark> marks;
    for (const Track& track : trace_.tracks) {
      if (track.kind != TrackKind::kThread) continue;
      const std::int64_t device = trace_.format == "memory_snapshot" ? track.native_id : 0;
      std::vector<EventId> open;
      const auto close_until = [&](EventId parent) {
        for (; !open.empty() && open.back() != parent; open.pop_back())
          marks.push_back({trace_.events.end(open.back()), open.back(), device, true});
      };
      for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
        if (trace_.events.kind[event] != Kind::kAnnotation) continue;
        EventId parent = trace_.events.parent[event];
        while (parent != kNoEvent && trace_.events.kind[parent] != Kind::kAnnotation)
          parent = trace_.events.parent[parent];
        close_until(parent);
        open.push_back(event);
        marks.push_back({trace_.events.start[event], event, device, false});
      }
      close_until(kNoEvent);
    }
    std::ranges::stable_sort(marks, {}, &Mark::time);
    pickle_.text("external_annotations");
    pickle_.open_list();
    for (const Mark& mark : marks) {
      pickle_.open_dict();
      text("name", trace_.name(mark.event));
      text("stage", mark.is_end ? "END" : "START");
      number("device", mark.device);
      number("time_us", microseconds(mark.time));
      pickle_.close_dict();
    }
    pickle_.close_list();
  }

  const Trace& trace_;
  PickleWriter pickle_;
  std::unordered_map<StringId, std::uint32_t> stacks_;
  std::unordered_map<std::string_view, std::uint32_t> frames_;
};

}  // namespace

LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress) {
  SnapshotWriter(trace, out).write(progress);
  constexpr std::string_view kWhy = "memory snapshots have no place for them";
  LeftOutList left_out;
  const auto is_kept = [](Kind kind) { return kind == Kind::kAnnotation || kind == Kind::kSpan; };
  left_out.add(trace.events.size() - static_cast<std::size_t>(std::ranges::count_if(trace.events.kind, is_kept)),
               "event", "events", kWhy);
  left_out.add(trace.noted_tensors.size(), "named tensor", "named tensors", kWhy);
  left_out.add(trace.counters.size(), "value of a counter", "values of counters", kWhy);
  leave_out_anomalies(trace, left_out);
  return left_out;
}

}  // namespace telltale::memory_snapshot
