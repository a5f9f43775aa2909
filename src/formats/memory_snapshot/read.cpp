#include "formats/memory_snapshot/read.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "formats/memory_snapshot/byte_cursor.h"
#include "formats/memory_snapshot/json_document.h"
#include "formats/memory_snapshot/pickle.h"
#include "formats/memory_snapshot/snapshot_rows.h"
#include "formats/memory_snapshot/start_of_log.h"
#include "trace/builder.h"
#include "trace/event_block.h"

namespace telltale::memory_snapshot {
namespace {

constexpr NativeId kProcess{.number = 1};

std::string_view without_space(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

std::string_view without_mark(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return without_space(text);
}

// The first member's name tells a snapshot from the many other things that JSON may be. A list of segments has no such
// name: its first element must have members that no event has.
bool is_json_snapshot(std::string_view text) {
  constexpr std::array<std::string_view, 4> kMembers = {"segments", "device_traces", "allocator_settings",
                                                        "external_annotations"};
  text = without_mark(text);
  if (text.starts_with('{')) {
    text = without_space(text.substr(1));
    if (!text.starts_with('"')) return false;
    const std::size_t end = text.find('"', 1);
    return end != std::string_view::npos && std::ranges::find(kMembers, text.substr(1, end - 1)) != kMembers.end();
  }
  if (!text.starts_with('[')) return false;
  text = without_space(text.substr(1));
  text = text.substr(0, text.find('}'));
  const auto has = [&](std::string_view member) { return text.find(member) != std::string_view::npos; };
  return text.starts_with('{') && has("\"total_size\"") && has("\"stream\"") && !has("\"ph\"");
}

bool is_json(ByteCursor& cursor) {
  constexpr std::size_t kFirstBytes = 64;
  std::size_t known = kFirstBytes;
  while (known > 0 && !cursor.has(known)) --known;
  const std::string_view text = without_mark({cursor.peek(), known});
  return text.starts_with('{') || text.starts_with('[');
}

// Protocols 0 and 1 have no mark: a dict or a list that is remembered first, and then filled.
bool is_old_pickle(std::string_view text) {
  using namespace std::string_view_literals;
  return text.starts_with("(dp"sv) || text.starts_with("(lp"sv) || text.starts_with("}q\0"sv) ||
         text.starts_with("]q\0"sv);
}

class SnapshotTrace {
 public:
  SnapshotTrace(SnapshotRows rows, Trace trace) : rows_(std::move(rows)), trace_(std::move(trace)) {
    blocks_.resize(1);
    batch().names = &names_;
  }

  Result<Trace> build(unsigned threads) {
    for (auto& [device, state] : rows_.states) add_device(device, state);
    if (!known_since_.empty()) trace_.metadata.emplace_back("allocator_log_is_cut", "true");
    add_annotations();
    add_log_span();
    pair_spans(blocks_, trace_.anomalies);
    std::ranges::stable_sort(trace_.allocator_events, {}, &AllocatorEvent::time);
    const Nanoseconds origin = origin_of_batch();
    TraceBuilder builder;
    for (const TrackLabel& label : blocks_.front().labels) builder.append_label(names_, label);
    builder.append(std::move(batch()));
    auto built = std::move(builder).build(std::move(trace_), std::nullopt, threads);
    if (!built) return built;
    for (AllocatorEvent& entry : built->allocator_events) entry.time -= origin;
    name_open_events(*built);
    built->recorded.memory = true;
    return built;
  }

 private:
  EventBatch& batch() { return blocks_.front().batch; }

  TrackId track_of(DeviceId device) {
    const TrackKey key{.process = kProcess, .thread = {.number = device}};
    const TrackId track = names_.tracks.intern(key);
    if (track == labeled_) {
      ++labeled_;
      const std::string name = "allocator of device " + std::to_string(device);
      blocks_.front().labels.push_back(
          {.process = kProcess, .thread = key.thread, .what = TrackLabel::What::kThreadName, .text = intern(name)});
    }
    return track;
  }
  StringId intern(std::string_view text) { return names_.strings.intern(text); }

  void add_device(DeviceId device, AllocatorState& state) {
    trace_.devices.push_back({.id = device});
    const std::vector<AllocatorEvent>& entries = rows_.entries[device];
    const auto block_bytes = rewind(entries, state, trace_.anomalies);
    if (!entries.empty() && has_forgotten(device, entries.front().time, state)) {
      known_since_[device] = entries.front().time;
    }
    for (BatchMemoryEvent& row : memory_rows(entries, block_bytes, state)) {
      row.track = track_of(device);
      row.pool = intern(trace_.strings[row.pool]);
      batch().memory.push_back(row);
    }
    trace_.allocator_events.insert(trace_.allocator_events.end(), entries.begin(), entries.end());
    rows_.entries.erase(device);
    for (const auto& [address, segment] : state.segments()) {
      const auto number = static_cast<std::uint32_t>(trace_.memory_segments.size());
      trace_.memory_segments.push_back(segment);
      const std::uint64_t end = address + static_cast<std::uint64_t>(segment.bytes);
      for (auto block = state.blocks().lower_bound(address); block != state.blocks().end() && block->first < end;
           ++block)
        trace_.memory_blocks.push_back({.segment = number,
                                        .address = block->first,
                                        .bytes = block->second.bytes,
                                        .requested = block->second.requested,
                                        .call_stack = block->second.call_stack,
                                        .state = block->second.state});
    }
  }

  // Whether there were entries before the oldest of a device's log: blocks that were held by then have the stacks that
  // only recording gives them, or annotations that were recorded, too, had ended.
  bool has_forgotten(DeviceId device, Nanoseconds oldest, const AllocatorState& start) const {
    const auto is_held = [](const auto& each) { return each.second.state == BlockState::kAllocated; };
    const auto has_stack = [](const auto& each) { return each.second.call_stack != kEmptyString; };
    if (std::ranges::none_of(start.blocks(), is_held)) return false;
    return std::ranges::any_of(start.blocks(), has_stack) ||
           std::ranges::any_of(rows_.annotations, [&](const AnnotationMark& mark) {
             return mark.device == device && mark.is_end && mark.time < oldest;
           });
  }

  // Annotations have a ring of their own, which reaches back further than the log's: of what began before that, it is
  // not known what it allocated.
  std::vector<AnnotationMark> known_annotations() const {
    std::vector<AnnotationMark> known;
    std::map<std::pair<DeviceId, StringId>, int> left_out;  // how many have not ended yet
    for (const AnnotationMark& mark : rows_.annotations) {
      const auto since = known_since_.find(mark.device);
      const bool is_before = since != known_since_.end() && mark.time < since->second;
      int& open = left_out[{mark.device, mark.name}];
      if (is_before)
        open += mark.is_end ? -1 : 1;
      else if (mark.is_end && open > 0)
        --open;
      else
        known.push_back(mark);
    }
    return known;
  }

  // Halves whose other one the ring has forgotten are closed or dropped by pair_spans().
  void add_annotations() {
    std::uint64_t number = 0;  // marks of one microsecond stay in their order
    for (const AnnotationMark& mark : known_annotations()) {
      ++number;
      const TrackId track = track_of(mark.device);
      const StringId name = intern(trace_.strings[mark.name]);
      if (mark.is_end) {
        blocks_.front().ends.push_back(
            {.time = mark.time, .key = {.track = track}, .byte_offset = number, .name = name});
        continue;
      }
      blocks_.front().begins.push_back({.row = static_cast<BatchRow>(batch().events.size()), .key = {.track = track}});
      batch().events.push_back({.start = mark.time, .name = name, .track = track, .kind = Kind::kAnnotation});
      batch().offsets.push_back(number);
    }
  }

  // The log has a beginning and an end, also where nothing is marked.
  void add_log_span() {
    if (trace_.allocator_events.empty()) return;
    const auto [first, last] = std::ranges::minmax_element(trace_.allocator_events, {}, &AllocatorEvent::time);
    const TrackId track = names_.tracks.intern(
        {.process = kProcess, .thread = {.text = intern("memory history")}, .kind = TrackKind::kRecording});
    batch().events.push_back({.start = first->time,
                              .duration = last->time - first->time,
                              .name = intern("memory history"),
                              .track = track,
                              .kind = Kind::kSpan});
    batch().offsets.push_back(0);
  }

  // What the builder takes as time 0.
  Nanoseconds origin_of_batch() {
    if (batch().events.empty()) return 0;
    return std::ranges::min_element(batch().events, {}, &BatchEvent::start)->start;
  }

  // Which annotation is open at each entry.
  void name_open_events(Trace& trace) {
    std::map<DeviceId, const Track*> tracks;
    for (const Track& track : trace.tracks)
      if (track.kind == TrackKind::kThread) tracks[static_cast<DeviceId>(track.native_id)] = &track;
    struct Walk {
      EventId started = 0;  // how many of the track's events have
      EventId open = kNoEvent;
    };
    std::map<DeviceId, Walk> walks;
    for (AllocatorEvent& entry : trace.allocator_events) {
      const auto track = tracks.find(entry.device);
      if (track == tracks.end()) continue;
      Walk& walk = walks[entry.device];
      const EventId first = track->second->first_event;
      for (; walk.started < track->second->event_count; ++walk.started) {
        if (trace.events.start[first + walk.started] > entry.time) break;
        walk.open = first + walk.started;
      }
      while (walk.open != kNoEvent && trace.events.end(walk.open) < entry.time)
        walk.open = trace.events.parent[walk.open];
      entry.event = walk.open;
    }
  }

  SnapshotRows rows_;
  Trace trace_;
  LocalNames names_;
  std::vector<EventBlock> blocks_;
  std::map<DeviceId, Nanoseconds> known_since_;  // of devices whose log has forgotten its start
  TrackId labeled_ = 0;
};

}  // namespace

bool is_snapshot(std::string_view first_bytes) {
  return is_pickle(first_bytes) || is_old_pickle(first_bytes) || is_json_snapshot(first_bytes);
}

Result<Trace> read(TextInput& input, const std::string& path, const ReadOptions& options) {
  ByteCursor cursor(input, path, std::max<std::size_t>(options.block_bytes, 1));
  auto document = is_json(cursor) ? read_json(cursor, path) : read_pickle(cursor, path);
  if (!document) return std::unexpected(document.error());
  Trace trace;
  trace.format = "memory_snapshot";
  trace.text_bytes = document->text_bytes;
  if (document->was_cut || input.was_cut()) trace.anomalies.add(Anomaly::kTruncated, document->text_bytes);
  auto rows = snapshot_rows(*document, path, trace.strings, trace.anomalies);
  if (!rows) return std::unexpected(rows.error());
  document = Document();
  if (!rows->settings.empty()) trace.metadata.emplace_back("allocator_settings", rows->settings);
  return SnapshotTrace(std::move(*rows), std::move(trace)).build(std::max(1u, options.threads));
}

}  // namespace telltale::memory_snapshot
