#include "trace/device_list.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <vector>

namespace telltale {
namespace {

bool are_alike(const Device& a, const Device& b) {
  return a.name == b.name && a.multiprocessors == b.multiprocessors && a.compute_major == b.compute_major &&
         a.compute_minor == b.compute_minor;
}

// "MTIA 9" and "NPU" name a device; "GPU 0" only numbers one.
std::string_view device_name_in(std::string_view label) {
  const std::size_t last = label.find_last_not_of("0123456789 ");
  const std::string_view name = label.substr(0, last == std::string_view::npos ? 0 : last + 1);
  return name == "GPU" || name == "CPU" ? std::string_view() : name;
}

}  // namespace

void list_devices(Trace& trace) {
  std::set<DeviceId> used;
  for (const Track& track : trace.tracks)
    if (track.device != kHost && track.kind != TrackKind::kCounter) used.insert(track.device);

  const std::vector<Device> described = trace.devices;
  std::set<DeviceId> described_ids;
  for (const Device& device : described) described_ids.insert(device.id);
  const auto is_like_first = [&](const Device& device) { return are_alike(device, described.front()); };
  const bool are_all_alike = !described.empty() && std::ranges::all_of(described, is_like_first);
  std::size_t idle = 0;  // no device before it is
  for (const DeviceId id : used) {
    if (described_ids.contains(id)) continue;
    while (idle < described.size() && used.contains(trace.devices[idle].id)) ++idle;
    if (are_all_alike && idle < described.size()) {
      trace.devices[idle].id = id;
    } else {
      trace.devices.push_back(are_all_alike ? described.front() : Device());
      trace.devices.back().id = id;
    }
  }
  std::ranges::stable_sort(trace.devices, {}, &Device::id);

  std::map<DeviceId, ProcessId> process_of;
  for (const Track& track : trace.tracks) process_of.try_emplace(track.device, track.process);
  for (Device& device : trace.devices) {
    const auto process = process_of.find(device.id);
    if (!device.name.empty() || process == process_of.end()) continue;
    device.name = device_name_in(trace.strings[trace.processes[process->second].labels]);
  }
}

}  // namespace telltale
