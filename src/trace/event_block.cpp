#include "trace/event_block.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace telltale {
namespace {

// A key that means the same in every block: local ids spelled out.
struct SharedKey {
  std::int64_t process = 0, thread = 0, id = 0;
  std::string_view process_text, thread_text, id_text;
  bool is_async = false;
  auto operator<=>(const SharedKey&) const = default;
};

SharedKey shared(const SpanKey& key, const LocalNames& names, bool is_async) {
  const TrackKey& track = names.tracks[key.track];
  return {track.process.number,
          track.thread.number,
          key.id.number,
          names.strings[track.process.text],
          names.strings[track.thread.text],
          names.strings[key.id.text],
          is_async};
}

struct Mark {
  Nanoseconds time = 0;
  std::uint64_t byte_offset = 0;
  BatchEvent* begin = nullptr;  // of a begin
  std::string_view name;
};

void close(BatchEvent& begin, Nanoseconds end) { begin.duration = end - begin.start; }

}  // namespace

void pair_spans(std::span<EventBlock> blocks, Anomalies& anomalies) {
  std::map<SharedKey, std::vector<Mark>> marks;
  for (EventBlock& block : blocks) {
    const LocalNames& names = *block.batch.names;
    for (const OpenSpan& open : block.begins) {
      BatchEvent& row = block.batch.events[open.row];
      marks[shared(open.key, names, row.kind == Kind::kAsync)].push_back(
          {row.start, block.batch.offsets[open.row], &row, names.strings[row.name]});
    }
    for (const SpanEnd& end : block.ends)
      marks[shared(end.key, names, end.is_async)].push_back(
          {end.time, end.byte_offset, nullptr, names.strings[end.name]});
  }
  if (marks.empty()) return;

  std::vector<std::pair<const SharedKey*, BatchEvent*>> endless;
  for (auto& [key, sequence] : marks) {
    std::stable_sort(sequence.begin(), sequence.end(), [](const Mark& a, const Mark& b) {
      return std::tie(a.time, a.byte_offset) < std::tie(b.time, b.byte_offset);
    });
    std::vector<Mark> open;
    for (const Mark& mark : sequence) {
      if (mark.begin != nullptr) {
        open.push_back(mark);
      } else if (open.empty()) {
        anomalies.add(Anomaly::kUnmatchedEnd, mark.byte_offset, mark.name);
      } else {
        close(*open.back().begin, mark.time);
        open.pop_back();
      }
    }
    for (const Mark& mark : open) {
      anomalies.add(key.is_async ? Anomaly::kUnmatchedAsync : Anomaly::kUnmatchedBegin, mark.byte_offset, mark.name);
      if (key.is_async)
        mark.begin->kind = Kind::kInstant;
      else
        endless.emplace_back(&key, mark.begin);
    }
  }
  if (endless.empty()) return;

  std::map<SharedKey, Nanoseconds> track_ends;
  for (const EventBlock& block : blocks) {
    for (const BatchEvent& row : block.batch.events) {
      Nanoseconds& end =
          track_ends.try_emplace(shared({row.track, {}}, *block.batch.names, false), row.start).first->second;
      end = std::max(end, row.start + row.duration);
    }
  }
  for (const auto& [key, begin] : endless) close(*begin, std::max(begin->start, track_ends[*key]));
}

}  // namespace telltale
