#include "formats/memory_snapshot/snapshot_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/text_encoding.h"
#include "formats/memory_snapshot/call_stacks.h"
#include "formats/memory_snapshot/records.h"
#include "formats/memory_snapshot/settings.h"

namespace telltale::memory_snapshot {
namespace {

// No device has more, and no sum of them overflows.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
constexpr std::uint64_t kLastAddress = std::uint64_t{1} << 57;
constexpr std::int64_t kMostMicroseconds = INT64_MAX / 4 / 1000;
constexpr Nanoseconds kNoTime = INT64_MIN;
constexpr std::int64_t kMostDevices = 1 << 16;

struct ActionName {
  std::string_view name;
  AllocatorAction action;
};
constexpr ActionName kActionNames[] = {
    {"alloc", AllocatorAction::kAllocate},
    {"free_requested", AllocatorAction::kFreeRequested},
    {"free_completed", AllocatorAction::kFreeCompleted},
    {"free", AllocatorAction::kFreeCompleted},  // of some converters
    {"segment_alloc", AllocatorAction::kSegmentAllocate},
    {"segment_free", AllocatorAction::kSegmentFree},
    {"segment_map", AllocatorAction::kSegmentMap},
    {"segment_unmap", AllocatorAction::kSegmentUnmap},
    {"snapshot", AllocatorAction::kSnapshot},
    {"oom", AllocatorAction::kOutOfMemory},
};

std::optional<AllocatorAction> action_named(std::string_view name) {
  const auto found = std::ranges::find(kActionNames, name, &ActionName::name);
  if (found == std::end(kActionNames)) return std::nullopt;
  return found->action;
}

class RowReader {
 public:
  RowReader(const Document& document, InternedStrings& strings, Anomalies& anomalies)
      : document_(document),
        values_(document.values),
        records_(values_),
        stacks_(values_, records_, strings),
        strings_(strings),
        anomalies_(anomalies) {}

  Result<SnapshotRows> read(const std::string& path) {
    Record top;
    (void)records_.read(document_.top, top);
    // torch.cuda.memory_snapshot() gives a list alone.
    const ValueId segments = values_.is_list(document_.top) ? document_.top : top[Field::kSegments];
    const bool has_segments = segments != kNoValue && values_.is_list(segments);
    const bool has_traces = top.has(Field::kDeviceTraces) && values_.is_list(top[Field::kDeviceTraces]);
    const auto refused = [&](std::string_view why) {
      return failure(document_.was_cut ? std::string("ends before its first segment; it was probably cut off")
                                       : fmt::format("is no memory snapshot of torch: {}", why),
                     path);
    };
    if (!has_segments && !has_traces) return refused("it has no segments");
    if (top.has(Field::kSettings)) {
      rules_ = block_rules_of(values_, records_, top[Field::kSettings]);
      rows_.settings = json_of(values_, top[Field::kSettings]);
    }
    if (has_segments) each(segments, [&](ValueId segment) { read_segment(segment); });
    if (rows_.states.empty() && has_segments && !has_traces && !values_.is_empty(segments))
      return refused("none of its elements is a segment");
    if (has_traces) {
      DeviceId device = 0;
      each(top[Field::kDeviceTraces], [&](ValueId log) { read_log(device++, log); });
    }
    if (top.has(Field::kAnnotations) && values_.is_list(top[Field::kAnnotations]))
      each(top[Field::kAnnotations], [&](ValueId annotation) { read_annotation(annotation); });
    if (repeats_) return failure("names the same parts again and again, as no memory snapshot does", path);
    return std::move(rows_);
  }

 private:
  // A list may be named many times. Each of its items stands once in the file: who visits more of them than there are
  // goes around in circles.
  template <typename Visit>
  void each(ValueId list, Visit visit) {
    values_.each_item(list, [&](ValueId item) {
      repeats_ |= ++visited_ > values_.item_count();
      if (!repeats_) visit(item);
      return !repeats_;
    });
  }

