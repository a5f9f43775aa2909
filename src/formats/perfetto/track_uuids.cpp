#include "formats/perfetto/track_uuids.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace telltale::perfetto {
namespace {

// Fields of TrackDescriptor.
enum Field : unsigned {
  kUuid = 1,
  kName = 2,
  kProcess = 3,
  kThread = 4,
  kParent = 5,
  kCounter = 8,
};

std::int64_t within_int32(std::int64_t number) {
  return std::in_range<std::int32_t>(number) ? number : std::int64_t{0};
}

}  // namespace

TrackUuids::TrackUuids(const Trace& trace)
    : trace_(trace),
      device_of_process_(trace.processes.size(), kHost),
      next_(1 + trace.processes.size() + trace.tracks.size()) {
  std::vector<bool> has_others(trace.processes.size());
  for (const Track& track : trace.tracks) {
    DeviceId& device = device_of_process_[track.process];
    const bool is_first = device == kHost;
    if (track.kind == TrackKind::kStream && (is_first || device == track.device))
      device = track.device;
    else if (track.kind != TrackKind::kRecording)
      has_others[track.process] = true;
  }
  for (std::size_t i = 0; i < has_others.size(); ++i)
    if (has_others[i]) device_of_process_[i] = kHost;
}

bool TrackUuids::is_process(ProcessId process) const {
  const std::int64_t pid = trace_.processes[process].native_id;
  return pid > 0 && std::in_range<std::int32_t>(pid) && device_of_process_[process] == kHost;
}

bool TrackUuids::is_thread(const Track& track) const {
  return track.kind == TrackKind::kThread && is_process(track.process) && track.native_id > 0 &&
         std::in_range<std::int32_t>(track.native_id);
}

ProtoMessage TrackUuids::describe_process(ProcessId id) const {
  const Process& process = trace_.processes[id];
  const std::string_view name = trace_.strings[process.name], labels = trace_.strings[process.labels];
  if (is_process(id)) {
    enum ProcessField : unsigned { kPid = 1, kSortIndex = 3, kProcessName = 6, kLabels = 8 };
    ProtoMessage descriptor, message;
    descriptor.add_signed(kPid, process.native_id);
    if (process.sort_index != 0) descriptor.add_signed(kSortIndex, within_int32(process.sort_index));
    if (!name.empty()) descriptor.add_string(kProcessName, name);
    if (!labels.empty()) descriptor.add_string(kLabels, labels);
    message.add_unsigned(kUuid, of_process(id));
    message.add_message(kProcess, descriptor);
    return message;
  }
  const DeviceId device = device_of_process_[id];
  std::string text(name);
  if (device != kHost) {
    text = "GPU " + std::to_string(device);
    const auto known = std::ranges::lower_bound(trace_.devices, device, {}, &Device::id);  // they are ordered by id
    if (known != trace_.devices.end() && known->id == device && !known->name.empty()) text += " " + known->name;
  } else if (text.empty()) {
    text = "process " + std::to_string(process.native_id);
  }
  return describe(of_process(id), 0, text);
}

ProtoMessage TrackUuids::describe_track(TrackId id) const {
  const Track& track = trace_.tracks[id];
  const std::string_view name = trace_.strings[track.name];
  if (!is_thread(track)) return describe(of_track(id), of_process(track.process), name);
  enum ThreadField : unsigned { kPid = 1, kTid = 2, kSortIndex = 3, kThreadName = 5 };
  ProtoMessage descriptor, message;
  descriptor.add_signed(kPid, trace_.processes[track.process].native_id);
  descriptor.add_signed(kTid, track.native_id);
  if (track.sort_index != 0) descriptor.add_signed(kSortIndex, within_int32(track.sort_index));
  descriptor.add_string(kThreadName, name);
  message.add_unsigned(kUuid, of_track(id));
  message.add_unsigned(kParent, of_process(track.process));
  message.add_message(kThread, descriptor);
  return message;
}

ProtoMessage TrackUuids::describe(Uuid uuid, Uuid parent, std::string_view name) {
  ProtoMessage message;
  message.add_unsigned(kUuid, uuid);
  if (parent != 0) message.add_unsigned(kParent, parent);
  message.add_string(kName, name);
  return message;
}

ProtoMessage TrackUuids::describe_counter(Uuid uuid, Uuid parent, std::string_view name, bool is_in_bytes) {
  enum CounterField : unsigned { kUnit = 3 };
  constexpr unsigned kSizeInBytes = 3;
  ProtoMessage message = describe(uuid, parent, name), counter;
  if (is_in_bytes) counter.add_unsigned(kUnit, kSizeInBytes);
  message.add_message(kCounter, counter);
  return message;
}

}  // namespace telltale::perfetto
