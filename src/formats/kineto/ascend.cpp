#include "formats/kineto/ascend.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

namespace telltale::kineto {
namespace {

enum class Role : std::uint8_t { kNone, kHardware, kApi, kProjection };

Role role_of(std::string_view process_name) {
  if (process_name == "Ascend Hardware") return Role::kHardware;
  if (process_name == "CANN") return Role::kApi;
  const bool tells_once_more =
      process_name == "Communication" || process_name == "HCCL" || process_name == "Overlap Analysis";
  return tells_once_more ? Role::kProjection : Role::kNone;
}

Kind kind_of_task(std::string_view name) {
  constexpr auto kWaits = std::to_array<std::string_view>({"EVENT_", "Event_", "NOTIFY_", "Notify_"});
  const auto starts_name = [&](std::string_view part) { return name.starts_with(part); };
  if (std::ranges::any_of(kWaits, starts_name)) return Kind::kSync;
  if (name.starts_with("hcom_")) return Kind::kCollective;
  if (name.starts_with("MEMCPY") || name.starts_with("Memcpy")) return Kind::kMemcpy;
  return Kind::kKernel;
}

Kind kind_of_row(Role role, std::string_view name) {
  if (role == Role::kHardware) return kind_of_task(name);
  if (role == Role::kProjection) return Kind::kDeviceAnnotation;
  return name.starts_with("AscendCL@") ? Kind::kRuntime : Kind::kDriver;
}

// The number behind "NPU"; 0 where there is none.
DeviceId device_in(std::string_view label) {
  const std::size_t digits = label.find_first_of("0123456789");
  DeviceId device = 0;
  if (digits != std::string_view::npos) std::from_chars(label.data() + digits, label.data() + label.size(), device);
  return device;
}

struct AscendProcess {
  Role role = Role::kNone;
  DeviceId device = 0;
};

// Ids of processes as they are spelled, whichever block they stand in.
using ProcessKey = std::pair<std::int64_t, std::string_view>;
ProcessKey key_of(const NativeId& process, const LocalNames& names) {
  return {process.number, names.strings[process.text]};
}

std::map<ProcessKey, AscendProcess> ascend_processes(const EventList& list) {
  std::map<ProcessKey, AscendProcess> processes;
  bool is_ascend = false;
  for (const EventBlock& block : list.blocks) {
    const LocalNames& names = *block.batch.names;
    for (const TrackLabel& label : block.labels) {
      AscendProcess& process = processes[key_of(label.process, names)];
      if (label.what == TrackLabel::What::kProcessName) process.role = role_of(names.strings[label.text]);
      if (label.what == TrackLabel::What::kProcessLabels) process.device = device_in(names.strings[label.text]);
      is_ascend |= process.role == Role::kHardware;
    }
  }
  if (!is_ascend) processes.clear();
  return processes;
}

}  // namespace

void place_ascend_rows(EventList& list) {
  const std::map<ProcessKey, AscendProcess> processes = ascend_processes(list);
  if (processes.empty()) return;
  for (EventBlock& block : list.blocks) {
    const auto names = std::ranges::find(list.names, block.batch.names, &std::unique_ptr<LocalNames>::get);
    for (BatchRow at = 0; at < block.batch.events.size(); ++at) {
      BatchEvent& row = block.batch.events[at];
      TrackKey track = (*names)->tracks[row.track];
      const auto process = processes.find(key_of(track.process, **names));
      if (row.kind != Kind::kOther || process == processes.end() || process->second.role == Role::kNone) continue;
      row.kind = kind_of_row(process->second.role, (*names)->strings[row.name]);
      if (!is_on_device(row.kind)) continue;
      track.kind = TrackKind::kStream;
      track.device = process->second.device;
      row.track = (*names)->tracks.intern(track);
      // Copies and waits have rows in these tables, whatever is known of them.
      if (row.kind == Kind::kMemcpy) block.batch.copies.push_back({at, {}});
      if (row.kind == Kind::kSync) block.batch.syncs.push_back({at, {}});
    }
  }
}

}  // namespace telltale::kineto