  std::optional<std::int64_t> bytes(const Record& record, Field field) const {
    const auto found = record.has(field) ? values_.as_integer(record[field]) : std::nullopt;
    return found && *found >= 0 && *found <= kMostBytes ? found : std::nullopt;
  }
  std::optional<std::uint64_t> address(const Record& record, Field field) const {
    const auto found = record.has(field) ? values_.as_unsigned(record[field]) : std::nullopt;
    return found && *found <= kLastAddress ? found : std::nullopt;
  }
  Nanoseconds time(const Record& record) const {
    if (!record.has(Field::kTime)) return kNoTime;
    const std::int64_t microseconds = values_.as_integer(record[Field::kTime]).value_or(INT64_MAX);
    const bool is_sane = microseconds >= -kMostMicroseconds && microseconds <= kMostMicroseconds;
    return is_sane ? microseconds * 1000 : kNoTime;
  }
  // Handles of streams may look negative.
  std::uint64_t stream(const Record& record) const {
    if (!record.has(Field::kStream)) return 0;
    if (const auto handle = values_.as_unsigned(record[Field::kStream])) return *handle;
    return static_cast<std::uint64_t>(values_.as_integer(record[Field::kStream]).value_or(0));
  }
  std::optional<DeviceId> device(const Record& record) const {
    if (!record.has(Field::kDevice)) return 0;
    const auto number = values_.as_integer(record[Field::kDevice]);
    if (!number || *number < 0 || *number >= kMostDevices) return std::nullopt;
    return static_cast<DeviceId>(*number);
  }
  std::string_view text(const Record& record, Field field) const {
    return record.has(field) ? values_.as_text(record[field]).value_or("") : "";
  }
  // (0, 0) is what belongs to no private pool.
  StringId pool(const Record& record) {
    if (!record.has(Field::kPool) || !values_.is_list(record[Field::kPool])) return kEmptyString;
    std::uint64_t numbers[2] = {};
    std::size_t count = 0;
    values_.each_item(record[Field::kPool], [&](ValueId item) {
      numbers[count++] = values_.as_unsigned(item).value_or(0);
      return count < 2;
    });
    if (numbers[0] == 0 && numbers[1] == 0) return kEmptyString;
    return strings_.intern(std::to_string(numbers[0]) + "." + std::to_string(numbers[1]));
  }
  void note(Anomaly anomaly, std::string_view example) { anomalies_.add(anomaly, 0, example); }

  AllocatorState& state_of(DeviceId device) { return rows_.states.try_emplace(device, rules_).first->second; }

  void read_segment(ValueId value) {
    Record record;
    if (!records_.read(value, record)) return note(Anomaly::kMalformedAllocatorEntry, "a segment that is no dict");
    const auto first = address(record, Field::kAddress);
    const auto total = bytes(record, Field::kTotalSize);
    const auto on = device(record);
    if (!first || !total || *total == 0 || !on)
      return note(Anomaly::kMalformedAllocatorEntry, "a segment without device, address or size");
    MemorySegment segment{.address = *first,
                          .bytes = *total,
                          .stream = stream(record),
                          .device = *on,
                          .pool = pool(record),
                          .call_stack = stacks_.of(record[Field::kFrames]),
                          .is_large = text(record, Field::kSegmentType) != "small",
                          .is_expandable = record.has(Field::kIsExpandable) &&
                                           values_.as_integer(record[Field::kIsExpandable]).value_or(0) != 0};
    AllocatorState& state = state_of(*on);
    if (!state.add_segment(segment)) return note(Anomaly::kUnevenSegment, "two segments overlap");
    std::uint64_t next = *first;
    bool is_even = true;
    if (record.has(Field::kBlocks) && values_.is_list(record[Field::kBlocks]))
      each(record[Field::kBlocks], [&](ValueId block) { is_even &= read_block(block, state, segment, next); });
    if (!is_even || next != *first + static_cast<std::uint64_t>(*total))
      note(Anomaly::kUnevenSegment, "a segment of " + std::to_string(*total) + " bytes");
  }

  // `next` is where it starts unless it says otherwise, and then where it ends.
  bool read_block(ValueId value, AllocatorState& state, const MemorySegment& segment, std::uint64_t& next) {
    Record record;
    if (!records_.read(value, record)) return false;
    const auto size = bytes(record, Field::kSize);
    if (!size || *size == 0) return false;
    const std::uint64_t at = address(record, Field::kAddress).value_or(next);
    const std::string_view state_name = text(record, Field::kState);
    HeldBlock block{.bytes = *size,
                    .requested = bytes(record, Field::kRequestedSize).value_or(*size),
                    .call_stack = stacks_.of(record[Field::kFrames]),
                    .state = state_name == "inactive"           ? BlockState::kInactive
                             : state_name == "active_allocated" ? BlockState::kAllocated
                                                                : BlockState::kAwaitingFree};
    if (record.has(Field::kHistory)) read_history(record[Field::kHistory], block);
    const bool is_known = state_name == "inactive" || state_name == "active_allocated" ||
                          state_name == "active_pending_free" || state_name == "active_awaiting_free";
    if (!is_known) return false;
    const bool is_next = at == next;
    next = at + static_cast<std::uint64_t>(*size);
    if (at < segment.address || next > segment.address + static_cast<std::uint64_t>(segment.bytes)) return false;
    if (block.state == BlockState::kInactive) return is_next;
    return state.add_block(at, block) && is_next;
  }

