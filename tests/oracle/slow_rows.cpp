#include "slow_rows.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "slow_arguments.h"

namespace telltale::oracle {
namespace {

const std::map<std::string, Kind>& kinds_of_categories() {
  static const std::map<std::string, Kind> kinds = {
      {"cpu_op", Kind::kOperator},
      {"Operator", Kind::kOperator},
      {"user_annotation", Kind::kAnnotation},
      {"python_function", Kind::kPython},
      {"cuda_runtime", Kind::kRuntime},
      {"hip_runtime", Kind::kRuntime},
      {"xpu_runtime", Kind::kRuntime},
      {"mtia_runtime", Kind::kRuntime},
      {"privateuse1_runtime", Kind::kRuntime},
      {"glow_runtime", Kind::kRuntime},
      {"hpu_op", Kind::kRuntime},
      {"Runtime", Kind::kRuntime},
      {"cuda_driver", Kind::kDriver},
      {"hip_driver", Kind::kDriver},
      {"xpu_driver", Kind::kDriver},
      {"privateuse1_driver", Kind::kDriver},
      {"kernel", Kind::kKernel},
      {"Kernel", Kind::kKernel},
      {"gpu_memcpy", Kind::kMemcpy},
      {"Memcpy", Kind::kMemcpy},
      {"gpu_memset", Kind::kMemset},
      {"Memset", Kind::kMemset},
      {"cuda_sync", Kind::kSync},
      {"cuda_event", Kind::kSync},
      {"xpu_sync", Kind::kSync},
      {"gpu_user_annotation", Kind::kDeviceAnnotation},
      {"cuda_profiler_range", Kind::kDeviceAnnotation},
      {"collective_comm", Kind::kCollective},
      {"mtia_ccp_events", Kind::kKernel},
      {"mtia_insight", Kind::kOther},
      {"overhead", Kind::kOverhead},
      {"Trace", Kind::kSpan},
  };
  return kinds;
}

Kind kind_of_category(const std::string& category) {
  const auto known = kinds_of_categories().find(category);
  if (known != kinds_of_categories().end()) return known->second;
  for (const std::string_view prefix : {"cuda_", "gpu_", "hip_", "xpu_", "mtia_", "hpu_", "privateuse1_"})
    if (category.starts_with(prefix))
      return category.find("collective") == std::string::npos ? Kind::kDeviceOther : Kind::kCollective;
  return Kind::kOther;
}

SlowTrackKey track_of(const SlowEvent& event, Kind kind) {
  SlowTrackKey key{event.process, event.thread, TrackKind::kThread, kHost};
  if (is_on_device(kind)) {
    key.kind = TrackKind::kStream;
    const bool is_device_number = std::in_range<DeviceId>(event.process.number);
    key.device = small_integer_in(event.arguments, "device")
                     .value_or(is_device_number ? static_cast<DeviceId>(event.process.number) : 0);
  } else if (kind == Kind::kSpan || (kind == Kind::kInstant && event.has_text_process)) {
    key.kind = TrackKind::kRecording;
  }
  return key;
}

SlowTrackKey async_track_of(const SlowEvent& event) {
  return {event.process, SlowId{0, event.category}, TrackKind::kAsync, kHost};
}

struct Pair {
  const SlowEvent* begin = nullptr;
  const SlowEvent* end = nullptr;
};

// Joins events of one key, each end to the last begin still open. Either side of a pair may be missing.
template <typename Key>
std::vector<Pair> pairs_in_time_order(std::map<Key, std::vector<const SlowEvent*>>& groups, std::string_view begins) {
  std::vector<Pair> pairs;
  for (auto& [key, events] : groups) {
    std::ranges::stable_sort(events, {}, [](const SlowEvent* event) { return event->time; });
    std::vector<const SlowEvent*> open;
    for (const SlowEvent* event : events) {
      if (begins.find(event->phase) != std::string_view::npos) {
        open.push_back(event);
      } else if (open.empty()) {
        pairs.push_back({nullptr, event});
      } else {
        pairs.push_back({open.back(), event});
        open.pop_back();
      }
    }
    for (const SlowEvent* begin : open) pairs.push_back({begin, nullptr});
  }
  return pairs;
}

void append_durations(const SlowDocument& document, std::vector<SlowRow>& rows, Anomalies& anomalies) {
  std::map<std::pair<SlowId, SlowId>, std::vector<const SlowEvent*>> threads;
  for (const SlowEvent& event : document.events) {
    if (event.phase == 'B' || event.phase == 'E') threads[{event.process, event.thread}].push_back(&event);
    const bool is_end = std::string_view("EeF").find(event.phase) != std::string_view::npos;
    if (is_end && !event.arguments.empty()) anomalies.add(Anomaly::kEndArguments, event.byte_offset);
  }
  std::vector<SlowRow> open;
  for (const auto& [begin, end] : pairs_in_time_order(threads, "B")) {
    if (begin == nullptr) {
      anomalies.add(Anomaly::kUnmatchedEnd, end->byte_offset);
      continue;
    }
    const Kind kind = slow_kind(begin->category, begin->name);
    SlowRow row{begin, track_of(*begin, kind), kind, begin->time, end ? end->time : begin->time};
    if (!end) anomalies.add(Anomaly::kUnmatchedBegin, begin->byte_offset);
    (end ? rows : open).push_back(row);
  }
  const std::size_t whole = rows.size();
  rows.insert(rows.end(), open.begin(), open.end());
  for (std::size_t i = whole; i < rows.size(); ++i)
    for (const SlowRow& row : rows)
      if (row.track.process == rows[i].track.process && row.track.thread == rows[i].track.thread)
        rows[i].end = std::max(rows[i].end, row.end);
}

void append_async(const SlowDocument& document, std::vector<SlowRow>& rows, Anomalies& anomalies) {
  std::map<std::tuple<SlowId, std::string, SlowId>, std::vector<const SlowEvent*>> spans;
  for (const SlowEvent& event : document.events) {
    if (std::string_view("beSF").find(event.phase) != std::string_view::npos)
      spans[{event.process, event.category, event.id}].push_back(&event);
    if (std::string_view("nTp").find(event.phase) != std::string_view::npos)
      rows.push_back({&event, async_track_of(event), Kind::kInstant, event.time, event.time});
  }
  for (const auto& [begin, end] : pairs_in_time_order(spans, "bS")) {
    if (begin == nullptr) {
      anomalies.add(Anomaly::kUnmatchedEnd, end->byte_offset);
      continue;
    }
    if (end == nullptr) anomalies.add(Anomaly::kUnmatchedAsync, begin->byte_offset);
    rows.push_back({begin, async_track_of(*begin), end ? Kind::kAsync : Kind::kInstant, begin->time,
                    end ? end->time : begin->time});
  }
}

// Ascend's events have no categories: their processes' names say what they are.
void place_ascend_rows(const SlowDocument& document, std::vector<SlowRow>& rows) {
  std::map<SlowId, std::string> names;
  std::map<SlowId, DeviceId> devices;
  for (const SlowEvent& event : document.events) {
    if (event.phase != 'M') continue;
    const auto name = find(event.arguments, "name"), label = find(event.arguments, "labels");
    if (event.name == "process_name" && name) names[event.process] = text_of(*name);
    if (event.name != "process_labels" || !label) continue;
    std::string digits = text_of(*label);
    std::erase_if(digits, [](char c) { return c < '0' || c > '9'; });
    devices[event.process] = digits.empty() ? 0 : std::stoi(digits);
  }
  if (std::ranges::none_of(names, [](const auto& entry) { return entry.second == "Ascend Hardware"; })) return;
  for (SlowRow& row : rows) {
    const std::string& process = names[row.track.process];
    const std::string& name = row.event->name;
    const auto starts = [&](std::string_view part) { return name.starts_with(part); };
    if (row.kind != Kind::kOther) continue;
    if (process == "CANN") {
      row.kind = starts("AscendCL@") ? Kind::kRuntime : Kind::kDriver;
      continue;
    }
    if (process == "Ascend Hardware") {
      const bool is_wait = starts("EVENT_") || starts("Event_") || starts("NOTIFY_") || starts("Notify_");
      const bool is_copy = starts("MEMCPY") || starts("Memcpy");
      row.kind = is_wait ? Kind::kSync : starts("hcom_") ? Kind::kCollective : is_copy ? Kind::kMemcpy : Kind::kKernel;
    } else if (process == "Communication" || process == "HCCL" || process == "Overlap Analysis") {
      row.kind = Kind::kDeviceAnnotation;
    } else {
      continue;
    }
    row.track.kind = TrackKind::kStream;
    row.track.device = devices[row.track.process];
  }
}

}  // namespace

Kind slow_kind(const std::string& category, const std::string& name) {
  const Kind kind = kind_of_category(category);
  if (kind == Kind::kKernel && name == "dma_request") return Kind::kMemcpy;
  if (kind == Kind::kPython && name.starts_with("nn.Module: ")) return Kind::kModule;
  for (const char* range :
       {"ProfilerStep#", "Optimizer.step#", "Optimizer.zero_grad#", "enumerate(DataLoader)#", "[pl]["})
    if (kind == Kind::kOperator && name.starts_with(range)) return Kind::kAnnotation;
  return kind;
}

bool is_told_by_kind(const std::string& category) {
  if (category.empty()) return true;
  const Kind kind = kind_of_category(category);
  return kind != Kind::kOther && kind != Kind::kDeviceOther;
}

bool is_memory_event(const SlowEvent& event) {
  return std::string_view("iIR").find(event.phase) != std::string_view::npos && event.name == "[memory]";
}

std::vector<SlowRow> slow_rows(const SlowDocument& document, Anomalies& anomalies) {
  std::vector<SlowRow> rows;
  for (const SlowEvent& event : document.events) {
    if (event.phase == 'X') {
      const Kind kind = slow_kind(event.category, event.name);
      rows.push_back({&event, track_of(event, kind), kind, event.time, event.time + event.duration});
    }
    if (std::string_view("iIR").find(event.phase) != std::string_view::npos && !is_memory_event(event))
      rows.push_back({&event, track_of(event, Kind::kInstant), Kind::kInstant, event.time, event.time});
  }
  append_async(document, rows, anomalies);
  append_durations(document, rows, anomalies);
  std::ranges::sort(rows, {}, [](const SlowRow& row) { return row.event->byte_offset; });
  place_ascend_rows(document, rows);
  return rows;
}

}  // namespace telltale::oracle
