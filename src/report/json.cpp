#include "report/json.h"

#include "report/json_lines.h"

namespace telltale {
namespace {

Json json_of(const KeyAverage& row) {
  return {
      {"name", row.name},
      {"kind", name_of(row.kind)},
      {"calls", row.calls},
      {"self_cpu_ns", or_null(row.self_cpu_ns)},
      {"cpu_ns", or_null(row.cpu_ns)},
      {"cpu_once_ns", or_null(row.cpu_once_ns)},
      {"self_device_ns", or_null(row.self_device_ns)},
      {"device_ns", or_null(row.device_ns)},
      {"cpu_memory_bytes", or_null(row.cpu_memory_bytes)},
      {"self_cpu_memory_bytes", or_null(row.self_cpu_memory_bytes)},
      {"device_memory_bytes", or_null(row.device_memory_bytes)},
      {"self_device_memory_bytes", or_null(row.self_device_memory_bytes)},
      {"flops", or_null(row.flops)},
      {"input_shapes", or_null(row.input_shapes)},
      {"stack", or_null(row.stack)},
      {"source", row.source
                     ? Json{{"file", row.source->file}, {"line", row.source->line}, {"function", row.source->function}}
                     : Json(nullptr)},
  };
}

Json json_of(const Device& device) {
  return {
      {"id", device.id},
      {"name", or_null(device.name)},
      {"memory_bytes", or_null(device.memory_bytes)},
      {"compute_major", or_null(device.compute_major)},
      {"compute_minor", or_null(device.compute_minor)},
      {"multiprocessors", or_null(device.multiprocessors)},
      {"warp_size", or_null(device.warp_size)},
      {"max_threads_per_multiprocessor", or_null(device.max_threads_per_multiprocessor)},
      {"registers_per_multiprocessor", or_null(device.registers_per_multiprocessor)},
      {"shared_memory_per_multiprocessor", or_null(device.shared_memory_per_multiprocessor)},
  };
}

Json json_of(const StepInfo& step) {
  return {{"index", step.index}, {"name", step.name}, {"start_ns", step.start_ns}, {"duration_ns", step.duration_ns}};
}

Json json_of(const ProcessInfo& process) {
  return {{"pid", process.pid}, {"name", or_null(process.name)}, {"labels", or_null(process.labels)}};
}

Json json_of(const TrackInfo& track) {
  return {{"id", track.id},
          {"name", track.name},
          {"kind", name_of(track.kind)},
          {"process", track.process},
          {"device", or_null(track.device)},
          {"native_id", track.native_id},
          {"events", track.events}};
}

Json json_of(const ProcessGroup& group) {
  return {{"name", group.name},
          {"description", or_null(group.description)},
          {"backend", or_null(group.backend)},
          {"size", group.size},
          {"ranks", group.ranks}};
}

Json json_of(const AnomalyCount& anomaly) {
  return {{"kind", name_of(anomaly.anomaly)},
          {"count", anomaly.count},
          {"example", {{"byte_offset", anomaly.example.byte_offset}, {"text", anomaly.example.text}}},
          {"description", description_of(anomaly.anomaly)}};
}

template <typename Item>
Json list_of(const std::vector<Item>& items) {
  Json list = Json::array();
  for (const Item& item : items) list.push_back(json_of(item));
  return list;
}

Json json_of(const std::optional<Distributed>& distributed) {
  if (!distributed) return nullptr;
  return {{"backend", or_null(distributed->backend)},
          {"rank", or_null(distributed->rank)},
          {"world_size", or_null(distributed->world_size)},
          {"nccl_version", or_null(distributed->nccl_version)},
          {"groups", list_of(distributed->groups)}};
}

}  // namespace

std::string to_json(const KeyAverages& averages) {
  return in_lines({
      {"schema", "telltale.top/1"},
      {"rows", list_of(averages.rows)},
      {"totals",
       {{"self_cpu_ns", averages.totals.self_cpu_ns}, {"self_device_ns", or_null(averages.totals.self_device_ns)}}},
      {"anomalies", averages.anomalies},
  });
}

std::string to_json(const TraceInfo& info) {
  Json versions = Json::object();
  for (const auto& [name, version] : info.versions) versions[name] = version;
  Json kinds = Json::object();
  for (const auto& [kind, count] : info.kinds) kinds[std::string(name_of(kind))] = count;

  return in_lines({
      {"schema", "telltale.info/1"},
      {"path", info.path},
      {"format", info.format},
      {"bytes", or_null(info.bytes)},
      {"text_bytes", info.text_bytes},
      {"tool", or_null(info.tool)},
      {"versions", versions},
      {"recorded_at", or_null(info.recorded_at)},
      {"events", info.events},
      {"memory_events", info.memory_events},
      {"counter_values", info.counter_values},
      {"flows", info.flows},
      {"duration_ns", info.duration_ns},
      {"memory_bytes", info.memory_bytes},
      {"steps", list_of(info.steps)},
      {"devices", list_of(info.devices)},
      {"processes", list_of(info.processes)},
      {"tracks", list_of(info.tracks)},
      {"kinds", kinds},
      {"recorded",
       {{"shapes", info.recorded.shapes},
        {"stacks", info.recorded.stacks},
        {"memory", info.recorded.memory},
        {"modules", info.recorded.modules},
        {"flops", info.recorded.flops}}},
      {"distributed", json_of(info.distributed)},
      {"anomalies", list_of(info.anomalies)},
  });
}

}  // namespace telltale