  // PyTorch before 2.1 kept stacks and requested sizes there, the newest first.
  void read_history(ValueId history, HeldBlock& block) {
    if (!values_.is_list(history)) return;
    values_.each_item(history, [&](ValueId newest) {
      Record record;
      if (!records_.read(newest, record)) return false;
      block.requested = bytes(record, Field::kRealSize).value_or(block.requested);
      if (const StringId stack = stacks_.of(record[Field::kFrames]); stack != kEmptyString) block.call_stack = stack;
      return false;
    });
  }

  void read_log(DeviceId device, ValueId log) {
    if (device >= kMostDevices || !values_.is_list(log))
      return note(Anomaly::kMalformedAllocatorEntry, "a log that is no list");
    if (values_.is_empty(log)) return;
    std::vector<AllocatorEvent>& entries = rows_.entries[device];
    (void)state_of(device);
    bool has_times = true;
    each(log, [&](ValueId entry) { has_times &= read_entry(device, entry, entries); });
    if (!has_times) {
      note(Anomaly::kAllocatorEntryWithoutTime, "");
      for (std::size_t i = 0; i < entries.size(); ++i) entries[i].time = static_cast<Nanoseconds>(i) * 1000;
    }
    // Several entries may have one microsecond. They are told apart, so that what is there between two of them has a
    // time.
    Nanoseconds latest = entries.empty() ? 0 : entries.front().time - 1;
    for (AllocatorEvent& entry : entries) latest = entry.time = std::max(latest + 1, entry.time);
  }

  // Whether it says when it was.
  bool read_entry(DeviceId device, ValueId value, std::vector<AllocatorEvent>& entries) {
    if (document_.unfinished.contains(value)) return true;
    Record record;
    if (!records_.read(value, record)) {
      note(Anomaly::kMalformedAllocatorEntry, "an entry that is no dict");
      return true;
    }
    const auto action = action_named(text(record, Field::kAction));
    const bool is_place = action && *action != AllocatorAction::kOutOfMemory && *action != AllocatorAction::kSnapshot;
    const auto at = address(record, record.has(Field::kDeviceFree) ? Field::kDeviceFree : Field::kAddress);
    const auto size = bytes(record, Field::kSize);
    if (!action || (is_place && (!at || !size))) {
      note(Anomaly::kMalformedAllocatorEntry, "an entry without action, address or size");
      return true;
    }
    const Nanoseconds when = time(record);
    const std::string_view context = text(record, Field::kCompileContext);
    if ((!context.empty() && context != "N/A") || !text(record, Field::kUserMetadata).empty())
      note(Anomaly::kUnkeptAllocatorField, context);
    entries.push_back({.time = when == kNoTime ? 0 : when,
                       .address = at.value_or(0),
                       .bytes = size.value_or(0),
                       .stream = stream(record),
                       .device = device,
                       .pool = pool(record),
                       .call_stack = stacks_.of(record[Field::kFrames]),
                       .action = *action});
    return when != kNoTime;
  }

  void read_annotation(ValueId value) {
    Record record;
    if (document_.unfinished.contains(value) || !records_.read(value, record)) return;
    const Nanoseconds when = time(record);
    const std::string_view stage = text(record, Field::kStage), name = text(record, Field::kName);
    const auto on = device(record);
    if (when == kNoTime || !on || (stage != "START" && stage != "END"))
      return note(Anomaly::kMalformedAllocatorEntry, "an annotation without time or stage");
    rows_.annotations.push_back({.time = when,
                                 .device = *on,
                                 .name = strings_.intern(is_utf8(name) ? std::string(name) : repaired_utf8(name)),
                                 .is_end = stage == "END"});
  }

  const Document& document_;
  const Values& values_;
  Records records_;
  CallStacks stacks_;
  InternedStrings& strings_;
  Anomalies& anomalies_;
  BlockRules rules_;
  SnapshotRows rows_;
  std::uint64_t visited_ = 0;
  bool repeats_ = false;
};

}  // namespace

Result<SnapshotRows> snapshot_rows(const Document& document, const std::string& path, InternedStrings& strings,
                                   Anomalies& anomalies) {
  return RowReader(document, strings, anomalies).read(path);
}

}  // namespace telltale::memory_snapshot
