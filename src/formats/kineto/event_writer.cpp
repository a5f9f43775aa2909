#include "formats/kineto/event_writer.h"

#include <algorithm>
#include <string_view>

#include "base/text_encoding.h"
#include "trace/categories.h"
#include "trace/remembered.h"

namespace telltale::kineto {
namespace {

std::string_view view(const StringToken& token) { return {token.begin, token.size()}; }
std::string_view view(const ValueSpan& span) { return {span.begin, static_cast<std::size_t>(span.end - span.begin)}; }

constexpr std::string_view kReadPhases = "XBEiIRCbneSTpFstf";
// Objects (created, as a snapshot, deleted), memory dumps (of a process, of all), clocks, contexts (entered, left) and
// links between ids.
constexpr std::string_view kUnreadPhases = "NODvVc()=";
constexpr std::string_view kMemoryEventName = "[memory]";

}  // namespace

bool EventWriter::write(const EventFields& fields, std::uint64_t byte_offset, EventBlock& into) {
  into_ = &into;
  byte_offset_ = byte_offset;
  details_.select(into.batch, byte_offset);
  arguments_.select(fields);
  name_ = arguments_.text_of(fields.name);
  details_.set_name(name_);
  if (fields.has_number_out_of_range) details_.note(Anomaly::kNumberOutOfRange);
  if (fields.phase == 0) return details_.note(Anomaly::kMissingPhase), true;
  if (fields.phase == 'M') return write_label(fields), true;
  if (fields.phase == 'P') return details_.note(Anomaly::kUnreadSample), true;
  if (kUnreadPhases.contains(fields.phase)) return details_.note(Anomaly::kUnreadPhase), true;
  if (!kReadPhases.contains(fields.phase)) return details_.note(Anomaly::kUnknownPhase), true;
  if (!fields.has_time) return details_.note(Anomaly::kMissingTime), true;

  switch (fields.phase) {
    case 'X':
    case 'B': {
      const Kind kind = kind_by_name(category_of(fields.category).kind, names_.strings[name_]);
      const TrackKind track_kind = is_on_device(kind)    ? TrackKind::kStream
                                   : kind == Kind::kSpan ? TrackKind::kRecording
                                                         : TrackKind::kThread;
      const TrackId track = track_of(fields, track_kind);
      if (!write_row(fields, kind, track)) return false;
      const auto row = static_cast<BatchRow>(into_->batch.events.size() - 1);
      if (fields.phase == 'B') {
        into_->begins.push_back({row, {track_of(fields, TrackKind::kThread), {}}});  // an E tells no category
      } else if (!fields.has_duration) {
        details_.note(Anomaly::kMissingDuration);
      } else if (fields.is_duration_negative) {
        details_.note(Anomaly::kNegativeDuration);
      }
      return true;
    }
    case 'E':
      write_end(fields, {track_of(fields, TrackKind::kThread), {}}, false);
      return true;
    case 'i':
    case 'I':
    case 'R':
      return write_instant(fields);
    case 'C':
      return write_counters(fields), true;
    case 's':
    case 't':
    case 'f':
      return write_flow(fields), true;
    default:
      return write_async(fields);
  }
}

bool EventWriter::write_row(const EventFields& fields, Kind kind, TrackId track) {
  if (!arguments_.read_lists()) return false;
  EventBatch& batch = into_->batch;
  const auto row = static_cast<BatchRow>(batch.events.size());
  const Nanoseconds duration = fields.phase == 'X' ? fields.duration : 0;
  batch.events.push_back({fields.time, duration, name_, track, kind});
  batch.offsets.push_back(byte_offset_);
  const Category& category = category_of(fields.category);
  if (!category.is_known) batch.categories.push_back({row, category.text});
  details_.write(arguments_, kind, row);
  return true;
}

bool EventWriter::write_instant(const EventFields& fields) {
  if (names_.strings[name_] == kMemoryEventName) return write_memory(fields), true;
  const bool is_about_recording = fields.process.is_text;
  const TrackId track = track_of(fields, is_about_recording ? TrackKind::kRecording : TrackKind::kThread);
  return write_row(fields, Kind::kInstant, track);
}

bool EventWriter::write_async(const EventFields& fields) {
  const TrackId track = async_track(fields);
  const SpanKey key{track, span_id(fields)};
  switch (fields.phase) {
    case 'b':
    case 'S':
      if (!write_row(fields, Kind::kAsync, track)) return false;
      into_->begins.push_back({static_cast<BatchRow>(into_->batch.events.size() - 1), key});
      return true;
    case 'e':
    case 'F':
      write_end(fields, key, true);
      return true;
    default:
      return write_row(fields, Kind::kInstant, track);
  }
}

void EventWriter::write_end(const EventFields& fields, const SpanKey& key, bool is_async) {
  if (!fields.present.is_empty() || !fields.unknown_arguments.empty()) details_.note(Anomaly::kEndArguments);
  into_->ends.push_back({fields.time, key, byte_offset_, name_, is_async});
}

void EventWriter::write_memory(const EventFields& fields) {
  const Unsigned address =
      fields.has(Attribute::kMemoryAddress) ? unsigned_in(fields[Attribute::kMemoryAddress]) : Unsigned{};
  const bool has_bytes =
      fields.has(Attribute::kMemoryBytes) && number_in(fields[Attribute::kMemoryBytes]).status == DecimalStatus::kOk;
  if (address.status != DecimalStatus::kOk || !has_bytes) return details_.note(Anomaly::kIncompleteMemoryEvent);
  constexpr std::int64_t kCpu = 0;
  const bool is_host = arguments_.integer(Attribute::kMemoryDeviceType, kCpu) == kCpu;
  BatchMemoryEvent event;
  event.time = fields.time;
  event.track = track_of(fields, TrackKind::kThread);
  event.device = is_host ? kHost : details_.narrow_integer<DeviceId>(arguments_, Attribute::kMemoryDeviceId, 0);
  event.address = address.value;
  event.bytes = arguments_.integer(Attribute::kMemoryBytes, 0);
  event.total_allocated = arguments_.integer(Attribute::kTotalAllocated, -1);
  event.total_reserved = arguments_.integer(Attribute::kTotalReserved, -1);
  if (fields.has(Attribute::kMemoryPool)) event.pool = arguments_.text(Attribute::kMemoryPool);
  into_->batch.memory.push_back(event);
}

void EventWriter::write_counters(const EventFields& fields) {
  const TrackId track = track_of(fields, TrackKind::kCounter);
  if (fields.arguments.begin == nullptr || *fields.arguments.begin != '{')
    return details_.note(Anomaly::kUnusableCounter);
  for_each_member(fields.arguments, [&](const StringToken& key, const ValueSpan& value) {
    const auto number = real_in(value);
    if (!number) return details_.note(Anomaly::kUnusableCounter);
    into_->batch.counters.push_back({fields.time, track, name_, arguments_.text_of(key), *number});
  });
}

void EventWriter::write_flow(const EventFields& fields) {
  BatchFlowPoint point;
  point.time = fields.time;
  point.byte_offset = byte_offset_;
  const NativeId id = span_id(fields);
  point.id = id.text;
  point.id_number = id.number;
  point.kind = names_.flow_kinds.intern({category_of(fields.category).text, name_});
  point.place = names_.flow_places.intern({native_id(fields.process), native_id(fields.thread)});
  point.role = fields.phase == 's' ? FlowRole::kStart : fields.phase == 't' ? FlowRole::kStep : FlowRole::kEnd;
  point.binds_to_next = fields.phase == 'f' && !fields.binds_to_enclosing;
  into_->batch.flows.push_back(point);
}

void EventWriter::write_label(const EventFields& fields) {
  using What = TrackLabel::What;
  const std::string_view name = names_.strings[name_];
  TrackLabel label{native_id(fields.process), native_id(fields.thread), What::kProcessName, kEmptyString, 0};
  std::string_view wanted = "name";
  if (name == "process_name") {
    label.what = What::kProcessName;
  } else if (name == "thread_name") {
    label.what = What::kThreadName;
  } else if (name == "process_labels") {
    label.what = What::kProcessLabels;
    wanted = "labels";
  } else if (name == "process_sort_index" || name == "thread_sort_index") {
    label.what = name == "process_sort_index" ? What::kProcessSortIndex : What::kThreadSortIndex;
    wanted = "sort_index";
  } else {
    return details_.note(Anomaly::kUnknownMetadata);
  }
  bool is_found = false;
  if (fields.arguments.begin != nullptr && *fields.arguments.begin == '{') {
    for_each_member(fields.arguments, [&](const StringToken& key, const ValueSpan& value) {
      if (view(key) != wanted) return;
      is_found = true;
      if (wanted == "sort_index")
        label.number = number_in(value).value;
      else
        label.text = arguments_.text_in(value);
    });
  }
  if (!is_found) return details_.note(Anomaly::kUnknownMetadata);
  into_->labels.push_back(label);
}

const EventWriter::Category& EventWriter::category_of(const StringToken& token) {
  if (token.is_plain && last_category_text_ == view(token)) return last_category_;
  const StringId id = arguments_.text_of(token);
  auto& known = remembered(categories_, id);
  if (!known) {
    Category category{id, Kind::kOther, true};
    category.kind = kind_of(names_.strings[id], {}, category.is_known);
    known = category;
  }
  last_category_text_ = view(token);
  last_category_ = *known;
  return last_category_;
}

TrackId EventWriter::track_of(const EventFields& fields, TrackKind kind) {
  TrackKey key{native_id(fields.process), native_id(fields.thread), kind, kHost};
  if (kind == TrackKind::kStream) {
    const bool is_device_number = !fields.process.is_text && std::in_range<DeviceId>(fields.process.number);
    const DeviceId process = is_device_number ? static_cast<DeviceId>(fields.process.number) : 0;
    key.device = details_.narrow_integer<DeviceId>(arguments_, Attribute::kDevice, process);
  }
  if (last_track_ && last_track_key_ == key) return *last_track_;
  last_track_key_ = key;
  last_track_ = names_.tracks.intern(key);
  return *last_track_;
}

TrackId EventWriter::async_track(const EventFields& fields) {
  const NativeId category{0, arguments_.text_of(fields.category)};
  return names_.tracks.intern({native_id(fields.process), category, TrackKind::kAsync, kHost});
}

NativeId EventWriter::native_id(const IdToken& token) {
  if (!token.is_text) return {token.number, kEmptyString};
  return {0, arguments_.text_of(token.text)};
}

NativeId EventWriter::span_id(const EventFields& fields) {
  if (fields.id_object.begin != nullptr) {
    const std::string_view object = view(fields.id_object);
    return {0, is_utf8(object) ? names_.strings.intern(object) : names_.strings.intern(repaired_utf8(object))};
  }
  return native_id(fields.id);
}

}  // namespace telltale::kineto
